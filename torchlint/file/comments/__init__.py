"""What comments say about suppression."""
