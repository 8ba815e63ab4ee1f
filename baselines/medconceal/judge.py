"""The judges of a finished episode: a chat model in the role `judge`, asked in JSON and checked in code.

Four kinds of question, each with a prompt of its own: does a finding mean a concern, and where does the patient say so
(one question per case, Appendix E.1); which clinician turns are open; the style of the dialogue (E.4); the values that
the patient expresses (E.6). All at temperature 0; an answer that does not fit is asked for again, three tries in all.
Dialogues are untrusted: they stand in the prompts as lists of JSON objects, so that no turn can pass for another one or
for a verdict, and a match needs a quote from the patient's own words.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, get_args

from baselines.dialogue.game import Ask, Case, Game
from baselines.medconceal import judge_rules
from baselines.medconceal.judgement import MEANING, STYLES, JudgedEpisode, Judgement, Openness
from baselines.medconceal.matching import Pair, quoted_turn, touches
from baselines.medconceal.record import Episode
from baselines.medconceal.untrusted import heard
from loaders.medconceal import VALUES
from loaders.models.asking import Asked, Unfit, ask_until, fenced, object_schema, read_object
from loaders.models.messages import Decoding, Message
from loaders.models.prompts import Prompts

ROLE = "judge"
ATTEMPTS = 3
MAX_TOKENS = 2_000
DECODING: Decoding = {"temperature": 0, "max_tokens": MAX_TOKENS}
PROMPTS = ("judge_match", "judge_openness", "judge_style", "judge_values")

Value = TypeVar("Value")
_UNASKED: Asked[tuple[Any, ...]] = Asked((), "", 0, None)
"""Where there is nothing to judge."""


async def judge(ask: Ask, prompts: Prompts, episode: Episode) -> Judgement:
    """The judgement of the role `judge` on an episode; a confirmation's findings need the hidden part.

    Raises what `ask` raises. A judge whose answers cannot be used leaves None and a reason.
    """
    questions: dict[str, Any] = {
        "openness": _openness(ask, prompts, episode),
        "style": _style(ask, prompts, episode),
    }
    if episode.task == "confirmation":
        questions |= {"pairs": _pairs(ask, prompts, episode), "values": _values(ask, prompts, episode)}
    asked = dict(zip(questions, await asyncio.gather(*questions.values()), strict=True))
    answers = {name: one.value for name, one in asked.items()}
    expressed, recognised = answers.get("values") or (None, None)
    return Judgement(
        pairs=answers.get("pairs"),
        openness=answers["openness"],
        style=answers["style"],
        expressed=expressed,
        recognised=recognised,
        failures={name: one.failure for name, one in asked.items() if one.failure is not None},
        by_rules=False,
    )


def judged_game(game: Game[Case, Episode], prompts: Prompts | None) -> Game[Case, JudgedEpisode]:
    """The game, with each episode judged by the role `judge`, or by rules if there are no prompts for one.

    So judging is resumed, paid for and logged like playing. An episode whose findings no judge could read is invalid:
    counting it as without matches would penalise the clinician.
    """

    async def play(case: Case, ask: Ask) -> JudgedEpisode:
        episode = await game.play(case, ask)
        judgement = judge_rules.judge(episode) if prompts is None else await judge(ask, prompts, episode)
        return JudgedEpisode(episode, judgement)

    def invalid(judged: JudgedEpisode) -> str | None:
        failed = judged.judgement.failures.get("pairs")
        return game.invalid(judged.episode) or (f"judge of findings: {failed}" if failed else None)

    return Game(
        name=game.name,
        roles=(*game.roles, ROLE) if prompts else game.roles,
        case_id=game.case_id,
        play=play,
        transcript=lambda case, judged: game.transcript(case, judged.episode),
        scores=lambda judged: game.scores(judged.episode),
        invalid=invalid,
        settings={**game.settings, "judge": prompts.digests if prompts else "rules"},
        decoding={**game.decoding, **({ROLE: DECODING} if prompts else {})},
        secrets=game.secrets,
        public=lambda judged: replace(judged, episode=game.public(judged.episode)),
    )


def shown(episode: Episode) -> str:
    """The dialogue as a judge reads it: one JSON object per line, so that a quotation mark in a turn ends nothing."""
    return _lines(
        [
            {"turn": exchange.turn, "speaker": speaker, "text": heard(text)}
            for exchange in episode.exchanges
            for speaker, text in (("clinician", exchange.clinician), ("patient", exchange.patient))
        ]
    )


async def _asked(
    ask: Ask,
    system: str,
    parts: Mapping[str, str],
    properties: Mapping[str, Any],
    accept: Callable[[dict[str, Any]], Value],
) -> Asked[Value]:
    """What `accept` makes of an answer."""
    text = "\n\n".join(fenced(name, part) for name, part in parts.items())
    return await ask_until(
        partial(ask, ROLE, **DECODING, json_schema=object_schema(properties)),
        [Message("system", system), Message("user", text + "\n\nAnswer with the JSON object alone.")],
        lambda answer: accept(read_object(answer.text)),
        attempts=ATTEMPTS,
    )


# --- Findings ---------------------------------------------------------------------------------------------------------

_MATCH = {"finding": int, "concern": int, "quote": str}


async def _pairs(ask: Ask, prompts: Prompts, episode: Episode) -> Asked[tuple[Pair, ...]]:
    """Every finding with every concern, judged in one request; both are numbered from 1 there."""
    if episode.findings is None or episode.hidden is None or not episode.exchanges or not episode.findings.items:
        return _UNASKED
    hidden, items = episode.hidden, episode.findings.items
    replies = [exchange.patient for exchange in episode.exchanges]

    def accept(answer: dict[str, Any]) -> tuple[Pair, ...]:
        listed = answer.get("matches")
        if not isinstance(listed, list):
            raise Unfit('"matches" is not a list')
        quotes: dict[tuple[int, int], list[str]] = {}
        for one in listed:
            finding, concern, quote = (one.get(name) if isinstance(one, dict) else None for name in _MATCH)
            if type(finding) is not int or type(concern) is not int or not isinstance(quote, str):
                raise Unfit('one of the "matches" has no numbers of a finding and a concern, or no quote')
            if not (1 <= finding <= len(items) and 1 <= concern <= len(hidden)):
                raise Unfit('one of the "matches" has a number that no finding or concern has')
            quotes.setdefault((finding - 1, concern - 1), []).append(quote)
        return tuple(
            _pair(episode, finding, concern, quotes.get((finding, concern), ()), replies)
            for finding in range(len(items))
            for concern in range(len(hidden))
        )

    gold = [
        {"concern": number, "category": category, "text": one.content, "evidence": list(one.evidence)}
        for number, (category, one) in enumerate(zip(episode.categories, hidden, strict=True), start=1)
    ]
    submitted = [
        {"finding": number, "category": heard(item.category, 200), "description": heard(item.description)}
        for number, item in enumerate(items, start=1)
    ]
    parts = {"dialogue": shown(episode), "concerns": _lines(gold), "findings": _lines(submitted)}
    return await _asked(ask, prompts.fill("judge_match"), parts, {"matches": [object_schema(_MATCH)]}, accept)


def _pair(episode: Episode, finding: int, concern: int, quotes: Sequence[str], replies: Sequence[str]) -> Pair:
    """The verdict on one pair: a match if the judge lists it; supported if one of its quotes is found and is about the
    concern."""
    assert episode.findings is not None and episode.hidden is not None
    category_ok = episode.findings.items[finding].category == episode.categories[concern]
    hidden = episode.hidden[concern]
    turns = [quoted_turn(quote, replies) if touches(quote, hidden) else None for quote in quotes]
    supported = [(quote, turn) for quote, turn in zip(quotes, turns, strict=True) if turn is not None]
    quote, turn = supported[0] if supported else (quotes[0] if quotes else "", None)
    return Pair(finding, concern, bool(quotes), category_ok, quote, turn)


def _lines(rows: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


# --- The dialogue -----------------------------------------------------------------------------------------------------


async def _openness(ask: Ask, prompts: Prompts, episode: Episode) -> Asked[tuple[Openness, ...]]:
    """A label for each clinician turn; an answer with another number of labels is invalid."""
    if not episode.exchanges:
        return _UNASKED
    turns = [{"turn": exchange.turn, "text": heard(exchange.clinician)} for exchange in episode.exchanges]

    def accept(answer: dict[str, Any]) -> tuple[Openness, ...]:
        labels = answer.get("turns")
        if not isinstance(labels, list) or len(labels) != len(turns):
            raise Unfit(f'"turns" is not a list of {len(turns)} labels')
        if not all(label in ("open", "closed") for label in labels):
            raise Unfit('"turns" holds something else than "open" and "closed"')
        return tuple(labels)

    return await _asked(
        ask, prompts.fill("judge_openness"), {"clinician_turns": _lines(turns)}, {"turns": [get_args(Openness)]}, accept
    )


async def _style(ask: Ask, prompts: Prompts, episode: Episode) -> Asked[dict[str, int]]:
    names = STYLES[episode.task]

    def accept(answer: dict[str, Any]) -> dict[str, int]:
        scores = {name: answer.get(name) for name in names}
        for name, score in scores.items():
            if not isinstance(score, int) or isinstance(score, bool) or not 0 <= score <= 2:
                raise Unfit(f'"{name}" is not 0, 1 or 2')
        return {name: int(score) for name, score in scores.items() if score is not None}

    table = "\n".join(f"- {name}: the clinician {MEANING[name]}." for name in names)
    system = prompts.fill("judge_style", {"dimensions": table})
    return await _asked(ask, system, {"dialogue": shown(episode)}, dict.fromkeys(names, (0, 1, 2)), accept)


async def _values(ask: Ask, prompts: Prompts, episode: Episode) -> Asked[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The value categories that the patient expressed, and those of them that the clinician took up."""

    def accept(answer: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        both = answer.get("expressed"), answer.get("recognised")
        if not all(isinstance(part, list) and all(value in VALUES for value in part) for part in both):
            raise Unfit('"expressed" or "recognised" is not a list of the categories named above')
        expressed = tuple(value for value in VALUES if value in (both[0] or ()))
        # What the patient never expressed cannot have been taken up.
        return expressed, tuple(value for value in expressed if value in (both[1] or ()))

    system = prompts.fill("judge_values", {"values": "\n".join(f"- {value}" for value in VALUES)})
    return await _asked(
        ask, system, {"dialogue": shown(episode)}, {"expressed": [VALUES], "recognised": [VALUES]}, accept
    )
