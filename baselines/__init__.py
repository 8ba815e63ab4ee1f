"""Evaluate models on loaded splits. Never imports `builders`."""
