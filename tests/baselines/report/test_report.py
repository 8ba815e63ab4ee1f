"""The page of results: complete, self-contained, readable without eyes or mouse, and honest about stand-ins."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from baselines.report.captions import captions
from baselines.report.drawing import Curve, Point, Series, dot_plot, over_turns
from baselines.report.figures import PROJECTIONS, figures
from baselines.report.page import write_report
from baselines.report.tables import TableView, tables
from baselines.results.comparison import read_runs
from baselines.results.published import meaning
from baselines.results.run import DataUsed, write_run
from loaders.errors import InputError, ReleaseError
from scripts.cli import execute
from tests.parts.contrast import contrast
from tests.parts.papers import states_the_data
from tests.parts.runs import DIGEST, everything, record, release, results, write

Capture = pytest.CaptureFixture[str]
VOID = {"meta", "link", "img", "br", "hr", "input", "path", "use"}


class Page(HTMLParser):
    """The elements of a page, with the text inside each table cell."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.cells: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        assert not self._open, f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open.pop() == tag, f"</{tag}> out of place"

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & {*self._open}:
            self.text += data
            if "td" in self._open:
                self.cells[-1] += data

    def runs_only_its_own(self, html: str) -> bool:
        """Whether every script that would run is one that the content policy names by its digest; the rest is data."""
        policy = next(str(one["content"]) for one in self.all("meta") if "http-equiv" in one)
        bodies = re.findall(r"<script(?: type=\"module\")?>(.*?)</script>", html, re.DOTALL)
        named = [base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() for body in bodies]
        data = [one for one in self.all("script") if one.get("type") == "application/gzip"]
        allowed = re.findall(r"'sha256-([^']+)'", policy)
        return len(bodies) + len(data) == len(self.all("script")) and sorted(named) == sorted(allowed)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def unpacked(html: str, anchor: str) -> str:
    """Everything that the page carries of the rows of a section."""
    pieces = re.findall(rf'data-rows="{anchor}" data-piece="\w+">([^<]*)<', html)
    return "\n".join(gzip.decompress(base64.b64decode(piece)).decode("utf-8") for piece in pieces)


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    runs = read_runs(everything(folder))
    return write_report(runs, folder / "out" / "report.html", release=release(folder / "release")).read_text("utf-8")


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def shown(*folders: Path) -> Page:
    """The page of some runs, without figures."""
    return Page(write_report(read_runs(folders), folders[0] / "r.html").read_text("utf-8"))


def _views(*folders: Path) -> dict[str, TableView]:
    return {view.table: view for view in tables(read_runs(folders))}


# --- The page as a whole ----------------------------------------------------------------------------------------------


def test_nothing_is_fetched_and_nothing_runs_but_the_pages_own_script(html: str, page: Page) -> None:
    assert page.runs_only_its_own(html) and not page.all("link") and not page.all("iframe")
    assert not page.runs_only_its_own(html.replace("const el =", "const it ="))
    assert all((image["src"] or "").startswith("data:image/jpeg;base64,") for image in page.all("img"))
    assert not re.search(
        r"url\((?!#)|@import|fetch\(|XMLHttpRequest|import\(|https?://",
        html.split("<script", 2)[2].split("</script")[0],
    )
    targets = [attributes["href"] or "" for tag, attributes in page.elements if "href" in attributes]
    assert targets and all(target.startswith("#") for target in targets)


