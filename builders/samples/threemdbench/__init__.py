"""The bundled sample of 3MDBench: made-up photos of all 34 diagnoses, some with faults that a build has to find.

`photos.csv` and the folder `photos` are laid out as somebody's own collection would be. Nothing in it comes from a
patient: it is a stand-in, and CC0. `consultations` is a run of scripted agents over eight of them, for rehearsals of a
study.
"""

from __future__ import annotations

from pathlib import Path

PHOTOS = Path(__file__).resolve().with_name("photos.csv")  # where an install links to each file, what it links to
CONSULTATIONS = Path(__file__).with_name("consultations")
