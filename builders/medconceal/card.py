"""What the card of a release says besides numbers, by where its cases come from: the texts are in `dataset_cards`."""

from __future__ import annotations

from pydantic import JsonValue

from loaders.files.bundled import grouped


def written_card(invented: bool, source: str) -> dict[str, JsonValue]:
    """The texts about cases that are complete already: those of this project, or those of the table `source`."""
    return (
        _card("open terms", "invented", "written cases")
        if invented
        else _card("closed terms", "own cases", source=source)
    )


def threads_card(invented: bool, model: str) -> dict[str, JsonValue]:
    """The texts about cases that a model made of threads: of written ones, or of those of a forum."""
    of = ("open terms", "invented", "written threads") if invented else ("closed terms", "threads")
    return _card("retold", *of, model=model)


def _card(*of: str, **values: str) -> dict[str, JsonValue]:
    texts = grouped("dataset_cards", "medconceal.csv")
    facts = {row["fact"]: row["text"] for part in of for row in texts[part]}
    values |= {"what": facts.pop("what", "")}
    return {fact: text.format_map(values) for fact, text in facts.items()}
