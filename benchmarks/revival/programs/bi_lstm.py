"""The next word of a sentence, by a network in both directions."""

from drive import Program

PROGRAM = Program("3-3.Bi-LSTM/Bi-LSTM-Torch.py", steps=80)
