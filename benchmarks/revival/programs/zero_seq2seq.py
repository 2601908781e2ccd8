"""A network that puts the blanks back into verses, letter by letter."""

from drive import Program

PROGRAM = Program("14_1_seq2seq.py", steps=40)
