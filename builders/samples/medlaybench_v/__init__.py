"""The bundled sample of MedLayBench-V: made-up captions over the seven modalities, with schematic images.

`captions.csv` holds one row per image (image_id, split, caption, cuis, licence, attribution, article_id, modality,
drawing: what the picture shows), the folder `images` a small PNG for each. Nothing in it comes from a patient: all was
made for this package (CC0). A few rows have a licence that forbids rewriting, or no known one, so that the licence gate
has something to exclude. `pairs.csv` is what the rules made of its test split, for rehearsals of a study.
"""

from __future__ import annotations

from pathlib import Path

CAPTIONS = Path(__file__).with_name("captions.csv")
PAIRS = Path(__file__).with_name("pairs.csv")
IMAGES = Path(__file__).resolve().with_name("images")  # where an install links to each file, what it links to
