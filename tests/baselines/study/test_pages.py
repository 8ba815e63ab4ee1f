"""The pages in Chromium: from the link to the end, with script and without, by keyboard alone; axe on every page."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from PIL import Image

from baselines.study import people as who
from baselines.study.design import TaskName
from baselines.study.site import Site
from baselines.study.slots import slots_of
from baselines.study.tables import slots
from scripts.study.sample import sample_source
from tests.baselines.study.test_tasks import captions
from tests.parts import study_site
from tests.parts.study_desk import SIZE, Desk, at_desk, chromium, window_of
from tests.parts.study_keyboard import CHROMIUM, Keyboard, through
from tests.parts.study_talks import TURNS, Clock, talking
from tests.parts.waiting import wait_until

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
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def window(browser: Any) -> Any:
    return window_of(browser)


@pytest.fixture(scope="module")
def axe() -> str:
    module = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    return (Path(module.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def fits(desk: Desk, axe: str) -> None:
    """No fault by axe in light and dark, no target too small, nothing wider than the smallest window."""
    page = desk.page
    page.evaluate(axe)
    for scheme, width, rules in (("light", 1400, RULES), ("dark", 320, ["color-contrast"])):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": 844})
        options = {"runOnly": rules, "resultTypes": ["violations"]}
        found = page.evaluate("options => axe.run(document, options)", options)["violations"]
        assert not found, (desk.title, scheme, [(one["id"], one["nodes"][0]["html"]) for one in found])
        assert page.evaluate(SMALL) == [], (desk.title, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320, desk.title
    page.set_viewport_size(SIZE)
    assert desk.problems == []


def test_a_clock_stops_without_a_server_and_never_shows_more_than_before(browser: Any, tmp_path: Path) -> None:
    page = window_of(browser)
    page.clock.install()  # for good
    with at_desk(page, talking(tmp_path / "s", per_person=1, clock=Clock())) as desk:
        desk.sit_down("work", talking=True)

        def use(seconds: float) -> None:
            with desk.site.store.writing() as connection:
                connection.execute(slots.update().values(since=slots.c.since - seconds))

        def later(seconds: float, says: str) -> None:
            """That much later the page has asked, and its clock says it."""
            page.clock.run_for(1000 * seconds)
            playwright.expect(clock).to_have_text(re.compile(f"^{says}$"), timeout=60_000)

        clock = page.locator("#clock")
        use(100)
        later(4, "8:(20|1.) left")
        page.route("**/status", lambda route: route.abort())
        later(4, ".* left; no connection")
        stands = clock.inner_text().partition(";")[0]
        later(60, f"{stands}; no connection")  # what it says without a server is not known
        use(-30)  # before there is a connection: the page asks by itself, and would hear of less and count on
        page.unroute("**/status")
        later(4, stands)  # 30 s given back: it waits until they are used
        use(90)
        later(4, "7:.. left")
        use(330)
        later(4, "1:.. left")  # the reminder is seen, not only heard
        playwright.expect(page.locator("#told")).to_have_text("2 minutes left.")
        assert page.locator("#told").evaluate("one => one.getBoundingClientRect().height") > 20
    page.context.close()


def test_words_that_are_not_sent_stay_and_the_page_says_so(window: Any, tmp_path: Path) -> None:
    """A server that cannot, no line, and another tab that knew more; and what is pressed twice is sent once."""
    with at_desk(window, talking(tmp_path / "s", per_person=1)) as desk:
        desk.sit_down("work", talking=True)
        page, told = desk.page, desk.page.locator("#told")
        other = page.context.new_page()
        other.goto(desk.address)
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


def test_words_stay_in_a_page_while_the_disk_is_full(
    window: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page took the time for up, and went to one that said only that something had gone wrong."""

    tries = 0

    def full() -> NoReturn:
        nonlocal tries
        tries += 1
        raise OSError("No space left on device")

    told = Clock()
    site = talking(tmp_path / "s", per_person=1, clock=told)
    with at_desk(window, site) as desk:
        desk.sit_down("work", talking=True)
        page = desk.page
        page.fill("#say textarea", "Does it hurt?")
        with monkeypatch.context() as disk:
            disk.setattr(site.store, "writing", full)
            wait_until(lambda: tries > 1)  # then the server knows of the first
            told.now += 900
            playwright.expect(page.locator("#told")).to_contain_text("no connection", timeout=15_000)
            assert page.input_value("#say textarea") == "Does it hurt?"
        playwright.expect(page.locator("#told")).to_have_text("", timeout=15_000)
        page.click("#send")
        page.wait_for_selector("#log li.patient")


