"""The pages of a study, gone through in Chromium by keyboard alone: pictures of each page, a recording of each task.

    python -m scripts.bench.study_pages --out runs/study-pages            # every task
    python -m scripts.bench.study_pages pairs --no-script

Writes OUT/<task>/<number>-<page>-<width>-<light|dark>.png at 390 and 1400 px, and OUT/<task>/keyboard.zip, a trace in
which every keystroke can be viewed: playwright show-trace OUT/<task>/keyboard.zip. Besides the pages of an ordinary
session, it takes rare ones: rejected forms, Stop, a patient who is thinking, a clock that runs out, no connection, a
coordinator with many people. The study is a rehearsal on the bundled samples. Needs playwright and a Chromium (Debian:
apt install chromium).
"""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from baselines.study import people as who
from baselines.study.access import make_link
from baselines.study.begun import write_study
from baselines.study.design import TALKS, TASKS, TaskName
from baselines.study.flow import Stage
from baselines.study.people import invite
from baselines.study.routes import create_app
from baselines.study.site import Site
from baselines.study.tables import people, slots
from baselines.study.views import place_of

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
TURNS = (
    "Hello, what brings you in today?",
    "That sounds hard. What worries you most about it?",
    "Many people worry about the cost. Is that on your mind as well?",
    "Thank you for telling me. What would help you now?",
    "Is there anything else that you would like to say?",
)
_WORDS = "Fears what it will cost."
_FOCUSED = """() => { const one = document.activeElement, form = one.closest('main form');
  return form && {tag: one.tagName, type: one.type, name: one.name, text: one.textContent.trim(), id: form.id,
    quiet: one.className.includes('quiet'), empty: !one.value,
    seen: getComputedStyle(one).outlineStyle !== 'none' || !!one.closest('.choice:focus-within')} }"""
_HEARD = """() => document.readyState !== 'complete' || !document.querySelector('h1') ? null
  : document.querySelector('#log') ? document.querySelectorAll('#log li.patient').length : Infinity"""
app = typer.Typer(add_completion=False)


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

        for _ in range(200):
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


