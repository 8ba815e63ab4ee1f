"""WordNet's synonyms for METEOR, read by NLTK's reader from any folder that holds WordNet's database files.

Looked for in this order: the folder given; NLTK's data (`corpora/wordnet`, or `corpora/wordnet.zip`, which is what
NLTK's downloader leaves); Debian's package `wordnet-base` (/usr/share/wordnet). Debian leaves out `lexnames` and
`index.sense`, which METEOR does not need.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from loaders.errors import InputError, MissingExtra
from loaders.files.paths import is_file, resolved

HOW_TO_GET_WORDNET = (
    "install Debian's wordnet-base, run python -m nltk.downloader wordnet, or name a folder of WordNet's files"
)
DEBIAN_FOLDER = Path("/usr/share/wordnet")
_NEEDED = [f"{kind}.{part}" for part in ("noun", "verb", "adj", "adv") for kind in ("data", "index")]
_NEEDED += ["noun.exc", "verb.exc", "adj.exc", "adv.exc"]


class WordNet:
    """What NLTK's METEOR needs of a WordNet, with each word looked up once; `reader` is NLTK's own."""

    def __init__(self, reader: Any) -> None:
        self.name = f"WordNet {reader.get_version()}"
        self.reader = reader
        self.synsets = cache(self._synsets)

    def _synsets(self, word: str) -> list[SimpleNamespace]:
        """The word's synonyms of one word each, of every sense and part of speech; empty where WordNet lacks it. All
        are one synset: METEOR takes the union over a word's, so that nothing is lost."""
        names = {lemma.name() for synset in self.reader.synsets(word) for lemma in synset.lemmas()}
        lemmas = [SimpleNamespace(name=partial(str, name)) for name in sorted(names) if "_" not in name]
        return [SimpleNamespace(lemmas=lambda: lemmas)] if lemmas else []


def find_wordnet(folder: Path | None = None) -> WordNet | None:
    """The WordNet of `folder`, or else the first one that this machine has; None if there is none. Raises InputError
    when `folder` holds no WordNet database, or NLTK cannot read the one that is there; MissingExtra without nltk."""
    with MissingExtra.needed("language", purpose="reading WordNet"):
        import nltk
    if folder is not None:
        return _read(resolved(folder))
    with _readable("NLTK's corpora/wordnet"):
        try:
            root = nltk.data.find("corpora/wordnet/")  # with the slash, a folder in wordnet.zip is found too
        except LookupError:
            root = None
        if root is not None:
            return WordNet(_reader(root))
    return None if _missing(DEBIAN_FOLDER) else _read(DEBIAN_FOLDER)


def _missing(folder: Path) -> list[str]:
    return [name for name in _NEEDED if not is_file(folder / name)]


def _read(folder: Path) -> WordNet:
    import nltk

    if missing := _missing(folder):
        raise InputError(
            folder, found=f"no WordNet database: {', '.join(missing)} not there", do=f"To get one: {HOW_TO_GET_WORDNET}"
        )
    if str(folder) not in nltk.data.path:
        nltk.data.path.append(str(folder))  # NLTK opens files only below its data path
    with _readable(folder):
        return WordNet(_reader(str(folder)))


@contextmanager
def _readable(where: Path | str) -> Iterator[None]:
    """Raises InputError for whatever NLTK raises on files that are no whole WordNet, which may be anything."""
    try:
        yield
    except Exception as problem:
        raise InputError(
            where,
            found=f"WordNet's files cannot be read ({type(problem).__name__}: {problem})",
            do=f"To get whole ones: {HOW_TO_GET_WORDNET}",
        ) from problem


def _reader(root: Any) -> Any:
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):  # type: ignore[misc]  # NLTK has no types
        def open(self, file: str) -> Any:
            if file == "lexnames":
                # Names of the 45 lexicographer files: read at the start, used by nothing that METEOR calls.
                return io.StringIO("".join(f"{number:02d}\tfile{number:02d}\t0\n" for number in range(45)))
            return super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """No mapping between versions: it would need `index.sense`, and only other languages use it."""

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The multilingual functions are not available")
        return Reader(root, None)
