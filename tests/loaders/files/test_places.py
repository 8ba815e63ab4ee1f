"""Places of the machine, as others read of them."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from loaders.files.places import command_line, seen_from, without_places
from tests.parts.places import ROOT


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("ada/runs/first", "ada/runs/data", "ada/photos", "bob"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "ada")
    return tmp_path / "ada/runs/first"


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("RUN", "."),
        ("ADA/runs/data", "../data"),
        ("--out=RUN", "--out=."),
        ("clip=ADA/photos/x.npy", "clip=../../photos/x.npy"),
        ("folder:clinic=ADA/photos", "folder:clinic=../../photos"),
        ("hf:ADA/photos", "hf:../../photos"),
        ("BOB/models/m", "…/m"),
        ("vllm/BOB/models/m", "vllm/…/m"),
        ("open_clip:ViT-B-32/BOB/models/m.pt", "open_clip:ViT-B-32/…/m.pt"),
        ("file://ADA/photos", "../../photos"),
        ("photos", "../../photos"),
        ("--cues=photos", "--cues=../../photos"),
        ("openai/gpt-4o", "openai/gpt-4o"),
        ("--base-url=http://ada:secret@127.0.0.1:8000/v1", "--base-url=http://127.0.0.1:8000/v1"),
        ("https://host/home/ada", "https://host/home/ada"),
        ("--seed", "--seed"),
        ("", ""),
    ],
)
def test_a_command_is_written_as_seen_from_the_run(word: str, told: str, run: Path) -> None:
    home = run.parents[2]
    typed = word.replace("RUN", str(run)).replace("ADA", f"{home}/ada").replace("BOB", f"{home}/bob")
    assert command_line([typed], run) == "bedside " + shlex.quote(told)


def test_texts_are_written_without_paths(run: Path) -> None:
    home = run.parents[2]
    text = f"cannot read {home}/bob/x.png: 3 mg/day and/or (see {run}/run.json), https://host/tmp/a, hf:{home}/bob/m."
    told = "cannot read …/x.png: 3 mg/day and/or (see run.json), https://host/tmp/a, hf:…/m."
    assert without_places(text, run) == told
    assert without_places({"a": [text, 1, None, (text,)]}, run) == {"a": [told, 1, None, (told,)]}


def test_models_of_one_name_in_different_folders_are_told_apart(run: Path) -> None:
    home = run.parents[2]
    for name in ("bob/run1/final", "bob/run2/final", "ada/run1/final"):
        (home / name).mkdir(parents=True)
    one, two, three = (str(home / name) for name in ("bob/run1/final", "bob/run2/final", "ada/run1/final"))
    told = without_places({"models": [f"hf/{one}", two, one], "truncated": {one: 1, two: 2}})
    assert told == {
        "models": ["hf/…/run1/final", "…/run2/final", "…/run1/final"],
        "truncated": {"…/run1/final": 1, "…/run2/final": 2},
    }
    assert without_places([one, three, two]) == ["…/bob/run1/final", "…/ada/run1/final", "…/run2/final"]
    # Where a thing is says nothing of what it is, not even as seen from a run; what is told stays so.
    assert without_places({one: [str(run / "x")]}) == {"…/final": ["…/x"]}
    assert without_places("…/tmp and …/home/ada", run) == "…/tmp and …/home/ada"


def test_folders_with_blanks_in_their_names_are_not_told(run: Path, tmp_path: Path) -> None:
    place = tmp_path / "My Drive" / "of Ada" / "pairs.csv"
    place.parent.mkdir(parents=True)
    place.touch()
    gone = place.with_name("gone.csv")
    text = f"{place}: is empty. Neither {gone} nor NAME={place} and {tmp_path} are of use"
    assert without_places(text, run) == (
        f"…/pairs.csv: is empty. Neither …/gone.csv nor NAME=…/pairs.csv and …/{tmp_path.name} are of use"
    )


def test_a_name_that_is_not_utf_8_is_escaped(run: Path) -> None:
    for told in (without_places("runs/caf\udce9", run), command_line(["report", "runs/caf\udce9"], run)):
        assert "runs/caf\\udce9" in told.encode("utf-8").decode("utf-8")


def test_a_shared_home_folder_is_not_revealed(run: Path) -> None:
    assert seen_from(run.parents[2] / "bob/data", run) == "…/data"
    assert seen_from("/", run) == "…/"


def test_a_circle_of_links_leads_nowhere(run: Path) -> None:
    """Python 3.11 has an error of its own for that."""
    circle = run / "circle"
    circle.symlink_to(circle)
    assert seen_from(circle / "below", run) == "…/below"
    assert seen_from(run / "run.json", circle) == "…/run.json"
    assert without_places(f"cannot read {circle}/below.", run) == "cannot read …/below."


def test_links_are_followed_in_one_place() -> None:
    """`resolved` refuses a circle; `Path.resolve` ends in a traceback."""
    code = [path for name in ("loaders", "builders", "baselines", "scripts") for path in (ROOT / name).rglob("*.py")]
    found = [
        path.relative_to(ROOT).as_posix()
        for path in code
        if ".resolve(" in path.read_text(encoding="utf-8").replace("Path(__file__).resolve(", "")
    ]
    assert [name for name in found if not name.startswith("scripts/bench/")] == ["loaders/files/paths.py"]


def test_a_word_too_long_for_a_name_is_a_word(tmp_path: Path) -> None:
    words = ["run", "captioning", "--label", "x" * 5_000]
    assert command_line(words, tmp_path).endswith(" " + "x" * 5_000)
