"""A row that cannot be read, and how many of them a source may hold.

What is wrong with one row is a `BadRow`: a reader of rows yields it in the row's place, and raises only for a file that
is of another format as a whole. `loaders.files.tables` reads rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from loaders.errors import InputError

MAX_BAD = 1.0
"""Percentage of a source's rows that may be bad unless the user says otherwise."""
_SHOWN = 5


class BadRow(InputError):
    """A row that cannot be read: `reason` is worded the same for the same cause, `found` is about this row.

    Readers yield one in place of the row; callers that need every row raise it.
    """

    def __init__(self, where: object, *, reason: str, found: str = "", expected: str = "", do: str = "") -> None:
        self.reason = reason
        super().__init__(where, found=found or reason, expected=expected, do=do)

    @classmethod
    def of(cls, error: InputError) -> BadRow:
        """An error raised for a row, as that row's BadRow."""
        if isinstance(error, BadRow):
            return error
        reason = "an unusable value"
        return cls(error.where, reason=reason, found=error.found, expected=error.expected, do=error.do)

    def inside(self, path: Path) -> InputError:
        """The error for a caller that needs every row: it names the folder too, which what is stored must not."""
        return InputError(path.parent / self.where, found=self.found, expected=self.expected, do=self.do)

    @property
    def detail(self) -> str:
        """What an exclusion says in addition to the reason."""
        found = "" if self.found == self.reason else self.found
        return f"{found} (expected {self.expected})".strip() if self.expected else found


def check_bad(
    shown: Sequence[object], records: int, where: object, *, most: float = MAX_BAD, do: str = "Fix these rows"
) -> None:
    """Refuse a source in which more than `most` percent of the records are bad; each is `shown` in a few words.

    Raises: InputError that lists the first of them.
    """
    if not len(shown) <= records * most / 100:  # written so that NaN, as `most`, also refuses
        first = "; ".join(map(str, shown[:_SHOWN])) + "; …" * (len(shown) > _SHOWN)
        found = f"{len(shown):,} of {records:,} rows cannot be read: {first}"
        raise InputError(where, found=found, expected=f"at most {most:g} %", do=do)
