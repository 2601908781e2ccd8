"""A generative adversarial network; the discriminator's losses, which take turns with the generator's, must fall."""

from drive import Program
from made_images import thousands

FOLDER = "tutorials/02-intermediate/generative_adversarial_network"

PROGRAM = Program(f"{FOLDER}/main.py", folder=FOLDER, steps=80, prepare=thousands, series=lambda losses: losses[::2])
