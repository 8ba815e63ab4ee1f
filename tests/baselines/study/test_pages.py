"""The pages in Chromium: from the link to the end, with script and without, by keyboard alone; axe on every page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from baselines.study import people as who
from baselines.study.design import TaskName
from baselines.study.site import Site
from baselines.study.slots import slots_of
from baselines.study.store import people, slots
from scripts.bench.study_pages import CHROMIUM, Keyboard, through
from scripts.study.sample import sample_source
from tests.baselines.study.test_tasks import captions
from tests.parts import study_site
from tests.parts.study_talks import TURNS, talking

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here (Debian: apt install chromium)")

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# What has a size of its own: WCAG 2.5.8 asks for 24 px; links within a sentence are excepted.
SMALL = """[...document.querySelectorAll('button, select, textarea, input:not([type=hidden]):not([type=radio])'
  + ':not([type=checkbox]), .choice, summary, a.button')].filter(one => one.checkVisibility())
  .map(one => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
  .filter(([_, box]) => box.width < 24 || box.height < 44).map(([html]) => html)"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def axe() -> str:
    module = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    return (Path(module.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


class Desk:
    """A browser's window at the pages of a study, and what its console complained of."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1400, "height": 900}, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.problems: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda told: self.problems.append(told.text) if "Content" in told.text else None)
        self.address = address

    @property
    def title(self) -> str:
        return str(self.page.inner_text("h1"))

    def go_on(self, *choices: str) -> None:
        for one in choices:
            self.page.check(one)
        with self.page.expect_navigation():  # answers are stored as a draft first
            self.page.click("main form button:not(.quiet):not(.danger)")

    def enter(self, link: str, look: Callable[[], None] = lambda: None) -> None:
        """From the link to the practice item."""
        self.page.goto(self.address + link)
        look()
        self.go_on()
        look()
        self.go_on("[value=agree]")
        look()
        self.go_on("[value=More]")
        look()
        self.go_on()

    def wait_for(self, replies: int) -> None:
        """With script they come by themselves; without, the page is asked for."""
        for _ in range(600):
            if self.page.locator("#log li.patient").count() >= replies:
                return
            self.page.wait_for_timeout(100)
            if self.page.locator("#state a").count():
                self.page.goto(self.address)
        raise AssertionError("no reply")


def fits(desk: Desk, axe: str) -> None:
    """No fault by axe in light and dark, no target too small, nothing wider than the smallest window."""
    page = desk.page
    page.evaluate(axe)
    for scheme, width, rules in (("light", 1400, RULES), ("dark", 390, ["color-contrast"])):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": 844})
        options = {"runOnly": rules, "resultTypes": ["violations"]}
        found = page.evaluate("options => axe.run(document, options)", options)["violations"]
        assert not found, (desk.title, scheme, [(one["id"], one["nodes"][0]["html"]) for one in found])
        assert page.evaluate(SMALL) == [], (desk.title, width)
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320, desk.title
    page.set_viewport_size({"width": 1400, "height": 900})
    assert desk.problems == []


def test_a_clock_stops_without_a_server_and_never_shows_more_than_before(browser: Any, tmp_path: Path) -> None:
    site = talking(tmp_path / "s", per_person=1)
    with study_site.served(site) as address:
        desk = Desk(browser, address)
        desk.page.clock.install()
        go_to_a_talk(desk, site)

        def use(seconds: float) -> None:
            with site.store.writing() as connection:
                connection.execute(slots.update().values(since=slots.c.since - seconds))

        def later(seconds: float, says: str) -> None:
            """That much later the page has asked, and its clock says it."""
            desk.page.clock.run_for(1000 * seconds)
            playwright.expect(clock).to_have_text(re.compile(f"^{says}$"), timeout=60_000)

        clock = desk.page.locator("#clock")
        use(100)
        later(4, "8:(20|19|18) left")
        desk.page.route("**/status", lambda route: route.abort())
        later(4, ".* left; no connection")
        stands = clock.inner_text().partition(";")[0]
        later(60, f"{stands}; no connection")  # what it says without a server is not known
        use(-30)  # before there is a connection: the page asks by itself, and would hear of less and count on
        desk.page.unroute("**/status")
        later(4, stands)  # 30 s given back: it waits until they are used
        use(90)
        later(4, "7:.. left")


def go_to_a_talk(desk: Desk, site: Site) -> None:
    """To the page of a talk, without what comes before it."""
    desk.page.goto(desk.address + study_site.invited(site)[0])
    desk.go_on()
    with site.store.writing() as connection:
        connection.execute(people.update().values(stage="work"))
    desk.page.goto(desk.address)
    desk.go_on()


def test_words_that_are_not_sent_stay_and_the_page_says_so(browser: Any, tmp_path: Path) -> None:
    """A server that cannot, no line, and another tab that knew more; and what is pressed twice is sent once."""
    site = talking(tmp_path / "s", per_person=1)
    with study_site.served(site) as address:
        desk = Desk(browser, address)
        go_to_a_talk(desk, site)
        page, told = desk.page, desk.page.locator("#told")
        other = desk.context.new_page()
        other.goto(address)
        other.route("**/status", lambda route: route.abort())  # it will hear of nothing

        def not_sent(why: str) -> None:
            page.click("#send")
            playwright.expect(told).to_contain_text(why)
            playwright.expect(told).to_be_visible()
            assert told.evaluate("one => one.getBoundingClientRect().height") > 20  # not to listeners alone
            assert page.input_value("[name=text]") == "My words." and page.locator("#log li.clinician").count() == 0

        page.fill("[name=text]", "My words.")
        page.route("**/do/say", lambda route: route.fulfill(status=500, body="<h1>An error</h1>"))
        not_sent("This was not sent")
        page.unroute("**/do/say")
        page.route("**/do/say", lambda route: route.abort())
        not_sent("This was not sent")
        page.unroute("**/do/say")
        page.click("#send")
        desk.wait_for(1)
        assert not told.inner_text() and page.input_value("[name=text]") == ""
        other.fill("[name=text]", "Words of another tab.")
        other.click("#send")
        playwright.expect(other.locator("#told")).to_contain_text("the conversation had gone on")
        assert other.input_value("[name=text]") == "Words of another tab."
        assert other.locator("#log li.clinician").count() == 1


def test_words_that_were_not_sent_are_told_again_once_the_server_is_back(browser: Any, tmp_path: Path) -> None:
    """The notice went with the one about the connection, and a person waited for a reply while the clock ran."""
    site = talking(tmp_path / "s", per_person=1)
    with study_site.served(site) as address:
        desk = Desk(browser, address)
        go_to_a_talk(desk, site)
        page = desk.page
        page.route(re.compile("/(draft|status|do/.*)$"), lambda route: route.abort())
        page.fill("#say textarea", "Does it hurt?")
        page.click("#send")
        playwright.expect(page.locator("#told")).to_contain_text("This was not sent")
        playwright.expect(page.locator("#told")).to_contain_text("no connection", timeout=15_000)
        page.unroute(re.compile("/(draft|status|do/.*)$"))
        playwright.expect(page.locator("#told")).to_contain_text("This was not sent", timeout=15_000)
        page.click("#send")
        page.wait_for_selector("#log li.patient")
        assert page.inner_text("#told") == ""


def test_a_message_whose_answer_is_lost_is_stored_once_and_what_is_added_meanwhile_stays(
    browser: Any, tmp_path: Path
) -> None:
    """It arrived, and the page could not know: sent again, it must not be said twice; edited, it must not vanish."""
    site = talking(tmp_path / "s", per_person=1)
    with study_site.served(site) as address:
        desk = Desk(browser, address)
        go_to_a_talk(desk, site)
        page, told = desk.page, desk.page.locator("#told")
        field, said = page.locator("[name=text]"), page.locator("#log li.clinician")

        def lost(route: Any) -> None:
            route.fetch(max_redirects=0)
            route.abort()

        def send_into_the_void(text: str) -> None:
            field.fill(text)
            page.route("**/do/say", lost)
            page.click("#send")
            playwright.expect(told).to_contain_text("This was not sent")
            page.unroute("**/do/say")

        send_into_the_void("Good morning.")
        playwright.expect(told).to_have_text("Your message had arrived.")  # the page hears of it by itself
        assert field.input_value() == "" and said.count() == 1
        desk.wait_for(1)
        # Before it hears of it: the same words again, then others.
        page.route("**/status", lambda route: route.abort())
        send_into_the_void("What worries you?")
        page.click("#send")
        playwright.expect(said).to_have_count(2)
        assert field.input_value() == ""
        page.unroute("**/status")
        desk.wait_for(2)
        page.route("**/status", lambda route: route.abort())
        send_into_the_void("I see.")
        send_into_the_void("I see. And the costs?")
        page.click("#send")
        playwright.expect(told).to_contain_text("the conversation had gone on")
        assert field.input_value() == "And the costs?" and said.count() == 3
        page.unroute("**/status")
        desk.wait_for(3)

        def slow(route: Any) -> None:
            field.press_sequentially(" And your family?")
            route.continue_()

        def keeps_the_rest(answer: Any) -> bool:  # on a slow machine the whole line is kept first
            return bool(answer.url.endswith("/draft") and "text=And+your+family" in (answer.request.post_data or ""))

        page.route("**/do/say", slow)
        with page.expect_response(keeps_the_rest):
            page.click("#send")
        desk.wait_for(4)
        assert field.input_value() == "And your family?"
        assert said.locator("p").all_inner_texts() == [
            "Good morning.",
            "What worries you?",
            "I see.",
            "And the costs?",
        ]
        page.reload()
        assert field.input_value() == "And your family?"  # it is kept as what is being written


def test_a_page_that_the_server_cannot_give_now_is_asked_for_again(browser: Any, tmp_path: Path) -> None:
    """The browser left the talk for the notice "Too many requests", and what was being written with it."""
    site = talking(tmp_path / "s", per_person=1)
    with study_site.served(site) as address:
        desk = Desk(browser, address)
        go_to_a_talk(desk, site)
        page = desk.page
        page.fill("#say textarea", "Does it hurt?")
        news = {"here": "another turn", "state": "yours", "left": 600, "running": True}
        page.route("**/status", lambda route: route.fulfill(json=news))
        page.route(address + "/", lambda route: route.fulfill(status=429, content_type="text/html", body="Too many"))
        for _ in range(2):
            with page.expect_response(address + "/") as answered:
                pass
            assert answered.value.status == 429 and not answered.value.request.is_navigation_request()
        page.unroute("**/status")
        page.unroute(address + "/")
        assert page.input_value("#say textarea") == "Does it hurt?"
        page.click("#send")
        desk.wait_for(1)


def test_forms_before_the_items_keep_what_was_filled_in(browser: Any, tmp_path: Path) -> None:
    site = talking(tmp_path / "s", per_person=1)
    with study_site.served(site) as address:
        desk = Desk(browser, address)
        page = desk.page
        page.goto(address + study_site.invited(site)[0])
        page.click("main form button")

        def away(answer: str, button: str) -> None:
            page.route(re.compile("/(draft|do/.*)$"), lambda route: route.abort())
            page.check(answer)
            page.click(f"main >> text={button}")
            playwright.expect(page.locator("#unsent")).to_contain_text("Your answers are still here")
            assert page.is_checked(answer)
            page.unroute(re.compile("/(draft|do/.*)$"))

        away("[name=answer][value=agree]", "Continue")
        page.click("main >> text=Continue")
        page.wait_for_selector("h1:has-text('About you')")
        away("[name=years] >> nth=1", "Save and continue")
        with page.expect_response("**/draft"):
            page.check("[name=years] >> nth=0")
        page.goto(address)
        assert page.is_checked("[name=years] >> nth=0")
        page.click("text=Save and continue")
        page.wait_for_selector("h1:has-text('Instructions')")


def test_answers_that_are_sent_while_the_server_is_away_stay_on_the_page(browser: Any, tmp_path: Path) -> None:
    """The browser would show a page of its own instead, and what was written since the last draft would be gone."""
    site = talking(tmp_path / "s", per_person=1)
    with study_site.served(site) as address:
        desk = Desk(browser, address)
        go_to_a_talk(desk, site)
        page = desk.page
        with site.store.writing() as connection:
            connection.execute(slots.update().values(step="findings", turns=5, since=None))
        page.goto(address)
        page.wait_for_selector("[name=description]")
        page.route(re.compile("/(draft|do/.*)$"), lambda route: route.abort())
        page.fill("[name=description] >> nth=0", "Fears the cost.")
        page.select_option("[name=category] >> nth=0", index=1)
        page.click("text=Save and continue")
        playwright.expect(page.locator("#unsent")).to_contain_text("Your answers are still here")
        assert page.input_value("[name=description] >> nth=0") == "Fears the cost."
        page.unroute(re.compile("/(draft|do/.*)$"))
        page.route("**/do/findings", lambda route: route.abort())  # it goes away just then
        with page.expect_event("requestfailed", lambda request: request.url.endswith("/do/findings")):
            page.click("text=Save and continue")
        page.wait_for_timeout(300)  # it shows its own page
        page.goto(address)
        assert page.input_value("[name=description] >> nth=0") == "Fears the cost."
        page.unroute("**/do/findings")
        page.dblclick("text=Save and continue")
        page.wait_for_selector("h1:has-text('About this case')")


def test_a_button_that_is_pressed_twice_sends_once(browser: Any, tmp_path: Path) -> None:
    site = talking(tmp_path / "s", per_person=1)
    with study_site.served(site) as address:
        desk, sent = Desk(browser, address), []
        desk.page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
        desk.page.goto(address + study_site.invited(site)[0])
        desk.page.dblclick("main form button")
        desk.page.wait_for_selector("h1:has-text('Consent')")
        assert len(sent) == 1


def no_line_is_cut(desk: Desk) -> None:
    """On a phone, whatever its height: no ink at the lower edge of a chart that goes on."""
    was, chart = desk.page.viewport_size, desk.page.locator(".shown.chart")
    for height in range(300, 390, 15):
        desk.page.set_viewport_size({"width": 390, "height": height})
        sizes = chart.evaluate("one => [one.scrollHeight, one.clientHeight]")
        assert sizes[0] > sizes[1] + 30, (height, sizes)
        with Image.open(io.BytesIO(chart.screenshot())) as shot:
            edge = shot.convert("L").crop((20, shot.height - 6, shot.width - 20, shot.height - 3))
        assert np.ptp(edge.getextrema()) < 60, height
    desk.page.set_viewport_size(was)


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without"])
def test_a_talk_in_a_browser(script: bool, browser: Any, axe: str, tmp_path: Path) -> None:
    site = talking(tmp_path / "s", per_person=1)
    looked: list[str] = []
    with study_site.served(site) as address:
        desk = Desk(browser, address, java_script_enabled=script)

        def look() -> None:
            looked.append(desk.title)
            if script:
                fits(desk, axe)

        desk.enter(study_site.invited(site)[0], look)
        look()
        desk.page.fill("[name=text]", "Hello.")
        desk.go_on()
        look()
        desk.go_on()
        look()
        desk.go_on('[value="0"]')
        look()
        desk.go_on()
        if script:
            no_line_is_cut(desk)
        for number, words in enumerate(TURNS[:5], start=1):
            desk.page.fill("[name=text]", words)
            desk.page.click("#send")
            if script and number == 2:
                desk.page.reload()  # while the reply is prepared
            desk.wait_for(number)
            if script and number != 2:
                assert desk.page.evaluate("document.activeElement.name") == "text"
        look()
        assert desk.page.locator("#log li.clinician").count() == 5
        desk.page.click("#finish button")
        look()
        desk.page.fill("[name=description] >> nth=0", "Fears the cost.")
        desk.go_on()
        assert "choose one of the four" in desk.page.inner_text("[role=alert]")
        look()
        desk.page.select_option("[name=category] >> nth=0", index=1)
        if script:
            desk.page.click(".pick >> nth=0")
            assert desk.page.input_value("[name=quote] >> nth=0")
        desk.go_on()
        look()
        desk.go_on("[name=difficulty] >> nth=1", "[name=realism] >> nth=2", "[name=tools] >> nth=0")
        look()
        desk.go_on()
        look()
        assert desk.title == "Thank you" and len(set(looked)) >= 12
        desk.page.go_back()
        desk.page.goto(address)
        assert desk.title == "Thank you"


def test_pairs_by_keyboard_alone_with_a_wrong_answer_a_second_tab_and_back(
    browser: Any, axe: str, tmp_path: Path
) -> None:
    site = rated(tmp_path / "s")
    with study_site.served(site) as address:
        desk = Desk(browser, address)
        page = desk.page
        desk.enter(study_site.invited(site)[0])
        rate(desk)  # practice
        keys(desk, "Save and continue")
        keys(desk, "Continue")
        tab_to(desk, "check0")
        page.keyboard.press("Space")
        while not page.is_checked("[name=check0][value='0']"):  # their order is drawn
            page.keyboard.press("ArrowDown")
        keys(desk, "Continue")
        rate(desk)
        keys(desk, "Save and continue")
        fits(desk, axe)
        assert desk.title == "Rate the lay caption" and page.inner_text(".progress label").startswith("1 of")
        # Another tab does the item; this one is late, and Back brings nothing back.
        other = desk.context.new_page()
        other.goto(address)
        for name in ("factual_correctness", "completeness", "simplicity", "fluency"):
            other.check(f"[name={name}][value='5']")
        with other.expect_navigation():
            other.click("main form button")
        assert other.inner_text(".progress label").startswith("2 of")
        rate(desk)
        keys(desk, "Save and continue")
        assert page.inner_text(".progress label").startswith("2 of")
        # A form that somebody sends without an answer: the field says so, and leads there.
        page.evaluate("document.querySelector('form.work').noValidate = true")
        desk.go_on()
        assert "Factual Correctness" in page.inner_text("[role=alert]")
        fits(desk, axe)
        page.click("[role=alert] a")
        assert page.locator("#field-factual_correctness[aria-invalid=true]").count() == 1


SHOWN = {
    "diagnosis": "figure img",
    "rubric": ".turns .doctor",
    "relevance": "figure img",
    "pairs": ".caption",
    "intervention": "#log li.patient",
}


@pytest.mark.parametrize("script", [True, pytest.param(False, marks=pytest.mark.long)], ids=["with script", "without"])
@pytest.mark.parametrize("task", SHOWN)
def test_each_task_by_keyboard_alone(task: TaskName, script: bool, browser: Any, axe: str, tmp_path: Path) -> None:
    """From the practice item to the end (the pages before it are those of talks); axe on the pages of the task."""
    if task == "intervention":
        site = talking(tmp_path / "s", task, per_person=1, most_turns=6)
    else:
        plan = study_site.study(tmp_path / "s", task, cases=2, per_person=1, repeated=0.0)
        given = sample_source(plan.design)
        site = study_site.site(plan, opened=given.opened, runs=given.runs)
    looked: list[str] = []
    seen: list[int] = []
    with study_site.served(site) as address:
        desk = Desk(browser, address, java_script_enabled=script)
        desk.page.goto(address + study_site.invited(site)[0])
        desk.page.click("main form button")
        with site.store.writing() as connection:
            connection.execute(people.update().values(stage="practice"))
        desk.page.goto(address)

        def look(title: str) -> None:
            own = title not in looked and desk.page.locator("form[data-draft=''], form[action='/do/practice']").count()
            if script and own and task != "pairs":  # which has a test of its own
                fits(desk, axe)
            looked.append(title)
            seen.append(desk.page.locator(SHOWN[task]).count())

        through(Keyboard(desk.page, arrows=1 + script), look)
        assert desk.title == "Thank you" and max(seen) > 0 and desk.problems == []
        with site.store.reading() as connection:
            (person,) = who.everybody(connection)
            done = [slot.step for slot in slots_of(connection, person.id)]
        assert person.stage == "done" and done == ["done"] * site.length
        desk.context.close()


def rated(folder: Path) -> Site:
    return study_site.site(study_site.study(folder, "pairs", cases=6), opened=captions())


def tab_to(desk: Desk, wanted: str) -> None:
    """By Tab to a field or a button, whose focus is seen."""
    for _ in range(40):
        name = desk.page.evaluate("document.activeElement.name || document.activeElement.textContent.trim()")
        if name == wanted:
            return
        desk.page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {wanted} on {desk.title}")


def keys(desk: Desk, button: str) -> None:
    """Presses a button by keyboard."""
    tab_to(desk, button)
    shown = "getComputedStyle(document.activeElement).outlineStyle"
    assert desk.page.evaluate(shown) != "none"
    with desk.page.expect_navigation():
        desk.page.keyboard.press("Enter")


def rate(desk: Desk) -> None:
    """All four scales by arrow keys."""
    for name in ("factual_correctness", "completeness", "simplicity", "fluency"):
        tab_to(desk, name)
        for _ in range(2):
            desk.page.keyboard.press("ArrowRight")


def test_pasting_is_refused_reported_and_counted(browser: Any, tmp_path: Path) -> None:
    site = talking(tmp_path / "s", per_person=1)
    with study_site.served(site) as address:
        desk = Desk(browser, address)
        desk.enter(study_site.invited(site)[0])
        desk.page.fill("[name=text]", "Hello.")
        for choices in ((), (), ('[value="0"]',), ()):
            desk.go_on(*choices)
        desk.page.wait_for_load_state()
        desk.page.evaluate(
            """() => { const paste = new ClipboardEvent('paste', {bubbles: true, cancelable: true});
            document.querySelector('[name=text]').dispatchEvent(paste); }"""
        )
        assert "own words" in desk.page.inner_text("#pasted")
        desk.page.fill("[name=text]", "A draft that is kept.")
        with desk.page.expect_response("**/draft"):
            pass
        desk.page.reload()
        assert desk.page.input_value("[name=text]") == "A draft that is kept."
        with site.store.reading() as connection:
            from baselines.study.people import everybody

            assert [one.paste for one in everybody(connection)] == [1]


def test_a_coordinators_page_and_what_others_see(browser: Any, axe: str, tmp_path: Path) -> None:
    site = rated(tmp_path / "s")
    with study_site.served(site) as address:
        desk = Desk(browser, address)
        (link,) = study_site.invited(site)
        for where in ("/nowhere", "/i/wrong", "/coordinator", study_site.login(site)):
            desk.page.goto(address + where)
            fits(desk, axe)
        desk.go_on()
        fits(desk, axe)
        assert desk.title == "Coordinator"
        other = Desk(browser, address)
        other.page.goto(address + link)
        other.go_on()
        other.page.click("header button:has-text('Stop')")
        fits(other, axe)
        other.page.check("[value=delete]")
        other.page.click("button:has-text('Stop for good')")
        assert other.title == "Deleted"
        assert re.search("You may close this page", other.page.inner_text("main"))
