"""Which language a name is of, letter by letter."""

from drive import Program

PROGRAM = Program("char-rnn-classification/train.py", folder="char-rnn-classification", steps=600)
