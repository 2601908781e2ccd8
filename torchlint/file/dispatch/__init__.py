"""Rules at work: from a tree to findings."""
