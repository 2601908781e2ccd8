"""Code inside of other text: in Markdown, reStructuredText, docstrings, and scripts that only IPython understands."""
