"""How well a pole is kept up; the losses of these programs are sums over episodes and grow with them."""

from __future__ import annotations


def falls_sooner(losses: list[float]) -> list[float]:
    """The negated lengths of the episodes, so that less is better as with a loss."""
    import gym

    return [-float(length) for length in gym.Env.lengths]
