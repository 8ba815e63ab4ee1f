"""The page in a browser: rows found by words, facets and keys, runs beside each other, tables sorted and copied.

It needs the package playwright and a Chromium, which nothing else does; without them it is left out, and says so.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from baselines.report.page import write_report
from baselines.results.comparison import read_runs
from tests.baselines.report.test_consultation import run
from tests.parts.consultations import many

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
sync_api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    folders = [run(folder / str(seed), many(60, seed=seed, skill=0.5), seeds={"bootstrap": seed}) for seed in range(2)]
    return write_report(read_runs(folders), folder / "report.html")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def tab(browser: Any, page: Path) -> Iterator[Any]:
    tab = browser.new_page(viewport={"width": 1400, "height": 1000})
    wrong: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-read]", state="attached")
    yield tab
    tab.close()
    assert not wrong


def _status(tab: Any) -> str:
    return str(tab.text_content(".status-line"))


def test_rows_are_found_by_words_and_facets(tab: Any) -> None:
    assert _status(tab) == "120 of 120" and tab.locator(".sheet li").count() < 40  # only those that are seen
    tab.fill("input[type=search]", "case-0007 utterance")
    assert _status(tab) == "2 of 120"
    for word in ("no such WORD", "true", "[[", "lay"):  # neither do other words that the page is packed with
        tab.fill("input[type=search]", word)
        assert _status(tab) == "0 of 120", word
    tab.fill("input[type=search]", "")
    tab.locator("fieldset", has_text="temperament").get_by_label("phlegmatic").check()
    assert _status(tab) == "30 of 120"
    tab.locator("fieldset", has_text="result").get_by_label("wrong").check()
    shown = int(_status(tab).split()[0])
    assert 0 < shown < 30 and tab.locator(".sheet .status.good").count() == 0
    tab.get_by_role("button", name="Clear").click()
    assert _status(tab) == "120 of 120"


def test_keys_go_from_row_to_row_and_put_another_run_beside(tab: Any) -> None:
    tab.locator(".list").focus()
    for key, case in (("ArrowDown", "case-0000"), ("j", "case-0001"), ("j", "case-0002"), ("k", "case-0001")):
        tab.keyboard.press(key)
        tab.wait_for_selector(f".shown:has-text('{case}')")
        assert tab.evaluate("location.hash") == f"#consultations/1/{case}"
    tab.keyboard.press("b")
    assert tab.locator(".shown").count() == 2 and tab.locator(".shown", has_text="case-0001").count() == 2
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.type") == "search"
    tab.keyboard.type("j")  # a letter in a field is a letter
    assert tab.input_value("input[type=search]") == "j"


def test_a_link_opens_its_row_and_a_number_its_cell(browser: Any, page: Path) -> None:
    tab = browser.new_page()
    tab.goto(f"{page.as_uri()}#consultations/2/case-0031")
    tab.wait_for_selector(".shown:has-text('case-0031')")
    assert "run 2" in tab.text_content(".shown")
    cell = tab.locator("td[id]").first
    tab.goto(f"{page.as_uri()}#{cell.get_attribute('id')}")
    tab.wait_for_selector("html[data-read]", state="attached")
    assert tab.locator("td:target").count() == 1
    tab.close()


def test_tables_are_sorted_and_copied(tab: Any) -> None:
    table = tab.locator("main section").first.locator("table").first
    head = table.locator("thead tr").last.locator("th").nth(1)
    seen = []
    for _ in range(2):
        head.locator("button").click()
        body = table.locator("tbody.published-only tr:not(.divider)")
        values = [row.locator("td").first.get_attribute("data-value") for row in body.all()]
        numbers = [float(value) for value in values if value]
        assert values[: len(numbers)] == [value for value in values if value]  # nothing comes last
        seen.append((head.get_attribute("aria-sort"), numbers))
    assert seen[0] == ("ascending", sorted(seen[0][1])) and seen[1] == ("descending", sorted(seen[0][1])[::-1])
    tab.evaluate("navigator.clipboard.writeText = text => { window.copied = text; }")
    tab.evaluate("document.querySelector('main section .scroll tbody td').dataset.text = '−1,234.5'")
    for format_, signs in (
        ("LaTeX", ("\\toprule", "\\midrule", " & ")),
        ("Markdown", ("---:|", "| ")),
        ("CSV", (",",)),
    ):
        tab.locator(".tools").first.get_by_role("button", name=f"as {format_}").click()
        text = tab.evaluate("window.copied")
        assert all(sign in text for sign in signs) and "F1 (strict)" in text, format_
        assert len({line.count(signs[-1]) for line in text.splitlines() if signs[-1] in line and '"' not in line}) <= 2
    assert ",-1234.5," in text and "−" not in text  # in CSV, numbers as programs read them
    assert ", stand-in" in text, "a number says what it may be called wherever it is pasted"


def test_a_copied_table_is_escaped_as_a_printed_one(tab: Any) -> None:
    tab.evaluate("navigator.clipboard.writeText = text => { window.copied = text; }")
    tab.evaluate("document.querySelector('main section .scroll tbody th').dataset.text = '[x] <y> | * α'")
    made = {}
    for format_ in ("LaTeX", "Markdown", "CSV"):
        tab.locator(".tools").first.get_by_role("button", name=f"as {format_}").click()
        made[format_] = tab.evaluate("window.copied")
    assert r"{}[x] \textless{}y\textgreater{} \textbar{} * $\alpha$" in made["LaTeX"]
    assert r"\[x\] \<y\> \| \*" in made["Markdown"]
    name, *numbers = made["CSV"].splitlines()[0].split(",")
    assert name and all(numbers), "columns with the name of their group, in one line"


def test_a_drawing_tells_its_values_on_focus(tab: Any) -> None:
    part = tab.locator(".told").first
    part.focus()
    tip = tab.inner_text("#tip")
    assert tip and tip.split("\n")[0] in str(part.get_attribute("aria-label"))
    tab.keyboard.press("Escape")
    assert tab.locator("#tip").is_hidden()


@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_leads_out_of_the_page_sideways(browser: Any, page: Path, width: int) -> None:
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-read]", state="attached")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.close()


def test_no_table_is_cut_on_paper(browser: Any, page: Path) -> None:
    tab = browser.new_page(viewport={"width": 687, "height": 1000})  # A4 less its margins
    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-read]", state="attached")
    tab.emulate_media(media="print")
    wide = "tables => tables.filter(table => table.scrollWidth > table.parentElement.clientWidth + 1).length"
    assert tab.locator(".scroll > table").count() > 5 and tab.locator(".scroll > table").evaluate_all(wide) == 0
    shut = "regions => regions.filter(region => getComputedStyle(region).overflowX !== 'visible').length"
    assert tab.locator(".scroll").evaluate_all(shut) == 0
    tab.close()


def test_without_script_tables_figures_and_some_rows_are_there(browser: Any, page: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{page.as_uri()}#consultations")
    assert tab.locator(".fixed details.dialogue").count() == 20 and tab.locator("table").count() > 5
    first = tab.locator(".fixed details.dialogue").first
    first.locator("summary").first.click()
    assert first.locator(".turns li").first.is_visible() and tab.locator("svg.plot").first.is_visible()
    assert tab.locator(".explorer").is_hidden() and not tab.locator("button").count()
    context.close()


def test_it_prints_its_tables_and_some_rows(tab: Any) -> None:
    tab.emulate_media(media="print")
    assert tab.locator(".explorer").is_hidden() and tab.locator(".tools").first.is_hidden()
    assert tab.locator(".fixed details.dialogue").first.is_visible()
    assert json.dumps(tab.evaluate("getComputedStyle(document.querySelector('.scroll')).maxHeight")) == '"none"'


def test_axe_finds_nothing_in_it_on_a_telephone_at_night_and_a_screen_by_day(tab: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    tab.locator(".list").focus()
    tab.keyboard.press("ArrowDown")  # with a row open
    for width, scheme in ((390, "dark"), (1400, "light")):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.emulate_media(color_scheme=scheme)
        found = axe.Axe().run(tab, options={"rules": {"target-size": {"enabled": True}}})  # of WCAG 2.2
        assert found.violations_count == 0, f"{width}, {scheme}: {found.generate_report()}"
