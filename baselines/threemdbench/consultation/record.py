"""What goes into a consultation and what comes out of it: a `Case`, and a `Consultation` of typed turns.

A turn has a role from the start. No text is ever split at "Doctor:" to find out who spoke, so nobody can speak for the
other side by writing such a label. A `Consultation` is a line of `dialogues.jsonl` (`loaders.files.records`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from loaders.files.records import GROWN

Role = Literal["patient", "doctor"]
Ended = Literal["break", "cap", "answer"]

HIGHEST = {"1.1": 1, "1.2": 1, "1.3": 1, "2.1": 1, "2.2": 1, "3.1": 1, "3.2": 1, "4.1": 2}
"""The Mini-CEX items in the paper's order -> highest score; the lowest is 0 (Table 2, Appendix H.4)."""
ITEMS = tuple(HIGHEST)


@dataclass(frozen=True, slots=True)
class Case:
    """A patient: photo, gold diagnosis, complaints and temperament.

    `image` is what the doctor is shown and `assessor_image` what the assessor is shown, None if it is the same: bytes
    of a file without metadata, or its path. `cues` are three diagnoses of an image classifier, best first, or None.
    `group` is what its photo is resampled with (`loaders.threemdbench.group_of`), "" if it stands alone.
    """

    case_id: str
    image: bytes | Path
    diagnosis: str
    domain: str
    basic: str
    additional: tuple[str, ...]
    temperament: str
    cues: tuple[str, ...] | None = None
    assessor_image: bytes | Path | None = None
    group: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance, as the other side read it.

    `rationale` is what the speaker thought and the other side never saw. `flags` say what had to be done to the text
    before it was sent on, in the order of `cleaning.FLAGS`; a turn without any was sent as the model wrote it.
    """

    role: Role
    text: str
    rationale: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """The diagnoses that the assessor extracts from the doctor's words (Appendix H.4), as it wrote them.

    No names and no failure means that it found none. `failure` says why none of its answers could be read; `raw` is the
    last of its `attempts` answers.
    """

    names: tuple[str, ...]
    raw: str
    attempts: int
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Assessment:
    """The assessor's scores by Mini-CEX item, all of `ITEMS`; None if none of its answers was valid, for `failure`."""

    items: Mapping[str, int] | None
    raw: str
    attempts: int
    failure: str | None = None

    def __post_init__(self) -> None:
        if self.items is not None and self.items.keys() != HIGHEST.keys():
            raise ValueError(f"scores of {len(self.items)} items; expected {', '.join(ITEMS)}")


@dataclass(frozen=True, slots=True)
class Consultation:
    """One played case.

    `ended` says how: the patient's BREAK, the cap on utterances, or the one answer of a setting without dialogue.
    `finished` is False at the cap (3M-G14). `utterances` (Table 5) counts all turns; a bare BREAK is none (3M-G13).
    `parse_failures` counts the doctor's replies in which REASONING and ANSWER could not be told apart even after a
    second request (3M-G17). `assessment` is None if the setting has no dialogue to assess. `group` is that of the case;
    consultations of versions that did not store it have none.
    """

    case_id: str
    setting: str
    gold: str
    domain: str
    temperament: str
    cues: tuple[str, ...] | None
    turns: tuple[Turn, ...]
    utterances: int
    finished: bool
    ended: Ended
    parse_failures: int
    extraction: Extraction
    assessment: Assessment | None
    group: Annotated[str, GROWN] = ""

    @property
    def cluster(self) -> str:
        """What an interval draws: the patient, lesion or near copies that the photo belongs to, else the case."""
        return self.group or self.case_id

    def __post_init__(self) -> None:
        if self.utterances != len(self.turns):
            raise ValueError(f"{self.utterances} utterances in {len(self.turns)} turns")