def test_words_that_were_not_sent_are_told_again_once_the_server_is_back(window: Any, tmp_path: Path) -> None:
    """The notice went with the one about the connection, and a person waited for a reply while the clock ran."""
    with at_desk(window, talking(tmp_path / "s", per_person=1)) as desk:
        desk.sit_down("work", talking=True)
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
    window: Any, tmp_path: Path
) -> None:
    """It arrived, and the page could not know: sent again, it must not be said twice; edited, it must not vanish."""
    with at_desk(window, talking(tmp_path / "s", per_person=1)) as desk:
        desk.sit_down("work", talking=True)
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


def test_a_page_that_the_server_cannot_give_now_is_asked_for_again(window: Any, tmp_path: Path) -> None:
    """The browser left the talk for the notice "Too many requests", and what was being written with it."""
    with at_desk(window, talking(tmp_path / "s", per_person=1)) as desk:
        desk.sit_down("work", talking=True)
        page = desk.page
        page.fill("#say textarea", "Does it hurt?")
        news = {"here": "another turn", "state": "yours", "left": 600, "running": True}
        page.route("**/status", lambda route: route.fulfill(json=news))
        page.route(
            desk.address + "/", lambda route: route.fulfill(status=429, content_type="text/html", body="Too many")
        )
        for _ in range(2):
            with page.expect_response(desk.address + "/") as answered:
                pass
            assert answered.value.status == 429 and not answered.value.request.is_navigation_request()
        page.unroute("**/status")
        page.unroute(desk.address + "/")
        assert page.input_value("#say textarea") == "Does it hurt?"
        page.click("#send")
        desk.wait_for(1)


def test_forms_before_the_items_keep_what_was_filled_in(window: Any, tmp_path: Path) -> None:
    with at_desk(window, talking(tmp_path / "s", per_person=1)) as desk:
        desk.sit_down("consent")
        page = desk.page

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
        page.goto(desk.address)
        assert page.is_checked("[name=years] >> nth=0")
        page.click("text=Save and continue")
        page.wait_for_selector("h1:has-text('Instructions')")


def test_answers_that_are_sent_while_the_server_is_away_stay_on_the_page(window: Any, tmp_path: Path) -> None:
    """The browser would show a page of its own instead, and what was written since the last draft would be gone."""
    with at_desk(window, talking(tmp_path / "s", per_person=1)) as desk:
        desk.sit_down("work", talking=True)
        page = desk.page
        with desk.site.store.writing() as connection:
            connection.execute(slots.update().values(step="findings", turns=5, since=None))
        page.goto(desk.address)
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
        page.wait_for_url("chrome-error://**")  # its own page
        page.goto(desk.address)
        assert page.input_value("[name=description] >> nth=0") == "Fears the cost."
        page.unroute("**/do/findings")
        page.dblclick("text=Save and continue")
        page.wait_for_selector("h1:has-text('About this case')")


def test_a_button_that_is_pressed_twice_sends_once(window: Any, tmp_path: Path) -> None:
    with at_desk(window, talking(tmp_path / "s", per_person=1)) as desk:
        sent: list[str] = []
        desk.come()
        desk.page.route("**/i/*", lambda route: (sent.append(route.request.method), route.continue_()))
        desk.page.dblclick("main form button")
        desk.page.wait_for_selector("h1:has-text('Consent')")
        assert sent == ["POST"]


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
    desk.page.set_viewport_size({"width": 390, "height": 700})
    desk.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    above, clock = chart.bounding_box(), desk.page.locator("#clock").bounding_box()
    assert clock["y"] >= above["y"] + above["height"] - 1  # the chart stays, and does not cover the clock
    desk.page.set_viewport_size(was)


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without"])
def test_a_talk_in_a_browser(script: bool, browser: Any, window: Any, axe: str, tmp_path: Path) -> None:
    looked: list[str] = []
    page = window if script else window_of(browser, java_script_enabled=False)
    with at_desk(page, talking(tmp_path / "s", per_person=1)) as desk:

        def look() -> None:
            looked.append(desk.title)
            if script:
                fits(desk, axe)

        desk.come()
        for choices in ((), ("[value=agree]",), ("[value=More]",), ()):
            look()
            desk.go_on(*choices)
        look()
        desk.page.fill("[name=text]", "Hello.")
        for choices in ((), (), ('[value="0"]',)):
            desk.go_on(*choices)
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
        desk.page.goto(desk.address)
        assert desk.title == "Thank you"
    if not script:
        page.context.close()


