"""torchlint: a static linter and auto-fixer for PyTorch code."""

__version__ = "0.1.0"
