"""The errors that a user can meet.

    BedsideError
    ├── InputError      a file, row or option that cannot be used
    ├── MissingExtra    an optional package that is not installed
    ├── ModelError      a chat model, encoder or model pack that cannot be used or does not answer
    │   └── ModelRefused    a chat model that would refuse every other request too: a wrong key, name or address
    ├── ReleaseError    a release whose files, counts or digests do not agree
    └── HubError        the Hub refused, vanished or holds something else

Each carries four short texts: `where` it happened, what was `found`, what was `expected`, and what to `do`. The command
line prints these and nothing else; users never see a traceback of one of these errors.
"""

from __future__ import annotations

import copyreg
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from loaders.installed import advice, missing

# The verbs with which a text of `found` begins if `where` is its subject.
_VERB = re.compile(
    "(?:already exists|already holds|cannot|changed during|does|ends|exists|failed|finds|gave|had|has|holds|is|lacks|"
    "leads|lies|may|names|needs|refused|refuses|returned|says|states|takes|unpacks|wants|was)(?![^ ,])"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

# What to do about what many readers find, each in its own words.
CHECK_PATH = "Check the path"
CHECK_FOLDER = "Check that it is the right folder"
CHECK_WHOLE = "Check that it is the right one, and that it was saved or fetched whole"
CHECK_LINES = "Check that it is text with line breaks"
NAME_FILE = "Name a file"
NAME_FOLDER = "Name a folder"
NAME_ANOTHER = "Choose another name"
NEWER = "Install a newer version of Bedside"


class BedsideError(Exception):
    """A problem that the user can act on: where it is, what was found, what was expected, what to do."""

    def __init__(self, where: object, *, found: str, expected: str = "", do: str = "") -> None:
        self.where, self.found, self.expected, self.do = map(printable, (str(where), found, expected, do))
        super().__init__(str(self))

    def __str__(self) -> str:
        text = f"{self.where}: {self.found}"
        if self.expected:
            text += f" (expected {self.expected})"
        if self.do:
            text += f". {self.do}"
        return text

    def lines(self) -> list[str]:
        """What a screen shows below "Error" and `where`: a line each for what there is to say.

        What was found may be a thing ("no column 'id'") or what `where` is or does ("has no column 'id'"), which needs
        a subject behind the label.
        """
        found = f"it {self.found}" if _VERB.match(self.found) else self.found
        said = (("found", found), ("expected", self.expected), ("do", self.do))
        return [f"  {label:<9}{text}" for label, text in said if text]

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows (IPython asks for it), in place of the frames of libraries."""
        return [f"Error {self.where}", *self.lines()]

    def __reduce__(self) -> tuple[object, ...]:
        # By default a class is called with its text alone, and workers send errors back by pickle.
        return copyreg.__newobj__, (type(self), str(self)), vars(self)  # type: ignore[attr-defined]


def printable(text: str) -> str:
    """The text made safe for any terminal: file names and table cells may contain anything."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def first_of(names: Sequence[str], most: int = 5) -> str:
    """The first of some names for a sentence, and how many more there are.

    >>> first_of(["a", "b", "c"], 2), first_of(["a", "b"])
    ('a, b and 1 more', 'a, b')
    """
    return ", ".join(names[:most]) + f" and {len(names) - most:,} more" * (len(names) > most)


def how_many(number: int, one: str, many: str = "") -> str:
    """A number of things, for a sentence; `many` if that is not `one` with an s.

    >>> how_many(1, "row"), how_many(1200, "row"), how_many(0, "query", "queries")
    ('1 row', '1,200 rows', '0 queries')
    """
    return f"{number:,} {in_number(number, one, many)}"


def in_number(number: float, one: str, many: str = "") -> str:
    """The word alone, beside a number that is written otherwise, as in the names of stored results.

    >>> [f"{number:g} {in_number(number, 'case')}" for number in (1000, 1, 0.5)]
    ['1000 cases', '1 case', '0.5 cases']
    """
    return one if number == 1 else many or one + "s"


def unknown_fact(name: str) -> dict[str, str]:
    """What an error says about a fact in a file of ours that this version does not know: a newer one wrote it."""
    return {"found": f"says {name}, which this Bedside does not know", "expected": "facts that it knows", "do": NEWER}


class InputError(BedsideError):
    """A file, row or option that cannot be used as it is."""


class MissingExtra(BedsideError):
    """An optional package is not installed.

    >>> print(MissingExtra.named("medcat", extra="medcat", purpose="reading a MedCAT model pack"))  # doctest: +ELLIPSIS
    medcat: is not installed (expected for reading a MedCAT model pack). Install it with: ...[medcat]...
    """

    @classmethod
    def named(cls, package: str, *, extra: str, purpose: str) -> MissingExtra:
        return cls(package, found="is not installed", expected=f"for {purpose}", do=f"Install it with: {advice(extra)}")

    @classmethod
    @contextmanager
    def needed(cls, extra: str, *, purpose: str) -> Iterator[None]:
        """Context in which imports come from an optional extra."""
        try:
            yield
        except ImportError as error:
            missing = cls.named(str(error.name or extra).partition(".")[0], extra=extra, purpose=purpose)
            if not isinstance(error, ModuleNotFoundError):
                missing.found = printable(f"cannot be imported ({error})")
            raise missing from error

    @classmethod
    def check(cls, extra: str, *, purpose: str) -> None:
        """Raise MissingExtra unless an extra is installed: call it before long work that would otherwise fail late."""
        if package := missing(extra):
            raise cls.named(package, extra=extra, purpose=purpose)


class ModelError(BedsideError):
    """A chat model, encoder or model pack cannot be used or does not answer."""


class ModelRefused(ModelError):
    """A chat model refused a request, and would refuse every other of the run: a wrong key, name or address, or no
    credit left."""


class ReleaseError(BedsideError):
    """A release's files, schema, counts or digests do not agree with its manifest."""


class HubError(BedsideError):
    """The Hub refused a request, did not answer, or holds something other than expected."""
