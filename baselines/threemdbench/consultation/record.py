"""What goes into a consultation and what comes out of it: a `Case`, and a `Consultation` of typed turns.

A turn has a role from the start. No text is ever split at "Doctor:" to find out who spoke, so nobody can speak for the
other side by writing such a label. `to_json` and `from_json` are inverse to each other on every record.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from loaders.errors import InputError
from loaders.threemdbench import PERSONALITIES

Role = Literal["patient", "doctor"]
Ended = Literal["break", "cap", "answer"]

HIGHEST = {"1.1": 1, "1.2": 1, "1.3": 1, "2.1": 1, "2.2": 1, "3.1": 1, "3.2": 1, "4.1": 2}
"""The Mini-CEX items in the paper's order -> highest score; the lowest is 0 (Table 2, Appendix H.4)."""
ITEMS = tuple(HIGHEST)


@dataclass(frozen=True, slots=True)
class Case:
    """A patient: photo, gold diagnosis, complaints and temperament.

    `image` is what the doctor is shown and `assessor_image` what the assessor is, None where it is the same: bytes of a
    file without metadata, or its path. `cues` are three diagnoses of an image classifier, best first, or None.
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

    def __post_init__(self) -> None:
        if self.temperament not in PERSONALITIES:
            raise ValueError(f"unknown temperament {self.temperament!r}")

    def to_json(self) -> dict[str, Any]:
        """The case as JSON; bytes of images in base64."""
        return {
            "case_id": self.case_id,
            "image": _image_to_json(self.image),
            "diagnosis": self.diagnosis,
            "domain": self.domain,
            "basic": self.basic,
            "additional": list(self.additional),
            "temperament": self.temperament,
            "cues": None if self.cues is None else list(self.cues),
            "assessor_image": None if self.assessor_image is None else _image_to_json(self.assessor_image),
        }

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Case:
        """The case that `to_json` wrote. Raises InputError for anything else."""
        try:
            other = read["assessor_image"]
            return cls(
                case_id=str(read["case_id"]),
                image=_image_from_json(read["image"]),
                diagnosis=str(read["diagnosis"]),
                domain=str(read["domain"]),
                basic=str(read["basic"]),
                additional=tuple(map(str, read["additional"])),
                temperament=str(read["temperament"]),
                cues=None if read["cues"] is None else tuple(map(str, read["cues"])),
                assessor_image=None if other is None else _image_from_json(other),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise _unreadable("case", error) from None


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance, as the other side read it.

    `rationale` is what the speaker thought and the other side never saw. `flags` say what had to be done to the text
    before it was sent on, in the order of `cleaning.FLAGS`; a turn without any went as the model wrote it.
    """

    role: Role
    text: str
    rationale: str | None = None
    flags: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The turn as JSON."""
        return {"role": self.role, "text": self.text, "rationale": self.rationale, "flags": list(self.flags)}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Turn:
        """The turn that `to_json` wrote."""
        if read["role"] not in ("patient", "doctor"):
            raise ValueError(f"role {read['role']!r}")
        rationale = None if read["rationale"] is None else str(read["rationale"])
        return cls(read["role"], str(read["text"]), rationale, tuple(map(str, read["flags"])))


@dataclass(frozen=True, slots=True)
class Extraction:
    """The diagnoses that the assessor reads out of the doctor's words (Appendix H.4), as it wrote them.

    No names and no failure means that it found none. `failure` says why none of its answers could be read; `raw` is the
    last of its `attempts` answers.
    """

    names: tuple[str, ...]
    raw: str
    attempts: int
    failure: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The extraction as JSON."""
        return {"names": list(self.names), "raw": self.raw, "attempts": self.attempts, "failure": self.failure}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Extraction:
        """The extraction that `to_json` wrote."""
        return cls(tuple(map(str, read["names"])), str(read["raw"]), int(read["attempts"]), read["failure"])


@dataclass(frozen=True, slots=True)
class Assessment:
    """The assessor's scores by Mini-CEX item, all of `ITEMS`; None where no answer of it was valid, for `failure`."""

    items: Mapping[str, int] | None
    raw: str
    attempts: int
    failure: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The assessment as JSON."""
        items = None if self.items is None else {item: self.items[item] for item in ITEMS}
        return {"items": items, "raw": self.raw, "attempts": self.attempts, "failure": self.failure}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Assessment:
        """The assessment that `to_json` wrote."""
        items = None if read["items"] is None else {item: int(read["items"][item]) for item in ITEMS}
        return cls(items, str(read["raw"]), int(read["attempts"]), read["failure"])


@dataclass(frozen=True, slots=True)
class Consultation:
    """One played case.

    `ended` is how: the patient's BREAK, the cap on utterances, or the one answer of a setting without dialogue.
    `finished` is False at the cap (3M-G14). `utterances` counts all turns; a bare BREAK is none (3M-G13).
    `parse_failures` counts the doctor's replies in which REASONING and ANSWER could not be told apart even after a
    second request (3M-G17). `assessment` is None where the setting has no dialogue to assess.
    """

    case_id: str
    setting: str
    gold: str
    domain: str
    temperament: str
    cues: tuple[str, ...] | None
    turns: tuple[Turn, ...]
    finished: bool
    ended: Ended
    parse_failures: int
    extraction: Extraction
    assessment: Assessment | None

    @property
    def utterances(self) -> int:
        """How many utterances count (Table 5)."""
        return len(self.turns)

    def to_json(self) -> dict[str, Any]:
        """The consultation as JSON."""
        return {
            "case_id": self.case_id,
            "setting": self.setting,
            "gold": self.gold,
            "domain": self.domain,
            "temperament": self.temperament,
            "cues": None if self.cues is None else list(self.cues),
            "turns": [turn.to_json() for turn in self.turns],
            "finished": self.finished,
            "ended": self.ended,
            "utterances": self.utterances,
            "parse_failures": self.parse_failures,
            "extraction": self.extraction.to_json(),
            "assessment": None if self.assessment is None else self.assessment.to_json(),
        }

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Consultation:
        """The consultation that `to_json` wrote. Raises InputError for anything else."""
        try:
            if read["ended"] not in ("break", "cap", "answer"):
                raise ValueError(f"ended {read['ended']!r}")
            assessment = read["assessment"]
            return cls(
                case_id=str(read["case_id"]),
                setting=str(read["setting"]),
                gold=str(read["gold"]),
                domain=str(read["domain"]),
                temperament=str(read["temperament"]),
                cues=None if read["cues"] is None else tuple(map(str, read["cues"])),
                turns=tuple(Turn.from_json(turn) for turn in read["turns"]),
                finished=bool(read["finished"]),
                ended=read["ended"],
                parse_failures=int(read["parse_failures"]),
                extraction=Extraction.from_json(read["extraction"]),
                assessment=None if assessment is None else Assessment.from_json(assessment),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise _unreadable("consultation", error) from None


def _image_to_json(image: bytes | Path) -> dict[str, str]:
    if isinstance(image, bytes):
        return {"base64": base64.b64encode(image).decode("ascii")}
    return {"path": str(image)}


def _image_from_json(read: Mapping[str, str]) -> bytes | Path:
    return base64.b64decode(read["base64"], validate=True) if "base64" in read else Path(read["path"])


def _unreadable(what: str, error: Exception) -> InputError:
    reason = f"no {error}" if isinstance(error, KeyError) else str(error)
    return InputError(f"record of a {what}", found=f"cannot be read: {reason}", do="Play it again")
