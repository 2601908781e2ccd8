"""What lets a file in: searched for in its bytes, before anything is parsed."""
