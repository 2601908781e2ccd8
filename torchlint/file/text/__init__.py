"""Text as it is in a file: bytes, newlines, offsets."""
