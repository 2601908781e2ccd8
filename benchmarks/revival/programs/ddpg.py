"""Deep deterministic policy gradient; the critic's loss and the actor's take turns, and the critic's must fall."""

from drive import Program

PROGRAM = Program(
    "main.py",
    arguments="--algo DDPG --batch_size 32 --hidden_size 32 --num_episodes 6 --updates_per_step 1",
    steps=400,
    series=lambda losses: losses[::2],
)
