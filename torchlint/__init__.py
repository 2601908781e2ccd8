"""torchlint: a static linter and auto-fixer for PyTorch code."""

import os

__version__ = "0.1.0"

PACKAGE = os.path.dirname(__file__)
"""The directory with all of this program."""

DOCS = "https://github.com/torchlint/torchlint/blob/main/docs"
"""Where the pages of the documentation are, for those who have the program alone."""
