"""A text to its tree, or to the reason why it has none."""
