"""torchlint: a static linter and auto-fixer for PyTorch code."""

import os

__version__ = "0.1.0"

PACKAGE = os.path.dirname(__file__)
"""The directory with all of this program."""
