"""What may be said in a turn (`View`), and the patient's words without a model: fixed sentences around it, offline.

The same `View` gives the same words. Sentences alternate with the turn, so that a dialogue does not read like one
reply, and depend on how open a person is and how they word things.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from baselines.dialogue.game import lines_of
from loaders.medconceal import Literacy, Openness

Phase = Literal["reserved", "resisting", "accepting"]


@dataclass(frozen=True, slots=True)
class View:
    """Everything that the patient's words may be made of, in one turn.

    `known` are the concerns that came out earlier, `disclose` those that come out in this reply, each as texts with the
    patient's own words first. `hint` may be dropped, `ask_back` must be obeyed. `preference` and `plan` are None if the
    task, or the state, has none. The text of a hidden concern has no place here.
    """

    turn: int
    facts: tuple[tuple[str, str], ...]
    style: str
    personality: str
    disclosure: str
    openness: Openness
    literacy: Literacy
    background: str | None
    known: tuple[tuple[str, ...], ...]
    disclose: tuple[tuple[str, ...], ...]
    hint: str | None
    phase: Phase
    preference: str | None
    plan: str | None
    ask_back: bool


_LONGEST_STATEMENT = 24  # words of each disclosure; two of them and an opening stay below 60
_LONGEST_FACT = 20

_LINES = lines_of("baselines.medconceal", "patient_lines.csv")


def reply(view: View) -> str:
    """What the patient says."""
    if view.phase == "accepting":
        return f"{_turned('accept', view)} {_lower(_short(view.plan or 'as you said', _LONGEST_FACT))}"
    parts: list[str] = []
    if view.disclose:
        parts.append(_turned(f"open up, {view.openness}", view))
        for number, texts in enumerate(view.disclose):
            parts += [_turned("and", view)] if number else []
            parts.append(_sentence(_short(texts[0], _LONGEST_STATEMENT)))
    else:
        parts.append(_answer(view))
    if view.ask_back:
        parts.append(_turned(f"question, {view.literacy}", view))
    return " ".join(parts)


def neutral(view: View) -> Sequence[str]:
    """Noncommittal replies, the one for this turn first."""
    lines = _LINES["neutral"]
    at = view.turn % len(lines)
    return (*lines[at:], *lines[:at])


def _answer(view: View) -> str:
    if view.turn == 1:
        reason = dict(view.facts).get("Reason for the encounter", "")
        opening = f"Hello, doctor. {_sentence(_short(reason, _LONGEST_FACT))}"
        return f"{opening} {_wish(view)}" if view.phase == "resisting" else opening
    if view.background:
        return f"In short: {_lower(_sentence(_short(view.background, _LONGEST_FACT)))}"
    if view.hint:
        return _sentence(view.hint)
    if view.phase == "resisting":
        return f"{_turned(f'resist, {view.openness}', view)} {_wish(view)}"
    return neutral(view)[0]


def _wish(view: View) -> str:
    return f"What I want is still the same: {_lower(_sentence(_short(view.preference or '', _LONGEST_FACT)))}"


def _turned(kind: str, view: View) -> str:
    return _LINES[kind][view.turn % len(_LINES[kind])]


def _short(text: str, most: int) -> str:
    words = text.split()
    return " ".join(words) if len(words) <= most else " ".join(words[:most]).rstrip(",;:") + "…"


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…", '"', "”")) else text + "."


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
