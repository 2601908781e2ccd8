"""Two control problems with the interface that gym had in 2017: a pole on a cart, and a pendulum.

Written from their equations of motion, without gym.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy

from . import wrappers

__all__ = ["ActionWrapper", "make", "wrappers"]


class Env:
    """What both problems have."""

    limit, reward_threshold, state_size = 200, 195.0, 4
    lengths: ClassVar[list[int]] = []
    "of the episodes that are over"

    def __init__(self) -> None:
        self.random, self.spec = numpy.random.RandomState(0), SimpleNamespace(reward_threshold=self.reward_threshold)
        self.observation_space = SimpleNamespace(shape=(self.state_size,))
        self.steps = 0

    def seed(self, seed: int) -> None:
        self.random.seed(seed)

    def render(self, *args: Any, **kwargs: Any) -> None:
        pass

    def close(self) -> None:
        pass


class Pushes:
    """Left or right."""

    n = 2

    def sample(self) -> int:
        return 0


class Cart(Env):
    """A pole on a cart that is pushed left or right; explicit Euler steps of 0.02 s."""

    x_threshold, theta_threshold_radians, action_space = 2.4, 0.2095, Pushes()

    @property
    def unwrapped(self) -> Cart:
        return self

    def reset(self) -> Any:
        self.state, self.steps = self.random.uniform(-0.05, 0.05, 4), 0
        return self.state

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        assert int(action) in (0, 1)
        _, speed, angle, turn = self.state
        force = 10.0 if int(action) == 1 else -10.0
        push = (force + 0.05 * turn**2 * numpy.sin(angle)) / 1.1
        bend = (9.8 * numpy.sin(angle) - numpy.cos(angle) * push) / (0.5 * (4 / 3 - 0.1 * numpy.cos(angle) ** 2 / 1.1))
        pull = push - 0.05 * bend * numpy.cos(angle) / 1.1
        self.state = self.state + 0.02 * numpy.array([speed, pull, turn, bend])
        self.steps += 1
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.2095 or self.steps >= self.limit
        self.lengths.extend([self.steps] * int(done))
        return self.state, 1.0, bool(done), {}


class Pendulum(Env):
    """A pendulum to swing up with a limited torque; steps of 0.05 s."""

    state_size = 3

    def __init__(self) -> None:
        super().__init__()
        self.action_space = SimpleNamespace(shape=(1,), high=numpy.array([2.0]), low=numpy.array([-2.0]))

    def reset(self) -> Any:
        self.angle, self.turn, self.steps = self.random.uniform(-numpy.pi, numpy.pi), self.random.uniform(-1, 1), 0
        return self.seen()

    def seen(self) -> Any:
        return numpy.array([numpy.cos(self.angle), numpy.sin(self.angle), self.turn])

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        torque = float(numpy.clip(numpy.asarray(action), -2, 2).reshape(-1)[0])
        off = (self.angle + numpy.pi) % (2 * numpy.pi) - numpy.pi
        cost = off**2 + 0.1 * self.turn**2 + 0.001 * torque**2
        self.turn = float(numpy.clip(self.turn + 0.05 * (15 * numpy.sin(self.angle) + 3 * torque), -8, 8))
        self.angle += 0.05 * self.turn
        self.steps += 1
        return self.seen(), -cost, self.steps >= self.limit, {}


class ActionWrapper:
    """Changes the action before it reaches the problem."""

    def __init__(self, env: Any) -> None:
        self.env = env

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

    def step(self, action: Any) -> Any:
        return self.env.step(self._action(action))


def make(name: str) -> Env:
    return Cart() if name.startswith("CartPole") else Pendulum()
