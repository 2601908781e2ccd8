"""A run over many files: scheduled, spread over processes, remembered."""
