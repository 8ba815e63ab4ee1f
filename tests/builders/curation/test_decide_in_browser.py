"""The page of decisions in a browser: what this browser remembers, and what the next build knows of it.

It needs the package playwright and a Chromium, which little else does; without them it is left out, and says so.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from builders.curation.review import Decision
from builders.curation.review_page import Question, Words, write_questions

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
sync_api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")

COLUMNS = ("case_id", "decision", "reason", "content")


def _write(page: Path, decided: dict[str, Decision]) -> Path:
    asked = [Question(key, "0" * 64, key, "other", decided.get(key)) for key in "abcd"]
    write_questions(asked, Words("Cases", "", "build", COLUMNS, {"unsafe": "", "other": ""}), page)
    return page


def _exported(tab: Any) -> dict[str, str]:
    with tab.expect_download() as told:
        tab.keyboard.press("e")
    _, *rows = told.value.path().read_text("utf-8").splitlines()
    return {key: decision for key, decision, *_ in (row.split(",") for row in rows)}


def _reload(tab: Any) -> None:
    tab.wait_for_timeout(2000)  # a busy Chromium loses what a page stored within the second before
    tab.reload()


def test_a_later_page_holds_the_decisions_of_its_build_and_those_made_here_since(tmp_path: Path) -> None:
    with sync_api.sync_playwright() as playwright:
        tab = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"]).new_page()
        page = _write(tmp_path / "page.html", {"d": Decision("reject", "unsafe")})
        tab.goto(page.as_uri())
        tab.keyboard.press("a")
        assert _exported(tab) == {"a": "accept", "d": "reject"}
        # The next build also read the file of another reader.
        told = {"a": Decision("accept"), "b": Decision("reject", "other"), "d": Decision("reject", "unsafe")}
        _write(page, told)
        _reload(tab)
        assert _exported(tab) == {"a": "accept", "b": "reject", "d": "reject"}
        tab.keyboard.press("r")  # b is shown: it keeps its decision
        tab.keyboard.press("r")  # c
        tab.keyboard.press("u")  # d
        _reload(tab)
        assert _exported(tab) == {"a": "accept", "b": "reject", "c": "reject"}
