"""For modules that build releases of the same few photos again and again (`tests.parts.found_once`, imported only where
a test asks for it: scispaCy's environment has no OpenCV)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def found_once() -> Iterator[None]:
    """What depends on a photo or on the code alone is found out once."""
    from tests.parts.found_once import find_once

    with pytest.MonkeyPatch.context() as patch:
        find_once(patch)
        yield


@pytest.fixture
def measured_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a test in such a module that is about how photos are measured."""
    from tests.parts.found_once import measure_anew

    measure_anew(monkeypatch)
