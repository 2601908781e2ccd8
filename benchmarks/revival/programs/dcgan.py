"""A generative adversarial network; its three losses take turns, and the discriminator's two are what must fall."""

from drive import Program


def discriminator(losses: list[float]) -> list[float]:
    return [real + fake for real, fake in zip(losses[::3], losses[1::3], strict=False)]


PROGRAM = Program(
    "dcgan/main.py",
    folder="dcgan",
    arguments="--dataset fake --dataroot . --batchSize 8 --workers 0 --ngf 8 --ndf 8 --niter 3",
    steps=60,
    series=discriminator,
)
