"""The README's table of speed: written from what the benchmarks print, and no row is lost or made up."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from scripts.bench import all as everything
from scripts.bench import text
from scripts.bench.all import ROWS, commands, main, read_figures, with_table
from tests.parts.places import ROOT

PRINTED = {
    "start": """Start of a command, median of 7
                    CPU s  of hf  peak MB   of hf
hf --version         0.37   1.00       36    1.00
bedside --version    0.15   0.40       23    0.63
bedside --help       0.30   0.80       29    0.79
bedside run --help   0.41   1.09       40    1.09
""",
    "retrieval": """
9,927 x 512, both directions, R@1/5/10
  product             0.530 s     1.00 x product         0 MB above inputs
  counting            0.604 s     1.14 x product        31 MB above inputs
  mask / counting: 33.8

9,927 x 1024, both directions, R@1/5/10
  counting            0.604 s     1.15 x product        32 MB above inputs
  mask / counting: 16.9

bootstrap of 48 deltas x 1,000 resamples of 9,927 rows
  loop 18.788 s   weights 0.938 s   20.0 x   equal
""",
    "duplicates": """
what                                   goal        measured
hashing against imagehash.phash    <= 0.50x           0.37x  met
join, evenly random             >= 5x faiss            8.5x  met
join, evenly random: memory       <= 150 MB           13 MB  met
join, evenly random: exact              yes             yes  met
""",
    "language": """8,179 captions; textstat 0.7.13
                             reference      ours   CPU time of the first run; how many times faster
textstat: five formulas         9.00 s    0.80 s   first  11.8x   again  20.2x   equal     FKGL 0.9050
sacrebleu: BLEU-4               1.00 s    0.04 s   first   9.0x   again   1.9x   equal     BLEU-4 21.2065
rouge-score: ROUGE-L            9.01 s    0.51 s   first  17.0x   again   1.4x   equal     ROUGE-L 44.0476
nltk: METEOR                    3.00 s    1.00 s   first   3.9x   again   1.3x   DIFFERENT METEOR 29.8905
""",
    "threads": """1.00 GB of records in 0.13 GB of .zst
method        MB/s   ratio  peak MB   comments
plain          100   1.00x       40     70,000
bedside        146   1.46x      110     70,000
""",
}


def cells(script: str, printed: str) -> list[str]:
    told = [row.read(printed) for row in ROWS[script]]
    assert None not in told, script
    return [each["ratio"] for each in told if each]


def test_the_table_of_the_readme_is_that_of_the_figures() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_table(readme, read_figures()) == readme
    assert list(read_figures()) == [row.name for rows in ROWS.values() for row in rows]


def test_rows_are_read_from_what_is_printed() -> None:
    assert cells("start", PRINTED["start"]) == ["0.40× (1.09×); 23 MB (40) against 36"]
    recall = "33.8× (16.9×) faster; 1.14× one matrix product, 31 MB above its inputs"
    assert cells("retrieval", PRINTED["retrieval"]) == [recall, "20.0× faster"]
    assert cells("duplicates", PRINTED["duplicates"]) == ["0.37× its time", "8.5× faster"]
    assert cells("threads", PRINTED["threads"]) == ["1.46× faster"]
    assert cells("language", PRINTED["language"].replace("DIFFERENT", "equal    "))[0] == "11.8× faster"
    assert [bool(row.read(PRINTED["language"])) for row in ROWS["language"]] == [True, True, False]
    (start,) = ROWS["start"]
    assert start.read(PRINTED["start"].replace("bedside run", "bedside walk")) is None


def test_each_benchmark_knows_the_options_that_it_is_given() -> None:
    given = commands(Path("captions.csv"), "python")
    assert list(given) == list(ROWS)
    for name, arguments in given.items():
        module = "minimal_task" if name in ("consultation", "concealment") else name
        source = (ROOT / "scripts" / "bench" / f"{module}.py").read_text(encoding="utf-8")
        assert not [option for option in arguments if option.startswith("--") and f'"{option}"' not in source], name


def test_the_benchmark_of_text_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    captions = tmp_path / "captions.csv"
    captions.write_text("id,caption\nr0,Chest X-ray shows 2 nodes.\nr1,Axial CT with a 3 cm mass.\n")
    monkeypatch.setenv("COLUMNS", "200")
    # its dictionary takes seconds to read
    monkeypatch.setattr(text, "_textstat", lambda captions: lambda: sum(range(10_000)))

    def by_turns(works: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
        """Does the work; of two captions, a build and what is taken off it differ by less than the clock's chance."""
        for name, work in works.items():
            if name != "opening":  # which the build does too
                work()
        return {name: 3.0 if name == "build" else 1.0 for name in works}

    monkeypatch.setattr(text, "fastest", by_turns)
    text.main([str(captions), "--loop-captions", "1", "--repeats", "1"])
    assert cells("text", capsys.readouterr().out) == ["2× faster", "2.00× its time"]


def test_a_row_that_cannot_be_measured_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "README.md").write_text(f"Before\n{everything.BEGIN}\nold\n{everything.END}\nAfter\n")
    before = everything.FIGURES.read_text(encoding="utf-8")
    (tmp_path / "speed.json").write_text(before, encoding="utf-8")
    monkeypatch.setattr(everything, "commit", lambda: "abcdef0+")
    monkeypatch.setattr(everything, "ROOT", tmp_path)
    monkeypatch.setattr(everything, "FIGURES", tmp_path / "speed.json")
    monkeypatch.setattr(everything, "read_figures", lambda: read_figures(tmp_path / "speed.json"))
    monkeypatch.setattr(everything, "measure", lambda name, arguments: (PRINTED.get(name, ""), "no photos"))
    assert main(["--only", "text", "consultation", "start"]) == 1
    after, was = json.loads((tmp_path / "speed.json").read_text(encoding="utf-8")), json.loads(before)
    assert {name for name in was if was[name] != after[name]} == {"start"}
    assert after["start"]["ratio"].startswith("0.40×") and after["start"]["commit"] == "abcdef0+"
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("Before\n") and readme.endswith("After\n") and "old" not in readme
    assert "| 0.40× (1.09×); 23 MB (40) against 36 | abcdef0+, " in readme
