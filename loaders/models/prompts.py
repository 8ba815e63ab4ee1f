"""Prompt texts, one per file, with their digests; a user's folder replaces any of them by name.

A text holds placeholders such as `{{expert}}`. Which ones it may hold is known from the text that is shipped, or
stated, so that a wrong name in a user's file is found before anything is paid for.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loaders.errors import InputError
from loaders.files.paths import check_folder, is_file
from loaders.files.texts import read_text

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompts:
    """Name -> text."""

    texts: Mapping[str, str]

    @property
    def digests(self) -> dict[str, str]:
        """Name -> SHA-256 of the text, for the record of whatever used it."""
        return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in sorted(self.texts.items())}

    @property
    def words(self) -> dict[str, str]:
        """Name -> digest of the words alone, to tell whether a text differs in more than layout."""
        return {name: words_digest(text) for name, text in sorted(self.texts.items())}

    def fill(self, name: str, values: Mapping[str, str] | None = None) -> str:
        """The text of a prompt with its placeholders replaced in one pass: in a value none are searched for."""
        return _PLACEHOLDER.sub(lambda match: (values or {})[match[1]], self.texts[name]).strip()

    def holding(self, placeholder: str, names: Sequence[str], folder: Path | None) -> Prompts:
        """These texts. Raises InputError, about the user's `folder`, if none of the named ones holds a placeholder
        without which the model would not see what it is asked about."""
        if not any(placeholder in _PLACEHOLDER.findall(self.texts[name]) for name in names):
            files = " or ".join(f"{name}.md" for name in names)
            do = "Put it where the model is to read that text"
            raise InputError(folder or "prompts", found=f"no {{{{{placeholder}}}}}", expected=f"it in {files}", do=do)
        return self


def words_digest(text: str) -> str:
    """SHA-256 of a text's letters and digits, lower-cased and in order; placeholders do not count.

    >>> words_digest("Say {{what}}: hello!") == words_digest("say  HELLO")
    True
    """
    plain = _PLACEHOLDER.sub(" ", text).casefold()
    return hashlib.sha256("".join(char for char in plain if char.isalnum()).encode()).hexdigest()


def read_prompts(
    shipped: Path, known: Collection[str], folder: Path | None = None, beside: Collection[str] = ()
) -> Prompts:
    """The texts named in `known` in the folder `shipped`. Each may hold the placeholders of the one that is shipped, or
    those that `known` maps it to.

    Each is replaced by the file of the same name in `folder`, if there is one. The texts named in `beside` may stand
    there too, for somebody else who is asked.

    Raises InputError: `folder` is missing or holds none of the files, a text is empty or not UTF-8, a placeholder is
    unknown.
    """
    if folder is not None and not any(is_file(folder / f"{name}.md") for name in (*known, *beside)):
        expected = f"a folder that holds any of {', '.join(f'{name}.md' for name in (*known, *beside))}"
        check_folder(folder, expected)
        raise InputError(folder, found="no prompt text", expected=expected)
    texts = {}
    for name in known:
        own = folder / f"{name}.md" if folder else None
        path = own if own is not None and is_file(own) else shipped / f"{name}.md"
        texts[name] = read_text(path, most=1 << 20, expected="a prompt")
        placeholders = known[name] if isinstance(known, Mapping) else _shipped(shipped / f"{name}.md")
        if not texts[name].strip():
            raise InputError(path, found="no text", expected="a prompt")
        for placeholder in _PLACEHOLDER.findall(texts[name]):
            if placeholder not in placeholders:
                expected = ", ".join(f"{{{{{one}}}}}" for one in sorted(placeholders)) or "no placeholder"
                raise InputError(path, found=f"unknown placeholder {{{{{placeholder}}}}}", expected=expected)
    return Prompts(texts)


def _shipped(path: Path) -> frozenset[str]:
    return frozenset(_PLACEHOLDER.findall(path.read_text(encoding="utf-8")))
