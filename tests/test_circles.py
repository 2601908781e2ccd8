"""What another inquiry has found is taken over only where it would be found again: whatever is asked, in any order."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import cast

import pytest
from made_up import File

from torchlint.model.interpret.keys import AttributeKey, Key, ScopeKey
from torchlint.model.interpret.queries import Queries
from torchlint.system.layers import Layer, without

MANY = 300
MOST = 8


@dataclass
class Program:
    """Functions and attributes that ask for each other; an answer says all that was seen on the way to it."""

    asks: list[list[int]]
    attributes: frozenset[int]
    far: frozenset[int]
    home: File = field(default_factory=partial(File, is_part=True))
    queries: Queries = field(default_factory=Queries)
    computed: Counter[int] = field(default_factory=Counter)

    def key(self, number: int) -> Key[str]:
        return cast("Key[str]", AttributeKey(0, str(number)) if number in self.attributes else ScopeKey(number))

    def ask(self, number: int) -> str:
        is_far = number in self.far
        key = self.key(number)
        return self.queries.ask(key, lambda _: self._seen(number), "?", self.home, is_far=is_far, counts=is_far)

    def _seen(self, number: int) -> str:
        self.computed[number] += 1

        found = [self.ask(other) for other in self.asks[number]]
        if number % 3 == 0:
            found += [str(self.queries.is_open(self.key(other))) for other in self.asks[number]]
        return f"{number}[{','.join(found)}]"


def made(seed: int) -> Program:
    chance = random.Random(seed)
    size = chance.randint(2, MOST)
    everything = range(size)
    asks = [chance.choices(everything, k=chance.choice((0, 1, 1, 2, 2, 3))) for _ in everything]

    def some(most: float) -> frozenset[int]:
        share = chance.random() * most
        return frozenset(each for each in everything if chance.random() < share)

    return Program(asks, some(1), some(0.6))


def answers(seed: int) -> tuple[list[str], int]:
    """What is answered to some questions one after the other, and how much was computed for it."""
    program, chance = made(seed), random.Random(-seed)
    found = []
    for _ in range(2 * len(program.asks)):
        if chance.random() < 0.2:
            program.queries.begin()
        found.append(program.ask(chance.randrange(len(program.asks))))
    return found, program.computed.total()


@pytest.mark.parametrize("first", range(0, 6 * MANY, MANY))
def test_answers_are_the_same(first: int) -> None:
    saved = 0
    for seed in range(first, first + MANY):
        with without(Layer.CIRCLES):
            expected, most = answers(seed)
        found, computed = answers(seed)
        assert found == expected, seed
        assert computed <= most
        saved += most - computed
    assert saved
