"""Reinforcement learning by the policy gradient."""

from drive import Program
from made_cart import falls_sooner

PROGRAM = Program("reinforcement_learning/reinforce.py", folder="reinforcement_learning", steps=80, series=falls_sooner)
