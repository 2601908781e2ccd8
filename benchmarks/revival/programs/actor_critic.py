"""Reinforcement learning with a policy and a value."""

from drive import Program
from made_cart import falls_sooner

PROGRAM = Program(
    "reinforcement_learning/actor_critic.py", folder="reinforcement_learning", steps=80, series=falls_sooner
)
