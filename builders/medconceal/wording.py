"""The two rules of wording for every published text: it must not repeat its thread, and no chart may repeat a concern.

They are checked while a model can still be asked to reword, and once more before a row is released.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from builders.curation.privacy import SPAN, survivors
from loaders.medconceal import repeated_on
from loaders.models.asking import Unfit


def texts_of(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text in nested values with the path of its field.

    >>> list(texts_of({"a": {"b": "x"}, "c": ["y", 1]}))
    [('a.b', 'x'), ('c.0', 'y')]
    """
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from texts_of(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from texts_of(inner, f"{path}.{number}")


def check_retold(value: Any, thread: Iterable[str]) -> None:
    """Raises Unfit if a text in the value shares eight consecutive words with the thread; it names the fields."""
    if repeated := survivors(dict(texts_of(value)), thread):
        raise Unfit(f"{', '.join(repeated)}: {SPAN} words in a row or more are copied from the conversation")


def check_chart(visible: Mapping[str, str], concerns: Iterable[Mapping[str, Any]]) -> None:
    """Raises Unfit if a text of the chart gives a concern or its evidence away; it names the fields."""
    hidden = [text for concern in concerns for text in (concern["content"], *concern["evidence"])]
    if telling := repeated_on(visible, hidden):
        raise Unfit(f"{', '.join(telling)}: repeats a hidden concern")
