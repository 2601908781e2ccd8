"""What becomes of the memory of a value: who else holds it, and who writes to it."""
