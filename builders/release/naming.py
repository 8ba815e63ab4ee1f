"""What only a published release states: its repository and version, in the card and croissant.json."""

from __future__ import annotations

import json

CARD, CROISSANT = "README.md", "croissant.json"
ADDED = ("url", "version", "datePublished", "creator")
"""Fields of croissant.json that only a published release has, or that only publishing can fill."""
REPOSITORY, TAG, SAME_TAG = "<this repository>", "<one of its tags, such as v1.0.0>", "<the same tag>"
"""Placeholders in a card for the repository and the version as which it will be published."""


def named_card(text: str, repository: str, tag: str) -> str:
    """A card with the repository and the version that it was published as."""
    return text.replace(REPOSITORY, repository).replace(TAG, tag).replace(SAME_TAG, tag)


def named_croissant(text: str, address: str, tag: str, date: str = "") -> str:
    """The croissant.json of a release at that address under that tag, published on that date if one is given.

    Its creator is the owner of the repository, not the software that built the data set.
    """
    hub, _, repository = address.rpartition("/datasets/")
    owner = repository.partition("/")[0]
    creator = {"@type": "sc:Organization", "name": owner, "url": f"{hub}/{owner}"}
    document = json.loads(text) | {"url": address, "version": tag.removeprefix("v"), "creator": creator}
    return json.dumps(document | ({"datePublished": date} if date else {}), ensure_ascii=False, indent=1) + "\n"