def test_pairs_by_keyboard_alone_with_a_wrong_answer_a_second_tab_and_back(
    window: Any, axe: str, tmp_path: Path
) -> None:
    with at_desk(window, rated(tmp_path / "s")) as desk:
        desk.sit_down("work")
        page = desk.page
        fits(desk, axe)
        assert page.locator(".caption").count() == 2
        assert desk.title == "Rate the lay caption" and page.inner_text(".progress label").startswith("0 of")
        # Another tab does the item; this one is late, and Back brings nothing back.
        other = page.context.new_page()
        other.goto(desk.address)
        for name in ("factual_correctness", "completeness", "simplicity", "fluency"):
            other.check(f"[name={name}][value='5']")
        with other.expect_navigation():
            other.click("main form button")
        assert other.inner_text(".progress label").startswith("1 of")
        rate(desk)
        keys(desk, "Save and continue")
        assert page.inner_text(".progress label").startswith("1 of")
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
    "intervention": "#log li.patient",
}


@pytest.mark.parametrize("script", [True, pytest.param(False, marks=pytest.mark.long)], ids=["with script", "without"])
@pytest.mark.parametrize("task", SHOWN)
def test_each_task_by_keyboard_alone(
    task: TaskName, script: bool, browser: Any, window: Any, axe: str, tmp_path: Path
) -> None:
    """From the practice item to the end (the pages before it are those of talks); axe on the pages of the task."""
    if task == "intervention":
        site = talking(tmp_path / "s", task, per_person=1, most_turns=5)
    else:
        few = 1 if task == "relevance" else 2  # the fewest that the others take
        plan = study_site.study(tmp_path / "s", task, cases=few, per_person=1, repeated=0.0)
        given = sample_source(plan.design)
        site = study_site.site(plan, opened=given.opened, runs=given.runs)
    looked: list[str] = []
    seen: list[int] = []
    page = window if script else window_of(browser, java_script_enabled=False)
    with at_desk(page, site) as desk:
        desk.sit_down("practice")

        def look(title: str) -> None:
            own = title not in looked and page.locator("form[data-draft=''], form[action='/do/practice']").count()
            if script and own and task != "intervention":  # whose pages are those of the other talk
                fits(desk, axe)
            looked.append(title)
            seen.append(page.locator(SHOWN[task]).count())

        through(Keyboard(page, arrows=1 + script), look)
        assert desk.title == "Thank you" and max(seen) > 0 and desk.problems == []
        with site.store.reading() as connection:
            (person,) = who.everybody(connection)
            done = [slot.step for slot in slots_of(connection, person.id)]
        assert person.stage == "done" and done == ["done"] * site.length
    if not script:
        page.context.close()


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


def test_pasting_is_refused_reported_and_counted(window: Any, tmp_path: Path) -> None:
    with at_desk(window, talking(tmp_path / "s", per_person=1)) as desk:
        desk.sit_down("work", talking=True)
        desk.page.route("**/draft", lambda route: route.abort())
        desk.page.evaluate(
            """() => { const paste = new ClipboardEvent('paste', {bubbles: true, cancelable: true});
            document.querySelector('[name=text]').dispatchEvent(paste); }"""
        )
        assert "own words" in desk.page.inner_text("#pasted")
        with desk.page.expect_event("requestfailed"):  # it is counted once there is a connection again
            pass
        desk.page.unroute("**/draft")
        desk.page.fill("[name=text]", "A draft that is kept.")
        with desk.page.expect_response("**/draft"):
            pass
        desk.page.reload()
        assert desk.page.input_value("[name=text]") == "A draft that is kept."
        with desk.site.store.reading() as connection:
            assert [one.paste for one in who.everybody(connection)] == [1]


def test_a_coordinators_page_and_what_others_see(window: Any, axe: str, tmp_path: Path) -> None:
    with at_desk(window, rated(tmp_path / "s")) as desk:
        for where in ("/nowhere", study_site.login(desk.site)):
            desk.page.goto(desk.address + where)
            fits(desk, axe)
        desk.go_on()
        fits(desk, axe)
        assert desk.title == "Coordinator"
        desk.page.context.clear_cookies()  # another person
        desk.come()
        desk.go_on()
        desk.page.click("header button:has-text('Stop')")
        fits(desk, axe)
        desk.page.check("[value=delete]")
        desk.page.click("button:has-text('Stop for good')")
        assert desk.title == "Deleted"
        assert re.search("You may close this page", desk.page.inner_text("main"))
