"""Imported by a program, never called when training."""
