"""A generative adversarial network; the discriminator's losses, which take turns with the generator's, must fall."""

from drive import Program
from made_images import hundreds

FOLDER = "tutorials/02-intermediate/generative_adversarial_network"

PROGRAM = Program(f"{FOLDER}/main.py", folder=FOLDER, steps=30, prepare=hundreds, series=lambda losses: losses[::2])
