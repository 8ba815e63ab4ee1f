"""The bundled sample of MedConceal: forty patients and twelve threads, written for this project. None of them exists.

    profiles()          the forty, whole, with the evidence of every concern marked in a hidden narrative
    submissions(), comments()   the threads as the lines of an r/AskDocs dump

No clinician has reviewed them. They are for tests, demonstrations and load tests; a score on them is a stand-in.
"""

from __future__ import annotations

from builders.samples.medconceal.cases import TITLE, profiles
from builders.samples.medconceal.threads import comments, submissions

__all__ = ["TITLE", "comments", "profiles", "submissions"]
