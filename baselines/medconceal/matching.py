"""Which submitted findings are true: one-to-one matches that a patient's own words support (Appendix E.1, MC-G37).

A judge says of each pair of finding and concern whether they mean the same, and quotes the patient. Code checks that
the quote appears in a turn of the patient and touches the concern; a finding without one never counts, whatever
the judge says. Whether the category is right is computed, not asked. Among the remaining pairs, the assignment with
the most pairs is taken, each finding and each concern once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from baselines.medconceal.leaks import SPAN
from baselines.medconceal.machine import ENOUGH, Concern, touched
from baselines.medconceal.record import HiddenConcern
from baselines.medconceal.words import content_roots
from loaders.spans import shares_span, spans, words

SHORTEST_QUOTE = 3
"""Minimum words of a quote, unless it is a whole turn: "yes" occurs in every dialogue and supports nothing."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A judge's verdict on one finding and one concern, both by index.

    `turn` is the turn whose reply contains the quote, None if none does: such a pair is no match, whatever `same` says.
    """

    finding: int
    concern: int
    same: bool
    category_ok: bool
    quote: str
    turn: int | None

    @property
    def supported(self) -> bool:
        """Whether the pair may be matched."""
        return self.same and self.turn is not None


def quoted_turn(quote: str, replies: Sequence[str]) -> int | None:
    """The first turn (from 1) whose patient reply contains the quote word for word; None if none does.

    Case, punctuation, blanks and character forms are ignored; the order of words is not.

    >>> quoted_turn("afraid of the needle", ["Hello.", "I am AFRAID of the  needle!"])
    2
    >>> quoted_turn("the needle", ["the needle is long"]) is None
    True
    """
    wanted = words(quote)
    for turn, reply in enumerate(replies, start=1):
        whole = bool(wanted) and wanted == words(reply)
        if whole or (len(wanted) >= SHORTEST_QUOTE and tuple(wanted) in spans(reply, len(wanted))):
            return turn
    return None


def touches(quote: str, hidden: HiddenConcern) -> bool:
    """Whether a quote is about the concern: it repeats five words in a row of it or of its evidence, or the whole of
    a shorter text; or it holds a topic term of it, or two of its own words (`machine.touched`).

    Any three words of a patient can be quoted; only some of them support a finding. For a concern without topics one of
    its own words is enough. Evidence may be everyday words alone ("One said never and one said always"), and is what
    the patient says of the concern all the same.
    """
    texts = (hidden.content, *hidden.evidence)
    if any(shares_span(quote, [text], min(SPAN, max(SHORTEST_QUOTE, len(words(text))))) for text in texts):
        return True
    about = Concern.of(hidden.content, "", topics=hidden.topics, evidence=hidden.evidence)
    return touched(content_roots(quote), about) >= (1 if hidden.topics else 0.5) / ENOUGH


def match(pairs: Iterable[Pair]) -> list[Pair]:
    """The accepted pairs: most pairs, then most right categories, then the lowest indices (Hungarian method).

    The order of `pairs` makes no difference; of two verdicts on the same pair the supported one counts.
    """
    found = {(pair.finding, pair.concern): pair for pair in pairs if pair.supported}
    if not found:
        return []
    findings = 1 + max(finding for finding, _ in found)
    concerns = 1 + max(concern for _, concern in found)
    from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped, unused-ignore]

    # Whole numbers below 2^53, each scale larger than anything that the next one can add up to.
    few = min(findings, concerns)
    category = few * (findings + concerns + 1) * findings * concerns + 1
    size = category * (few + 2)
    weights = np.zeros((findings, concerns))
    for (finding, concern), pair in found.items():
        low = (findings - finding + concerns - concern) * findings * concerns + finding * concern
        weights[finding, concern] = size + category * pair.category_ok + low
    rows, columns = linear_sum_assignment(weights, maximize=True)
    chosen = zip(rows.tolist(), columns.tolist(), strict=True)
    return [found[place] for place in chosen if place in found]


def coarse_hits(submitted: Iterable[str], gold: Iterable[str]) -> int:
    """How many findings name a category that a concern has, each concern serving once (derived fact D2).

    >>> coarse_hits(["Communication Barriers", "Communication Barriers", "none"], ["Communication Barriers"])
    1
    """
    return (Counter(submitted) & Counter(gold)).total()
