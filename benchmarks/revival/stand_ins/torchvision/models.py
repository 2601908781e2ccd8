"""No model is taken from there."""
