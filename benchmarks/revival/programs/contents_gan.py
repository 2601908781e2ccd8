"""A generative adversarial network for curves; its second loss of each round is the discriminator's."""

from drive import Program

PROGRAM = Program("tutorial-contents/406_GAN.py", steps=160, series=lambda losses: losses[1::2])
