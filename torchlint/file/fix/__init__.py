"""Fixes: which are announced, which go together, round by round, and what speaks against one."""