def test_every_link_leads_somewhere_and_no_id_is_used_twice(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert all((link["href"] or "")[1:] in ids for link in page.all("a"))
    rows = [row for row in page.all("tr") if "id" in row]
    cells = [cell for cell in page.all("td") if "id" in cell]
    assert len(rows) > 60 and len(cells) > 400  # each row and number of a table of the paper
    assert "medlaybench-v-table-3--biomedclip-expert--i2t-recall-1" in ids  # by what it is, so that it lasts


def test_every_table_of_the_paper_is_there_with_its_own_numbers(page: Page) -> None:
    headings = [name for name in page.text.split("\n") if name.startswith("Table ")]
    for table in ("1", "2", "3", "4", "5", "A1", "A2", "A3", "A4", "A5"):
        assert any(f"Table {table} " in line or line == f"Table {table}" for line in headings), table
    assert len(page.all("table")) >= 10


def test_every_number_in_a_table_says_where_it_comes_from(page: Page) -> None:
    numbers = [cell for cell in page.cells if re.search(r"\d\.\d\d", cell) and " to " in cell]
    assert len(numbers) > 150
    for cell in numbers:
        assert "stand-in" in cell or re.fullmatch(r"\s*−?[\d.,]+ to −?[\d.,]+\s*", cell), cell
    assert sum("published" in cell for cell in page.cells) > 200


def test_every_number_is_sorted_by_its_value_and_copied_with_what_it_may_be_called(page: Page) -> None:
    """Also those without a place in a table of the paper: what a reader sees begins with the letter of a badge."""
    numbers = [cell for cell in page.all("td") if cell.get("class") == "cell" and cell.get("data-value")]
    own = [cell for cell in numbers if "stand-in" in (cell["data-text"] or "")]
    assert len(own) > 150 and all("published" in (cell["data-text"] or "") for cell in numbers if cell not in own)
    for cell in own:
        assert re.match(r"(< )?[−\d.,]+( \(.* to .*\))?, stand-in", cell["data-text"] or "")
        float(cell["data-value"] or "")


def test_tables_scroll_by_keyboard_and_name_their_rows_and_columns(page: Page) -> None:
    regions = [box for box in page.all("div") if box.get("role") == "region"]
    assert len(regions) == len(page.all("table")) == len(page.all("caption"))
    assert all(box["tabindex"] == "0" and box["aria-label"] for box in regions)
    assert all(head.get("scope") in ("row", "col", "colgroup") for head in page.all("th"))


def test_figures_say_in_words_what_they_show(page: Page) -> None:
    drawings = [box for box in page.all("div") if box.get("role") == "group"]
    assert len(drawings) == len(page.all("figure")) == len(page.all("svg")) == 9 + 6
    assert all(re.search(r"\d", box["aria-label"] or "") for box in drawings)
    told = [part for part in page.all("g") if part.get("class") == "told"]
    # Every row of a drawing is reached by keyboard and says its values.
    assert len(told) > 60 and all(part["tabindex"] == "0" and part["role"] == "img" for part in told)
    assert all(re.search(r": .*\d", part["aria-label"] or "") for part in told)
    assert all(picture["alt"] for picture in page.all("img"))


def test_drawings_take_the_colours_of_the_page(html: str) -> None:
    drawn = "".join(re.findall(r"<svg.*?</svg>", html, re.DOTALL))
    assert "var(--expert)" in drawn and "var(--lay)" in drawn and not re.search(r"#[0-9a-fA-F]{6}|font", drawn)
    assert "prefers-color-scheme: dark" in html and "@media print" in html


def test_text_has_the_contrast_of_level_aa_in_light_and_dark(html: str) -> None:
    light, dark = re.findall(r":root \{([^}]*--paper[^}]*)\}", html)[:2]
    for block in (light, dark):
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))
        for text in ("ink", "soft", "link", "warn", "good", "bad"):
            assert contrast(colours[text], colours["paper"]) >= 4.5, text
            assert contrast(colours[text], colours["card"]) >= 4.5, text
        assert contrast(colours["ink"], colours["mark"]) >= 4.5
        for mark in ("expert", "lay", "third"):
            assert contrast(colours[mark], colours["paper"]) >= 3


def test_stand_ins_are_announced(page: Page) -> None:
    assert "All of them are stand-ins." in page.text
    assert "Stand-ins reproduce nothing." in page.text and "numbers made up for a test" in page.text
    assert "outside ci95" not in page.text


def test_known_wrong_numbers_carry_a_note(page: Page) -> None:
    marks = [link for link in page.all("a") if (link.get("aria-label") or "").startswith("in doubt")]
    assert len(marks) == 8 + 2 + 1 + 1 + 2  # Tables 1, 4, A1, A2, A3
    assert "100 integer ratings with mean 4.95 cannot have a standard deviation of 0.17" in page.text
    copied = [cell["data-text"] or "" for cell in page.all("td") if "data-text" in cell]
    assert sum(text.endswith(" (in doubt)") for text in copied) == len(marks)  # the note is not copied


def test_what_was_not_computed_says_why(page: Page) -> None:
    assert sum("not computed" in cell for cell in page.cells) == 4
    assert "not computed: lens: is not installed" in page.text


