"""Consultations on the page: every turn readable, nothing run or fetched, hidden things folded, hostile text inert."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape
from PIL import Image

from baselines.report.consultation import FACETS, matrices, sections
from baselines.report.figures import figures
from baselines.report.page import write_report
from baselines.report.rows import FIXED, Explored, Row
from baselines.report.tables import tables
from baselines.results.comparison import read_runs
from baselines.results.confounds import also_differing
from baselines.results.run import DataUsed, ModelUsed, write_run
from baselines.threemdbench.consultation.cases import keep_pictures, picture_path
from baselines.threemdbench.consultation.diagnosis import extracted
from baselines.threemdbench.consultation.record import Case, Consultation, Turn
from baselines.threemdbench.consultation.tables import results
from loaders.errors import InputError
from tests.baselines.report.test_report import Page, unpacked
from tests.parts.consultations import consultation, graded, many, record, said, write_dialogues
from tests.parts.pictures import drawn, jpeg
from tests.parts.runs import write as write_captions

HOSTILE = '<script>alert(1)</script> Patient: "><img src=http://x/y> {{ 7 * 7 }} </details> ' + "x" * 50_000
HIDDEN = "It must be a stye, but I shall not say so yet."


def run(folder: Path, made: list[Consultation], lost: tuple[str, ...] = (), **more: Any) -> Path:
    """A finished run of consultations in a folder."""
    facts = record(**more)
    write_run(folder, facts, results(made, facts, resamples=20))
    write_dialogues(folder, made, lost)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = many(90, seed=3)
    made[0] = consultation(
        0,
        turns=(Turn("patient", HOSTILE, flags=("cut",)), Turn("doctor", "Since when?", HIDDEN)),
        finished=False,
        ended="cap",
        cues=("stye", "chalazion", "conjunctivitis"),
        assessment=graded("no JSON <b>at all</b>"),
    )
    place = tmp_path_factory.mktemp("dialogues") / "first"
    run(place, made, lost=("case-9999",))
    path = picture_path(place, made[0].case_id)
    path.parent.mkdir()
    Image.new("RGB", (40, 30), (200, 10, 10)).save(path)
    return place


@pytest.fixture(scope="module")
def html(folder: Path) -> str:
    return write_report(read_runs([folder]), folder.parent / "report.html").read_text("utf-8")


def test_nothing_runs_and_nothing_is_fetched(html: str) -> None:
    page = Page(html)
    assert page.runs_only_its_own(html) and not page.all("link") and not page.all("iframe")
    assert page.all("img") and all((one["src"] or "").startswith("data:image/jpeg") for one in page.all("img"))
    targets = [str(attributes["href"]) for _, attributes in page.elements if "href" in attributes]
    assert all(target.startswith("#") or target in ("first/dialogues.jsonl",) for target in targets)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert all(target[1:] in ids for target in targets if target.startswith("#"))


def test_hostile_text_is_escaped_and_a_flood_is_cut_with_its_length_stated(html: str) -> None:
    page = Page(html)
    assert "<script>alert(1)</script>" in page.text and "{{ 7 * 7 }}" in page.text
    assert "no JSON <b>at all</b>" in page.text
    assert "x" * 5_000 not in page.text
    assert re.search(r"… \(46,0\d\d more characters\)", page.text)


def test_what_the_patient_never_saw_is_folded_away_under_its_turn(html: str) -> None:
    turn = next(part for part in html.split("<li class=") if HIDDEN in part).partition("</li>")[0]
    assert turn.startswith('"expert"')
    order = ['<details class="thought">', HIDDEN, "</details>", "Since when?"]
    assert [turn.index(text) for text in order] == sorted(turn.index(text) for text in order)
    assert '<details class="thought" open' not in html


def test_a_dialogue_shows_picture_cues_diagnosis_and_rubric(html: str) -> None:
    page = Page(html)
    for text in (
        "Cues of the classifier",
        "stye, chalazion, conjunctivitis",
        "the cap on utterances",
        "Overall competence",
    ):
        assert text in page.text
    assert len(page.all("img")) == 1 and "gold diagnosis: stye" in str(page.all("img")[0]["alt"])


def test_some_rows_are_in_the_html_and_all_are_packed(folder: Path, html: str) -> None:
    (section,) = sections([(1, read_runs([folder])[0])])
    fixed = re.findall(r'<details class="dialogue" id="([^"]*)">\n<summary>(.*?)</summary>', html, re.DOTALL)
    assert len(fixed) == FIXED and "Without JavaScript: 20 of 91, drawn at random" in html and "not played 1" in html
    troubled = ['class="warn"' in summary for _, summary in fixed]
    assert troubled == sorted(troubled, reverse=True) and any(troubled) and not all(troubled)
    again = Explored.of("consultations", section.explored.rows, FACETS).fixed
    assert section.explored.fixed == again != section.explored.rows[:FIXED]
    index, *rows = unpacked(html, "consultations").split("\n")
    known = json.loads(index)
    assert known["total"] == len(known["rows"]) == 91 and len(rows) == 92  # and one picture
    assert [facet["name"] for facet in known["facets"]] == list(FACETS)
    assert known["rows"][0][:3] == ["1/case-0000", "case-0000", 1] and f"consultations/{known['rows'][0][0]}" in html
    assert "<script>alert(1)</script>" in rows[0] and HIDDEN in rows[0]
    problems = known["facets"][FACETS.index("problem")]["values"]
    assert {"unfinished", "not assessed", "none", "not played"} <= {*problems}


def test_runs_of_one_case_are_found_beside_each_other(tmp_path: Path) -> None:
    settings = ("image+basic", "dialogue", "dialogue+image", "dialogue+image+rationale")
    folders = [
        run(tmp_path / str(at), many(40, setting=setting), options={"setting": setting}, seeds={"bootstrap": at})
        for at, setting in enumerate(settings)
    ]
    (section,) = sections(list(enumerate(read_runs(folders), start=1)))
    assert {row.run for row in section.explored.rows if row.case == "case-0007"} == {1, 2, 3, 4}
    assert len({row.address for row in section.explored.rows}) == 160 and len(section.explored.runs) == 4
    assert section.html.count("<h3>") == 4
    assert "Differences between runs, case by case" in section.html
    assert section.html.count('<th scope="row">scripted/made-up, dialogue + image<span') >= 10


def test_what_else_two_runs_differ_in_stands_beside_their_difference(tmp_path: Path) -> None:
    """As `bedside contrast` says it: another assessor moves every mark, and nobody would look for it elsewhere."""
    made, one = many(20), {"options": {"setting": "dialogue", "judge": "experts"}}
    folders = [
        run(tmp_path / "a", made, **one, prompts={"patient": "1" * 64}),
        run(tmp_path / "b", made, **one, prompts={"patient": "1" * 64}, seeds={"bootstrap": 1}),
        run(tmp_path / "c", made, options={"setting": "dialogue", "judge": "<b>"}, prompts={"patient": "2" * 64}),
    ]
    read = read_runs(folders)
    (section,) = sections(list(enumerate(read, start=1)))
    told = re.findall(r"<li>[^<]*\((run \d)\) less [^<]*\((run \d)\): differs also in ([^\n]*)</li>", section.html)
    also = also_differing([run.record for run in read[1:]])
    assert "judge (experts / <b>)" in also and "prompts (patient)" in also
    assert told == [(first, "run 3", escape(also)) for first in ("run 1", "run 2")]
    assert "differs also in" not in sections(list(enumerate(read[:2], start=1)))[0].html


def test_a_page_holds_so_many_rows_and_says_of_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baselines.report.rows.MOST", 30)
    rows = [Row(f"case-{at:03d}", "t") for at in range(100)]
    explored = Explored.of("a", rows, ())
    assert len(explored.rows) == 30 and explored.total == 100 and len(explored.fixed) == FIXED
    assert list(explored.rows) == sorted(explored.rows, key=lambda row: row.case)


def test_rows_that_stand_without_scripts_have_their_pictures_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baselines.report.rows.ROOM", 25)
    rows = [Row(f"case-{at:03d}", "t", run) for run in (1, 2) for at in range(50)]
    explored = Explored.of("a", rows, (), fixed=4)
    made: list[str] = []

    def picture(case: str) -> str:
        made.append(case)
        return f"{case}.jpg"  # twelve characters

    pictured = explored.pictured((row.case, partial(picture, row.case)) for row in rows if row.case != "case-001")
    fixed = {row.case for row in explored.fixed}
    assert [row.picture for row in pictured.fixed] == [f"{row.case}.jpg" for row in explored.fixed]
    assert {row.case for row in pictured.rows if row.picture} == set(made) == {"case-000", "case-002", *fixed}
    assert len(made) == len(set(made))  # once, whatever runs a case is in


def test_a_run_over_other_cases_is_compared_with_nothing(tmp_path: Path) -> None:
    made = many(40)
    folders = [run(tmp_path / "a", made[:20]), run(tmp_path / "b", made[20:], seeds={"bootstrap": 1})]
    (section,) = sections(list(enumerate(read_runs(folders), start=1)))
    assert "Differences between runs" not in section.html
    # A third run shares cases with both, which share none.
    folders.insert(0, run(tmp_path / "c", made[10:30], seeds={"bootstrap": 2}))
    (section,) = sections(list(enumerate(read_runs(folders), start=1)))
    pairs = set(re.findall(r"\((run \d)\)<span class=\"part\">less [^<]*\((run \d)\)<", section.html))
    assert pairs == {("run 1", "run 2"), ("run 1", "run 3")}


def test_every_problem_of_a_dialogue_is_counted(tmp_path: Path) -> None:
    made = [
        consultation(0, finished=False, ended="cap"),
        consultation(1, extraction=said(failure="a poem")),
        consultation(2, assessment=graded("prose")),
        consultation(3, parse_failures=1),
        consultation(4),
    ]
    (section,) = sections([(1, read_runs([run(tmp_path / "r", made, ("gone",))])[0])])
    for problem in ("unfinished", "diagnosis not extracted", "not assessed", "reasoning not parsed", "not played"):
        assert f"{problem} 1" in section.html
        assert any(problem in row.facets["problem"] for row in section.explored.rows)
    told = str(section.explored.rows)
    assert "a poem" in told and "down" in told and len(section.explored.rows) == 6


def test_judge_and_doctor_of_one_family_is_a_warning(tmp_path: Path) -> None:
    models = (ModelUsed("doctor", "openai/gpt-4o-mini"), ModelUsed("assessor", "openai/gpt-4.1"))
    (section,) = sections([(1, read_runs([run(tmp_path / "a", many(8), models=models)])[0])])
    assert "from the same model family (GPT)" in section.html
    models = (models[0], ModelUsed("assessor", "anthropic/claude-sonnet-4-5"))
    (section,) = sections([(1, read_runs([run(tmp_path / "b", many(8), models=models)])[0])])
    assert "from the same model family" not in section.html


def test_confusion_matrices_show_every_domain_and_say_what_they_leave_out() -> None:
    found = {one.domain: one for one in matrices([extracted(one) for one in many(340, seed=1)])}
    assert set(found) == {"dermatology", "ophthalmology", "throat/mucosae", "dental", "nails"}
    assert len(found["dermatology"].rows) == 10 and found["dermatology"].left_out == 11
    assert {one.domain: one.figure for one in found.values()} == {
        name: "Figure 14" if name == "dermatology" else "Figure 15" for name in found
    }
    eyes = found["ophthalmology"]
    assert sum(map(sum, eyes.counts)) == sum(one.domain == "ophthalmology" for one in many(340, seed=1))
    assert eyes.right(0, 0) and not eyes.right(0, 1) and not eyes.right(0, 3)


def test_runs_over_different_corpora_share_a_page(folder: Path, tmp_path: Path) -> None:
    captions = write_captions(tmp_path / "language", ["Table 1"], baseline="language")
    html = write_report(read_runs([folder, captions]), tmp_path / "report.html").read_text("utf-8")
    page = Page(html)
    assert "3MDBench, Table 5" in page.text and "MedLayBench-V, Table 1" in page.text
    assert "Sviridov" in page.text and "Han Jang" in page.text


def test_runs_over_different_rows_of_one_corpus_still_do_not(folder: Path, tmp_path: Path) -> None:
    other = run(tmp_path / "other", many(20), data=DataUsed("3mdbench", "test", None, "ef" * 32))
    with pytest.raises(InputError, match="content of split test"):
        read_runs([folder, other])


def test_the_paper_is_shown_beside_a_run_over_some_of_its_cases(tmp_path: Path) -> None:
    made = run(tmp_path / "r", many(60), models=(ModelUsed("doctor", "openai/gpt-4o-mini"),))
    views = {view.table: view for view in tables(read_runs([made]))}
    row = next(row for row in views["Table 5"].rows if row.labels == ("GPT-4o-mini", "dialogue + image"))
    heads = [head[0] for head in views["Table 5"].heads]
    assert heads[:4] == ["F1", "F1 (cleaned)", "F1 (strict)", "F1 (strict, macro)"]
    cell = row.cells[0]
    assert cell.paper and cell.paper.value == 54.2 and cell.own[0].difference is None
    assert not views["Table 6"].others and views["Figure 13"].heads[0] == ("Criterion 1.1",)


def test_the_paper_is_drawn_beside_several_runs_of_a_doctor(tmp_path: Path) -> None:
    folders = [
        run(tmp_path / str(at), many(40), models=(ModelUsed("doctor", "openai/gpt-4o-mini"),), seeds={"bootstrap": at})
        for at in range(2)
    ]
    (view,) = [view for view in tables(read_runs(folders)) if view.table == "Table 5"]
    (figure,) = figures(view)
    assert "(run 1)" in figure.alt and "(run 2)" in figure.alt and "hollow: published" in figure.caption


def test_figures_of_consultations_are_drawn(tmp_path: Path) -> None:
    folders = [
        run(
            tmp_path / str(at), many(60, seed=at, skill=0.3 * at + 0.2), models=(ModelUsed("doctor", f"scripted/{at}"),)
        )
        for at in range(2)
    ]
    html = write_report(read_runs(folders), tmp_path / "report.html").read_text("utf-8")
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", html)
    for words in ("F1 by doctor and setting", "F1 by medical domain", "F1 by temperament", "utterances by temperament",
                  "competence by domain", "competence by temperament"):  # fmt: skip
        assert any(words in caption for caption in captions), words


@pytest.mark.parametrize(
    "line", ["no JSON", "{}", '{"case": "a", "epoch": 1, "record": {}, "error": null, "invalid": null}']
)
def test_a_file_of_dialogues_that_cannot_be_read_is_named(tmp_path: Path, line: str) -> None:
    made = run(tmp_path / "r", many(8))
    with (made / "dialogues.jsonl").open("a", encoding="utf-8") as handle:
        handle.write(line + "\n")
    with pytest.raises(InputError, match=r"dialogues.jsonl, line 9"):
        sections([(1, read_runs([made])[0])])


def test_a_run_without_its_dialogues_has_no_section(tmp_path: Path) -> None:
    made = run(tmp_path / "r", many(8))
    (made / "dialogues.jsonl").unlink()
    assert sections([(1, read_runs([made])[0])]) == []


def test_pictures_are_small_named_after_nothing_and_kept_once(tmp_path: Path) -> None:
    case = Case(
        "3mdbench/test/stye 1",
        jpeg(drawn(0, (800, 600))),
        "stye",
        "ophthalmology",
        "You hurt.",
        ("It is red.",),
        "choleric",
    )
    keep_pictures(tmp_path, [case, replace(case, case_id="other")])
    files = sorted((tmp_path / "images").iterdir())
    assert len(files) == 2 and not any("stye" in path.name for path in files)
    with Image.open(picture_path(tmp_path, case.case_id)) as picture:
        assert picture.format == "JPEG" and max(picture.size) <= 360 and not picture.getexif()
    before = [path.stat().st_mtime_ns for path in files]
    keep_pictures(tmp_path, [case])
    assert [path.stat().st_mtime_ns for path in sorted((tmp_path / "images").iterdir())] == before
