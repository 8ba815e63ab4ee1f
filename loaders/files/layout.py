"""What the folders of a photo say about it, wherever folders are read: curated, trained on or predicted on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from loaders.files.cells import plain_label

SPLIT_NAMES = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("validation", "val", "valid", "dev"), "validation"),
    **dict.fromkeys(("test", "testing"), "test"),
}
"""What a split may be called -> its name, which comes first of them."""


class Layout(NamedTuple):
    """What the names of folders say; "" for what they do not."""

    split: str
    label: str
    source: str


def layout(name: str) -> Layout:
    """What the folders of a file say, by its path with slashes below the folder that was named: the outermost that is
    named like a split is the split; of the others, the innermost is the label and, of several, the outermost the
    source.

    >>> layout("isic/train/2019/acne/a.jpg"), layout("acne/a.jpg")
    (Layout(split='train', label='acne', source='isic'), Layout(split='', label='acne', source=''))
    """
    folders = name.split("/")[:-1]
    split = next((part.casefold() for part in folders if part.casefold() in SPLIT_NAMES), "")
    others = [part for part in folders if part.casefold() not in SPLIT_NAMES]
    return Layout(split, others[-1] if others else "", others[0] if len(others) > 1 else "")


def plain_split(split: str) -> str:
    """A split by its name in SPLIT_NAMES, or else normalised as a label."""
    name = plain_label(split)
    return SPLIT_NAMES.get(name, name)


def first_spelling(names: Iterable[str], plain: Callable[[str], str] = plain_label) -> dict[str, str]:
    """For each label, or split, the first of those that differ from it only in spelling.

    >>> first_spelling(["Mouth_Ulcer", "acne", "mouth ulcer"])["mouth ulcer"]
    'Mouth_Ulcer'
    """
    first: dict[str, str] = {}
    return {name: first.setdefault(plain(name), name) for name in names}