def test_run_records_are_complete(page: Page) -> None:
    for text in ("v1.0.0", "ab" * 32, "random:tiny", "0123abcd", "cd" * 32, "bootstrap 0", "torch 2.6.0", "12.5 s"):
        assert text in page.text
    assert "1,200 in, 340 out" in page.text and "0.25 USD" in page.text and record().run_id in page.text
    assert "bedside run retrieval medlaybench-v@v1.0.0 --model random:tiny" in page.text
    assert re.search(r"wall time of the last call\s*12\.5 s", page.text)  # of a run that resumed, not the whole


def test_how_to_cite(page: Page) -> None:
    assert "Han Jang, Junhyeok Lee, Heeseong Eum, Kyu Sung Choi" in page.text
    assert "3MDBench" not in page.text


def test_the_same_runs_give_the_same_page(tmp_path: Path) -> None:
    runs = read_runs([write(tmp_path / "run", ["Table 3", "Table 1"], off=0.1)])
    one = write_report(runs, tmp_path / "a.html").read_bytes()
    assert one == write_report(runs, tmp_path / "b.html").read_bytes()


# --- What stands in a table -------------------------------------------------------------------------------------------


def test_what_each_cell_asks_is_found_once(tmp_path: Path) -> None:
    (run,) = read_runs([write(tmp_path / "run", ["Table 3"], stand_in=None)])
    (view,) = tables([run])[:1]
    assert view.runs is view.runs == [1] and run.results[0].conformance is run.results[0].conformance


def test_own_rows_come_first_and_the_papers_others_follow(tmp_path: Path) -> None:
    found = record()
    rows = {"BiomedCLIP": "mine", "PubMedCLIP": "PubMedCLIP"}
    write_run(tmp_path, found, results(["Table 3"], found, rows=rows))
    view = _views(tmp_path)["Table 3"]
    assert [row.labels for row in view.rows[:4]] == [
        ("mine", "Expert"),
        ("mine", "Layman"),
        ("PubMedCLIP", "Expert"),
        ("PubMedCLIP", "Layman"),
    ]
    assert [row.own for row in view.rows] == [True] * 4 + [False] * 14
    assert view.heads[0] == ("I2T Recall@1",) and len(view.heads) == 6
    assert view.rows[0].cells[0].paper is None
    shared = view.rows[2].cells[0]
    assert shared.paper is not None and shared.paper.value == 4.61 and shared.own[0].difference == 0


def test_numbers_without_a_place_are_listed_by_group(tmp_path: Path) -> None:
    found = record()
    cells = results(["Table 3"], found)
    extra = [replace(cells[0], split_or_group="test; one pool"), replace(cells[0], setting="Layman - Expert")]
    write_run(tmp_path, found, [*cells, *extra])
    view = _views(tmp_path)["Table 3"]
    assert {group: len(pairs) for group, pairs in view.others.items()} == {
        "test; one pool": 1,
        "test; four modality pools": 1,
    }


def test_a_run_over_another_split_stands_alone(tmp_path: Path) -> None:
    found = record(data=DataUsed("medlaybench-v", "validation", None, "ab" * 32))
    write_run(tmp_path, found, [replace(cell, split_or_group="validation") for cell in results(["Table 5"], found)])
    view = _views(tmp_path)["Table 5"]
    assert [len(row.cells) for row in view.rows] == [4]
    assert all(cell.own and cell.paper is None for cell in view.rows[0].cells)


def test_another_splits_pools_stand_where_the_papers_do(tmp_path: Path) -> None:
    """Other ways to pool are listed below, and do not keep the table from being one."""
    found = record(data=DataUsed("medlaybench-v", "validation", None, "ab" * 32))
    cells = results(["Table 3"], found)
    cells = [replace(one, split_or_group=one.split_or_group.replace("test", "validation")) for one in cells]
    write_run(tmp_path, found, [*cells, *(replace(one, split_or_group="validation; one pool") for one in cells)])
    view = _views(tmp_path)["Table 3"]
    assert all(cell.own and cell.paper is None for row in view.rows for cell in row.cells)
    assert list(view.others) == ["validation; one pool"]


def test_means_and_deviations_share_a_head(tmp_path: Path) -> None:
    view = _views(write(tmp_path, ["Table 4"]))["Table 4"]
    assert view.groups == [("Factual Correctness", 2), ("Completeness", 2), ("Simplicity", 2), ("Fluency", 2)]
    assert [head[1] for head in view.heads[:2]] == ["mean", "SD"]


