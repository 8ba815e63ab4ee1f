"""How consultations are played: one value that a game takes. Two are shipped, and options change single fields.

                 bedside, the default                        authors, as their code plays
    ending       every natural form of BREAK (`ending`)      the patient's text contains BREAK
    utterances   28 at most                                  29: an opening and 14 rounds
    decoding     the paper's temperatures and lengths        top_p .9 too; a closed doctor gets seed 92, no temperature
    photos       at most 400 pixels wide                     so for open models; a closed doctor gets them as they are
    assessor     told the form of its answer by a schema     told nothing but the prompt
    extraction   asked until it can be read, 4 times         asked once, whatever it says, of words in lower case
    unfinished   no diagnosis, no quality                    like any other dialogue

Both play the prompts that they are given (`prompts`). The assessor is the paper's, a patient, unless `judge` selects
that of its code, a group of experts (3M-G24). Both clean, count and score by the same code. The authors' top_k 1
at a temperature of 1e-6 is left out: it changes no answer and few providers accept it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

from baselines.threemdbench.consultation.ending import authors_ending, natural_ending
from baselines.threemdbench.consultation.names import is_closed
from loaders.errors import InputError
from loaders.models.messages import Decoding

CapMode = Literal["paper", "authors"]
Judge = Literal["patient", "experts"]
Unfinished = Literal["paper", "authors"]
"""Whether a dialogue that reached the cap counts as one without diagnosis and quality, or like any other (3M-G14)."""
Photos = Literal["small", "original"]

CAPS: dict[CapMode, int] = {"paper": 28, "authors": 29}
"""Maximum utterances of a dialogue, including the opening: as the paper says, or as its code plays 14 rounds
(3M-G12)."""


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """The rules of a consultation that the paper and its code leave open, or on which they differ.

    `ends` takes a patient's text and returns what remains of it, and whether it ends the dialogue. `retry` are the
    fields of the assessor's decoding that change if its answer could not be read, `attempts` how often it is asked in
    all (S2, 3M-G25), `extractions` how often for the diagnosis, `lower` whether in lower case (3M-G23). `schema` says
    whether its scores are requested with a JSON schema. `closed_doctor` is the decoding of a doctor whose weights are
    not public, None if it is like any other; such a doctor is then shown the photo as it is.
    """

    name: str
    cap_mode: CapMode
    judge: Judge
    unfinished: Unfinished
    ends: Callable[[str], tuple[str, bool]]
    decoding: Mapping[str, Decoding]
    retry: Mapping[str, Any]
    extractions: int
    lower: bool
    schema: bool
    attempts: int = 4
    closed_doctor: Decoding | None = None
    photos: Photos = "small"

    @property
    def cap(self) -> int:
        """Maximum utterances, including the opening."""
        return CAPS[self.cap_mode]

    def for_doctor(self, model: str) -> Protocol:
        """The protocol of this doctor, by the name of its model."""
        if self.closed_doctor is None or not is_closed(model):
            return self
        return replace(self, decoding={**self.decoding, "doctor": self.closed_doctor}, photos="original")

    def having(self, **given: str | None) -> Protocol:
        """The protocol with these fields, given in words, in place of its own;
        None keeps its own. Raises InputError."""
        kinds: Mapping[str, Any] = {"cap_mode": CapMode, "judge": Judge, "unfinished": Unfinished, "photos": Photos}
        chosen = {name: word for name, word in given.items() if word is not None}
        for name, word in chosen.items():
            if word not in get_args(kinds[name]):
                option = f"--{name.replace('_', '-')}"
                raise InputError(option, found=repr(word), expected=" or ".join(get_args(kinds[name])))
        return replace(self, **cast(dict[str, Any], chosen))

    @property
    def settings(self) -> dict[str, Any]:
        """What a record says about it, besides the decoding of the roles."""
        return {
            "protocol": self.name,
            "cap_mode": self.cap_mode,
            "judge": self.judge,
            "unfinished": self.unfinished,
            "photos": self.photos,
            "retry": dict(self.retry),
            "extractions": self.extractions,
        }


def unfinished_of(options: Mapping[str, Any]) -> Unfinished:
    """How the record of a run (its options) says that unfinished dialogues count; an earlier version's says nothing."""
    return "authors" if options.get("unfinished") == "authors" else "paper"


BEDSIDE = Protocol(
    name="bedside",
    cap_mode="paper",
    judge="patient",
    unfinished="paper",
    ends=natural_ending,
    decoding={
        "patient": {"temperature": 0.6, "max_tokens": 256},
        "doctor": {"temperature": 0.6, "max_tokens": 512},
        "assessor": {"temperature": 1e-6, "max_tokens": 512},
    },
    retry={"temperature": 0.6},
    extractions=4,
    lower=False,
    schema=True,
)

AUTHORS = Protocol(
    name="authors",
    cap_mode="authors",
    judge="patient",
    unfinished="authors",
    ends=authors_ending,
    decoding={
        "patient": {"temperature": 0.6, "top_p": 0.9, "max_tokens": 256},
        "doctor": {"temperature": 0.6, "top_p": 0.9, "max_tokens": 512},
        "assessor": {"temperature": 1e-6, "max_tokens": 512},
    },
    retry={"temperature": 0.6, "top_p": 0.9},
    extractions=1,
    lower=True,
    schema=False,
    closed_doctor={"temperature": None, "top_p": 0.9, "max_tokens": 512, "seed": 92},
)

PROTOCOLS = {protocol.name: protocol for protocol in (BEDSIDE, AUTHORS)}
ROLES = tuple(BEDSIDE.decoding)


def protocol_named(name: str) -> Protocol:
    """The protocol of that name. Raises InputError for any other."""
    if name not in PROTOCOLS:
        raise InputError("--protocol", found=repr(name), expected=" or ".join(PROTOCOLS))
    return PROTOCOLS[name]
