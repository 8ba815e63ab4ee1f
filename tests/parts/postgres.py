"""A Postgres server of one's own for a test, which is skipped, with the reason, where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from scripts.bench import postgres as own


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of an empty database."""
    with ExitStack() as stack:
        try:
            url = stack.enter_context(own.postgres())
        except own.NoPostgres as error:
            pytest.skip(str(error))
        yield url
