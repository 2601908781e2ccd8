"""Fixes: which are announced, which are applied together, round by round, and how many there were."""
