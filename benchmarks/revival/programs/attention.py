"""Translation of one sentence with attention."""

from drive import Program

PROGRAM = Program("4-2.Seq2Seq(Attention)/Seq2Seq(Attention)-Torch.py", steps=80)
