"""Simulated dialogues between chat models: the game (pure), how it is played, and its adapter to inspect_ai."""
