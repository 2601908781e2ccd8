"""Reinforcement learning by the values of actions."""

from drive import Program

PROGRAM = Program("tutorial-contents/405_DQN_Reinforcement_learning.py", steps=60)
