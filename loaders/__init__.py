"""The bottom layer: schemas, and every way in from outside (corpora, chat models, encoders, images)."""

__version__ = "0.1.0"
