"""Hidden texts: found whatever they look like, taken out of what is public, and put back for their owner."""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from baselines.dialogue.hidden import HIDDEN, Secrets, differences, put_back
from baselines.dialogue.played import PlayedCase, public_part, read_played, write_played
from loaders.errors import InputError

SECRET = "I’m afraid the bill eats our café savings"


@dataclass(frozen=True)
class Talk:
    said: tuple[str, ...]
    kept: str | None


ROWS = [
    PlayedCase("a", 1, Talk(("Hello.", f"Well. {SECRET.upper()}!"), SECRET), None, None, {}),
    PlayedCase("b", 1, Talk(("Nothing.",), "short"), None, None, {}),
    PlayedCase[Talk]("c", 1, None, None, f"500: you sent {SECRET}", {}),
]
TEXTS = [[SECRET], ["short"], [SECRET]]


def write(folder: Path, rows: list[PlayedCase[Talk]] = ROWS) -> None:
    write_played(folder, rows, lambda talk: replace(talk, kept=None), TEXTS[: len(rows)])


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        f"She said: “{SECRET.upper()}.”",
        "I'm afraid -- the bill eats\nour café_savings",
        "I'm afraid the bill eats our cafe\u0301 savings",
        "x I’m afraid I’m afraid the bill eats our café savings",
    ],
)
def test_a_text_is_found_whatever_its_case_marks_and_form(text: str) -> None:
    secrets = Secrets([SECRET])
    assert secrets.stands_in(text)
    assert HIDDEN in secrets.taken_out(text) and not secrets.stands_in(secrets.taken_out(text))


@pytest.mark.parametrize("text", ["I’m afraid the bill goes to our savings", "", "the café savings", "chimafraid"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert Secrets([SECRET, "the bill", "", "?!"]).taken_out(text) is text


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Afraid the bill eats our café savings.", f"{HIDDEN}."),
        ("I'm afraid the bill eats our café…", f"{HIDDEN}…"),
        ("So, afraid THE bill eats our car", f"So, {HIDDEN} car"),
        ("I'm afraid the bill, doctor", "I'm afraid the bill, doctor"),
    ],
)
def test_a_text_said_in_part_is_removed_from_five_words_on(said: str, left: str) -> None:
    assert Secrets([SECRET]).taken_out(said) == left


def test_a_text_of_five_words_may_lack_one() -> None:
    secrets = Secrets(["He will sell our house", "She drinks in secret"])
    assert secrets.taken_out("will sell our house, he will sell our car") == f"{HIDDEN}, {HIDDEN} car"
    assert secrets.taken_out("He will sell it. She drinks in the morning.") == (
        "He will sell it. She drinks in the morning."
    )


@pytest.mark.parametrize("said", ["I don't know.", "I would rather not say", "I don't want to go into that now."])
def test_ordinary_phrases_stay_though_hidden_texts_begin_with_them(said: str) -> None:
    hidden = ["I don't know who pays when I die", "I would rather not wake up", "I don't want to lose my licence"]
    assert Secrets(hidden).taken_out(said) is said


def test_one_long_word_is_enough_to_look_for() -> None:
    assert Secrets(["endometriosis", "HIV"]).taken_out("Endometriosis, not HIV") == f"{HIDDEN}, not HIV"


def test_texts_of_scripts_without_spaces_are_found() -> None:
    assert Secrets(["我怕付不起"]).taken_out("其实我怕付不起药费") == f"其实{HIDDEN}药费"
    long = Secrets(["我不知道没有这份工作谁来付房租"])
    assert long.taken_out("其实没有这份工作谁来付房租啊") == f"其实{HIDDEN}啊"
    assert long.taken_out("我不知道该说什么") == "我不知道该说什么"


def test_overlapping_texts_are_all_removed() -> None:
    secrets = Secrets(["one two three", "two three four five", "three four"])
    assert secrets.taken_out("zero one two three four five six") == f"zero {HIDDEN} six"


def test_of_texts_with_the_same_beginning_the_longest_is_removed_whole() -> None:
    secrets = Secrets(["I am afraid", "I am afraid of the bill", "I am afraid of the bill and of the surgeon"])
    said = (
        "I am afraid of the bill and of him. I am afraid. I am of the bill. I am afraid of the bill and of the surgeon"
    )
    assert secrets.taken_out(said) == f"{HIDDEN} him. {HIDDEN}. I am of the bill. {HIDDEN}"


def test_a_look_takes_no_longer_where_there_are_many_texts() -> None:
    """A word is looked up once for each length of a run, and there are few lengths."""
    secrets = Secrets(" ".join(f"word {number}" for number in range(start, start + 20)) for start in range(1000))
    assert secrets._sizes == [5]
    assert Secrets(["one two three", "one two three four five", SECRET])._sizes == [5, 4, 3]


