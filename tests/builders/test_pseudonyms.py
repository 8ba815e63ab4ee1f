"""The key behind pseudonyms: made once, kept, and for its owner alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders.pseudonyms import KEY_FILE, read_key


def test_of_two_builds_that_begin_at_once_the_first_makes_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = read_key(None, tmp_path)
    monkeypatch.setattr("builders.pseudonyms.is_there", lambda path: False)  # as when the second looked
    assert read_key(None, tmp_path) == first == (tmp_path / KEY_FILE).read_bytes()
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o077 == 0
