"""From a thread to the facts and hidden concerns of a profile, by model; every concern quotes the patient (C.3, C.5).

A concern is dropped and counted if its quotation is not in the patient's own words, if its confidence is low, or if it
has no category. At most seven words of a quotation are published, with names masked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, cast, get_args

import pyarrow as pa

from builders.curation.privacy import OLDEST, SPAN, mask_names
from builders.medconceal.asking import Asker, as_json, asked, one_of, patient_texts, text_of, thread_texts, whole_of
from builders.medconceal.wording import check_chart, check_retold
from builders.pipeline.rows import Row
from loaders.files.bundled import bundled
from loaders.medconceal import CATEGORIES, DEEPEST, Category, Clinical, Literacy, Openness, Psychosocial, SelfManagement
from loaders.models.asking import Unfit, object_schema
from loaders.spans import spans, words

MIN_CONCERNS = 2  # the task tells clinicians that each patient has several
MOST_CONCERNS = 8
MIN_CONFIDENCE = 0.5  # MC-G30
MIN_QUOTED = 3  # words; fewer prove nothing
MOST_TOPICS, LONGEST_TOPIC = 12, 5  # terms per concern; words per term
TOKENS = 3_500

_DEMOGRAPHICS = ("sex", "marital_status", "education", "background")
_BLOCKS: dict[str, tuple[str, ...]] = {
    "clinical": (*Clinical.model_fields,),
    "psychosocial": (*Psychosocial.model_fields,),
    "roleplay": ("response_style", "disclosure_behavior"),
    "self_management_domains": (*SelfManagement.model_fields,),
}
_NEEDED = ("sex", "admission_reason", "response_style", "disclosure_behavior")
_CONCERN = object_schema(
    {
        "content": str,
        "category": CATEGORIES,
        "confidence": float,
        "evidence": [str],
        "cue": str,
        "depth": tuple(range(DEEPEST + 1)),
        "topics": [str],
    }
)
_ORDINALS: dict[str, tuple[str, ...]] = {"openness": get_args(Openness), "literacy": get_args(Literacy)}
_WHO = object_schema({**dict.fromkeys(_DEMOGRAPHICS, str), "age": int})
SCHEMA = object_schema(
    {
        "demographics": {**_WHO, "required": ["age", *_DEMOGRAPHICS]},
        **{block: object_schema(dict.fromkeys(names, str)) for block, names in _BLOCKS.items()},
        "roleplay": object_schema(dict.fromkeys(_BLOCKS["roleplay"], str) | _ORDINALS),
        "hidden_concerns": [_CONCERN],
    }
)


@asked("no profile", profile=pa.string(), dropped=pa.int64())
async def profile(row: Row, asker: Asker) -> Row:
    """The blocks and concerns of a profile, checked, as JSON; and how many concerns were dropped.

    Raises: Unfit if no answer fits the schema, or keeps at least two concerns that quote the patient; or it copies the
    conversation, or gives a concern away on the chart.
    """

    def read(answer: dict[str, Any]) -> Row:
        blocks = _blocks(answer)
        kept, dropped = _concerns(answer.get("hidden_concerns"), row)
        if len(kept) < MIN_CONCERNS:
            summary = "; ".join(f"{n} dropped: {reason}" for reason, n in sorted(dropped.items())) or "none given"
            raise Unfit(f'"hidden_concerns" keeps fewer than {MIN_CONCERNS} concerns ({summary})')
        visible = {name: blocks["demographics"][name] for name in ("sex", "background")} | blocks["clinical"]
        del visible["adherence_behavior"]
        check_chart(visible, kept)
        told = {**blocks, "hidden_concerns": kept}
        check_retold(told, thread_texts(row))
        return {"profile": as_json(told), "dropped": dropped.total()}

    categories = "\n".join(f"- {name}" for name in CATEGORIES)
    return await asker.ask("profile", row, SCHEMA, read, max_tokens=TOKENS, categories=categories)


def _blocks(answer: Mapping[str, Any]) -> dict[str, Any]:
    age = whole_of(_block(answer, "demographics"), "age", -1, 120, "a whole number of years, or -1")
    blocks: dict[str, Any] = {}
    for block, names in {"demographics": _DEMOGRAPHICS, **_BLOCKS}.items():
        value = _block(answer, block)
        blocks[block] = {name: text_of(value, name, empty=name not in _NEEDED) for name in names}
    # An ordinal that is missing or out of range is unknown; it does not cost the thread.
    said = _block(answer, "roleplay")
    blocks["roleplay"] |= {
        name: said.get(name) if said.get(name) in steps else None for name, steps in _ORDINALS.items()
    }
    blocks["demographics"]["age"] = None if age < 0 else min(age, OLDEST + 1)
    return blocks


def _block(answer: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    block = answer.get(name)
    if not isinstance(block, dict):
        raise Unfit(f'"{name}" is not an object')
    return block


def _concerns(value: object, row: Row) -> tuple[list[dict[str, Any]], Counter[str]]:
    """The concerns that hold, most certain first, and how many do not, by reason."""
    if not isinstance(value, list):
        raise Unfit('"hidden_concerns" is not a list')
    said = patient_texts(row)
    kept: list[dict[str, Any]] = []
    dropped: Counter[str] = Counter()
    for each in value:
        try:
            kept.append(_concern(each, said))
        except _Dropped as reason:
            dropped[str(reason)] += 1
    kept.sort(key=lambda concern: -concern["confidence"])
    distinct: dict[tuple[str, ...], dict[str, Any]] = {}
    for concern in kept:
        distinct.setdefault(tuple(words(concern["content"])), concern)
    if twice := len(kept) - len(distinct):
        dropped["the same concern twice"] += twice
        kept = [*distinct.values()]
    if len(kept) > MOST_CONCERNS:
        dropped["beyond the eighth concern"] += len(kept) - MOST_CONCERNS
    return kept[:MOST_CONCERNS], dropped


class _Dropped(Exception):
    """Why a concern is not kept."""


def _concern(value: object, said: list[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Dropped("no object")
    confidence = value.get("confidence")
    if not isinstance(confidence, int | float) or isinstance(confidence, bool) or not 0 <= confidence <= 1:
        raise _Dropped("confidence out of range")
    if confidence < MIN_CONFIDENCE:
        raise _Dropped("low confidence")
    category = category_of(value.get("category"))
    if category is None:
        raise _Dropped("no category")
    quoted = value.get("evidence")
    quotations = [text for text in quoted if isinstance(text, str)] if isinstance(quoted, list) else []
    stands = [text for text in quotations if _appears(text, said)]
    if not stands:
        raise _Dropped("evidence not in the thread")
    try:
        content = text_of(value, "content", most=300)
        cue = text_of(value, "cue", most=160, empty=True)
    except Unfit:
        raise _Dropped("no usable text") from None
    return {
        "content": content,
        "category": category,
        "confidence": float(confidence),
        "evidence": [publishable(text) for text in dict.fromkeys(stands)],
        "cue": cue or None,
        "depth": depth if type(depth := value.get("depth")) is int and 0 <= depth <= DEEPEST else None,
        "topics": _topics(value.get("topics")),
    }


def _topics(value: object) -> list[str]:
    """Words and short phrases, names masked, each once; of anything but a list none: the policy falls back."""
    terms = [mask_names(term.strip()) for term in value if isinstance(term, str)] if isinstance(value, list) else []
    fit = (term for term in terms if 0 < len(term.split()) <= LONGEST_TOPIC and "[" not in term)
    return list(dict.fromkeys(fit))[:MOST_TOPICS]


def category_of(said: object) -> Category | None:
    """The category that a label means, exactly or by another word for it; None for anything else.

    >>> category_of("emotional discomfort OR fear"), category_of("Misconception"), category_of("Other")
    ('Emotional Discomfort or Fear', 'Misinformation or Misconceptions', None)
    """
    aliases = {row["said"]: row["category"] for row in bundled("builders.medconceal", "categories.csv")}
    labels: dict[str, str] = aliases | {name: name for name in CATEGORIES}
    try:
        return cast(Category, labels[one_of(said, [*labels], "category")])
    except Unfit:
        return None


def publishable(quotation: str) -> str:
    """What a release holds of a quotation: its first seven words, names masked.

    >>> publishable("Old Marsh had them and was blind by spring")
    'Old [name] had them and was blind'
    """
    return mask_names(" ".join(quotation.split()[: SPAN - 1]))


def _appears(quotation: str, said: list[str]) -> bool:
    """Whether the words appear consecutively in one of the texts."""
    quoted = tuple(words(quotation))
    return len(quoted) >= MIN_QUOTED and any(quoted in spans(text, len(quoted)) for text in said)
