"""Continuous deep Q-learning."""

from drive import Program

PROGRAM = Program(
    "main.py",
    arguments="--algo NAF --batch_size 32 --hidden_size 32 --num_episodes 6 --updates_per_step 1",
    steps=300,
)
