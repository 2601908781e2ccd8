"""Code inside of other text: blocks in Markdown, examples in docstrings, scripts with what only IPython understands."""
