"""A scripted participant: goes through the pages by their forms, as a browser without scripts would. A stand-in.

    take_part(site, "P001", CLINICIANS["expert"])

It reads what a page shows and knows the right answers about the instructions. It takes the first of every other
choice, draws its answers to items (by name, so that no two answer alike), and in talks says what a scripted
clinician says to the same chart and replies.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from html.parser import HTMLParser

from baselines.dialogue.game import ScriptedAgent
from baselines.medconceal.clinician import OPENING
from baselines.study import access, views
from baselines.study import people as who
from baselines.study import slots as at
from baselines.study.actions import ACTIONS, act
from baselines.study.flow import ENDED
from baselines.study.replies import Replies
from baselines.study.site import Site
from loaders.models.messages import Message

TURNS = 8
"""Messages after which it ends a talk if it may: as many as models get."""
_WORDS = "Nothing that I could put into words."


class _Forms(HTMLParser):
    """The forms of a page: action -> a plausible answer to each field. `pick` takes one of the options of a choice."""

    def __init__(self, page: str, pick: Callable[[Sequence[str]], str]) -> None:
        super().__init__()
        self.forms: dict[str, dict[str, list[str]]] = {}
        self._form: dict[str, list[str]] = {}
        self._options: list[tuple[dict[str, list[str]], str, list[str]]] = []
        self.feed(page)
        for form, name, options in self._options:
            form[name].append(pick(options))

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in given}
        name, kind = told.get("name", ""), told.get("type", "text")
        match tag:
            case "form":
                self._form = self.forms.setdefault(told.get("action", "").removeprefix("/do/"), {})
            case "input" if kind == "hidden":
                self._form.setdefault(name, [told.get("value", "")])
            case "input" if kind == "radio":
                if name not in self._form:
                    self._choice(name)
                self._options[-1][2].append(told.get("value", ""))
            case "input" if kind == "checkbox":
                self._form.setdefault(name, [told.get("value", "on")])
            case "input" | "textarea" if name != "quote":
                self._form.setdefault(name, []).append("1" if kind == "number" else _WORDS)
            case "select":
                self._choice(name)
            case "option" if told.get("value"):
                self._options[-1][2].append(told["value"])

    def _choice(self, name: str) -> None:
        self._form.setdefault(name, [])
        self._options.append((self._form, name, []))


def take_part(site: Site, name: str, clinician: ScriptedAgent) -> None:
    """Goes from the invitation to the end. The site stays open. Raises what a page raises."""
    asyncio.run(_take_part(site, name, clinician))


async def _take_part(site: Site, name: str, clinician: ScriptedAgent) -> None:
    replies = Replies(site)
    with site.store.writing() as connection:
        person, now = who.person_of(connection, name), site.clock()
        _, session = access.begin(connection, name, now)
        if person.stage == "invited":
            who.move(connection, person, "consent", now)
    draw = random.Random(name)
    while True:
        with site.store.writing() as connection:
            place = views.place_of(connection, site, name)
            if place.person.stage in ENDED:
                break
            pick = _first if place.slot is None or place.slot.step != "work" else draw.choice
            forms = _Forms(str(views.page_of(connection, site, session, place)), pick).forms
            action = next(action for action in forms if action in ACTIONS)
            answers = forms[action]
            if place.slot is not None and place.slot.step == "talk":
                said = at.said_in(connection, site.keys, place.slot)
                ends = place.slot.turns >= TURNS and "finish" in forms
                action = "finish" if ends else "say"
                answers = forms[action] | {"text": [clinician(None)(_heard(said))]}
            if action == "findings":
                answers = {"none": ["yes"]}
            if action == "comprehension":  # the right option is the first one written
                answers = answers | {name: ["0"] for name in answers if name.startswith("check")}
            act(connection, site, place, action, answers)
        if place.slot is not None and place.slot.talks:
            replies.due(place.slot.id)
        await replies.settled()


def _first(options: Sequence[str]) -> str:
    return options[0] if options else ""


def _heard(said: Sequence[at.Said]) -> list[Message]:
    """A talk as a scripted clinician sees it."""
    told = [Message("system", ""), Message("user", OPENING)]
    return told + [Message("assistant" if one.who == at.CLINICIAN else "user", one.text) for one in said]
