"""Notebooks: their code as one program, and what is said of the program in terms of cells and of the file.

The cells with Python are joined to a text that all other stages take for a file (:mod:`.program`). What only IPython
understands is replaced by names of the same length (:mod:`.magics`), so that every character keeps its place. Edits of
the program become edits of the strings in the JSON (:mod:`.strings`); nothing else in the file is written anew.
"""
