"""What the machine gives and takes: files, stacks, signals, limits."""
