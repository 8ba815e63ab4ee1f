"""What the card of MedLayBench-V says in addition to what every card says."""

from __future__ import annotations

from typing import Any, cast

from pydantic import JsonValue

from builders.chat import Chat
from builders.medlaybench_v.judge import Judge
from builders.medlaybench_v.sources import ARTICLES, OWN, WRITTEN
from builders.recipe import licence_facts
from loaders.manifest import Manifest

_BY_RULES = (
    "No language model was used. Expert terms found in the lay vocabulary were replaced in one pass that never touches "
    "a protected fact, names of pictures were unfolded, places were put behind their nouns, and fragments were made "
    "into sentences. The captions are plainer, not rewritten: expect the expert's order of thoughts."
)
_PROVENANCE: dict[str, dict[str, JsonValue]] = {
    WRITTEN: {
        "collection": "Captions and drawings that were made for this project; nobody was asked or photographed.",
        "biases": "Written examples: they show what their authors thought of, not what is seen in a clinic.",
        "sensitive": "None: ages and findings are made up, and nobody is described.",
    },
    ARTICLES: {
        "collection": "Figures and captions of open-access articles in PubMed Central, as the source named in this "
        "card holds them; nobody was asked or photographed for this corpus.",
        "biases": "Published cases: rare and striking findings are over-represented, and so are the languages, "
        "countries and equipment of those who publish.",
        "sensitive": "Ages, histories and images of patients as their authors published them; no names.",
        "credit": "; images and captions of ROCOv2 are by Rückert et al. (2024)",
    },
    OWN: {
        "collection": "Records of the maintainer's own, from the source named in this card. How they were collected, "
        "who wrote the expert captions, and whether those whom they show agreed, is not stated by the maintainer.",
        "biases": "Whom the records show, and whom not, is not stated by the maintainer.",
        "sensitive": "What the records tell of patients is not stated by the maintainer. Ages, histories and images of "
        "patients stand here as the source has them: no caption was searched for names.",
    },
}


def card(
    manifest: Manifest, origin: str, condition: str, chat: Chat | None, judge: Judge | None
) -> dict[str, JsonValue]:
    """The facts that the template needs; `origin` is that of the source of captions."""
    statistics = cast(dict[str, Any], manifest.statistics)
    return {
        **licence_facts(statistics["licence"], "rows", "each row's"),
        "credit": "",
        **_PROVENANCE[origin],
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
