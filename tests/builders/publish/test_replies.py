"""Replies that are none."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from loaders.errors import HubError
from tests.parts.faulty_hub import FaultyHub
from tests.parts.publisher import FILES, REPO, ROUTES, Publisher, assert_published_once


@pytest.mark.parametrize("status", [200, 403, 409])
def test_a_repository_that_somebody_made_meanwhile(
    hub: FaultyHub, publisher: Publisher, release: Path, status: int
) -> None:
    """The real Hub has answered a 409 without the address of the repository."""

    def make() -> None:
        publisher.api.create_repo(REPO, repo_type="dataset")

    fault = hub.answer(
        "POST", "/repos/create", b'{"error": "You already created this dataset repo"}', status, action=make
    )
    assert_published_once(publisher, publisher(release))
    assert fault.hits == 1


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize("body", [b"{}", b"[]", b"null", b"", b"<html>Welcome to our network", b"[[]]"])
@pytest.mark.parametrize(("method", "route"), ROUTES)
def test_an_invalid_reply_is_one_error_or_ignored(
    hub: FaultyHub, publisher: Publisher, release: Path, method: str, route: str, body: bytes
) -> None:
    fault = hub.answer(method, route, body, times=999)
    with suppress(HubError):
        publisher(release, gated="auto")
    assert fault.hits
    fault.left = 0
    publisher(release, gated="auto")
    assert publisher.files("v1.0.0") == [".gitattributes", *FILES]
    assert publisher.tags() == {"v1.0.0": publisher.head()}


@pytest.mark.parametrize(("method", "route"), [("GET", "/whoami-v2"), ("GET", "/refs"), ("POST", "/commit/")])
def test_an_invalid_reply_is_named_and_requested_again(
    hub: FaultyHub, publisher: Publisher, release: Path, method: str, route: str
) -> None:
    hub.answer(method, route, b"[]")
    assert_published_once(publisher, publisher(release))
    assert publisher.waits == [1.0]
    assert any("the answer is not from a Hub" in line for line in publisher.said)
