"""The ground floor: schemas, and every door to the outside (corpora, chat models, encoders, images)."""

__version__ = "0.1.0"
