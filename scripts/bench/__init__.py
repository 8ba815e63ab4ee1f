"""Benchmarks: speed, side by side with the alternatives."""
