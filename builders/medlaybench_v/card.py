"""What the card of MedLayBench-V says in addition to what every card says."""

from __future__ import annotations

from typing import Any, cast

from pydantic import JsonValue

from builders.chat import Chat
from builders.medlaybench_v.judge import Judge
from builders.recipe import licence_facts
from loaders.files.bundled import bundled
from loaders.manifest import Manifest

_BY_RULES = (
    "No language model was used. Expert terms found in the lay vocabulary were replaced in one pass that never touches "
    "a protected fact, names of pictures were unfolded, places were put behind their nouns, and fragments were made "
    "into sentences. The captions are plainer, not rewritten: expect the expert's order of thoughts."
)


def card(
    manifest: Manifest, origin: str, condition: str, chat: Chat | None, judge: Judge | None
) -> dict[str, JsonValue]:
    """The facts that the template needs; `origin` is that of the source of captions."""
    statistics = cast(dict[str, Any], manifest.statistics)
    return {
        **licence_facts(statistics["licence"], "rows", "each row's"),
        "credit": "",
        **{
            row["fact"]: row["text"] for row in bundled("dataset_cards", "medlaybench-v.csv") if row["origin"] == origin
        },
        "method": _BY_RULES if chat is None else _by_model(chat, condition, judge),
        "example_split": list(manifest.splits)[-1],
    }


def _by_model(chat: Chat, condition: str, judge: Judge | None) -> str:
    blocks = {
        "scgr": "the concepts with their lay phrases, the facts to keep and the draft",
        "llm+cui": "the list of medical terms",
        "llm": "nothing but the caption",
    }
    checked = (
        "A text that failed a gate was sent back with the failed gates named, twice at most; then the draft stood in."
        if condition == "scgr"
        else "This is an ablation build: a text that failed a gate was kept and is marked `ungated`."
    )
    if judge is not None:
        checked += (
            f" `{judge.model.name}` compared each text with the expert caption without knowing what the gates found. "
            "Where it decided, its opinion counted and not the gates of facts: a text that it found broken was sent "
            "back with its reason, and one that it found faithful although a gate failed is marked `judged`. The "
            "column `gates` holds its opinion as the entry `judge`."
        )
    return f"`{chat.model.name}` rewrote each caption; its prompt held {blocks[condition]}. {checked}"
