"""Classification of sentences by convolutions."""

from drive import Program

PROGRAM = Program("2-1.TextCNN/TextCNN-Torch.py", steps=120)
