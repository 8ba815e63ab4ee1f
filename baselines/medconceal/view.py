"""What whoever finds the reserved patient's words may know in one turn: a model and the templates get the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loaders.medconceal import Literacy

Phase = Literal["reserved", "resisting", "accepting"]


@dataclass(frozen=True, slots=True)
class View:
    """All that the patient's words may be made of, in one turn.

    `known` are the concerns that came out earlier, `disclose` those that come out in this reply, each as texts in the
    patient's own words first. `hint` may be dropped, `ask_back` must be obeyed. `preference` and `plan` are None where
    the task, or the state, has none. The text of a hidden concern has no place here.
    """

    turn: int
    facts: tuple[tuple[str, str], ...]
    style: str
    literacy: Literacy
    background: str | None
    known: tuple[tuple[str, ...], ...]
    disclose: tuple[tuple[str, ...], ...]
    hint: str | None
    phase: Phase
    preference: str | None
    plan: str | None
    ask_back: bool
