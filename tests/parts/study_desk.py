"""A browser's window at the pages of a study. One serves many tests: to open another takes as long as a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from baselines.study import slots as at
from baselines.study.access import COOKIE, begin
from baselines.study.flow import Stage
from baselines.study.people import invite
from baselines.study.site import Site
from baselines.study.tables import people
from tests.parts.study_keyboard import CHROMIUM, served

SIZE = {"width": 1400, "height": 900}


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def window_of(browser: Any, **options: Any) -> Any:
    """An empty page in a context of its own."""
    page = browser.new_context(viewport=SIZE, **options).new_page()
    page.set_default_timeout(60_000)
    return page


@contextmanager
def at_desk(window: Any, site: Site) -> Iterator[Desk]:
    """A window at a study that is served meanwhile; afterwards the window is as it was."""
    with served(site) as address:
        desk = Desk(window, site, address)
        try:
            yield desk
        finally:
            desk.leave()


class Desk:
    """A window at the pages of a study, and what its console complained of."""

    def __init__(self, page: Any, site: Site, address: str) -> None:
        self.page, self.site, self.address = page, site, address
        self.problems: list[str] = []
        self._heard: dict[str, Callable[[Any], None]] = {
            "pageerror": lambda error: self.problems.append(str(error)),
            "console": lambda told: self.problems.append(told.text) if "Content" in told.text else None,
        }
        for what, hears in self._heard.items():
            page.on(what, hears)

    def leave(self) -> None:
        """Undoes whatever a test did to the window."""
        for what, hears in self._heard.items():
            self.page.remove_listener(what, hears)
        for page in self.page.context.pages:
            page.unroute_all()
            if page is not self.page:
                page.close()
        self.page.goto("about:blank")
        self.page.context.clear_cookies()
        self.page.emulate_media(color_scheme="light", reduced_motion="no-preference")
        self.page.set_viewport_size(SIZE)

    @property
    def title(self) -> str:
        return str(self.page.inner_text("h1"))

    def come(self) -> str:
        """The page of the invitation of somebody new; its address."""
        with self.site.store.writing() as connection:
            ((_, token),) = invite(connection, self.site.keys, 1, self.site.clock())
        self.page.goto(f"{self.address}/i/{token}")
        return f"/i/{token}"

    def sit_down(self, stage: Stage, *, talking: bool = False) -> None:
        """Somebody new, signed in and at this stage, without what comes before it."""
        site, now = self.site, self.site.clock()
        with site.store.writing() as connection:
            ((name, _),) = invite(connection, site.keys, 1, now)
            token, _ = begin(connection, name, now)
            connection.execute(people.update().where(people.c.id == name).values(stage=stage))
            if talking:
                slot = at.give(connection, site.study.design, name, now)
                assert slot is not None
                at.begin_talk(connection, slot, now)
        secure = self.address.replace("http:", "https:")  # which a browser takes the loopback for
        self.page.context.add_cookies([{"name": COOKIE, "value": token, "url": secure, "secure": True}])
        self.page.goto(self.address)

    def go_on(self, *choices: str) -> None:
        for one in choices:
            self.page.check(one)
        with self.page.expect_navigation():  # answers are stored as a draft first
            self.page.click("main form button:not(.quiet):not(.danger)")

    def wait_for(self, replies: int) -> None:
        """With script they come by themselves; without, the page is asked for."""
        for _ in range(600):
            if self.page.locator("#log li.patient").count() >= replies:
                return
            self.page.wait_for_timeout(100)
            if self.page.locator("#state a").count():
                self.page.goto(self.address)
        raise AssertionError("no reply")
