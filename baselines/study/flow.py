"""Where a person is in a study, and what every page says about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Coming = Literal["invited", "consent", "survey", "instructions", "practice", "feedback", "comprehension"]
Within = Literal["work", "debriefing"]
Ended = Literal["done", "declined", "screened_out", "withdrawn", "timed_out", "erased"]
Stage = Coming | Within | Ended
ENDED: tuple[Ended, ...] = get_args(Ended)
STAGES: tuple[Stage, ...] = (*get_args(Coming), *get_args(Within), *ENDED)

Step = Literal["chart", "talk", "findings", "work", "after", "done", "lost"]


@dataclass(frozen=True, slots=True)
class Frame:
    """What surrounds the content of every page.

    `here` names the page that a form was made for, so that a late one, from another tab or by Back, does nothing twice.
    `progress` is (items done, items in all), None before the work. `following` says what happens next.
    """

    study: str
    contact: str
    csrf: str
    here: str
    title: str
    following: str
    progress: tuple[int, int] | None = None
    stop: bool = True
    notice: str = ""
    refresh: int | None = None
    """Seconds after which a page without scripts reloads."""
    language: str = "en"
    """That of the study's own texts; ours are in English."""