@app.command()
def main(
    tasks: Annotated[list[str] | None, typer.Argument(metavar="TASK…", help="All without one.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where all is written.")] = Path("runs/study-pages"),
    script: Annotated[bool, typer.Option("--script/--no-script", help="With the pages' script, or without.")] = True,
) -> None:
    """Pictures of every page, and a recording of each task by keyboard alone."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for task in TASKS:
            if not tasks or task in tasks:
                with tempfile.TemporaryDirectory() as place:
                    print(_task(browser, task, Path(place) / "study", out / task, script))
        browser.close()


def _task(browser: Any, task: TaskName, folder: Path, out: Path, script: bool) -> str:
    from scripts.study.serve import Serving, rehearsing

    write_study(folder, task)
    site = rehearsing(Serving(data="sample", study=folder, rehearsal=True), cases=4 if task in TALKS else 2)
    with site.store.writing() as connection:
        (_, link), (_, second), *_ = invite(connection, site.keys, 9, time.time())
        login = make_link(connection, None, time.time())
    with served(site) as address:
        context = browser.new_context(viewport={"width": 1280, "height": 800}, java_script_enabled=script)
        context.tracing.start(screenshots=True, snapshots=True)
        page = context.new_page()
        pictures = _Pictures(page, out, scripted=script)
        page.goto(f"{address}/i/{link}")
        through(Keyboard(page), pictures.take)
        context.tracing.stop(path=out / "keyboard.zip")
        context.close()
        others = browser.new_context(java_script_enabled=script)
        pictures.page = others.new_page()
        _seldom(site, pictures, f"{address}/i/{second}")
        others.close()
        others = browser.new_context()
        pictures.page = page = others.new_page()
        page.goto(f"{address}/c/{login}")
        pictures.take("Sign in")
        page.click("main form button")
        _busy(site)
        page.reload()
        pictures.take(page.inner_text("h1"))
        page.fill("#who", "P003")
        page.select_option("#factor", index=1)
        page.click("[action='/coordinator/grant'] button")
        pictures.take("Coordinator granted")
        page.goto(f"{address}/nowhere")
        pictures.take("Nothing here")
        others.close()
    return f"{out}: {pictures.count} pictures, keyboard.zip"


def _seldom(site: Site, pictures: _Pictures, link: str) -> None:
    """The pages of somebody who forgets fields, waits, runs out of time, and stops."""
    page = pictures.page
    person = Keyboard(page)

    def not_taken() -> None:
        pictures.take(person.title)
        page.eval_on_selector("main form", "form => form.noValidate = true")
        with page.expect_navigation():
            page.locator("main form button:not(.quiet)").first.click()
        pictures.take(f"{person.title} not taken")

    page.goto(link)
    for title in ("You are invited", "Consent", "About you", "Instructions", "Practice", "About your practice"):
        if title in ("Consent", "About you") or page.locator("[action='/do/practice']").count():
            not_taken()
        person.answer()
    page.check("[name=check0][value='1']")
    page.check("[name=check1][value='0']")
    page.click("main form button")
    pictures.take("Instructions again")
    while "instructions" in person.title.lower() or "ractice" in person.title:
        person.answer()
    if page.locator("[action='/do/begin']").count():
        _waiting(site, pictures, person)
    else:
        not_taken()
    page.click("header form button")
    not_taken()
    page.check("[value=delete]")
    page.click("button.danger")
    pictures.take(person.title)
    page.goto(link.partition("/i/")[0])
    pictures.take(person.title)


def _waiting(site: Site, pictures: _Pictures, person: Keyboard) -> None:
    """A conversation that waits for the patient, and whose time ends."""
    page = pictures.page
    person.answer()
    for _ in range(3):
        person.answer()
    mine = slots.update().where(slots.c.step == "talk")

    def change(**values: object) -> None:
        with site.store.writing() as connection:
            connection.execute(mine.values(**values))
        page.reload()

    now = time.time()
    change(since=None, busy=now + 3600)
    pictures.take("Conversation thinking")
    change(failing=now)
    pictures.take("Conversation trouble")
    change(since=now, busy=None, failing=None, used=500.0)
    pictures.take("Conversation late")
    if pictures.scripted:
        page.route("**/status", lambda route: route.abort())
        page.wait_for_selector("#stands:has-text('no connection')", timeout=20_000)
        pictures.take("Conversation no connection")
        page.unroute("**/status")
    change(since=now - 700, used=0.0)
    pictures.take("Time up")


def _busy(site: Site) -> None:
    """People at every stage, for the coordinator's page."""
    stages: tuple[Stage, ...] = ("consent", "survey", "work", "declined", "withdrawn")
    with site.store.writing() as connection:
        for person, stage in zip(who.everybody(connection)[2:], stages, strict=False):
            who.move(connection, person, stage, time.time())
            if stage == "work":
                place_of(connection, site, person.id)
        connection.execute(people.update().where(people.c.id == "P001").values(paste=14, tries=2))


class _Pictures:
    """Takes pictures of pages, each of them once. `scripted`: with the pages' script."""

    def __init__(self, page: Any, out: Path, *, scripted: bool) -> None:
        self.page, self._out, self.count, self.scripted = page, out, 0, scripted
        self._taken: list[str] = []
        out.mkdir(parents=True, exist_ok=True)

    def take(self, title: str) -> None:
        kind = re.sub(
            r"\W+", "-", f"{title}{' talking' if self.page.locator('#log li.patient').count() else ''}"
        ).lower()
        if kind in self._taken:
            return
        self._taken.append(kind)
        size = self.page.viewport_size
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            for width in (390, 1400):
                self.page.set_viewport_size({"width": width, "height": 844})
                self.page.evaluate("scrollTo(0, 0)")
                name = f"{len(self._taken):02}-{kind}-{width}-{scheme}.png"
                self.page.screenshot(path=self._out / name, full_page=True)
                self.count += 1
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size(size)


if __name__ == "__main__":
    app()
