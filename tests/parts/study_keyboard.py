"""Somebody without a mouse, who goes through the pages of a study in Chromium."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from baselines.study.routes import create_app
from baselines.study.site import Site
from tests.parts.study_talks import TURNS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_WORDS = "Fears what it will cost."
_FOCUSED = """() => { const one = document.activeElement, form = one.closest('main form');
  return form && {tag: one.tagName, type: one.type, name: one.name, text: one.textContent.trim(), id: form.id,
    quiet: one.className.includes('quiet'), empty: !one.value,
    seen: getComputedStyle(one).outlineStyle !== 'none' || !!one.closest('.choice:focus-within')} }"""
_HEARD = """() => document.readyState !== 'complete' || !document.querySelector('h1') ? null
  : document.querySelector('#log') ? document.querySelectorAll('#log li.patient').length : Infinity"""


@contextmanager
def served(site: Site) -> Iterator[str]:
    """A study over HTTP on the loopback, in a thread; its address."""
    import socket

    import uvicorn

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    address = f"http://localhost:{listening.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(create_app(site, [address]), log_level="critical", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield address
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


class Keyboard:
    """Somebody without a mouse, at a page of a study. `arrows` is how far down a list they go."""

    def __init__(self, page: Any, arrows: int = 1) -> None:
        self.page, self._arrows, self._said = page, arrows, 0

    @property
    def title(self) -> str:
        return str(self.page.inner_text("h1"))

    @property
    def _talks(self) -> bool:
        """Whether the conversation cannot be ended yet."""
        return int(self.page.locator("#finish button").count()) == 0

    def answer(self) -> None:
        """Fills the form of the page, field by field, and presses its button. Raises AssertionError where Tab does not
        come to it, or what has the focus does not show it."""
        done: set[str] = set()
        talk = self.page.locator("#say").count() > 0
        for _ in range(80):
            at = self.page.evaluate(_FOCUSED)
            if at is not None:
                assert at["seen"], (self.title, at)
                if at["tag"] == "BUTTON":
                    if self._pressed(at, talk):
                        return
                elif at["name"] not in done:
                    done.add(at["name"])
                    self._fill(at, talk)
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not lead to the button of: {self.title}")

    def _pressed(self, at: dict[str, Any], talk: bool) -> bool:
        """Presses the button that has the focus, where it is the one that goes on; whether it was."""
        if talk and at["id"] == "say" and self._talks:
            self.page.keyboard.press("Enter")
            self._said += 1
            self._heard(self._said)
            return True
        if at["id"] == "say" or (at["quiet"] and at["id"] != "finish"):
            return False
        self._said = 0
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")
        return True

    def _heard(self, replies: int) -> None:
        """Waits for so many replies, or for the page after the talk: on a whole page, never on one half arrived."""
        from playwright.sync_api import Error

        for _ in range(1_200):
            with suppress(Error):  # the next page is on its way
                heard = self.page.evaluate(_HEARD)
                if heard is not None and heard >= replies:
                    return
                if self.page.locator("#state a").count():  # without script the page is asked for
                    self.page.reload()
            self.page.wait_for_timeout(50)
        raise AssertionError("no reply")

    def _fill(self, at: dict[str, Any], talk: bool) -> None:
        press = self.page.keyboard.press
        if at["tag"] == "SELECT":
            for _ in range(self._arrows):
                press("ArrowDown")
        elif at["type"] == "radio":
            press("Space")
            # The right answer about the instructions, wherever it was drawn to stand.
            while at["name"].startswith("check") and not self.page.is_checked(f"[name={at['name']}][value='0']"):
                press("ArrowDown")
            if self.page.locator(".scale").count():
                for _ in range(self._arrows):
                    press("ArrowRight")
        elif at["type"] in ("textarea", "text") and at["name"] != "quote" and (not talk or self._talks):
            self.page.keyboard.type(TURNS[self._said % len(TURNS)] if talk else _WORDS)


def through(person: Keyboard, look: Callable[[str], None]) -> None:
    """From the page of the invitation to the end; `look` is called at every page, and twice in a talk."""
    for _ in range(200):
        look(person.title)
        if person.page.locator("main form").count() == 0:
            return
        person.answer()
    raise AssertionError(f"no end: {person.title}")
