"""What is known of torch, generated from torch itself."""
