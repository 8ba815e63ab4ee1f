"""The judges without a model: word overlap and phrases, for tests and demonstrations (always a stand-in).

They read wording, not meaning: they tell a scripted expert from a scripted checklist and measure no real clinician.
A finding matches a concern when it holds enough of the content words of the concern or of its evidence, and a sentence
of the patient does too. That sentence is the quote, so only the patient's words count, as with a model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from baselines.medconceal.judgement import FEATURE, STYLES, Judgement, Openness
from baselines.medconceal.matching import SHORTEST_QUOTE, Pair, quoted_turn, touches
from baselines.medconceal.record import Episode
from baselines.medconceal.typed import asks, marked
from baselines.medconceal.untrusted import heard
from baselines.medconceal.words import content_stems
from loaders.files.bundled import bundled

SHARE_IN_FINDING = 0.4
SHARE_IN_PATIENT = 0.4

_SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n+")
_CLOSED = re.compile(
    r"^\W*(?:so |and |but |ok(?:ay)?,? )*(?:do|does|did|are|is|was|were|have|has|had|can|could|will|would|should|any|"
    r"how (?:long|often|much|many|old|severe)|when|where|which|on a scale)\b",
    re.IGNORECASE,
)
_INVITES = re.compile(
    r"\b(?:tell me|share|describe|walk me through|help me understand|what else|go on|say more)\b", re.IGNORECASE
)

_VALUES = {
    row["value"]: re.compile(row["pattern"], re.IGNORECASE) for row in bundled("baselines.medconceal", "values.csv")
}


def judge(episode: Episode) -> Judgement:
    """The rules' judgement of an episode."""
    confirmation = episode.task == "confirmation"
    expressed, recognised = _values(episode) if confirmation else (None, None)
    return Judgement(
        pairs=_pairs(episode) if confirmation else None,
        openness=tuple(openness(heard(exchange.clinician)) for exchange in episode.exchanges),
        style=_style(episode),
        expressed=expressed,
        recognised=recognised,
        failures={},
        by_rules=True,
    )


def openness(turn: str) -> Openness:
    """Whether a turn invites the patient to tell; its last question decides.

    >>> [openness(turn) for turn in ("What worries you most?🙂", "Does it hurt?", "Tell me more.", "Take this daily.")]
    ['open', 'closed', 'open', 'closed']
    """
    questions = [part for part in _SENTENCES.split(marked(turn)) if asks(part)]
    if questions:
        clause = re.split(r"[,:]\s+", questions[-1])[-1]
        return "closed" if _CLOSED.match(clause) and not _INVITES.search(questions[-1]) else "open"
    return "open" if _INVITES.search(turn) else "closed"


def _pairs(episode: Episode) -> tuple[Pair, ...]:
    if episode.findings is None or episode.hidden is None:
        return ()
    replies = [exchange.patient for exchange in episode.exchanges]
    pairs = []
    for number, finding in enumerate(episode.findings.items):
        submitted = content_stems(heard(finding.description))
        for concern, hidden in enumerate(episode.hidden):
            # Patients phrase a concern in the words of its evidence; either wording will do.
            wanted = [content_stems(text) for text in (hidden.content, *hidden.evidence)]
            same = _share(wanted, submitted) >= SHARE_IN_FINDING
            quote = _quote(wanted, replies) if same else ""
            turn = quoted_turn(quote, replies) if quote and touches(quote, hidden) else None
            category_ok = finding.category == episode.categories[concern]
            pairs.append(Pair(number, concern, same, category_ok, quote, turn))
    return tuple(pairs)


def _quote(wanted: Sequence[frozenset[str]], replies: Sequence[str]) -> str:
    """The patient's sentence with most of the concern's words, or "" if none has enough."""
    sentences = [part for reply in replies for part in _SENTENCES.split(reply) if len(part.split()) >= SHORTEST_QUOTE]
    best = max(sentences, key=lambda part: _share(wanted, content_stems(part)), default="")
    return best if _share(wanted, content_stems(best)) >= SHARE_IN_PATIENT else ""


def _share(wanted: Sequence[frozenset[str]], found: frozenset[str]) -> float:
    """The largest share of a text's content words that stand in `found`."""
    return max((len(text & found) / len(text) for text in wanted if text), default=0.0)


def _style(episode: Episode) -> dict[str, int]:
    """0 if no turn has the dimension's feature at one half or more, 2 if a third of the turns do."""
    scores = {}
    for name in STYLES[episode.task]:
        values = [getattr(exchange.evaluation.features, FEATURE[name]) for exchange in episode.exchanges]
        had = sum(value >= 0.5 for value in values)
        scores[name] = 0 if had == 0 else 2 if 3 * had >= len(values) else 1
    return scores


def _values(episode: Episode) -> tuple[tuple[str, ...], tuple[str, ...]]:
    expressed, recognised = [], []
    for value, pattern in _VALUES.items():
        turns = [exchange.turn for exchange in episode.exchanges if pattern.search(exchange.patient)]
        if turns:
            expressed.append(value)
            later = [exchange.clinician for exchange in episode.exchanges if exchange.turn > turns[0]]
            if any(pattern.search(text) for text in later):
                recognised.append(value)
    return tuple(expressed), tuple(recognised)
