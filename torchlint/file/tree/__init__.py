"""The syntax tree of a file: parsed, indexed, with positions on demand."""
