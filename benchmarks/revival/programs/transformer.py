"""Translation of one sentence by a transformer."""

from drive import Program

PROGRAM = Program("5-1.Transformer/Transformer-Torch.py", steps=20)
