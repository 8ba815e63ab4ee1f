"""The bundled sample of MedLayBench-V: made-up captions over the seven modalities, with images drawn in code.

`captions.csv` holds one row per image (image_id, split, caption, cuis, licence, attribution, article_id, modality,
drawing). Nothing in it is of a patient: the captions are written for this package (CC0) and `drawings.draw` makes a
schematic picture from the last column. A few rows carry a licence that forbids rewriting, or none that is known: the
licence gate needs something to exclude.
"""

from __future__ import annotations

from pathlib import Path

CAPTIONS = Path(__file__).with_name("captions.csv")
