"""The other files of a project, and what is asked of them."""
