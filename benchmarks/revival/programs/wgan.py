"""A Wasserstein GAN: the critic's loss on real images minus that on made ones must fall."""

from drive import Program


def critic(losses: list[float]) -> list[float]:
    """Pairs of real and fake; after each epoch of 8 batches comes one value of the generator."""
    kept = [loss for index, loss in enumerate(losses) if index % 17 != 16]
    return [real - fake for real, fake in zip(kept[::2], kept[1::2], strict=False)]


PROGRAM = Program(
    "main.py",
    arguments="--dataset cifar10 --dataroot . --batchSize 8 --workers 0 --imageSize 32 --ngf 8 --ndf 8",
    steps=17 * 8,
    series=critic,
)
