"""The way of one file, from bytes to findings to fixed text."""
