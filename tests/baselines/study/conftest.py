"""A Postgres server for the tests of the study, and a database of one's own there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from scripts.bench import postgres as server

_number = count()


@pytest.fixture(scope="session")
def _cluster() -> Iterator[str]:
    """A server, started once; where there is none, its tests are skipped, with the reason."""
    try:
        with server.postgres() as url:
            yield url
    except server.NoPostgres as error:
        pytest.skip(str(error))


@pytest.fixture
def postgres(_cluster: str) -> str:
    """The URL of an empty database."""
    import psycopg

    name = f"study{next(_number)}"
    with psycopg.connect(_cluster, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return _cluster.rpartition("/")[0] + f"/{name}"
