"""A project: its settings, its files, the versions of torch it supports."""
