"""Findings without those that comments silence."""
