"""Forward interpretation of functions."""
