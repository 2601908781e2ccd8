"""What comments silence: how they are read, what they take away, and how fixes leave both alone."""