def test_two_runs_of_one_cell_share_it(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1", ["Table 5"]), write(tmp_path / "2", ["Table 5"], off=0.1, seeds={"bootstrap": 1})
    view = _views(one, two)["Table 5"]
    assert [[pair.run for pair in cell.own] for cell in view.rows[0].cells] == [[1, 2]] * 4
    html = write_report(read_runs([one, two]), tmp_path / "r.html").read_text("utf-8")
    assert html.count('href="#run-2">run 2</a>') == 5  # four cells and the line above
    assert html.count("Δ </span>run 1: ") == html.count("Δ </span>run 2: ") == 4  # whose difference it is


def test_a_table_of_no_paper_is_shown_too(tmp_path: Path) -> None:
    found = record(baseline="own")
    cells = [replace(cell, paper="Mine", table="Table X") for cell in results(["Table 5"], found)]
    write_run(tmp_path / "run", found, cells)
    page = Page(write_report(read_runs([tmp_path / "run"]), tmp_path / "r.html").read_text("utf-8"))
    assert "Mine: your results beside the paper" in page.text and not page.all("figure")


def test_tables_of_two_papers_are_told_apart_by_ear(tmp_path: Path) -> None:
    found = record(baseline="own")
    cells = results(["Table 1"], found)
    write_run(tmp_path / "run", found, [*cells, *(replace(cell, paper="MedConceal") for cell in cells)])
    page = Page(write_report(read_runs([tmp_path / "run"]), tmp_path / "r.html").read_text("utf-8"))
    regions = [one.get("aria-label") for _, one in page.elements if one.get("role") == "region"]
    assert len(regions) == len(set(regions)) > 3


def test_reproductions_outside_their_interval_are_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    states_the_data(monkeypatch, "Table 3", digest=DIGEST)
    run = write(tmp_path / "run", ["Table 3"], stand_in=None, off=0.3)
    text = shown(run).text
    assert "published number outside ci95" in text and "reproduced" in text and "Stand-ins reproduce" not in text


def test_own_numbers_say_what_differs(tmp_path: Path) -> None:
    """Beside the number in words, below the table fact by fact; what an earlier version left is unknown."""
    run = write(tmp_path / "run", ["Table 3"], stand_in=None, off=0.3)
    text = shown(run).text
    assert "own (data, models)" in text and "Conditions of the paper and of these runs" in text
    assert "data.repository" in text and "https://huggingface.co/datasets/hanjang/MedLayBench-V" in text
    content = json.loads((run / "run.json").read_text(encoding="utf-8"))
    del content["conformance"]
    (run / "run.json").write_text(json.dumps(content), encoding="utf-8")
    text = shown(run).text
    assert "unknown: 96" in text and "Conditions of the paper and of these runs" not in text


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    found = record(stand_in="<script>alert(1)</script>", command="bedside <img src=x>")
    rows = {"BiomedCLIP": "a<b> $x$ & \"q\" 'z' </svg>"}
    write_run(tmp_path / "run", found, results(["Table 3", "Table A3"], found, rows=rows))
    html = write_report(read_runs([tmp_path / "run"]), tmp_path / "r.html").read_text("utf-8")
    page = Page(html)
    assert page.runs_only_its_own(html) and not page.all("img")
    assert "<script>alert(1)</script>" in page.text and "a<b> $x$" in page.text


# --- Figures ----------------------------------------------------------------------------------------------------------


def test_projections_of_a_run_are_drawn(tmp_path: Path) -> None:
    found = record("embedding-space")
    cell = replace(results(["Figure A3 (caption)"], found)[0], row="tiny", setting="CT")
    names = [f"{cell.column}, {quantile} quantile" for quantile in ("5%", "50%", "95%")]
    cells = [replace(cell, column=name, value=at / 10, ci95=None) for at, name in enumerate(names)]
    write_run(tmp_path, found, [cell, *cells])
    plane = [[float(x), 1.0] for x in range(1400)]
    facts = {"tiny": {"projection": {"modality": ["CT", "MRI"] * 700, "expert": plane, "layman": plane}}}
    (tmp_path / PROJECTIONS).write_text(json.dumps(facts))
    runs = read_runs([tmp_path])
    drawn = figures(_views(tmp_path)["Figure A3 (caption)"], runs)
    assert "CT 0.1" in drawn[0].alt
    assert drawn[1].caption.startswith("t-SNE of expert and lay captions, tiny, 467 of 1,400 pairs")
    (tmp_path / PROJECTIONS).write_text('{"tiny": {"projection": {"modality": ["CT"]}}}')
    with pytest.raises(InputError, match="not hold what was written"):
        figures(_views(tmp_path)["Figure A3 (caption)"], runs)


def test_figures_show_every_run_of_a_cell(tmp_path: Path) -> None:
    folders = [tmp_path / str(seed) for seed in range(2)]
    for seed, folder in enumerate(folders):
        found = record("embedding-space", seeds={"bootstrap": seed})
        cell = replace(results(["Figure A3 (caption)"], found)[0], row="tiny", setting="CT")
        names = [f"{cell.column}, {quantile} quantile" for quantile in ("5%", "50%", "95%")]
        cells = [replace(cell, column=name, value=(seed + at) / 10, ci95=None) for at, name in enumerate(names)]
        write_run(folder, found, [*cells, *results(["Table A1"], found)])
    views = _views(*folders)
    assert "tiny (run 1): CT 0.1; tiny (run 2): CT 0.2." in figures(views["Figure A3 (caption)"])[0].alt
    # Shares are of the pairs of a run, not of all runs.
    (shares,) = figures(views["Table A1"])
    own = [float(share) for share in re.findall(r"\(run 1\) ([\d.]+)", shares.alt)]
    assert len(own) > 3 and sum(own) == pytest.approx(100, abs=0.1)


@pytest.mark.parametrize(
    ("method", "panel", "lay", "printed"),
    [("SCGR (Ours)", "Figure A4i", "Layman (SCGR)", 30.7), ("LLM Only", "Figure A4ii", "Layman (naive LLM only)", 5.3)],
)
def test_a_retrieval_run_shows_the_bars_of_figure_a4(
    method: str, panel: str, lay: str, printed: float, tmp_path: Path
) -> None:
    found = record(options={"method": method})
    write_run(tmp_path, found, results(["Table 3"], found, rows={"BiomedCLIP": "BiomedCLIP"}))
    (view,) = [view for view in tables(read_runs([tmp_path])) if view.name.startswith("Figure A4")]
    assert view.name == panel and [row.labels for row in view.rows if row.own] == [
        ("BiomedCLIP", "Expert"),
        ("BiomedCLIP", lay),
    ]
    assert len(view.heads) == 6 and all(cell.own and cell.paper for row in view.rows[:2] for cell in row.cells)
    paper = view.rows[1].cells[0].paper
    assert paper is not None and paper.value == printed
    drawn = figures(view)
    assert [figure.caption[:18] for figure in drawn[:2]] == ["Image to text, R@1", "Image to text, R@5"]
    assert len(drawn) == 6 and f"{lay}: BiomedCLIP" in drawn[0].alt


def test_what_was_not_computed_has_no_bars(tmp_path: Path) -> None:
    found = record()
    empty = [replace(cell, value=None, ci95=None, note="too few rows") for cell in results(["Table 3"], found)]
    write_run(tmp_path, found, empty)
    assert [view.name for view in tables(read_runs([tmp_path]))] == ["Table 3"]
    assert "not computed: too few rows" in shown(tmp_path).text


def test_captions_of_ones_own_method_have_a_column_beside_the_papers(tmp_path: Path) -> None:
    found = record(options={"method": "mine"})
    cells = [
        replace(cell, setting="mine" if cell.setting == "SCGR (Ours)" else cell.setting)
        for cell in results(["Table 3", "Table A4", "Table 5"], found)
        if not cell.setting.startswith("LLM")
    ]
    write_run(tmp_path, found, cells)
    views = _views(tmp_path)
    for name in ("Table A4", "Table 5"):
        assert [head for (head,) in views[name].heads] == ["LLM Only", "LLM + CUI", "SCGR (Ours)", "Expert", "mine"]
        assert views[name].others == {} and all(row.cells[-1].own for row in views[name].rows)
    drawn = figures(views["Table A4"])
    assert any("mine: " in figure.alt for figure in drawn)
    # As the paper and every other number of this kind call it.
    assert all(figure.caption.startswith(cells[-1].column) for figure in drawn)
    assert ("BiomedCLIP", "Layman (mine)") in [
        row.labels for row in views["Figure A4i (assets/downstream.png)"].rows if row.own
    ]


def test_any_number_of_sources_of_captions_is_drawn(tmp_path: Path) -> None:
    names = [f"mine {at}" for at in range(7)]
    for name in names:
        found = record(options={"method": name})
        cells = results(["Table 3", "Table A4"], found, rows={"BiomedCLIP": "BiomedCLIP"})
        cells = [replace(one, setting=name if one.setting == "SCGR (Ours)" else one.setting) for one in cells]
        write_run(tmp_path / name, found, [one for one in cells if not one.setting.startswith("LLM")])
    views = _views(*(tmp_path / name for name in names))
    for table in ("Figure A4i (assets/downstream.png)", "Table A4"):
        drawn = figures(views[table])
        assert all(name in " ".join(one.alt for one in drawn) for name in names)
        assert len({one.caption for one in drawn}) == len(drawn)  # parts of a figure are told apart


def test_readability_is_drawn_of_one_split_beside_the_paper(tmp_path: Path) -> None:
    found = record()
    cells = [replace(one, ci95=None) for one in results(["Table 1"], found) if one.split_or_group == "Test"]
    write_run(tmp_path / "run", found, cells)
    drawn = figures(_views(tmp_path / "run")["Table 1"])
    assert [one.caption for one in drawn] == [
        f"{names} of the test split. Filled: yours; hollow: published." for names in ("FKGL, CLI, DCRS, SMOG", "FRE")
    ]


def test_numbers_that_have_no_place_in_table_1_make_no_figure(tmp_path: Path) -> None:
    found = record()
    write_run(tmp_path / "run", found, [replace(results(["Table 1"], found)[0], column="of my own")])
    assert figures(_views(tmp_path / "run")["Table 1"]) == []


def test_the_name_of_a_row_is_inside_its_drawing() -> None:
    svg = dot_plot([Series("a", {"Computed Tomography (CT)": Point(1.0)}, 0)], "x")
    assert re.findall(r'class="end">([^<]*)<', svg) == ["Computed Tomography", "(CT)"]


def test_panels_of_one_quantity_share_their_axis(tmp_path: Path) -> None:
    view = _views(write(tmp_path / "run", ["Table 3"], off=0.2))["Table 3"]
    axes = [re.findall(r'class="tick middle">([^<]*)<', figure.svg) for figure in figures(view)]
    assert len(axes) == 2 and axes[0] == axes[1] and "percent" in axes[0]


def test_an_axis_has_round_ticks_between_its_ends() -> None:
    for low, high in ((0, 1), (-3.2, 7.1), (99.2, 100), (0, 8179), (1e-6, 2e-6)):
        svg = dot_plot([Series("a", {"r": Point(low), "s": Point(high)}, 0)], "x", limits=(low, high))
        ticks = re.findall(r'class="tick middle">([−\d.,]+)<', svg)
        values = [float(tick.replace("−", "-").replace(",", "")) for tick in ticks]
        assert 3 <= len(values) == len(set(values)) <= 7 and low <= values[0] and values[-1] <= high, (low, high)
    same = dot_plot([Series("a", {"r": Point(5.0, (5.0, 5.0))}, 0)], "x")
    assert "NaN" not in same and 'cx="' in same
    # Values that only rounding tells apart, as the cosines of equal captions are.
    for low, high in ((1 - 2**-53, 1.0), (0.0, 1e-17), (5.0, 5 + 2**-49)):
        svg = dot_plot([Series("a", {"r": Point(low, (low, high)), "s": Point(high)}, 0)], "x")
        labels = re.findall(r'class="tick middle">([−\d.,]+)<', svg)
        assert 3 <= len(labels) == len(set(labels)) and all(len(one) < 7 for one in labels)


@pytest.mark.parametrize("names", [list("12345678"), ["guarded", "open", "reserved"]])
def test_the_label_at_the_end_of_a_curve_is_inside_its_drawing(names: list[str]) -> None:
    drawn, label = over_turns(8, [Curve(name, [0.0] * 9, shown=True) for name in names]), ", ".join(names)
    width = float(re.findall(r'viewBox="0 0 ([\d.]+) ', drawn)[0])
    (x,) = re.findall(rf'<text x="([\d.]+)"[^>]*>{label}<', drawn)
    assert width >= float(x) + 5 * len(label)


def test_columns_are_named_by_their_meaning(tmp_path: Path) -> None:
    text = shown(write(tmp_path / "run", ["Table 3"])).text
    assert "Image to text, right at first placeI2T Recall@1" in text.replace("\n", "")
    assert meaning("3MDBench", "Criterion 1.1") == "Asks about history"
    assert meaning("3MDBench", "Criterion 1.1, changed") == "Asks about history, changed"
    assert meaning("MedLayBench-V", "no such column") == "no such column"


def test_an_interval_prints_as_many_decimals_as_tell_its_ends_apart(tmp_path: Path) -> None:
    found = record()
    cell = replace(results(["Table 5"], found)[0], value=99.999, ci95=(99.997, 100.0))
    write_run(tmp_path / "run", found, [cell])
    text = shown(tmp_path / "run").text
    assert "99.997 to 100.000" in text and "100.00 to 100.00" not in text


# --- Captions ---------------------------------------------------------------------------------------------------------


def test_captions_show_concepts_failed_gates_and_pictures(page: Page, html: str) -> None:
    rows = [part for part in page.all("details") if part.get("class") == "dialogue"]
    assert [part["id"] for part in rows] == ["captions/0/p1", "captions/0/p2", "captions/0/p3"]
    assert len(page.all("img")) == 1
    assert "<mark>pneumothorax<sup>1</sup></mark>" in html and "1 pneumothorax → collapsed lung" in page.text
    assert "side: 'left' is <gone>" in page.text and "Left <b>x</b> & y" in page.text
    assert page.all("img")[0]["alt"] == "Left collapsed lung."


def test_all_captions_are_packed_with_facets(html: str) -> None:
    index, *rows = unpacked(html, "captions").split("\n")
    facets = {facet["name"]: facet["values"] for facet in json.loads(index)["facets"]}
    assert facets["gate"] == ["side", "none failed"] and facets["status"] == ["accepted"]
    assert facets["method of imaging"] == ["plain X-ray"]
    assert (
        "Left <b>x</b> & y" in rows[0] and rows[1].endswith("\x1f0") and rows[3].startswith("data:image/jpeg;base64,")
    )


def test_failed_gates_come_first_and_fill_half_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = release(tmp_path / "release")
    assert captions(folder).fixed[0].case == "p1" and captions(folder) == captions(folder)
    monkeypatch.setattr("baselines.report.captions._FIXED", 1)
    assert not captions(folder).fixed[0].problem


def test_a_release_that_cannot_be_shown(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="no such folder"):
        captions(tmp_path / "absent")
    folder = release(tmp_path / "release")
    shard = next((folder / "data").iterdir())
    shard.write_bytes(shard.read_bytes()[:50])
    with pytest.raises(ReleaseError, match="cannot be read"):
        captions(folder)


# --- The command ------------------------------------------------------------------------------------------------------


def test_the_command_writes_the_page(tmp_path: Path, capsys: Capture) -> None:
    run, shown = write(tmp_path / "run", ["Table 5"]), release(tmp_path / "release")
    out = tmp_path / "deep" / "r.html"
    assert execute(["report", str(run), "--release", str(shown), "-o", str(out)]) == 0
    assert str(out) in capsys.readouterr().out.replace("\n", "")
    assert len([one for one in Page(out.read_text("utf-8")).all("details") if one.get("class") == "dialogue"]) == 3


def test_a_space_gets_a_public_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    pushed: list[tuple[Path, str]] = []
    monkeypatch.setattr("scripts.report.publish_page", lambda *given: pushed.append(given) or "http://hub/x")
    out = tmp_path / "r.html"
    assert execute(["report", str(write(tmp_path / "run", ["Table 5"])), "--space", "org/name", "-o", str(out)]) == 0
    assert pushed == [(out, "org/name")] and "Public version" in out.read_text("utf-8")
    assert "Space: http://hub/x" in capsys.readouterr().out


@pytest.mark.parametrize("missing", ["run", "release"])
def test_the_command_names_what_is_missing(missing: str, tmp_path: Path, capsys: Capture) -> None:
    run = write(tmp_path / "run", ["Table 5"])
    arguments = [str(tmp_path / "none")] if missing == "run" else [str(run), "--release", str(tmp_path / "none")]
    assert execute(["report", *arguments, "-o", str(tmp_path / "r.html")]) == 2
    shown = capsys.readouterr().err
    assert "none" in shown and "Traceback" not in shown and not (tmp_path / "r.html").exists()