def test_what_differs_can_be_put_back() -> None:
    whole = {"a": [1, {"b": "x"}], "c": None, "d": [1, 2], "e": {"f": 3}}
    shown: dict[str, Any] = {"a": [1, {"b": "y"}], "c": [], "d": [1], "e": {}}
    assert put_back(shown, differences(shown, whole)) == whole


def test_a_run_is_public_in_one_file_and_whole_with_the_other(tmp_path: Path) -> None:
    write(tmp_path)
    public = (tmp_path / "dialogues.jsonl").read_text()
    assert not Secrets([SECRET]).stands_in(public) and "short" not in public and public.count(HIDDEN) == 2
    assert read_played(tmp_path, PlayedCase[Talk]) == ROWS
    hidden = tmp_path / "hidden.jsonl"
    assert stat.S_IMODE(hidden.stat().st_mode) == 0o600
    hidden.chmod(0o644)  # an archive that somebody unpacked
    write(tmp_path)
    assert stat.S_IMODE(hidden.stat().st_mode) == 0o600
    hidden.unlink()
    alone = read_played(tmp_path, PlayedCase[Talk])
    assert [row.case_id for row in alone] == ["a", "b", "c"] and alone[0].record == Talk(
        ("Hello.", f"Well. {HIDDEN}!"), None
    )


def test_what_one_case_hides_stands_in_no_other_line(tmp_path: Path) -> None:
    rows = [ROWS[1], PlayedCase("d", 1, Talk((f"Somebody told me: {SECRET}",), None), None, None, {})]
    write_played(tmp_path, [*rows, ROWS[0]], lambda talk: replace(talk, kept=None), [["short"], [], [SECRET]])
    assert not Secrets([SECRET]).stands_in((tmp_path / "dialogues.jsonl").read_text())


def test_a_case_keeps_its_id_whatever_that_says(tmp_path: Path) -> None:
    """By their ids the two files are put together."""
    row = replace(ROWS[0], case_id=SECRET)
    write_played(tmp_path, [row], lambda talk: replace(talk, kept=None), [[SECRET]])
    assert read_played(tmp_path, PlayedCase[Talk]) == [row]


def test_the_public_part_of_a_run_of_an_early_version_lacks_what_its_records_hide(tmp_path: Path) -> None:
    """It had no hidden.jsonl: each record held what its case hides."""
    write_played(tmp_path, ROWS[:2], lambda talk: talk, [[], []])
    assert SECRET in (tmp_path / "dialogues.jsonl").read_text().encode().decode("unicode_escape")
    shown, texts = public_part(
        tmp_path, (PlayedCase[Talk], lambda talk: replace(talk, kept=None), lambda talk: [talk.kept])
    )
    assert texts == [SECRET, "short"]
    assert not Secrets(texts).stands_in(shown.decode()) and shown.decode().count(HIDDEN) == 1


def test_parts_of_two_runs_are_one_error(tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "dialogues.jsonl"
    path.write_text(path.read_text().replace("Hello", "Bye"))
    with pytest.raises(InputError, match=r"dialogues.jsonl, line 1: another line than hidden.jsonl belongs to") as told:
        read_played(tmp_path, PlayedCase[Talk])
    assert "afraid" not in str(told.value)


def test_a_case_that_stands_twice_is_one_error(tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "dialogues.jsonl"
    path.write_text(path.read_text() + path.read_text().splitlines(keepends=True)[1])
    with pytest.raises(InputError, match=r"dialogues.jsonl, line 4: case b, epoch 1, a second time"):
        read_played(tmp_path, PlayedCase[Talk])


def test_damage_of_the_hidden_part_is_one_error(tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "hidden.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["values"] = [[["record", "nowhere", 3], "x"]]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError, match="no place for what hidden.jsonl holds"):
        read_played(tmp_path, PlayedCase[Talk])


@pytest.mark.parametrize("name", ["dialogues.jsonl", "hidden.jsonl"])
def test_a_file_that_was_cut_off_says_what_to_do(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="Invalid JSON.*expected a JSON object") as told:
        read_played(tmp_path, PlayedCase[Talk])
    assert told.value.do.startswith("Repeat the command that made the run")


def test_a_run_that_hides_nothing_has_no_hidden_part(tmp_path: Path) -> None:
    write(tmp_path)
    write_played(tmp_path, ROWS[1:2], lambda talk: talk, [[]])
    assert not (tmp_path / "hidden.jsonl").exists()
