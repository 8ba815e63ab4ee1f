"""Borderline photos: the queue of a build, the page, the decisions file, and what the next build makes of it."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageOps

from builders import recipe as recipes
from builders.curation.review import NAME, Decision, Doubt, Item, Shown, read_decisions, read_queue, write_queue
from builders.curation.review_page import write_review
from builders.pseudonyms import KEY_FILE, pseudonym
from builders.release.verify import verify
from builders.threemdbench import recipe
from builders.threemdbench.sources.photo import opaque_id
from loaders.errors import BedsideError, InputError
from loaders.manifest import Manifest
from scripts.cli import execute
from tests.builders.threemdbench.test_recipe import build, owned, photo_table, reasons, rows_of
from tests.parts.pictures import drawn, jpeg, photo
from tests.parts.small_release import files_of

pytestmark = pytest.mark.usefixtures("found_once")


def shrunk(data: bytes, side: int) -> bytes:
    buffer = io.BytesIO()
    Image.open(io.BytesIO(data)).resize((side, side), Image.Resampling.LANCZOS).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos that are fine, a little small, far too small; and one photo under two diagnoses."""
    mirrored = io.BytesIO()
    Image.open(io.BytesIO(photo("eczema", 0))).transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(mirrored, "PNG")
    files = {
        "fine.jpg": photo("acne", 0),
        "little.png": shrunk(photo("acne", 1), 210),
        "tiny.png": shrunk(photo("acne", 2), 150),
        "eczema.jpg": photo("eczema", 0),
        "psoriasis.png": mirrored.getvalue(),
        "warts.jpg": photo("warts", 0),
    }
    labels = [name.split(".")[0] if name[0] in "epw" else "acne" for name in files]
    rows = [{"file": name, "label": label} for name, label in zip(files, labels, strict=True)]
    return photo_table(tmp_path_factory.mktemp("photos"), rows, files)


@pytest.fixture(scope="module")
def first(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a build without decisions."""
    folder = tmp_path_factory.mktemp("first")
    build(folder, f"table={table}")
    return folder


def queue_of(folder: Path, out: str = "release") -> dict[str, Item]:
    """The queue of a build, by the file of each photo."""
    names = {row["image_id"]: row["file"] for row in owned(folder / out)}
    queue = read_queue(folder / f"{out}.work" / NAME)
    return {names.get(item.picture.key, item.facts["label in the source"]): item for item in queue}


def decide(path: Path, *decided: tuple[Item, str, str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["image_id", "content", "decision", "reason"])
        writer.writerows([item.picture.key, item.content, decision, reason] for item, decision, reason in decided)
    return path


def test_what_the_checks_are_unsure_of_is_in_the_queue_and_nothing_else(first: Path) -> None:
    queue = queue_of(first)
    # Those that are left out have no file in the release, and are named by their label here.
    assert set(queue) == {"acne", "eczema", "psoriasis"}
    assert queue["acne"].doubts == (Doubt("quality", "It is a little small."),)
    assert [doubt.kind for doubt in queue["eczema"].doubts] == ["label"]
    assert [other.caption for other in queue["eczema"].beside] == ["psoriasis"]
    assert not any(item.kept for item in queue.values())
    assert [item.doubts[0].kind for item in read_queue(first / "release.work" / NAME)] == ["label", "label", "quality"]


def test_decisions_are_applied(table: Path, first: Path, tmp_path: Path) -> None:
    queue = queue_of(first)
    fine = next(row["image_id"] for row in owned(first / "release") if row["file"] == "fine.jpg")
    path = decide(
        tmp_path / "decisions.csv", (queue["acne"], "accept", ""), (queue["eczema"], "reject", "wrong diagnosis")
    )
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{fine},,reject,identifiable person\nnobody,,accept,\n")
    manifest = build(tmp_path, f"table={table}", decisions=(path,), key=first / "release.work" / KEY_FILE)
    assert {row["file"] for row in owned(tmp_path / "release")} == {"little.png", "psoriasis.png", "warts.jpg"}
    assert reasons(tmp_path / "release") == {
        "curate: quality: small": 1,
        "curate: review: identifiable person": 1,
        "curate: review: wrong diagnosis": 1,
    }
    counted = manifest.settings["decisions"]
    assert counted == {
        "sha256": pseudonym((first / "release.work" / KEY_FILE).read_bytes(), "digest", read_decisions([path]).digest),
        "accepted": 1,
        "rejected": 2,
        "without a photo": 1,
    }
    assert "1 were accepted and 2 rejected" in (tmp_path / "release" / "README.md").read_text(encoding="utf-8")
    assert verify(tmp_path / "release", row_check=recipe.check_row, measure=recipe.measure) == []
    # What was decided stays in the queue, so that the next export holds it too.
    again = read_queue(tmp_path / "release.work" / NAME)
    assert {item.decided.decision for item in again if item.decided} == {"accept", "reject"}
    assert {item.picture.caption for item in again} == {"acne", "eczema", "psoriasis"}


def test_decisions_about_no_photo_of_the_build_leave_the_queue_as_it_is(table: Path, tmp_path: Path) -> None:
    build(tmp_path, f"table={table}")
    queue = (tmp_path / "release.work" / NAME).read_bytes()
    shutil.rmtree(tmp_path / "release")
    (tmp_path / "d.csv").write_text("image_id,decision\nnobody,accept\n", encoding="utf-8")
    manifest = build(tmp_path, f"table={table}", decisions=(tmp_path / "d.csv",))  # curation is resumed
    assert manifest.settings["decisions"]["without a photo"] == 1  # type: ignore[index,call-overload]
    assert (tmp_path / "release.work" / NAME).read_bytes() == queue


def test_the_queue_is_of_the_build_that_ran_last_though_its_photos_were_curated_before(tmp_path: Path) -> None:
    known = Image.open(io.BytesIO(photo("acne", 0)))
    files = {"known.jpg": jpeg(known), "other.jpg": photo("acne", 1)}

    def kept(out: str, **more: Any) -> list[bool]:
        table = photo_table(tmp_path / "photos", [{"file": file, "label": "acne"} for file in files], files)
        build(tmp_path, f"web={table}", out=out, work="work", **more)
        return [item.kept for item in read_queue(tmp_path / "work.work" / NAME)]

    assert kept("v1") == []
    files["larger.jpg"] = jpeg(known.resize((known.width * 3 // 2, known.height * 3 // 2)))
    larger = table_of(tmp_path / "decisions.csv", f"image_id,decision\n{opaque_id('web', 'larger.jpg')},accept\n")
    assert kept("v2", decisions=(larger,)) == [True]
    assert kept("v3", decisions=(larger,), follows=(str(tmp_path / "v1"),)) == [False]
    assert kept("v4", decisions=(larger,)) == [True]


def test_the_same_decisions_give_the_same_bytes_in_any_order_and_any_workspace(
    table: Path, first: Path, tmp_path: Path
) -> None:
    queue = queue_of(first)
    rows = [(queue["acne"], "accept", ""), (queue["psoriasis"], "accept", "")]
    one = decide(tmp_path / "one.csv", *rows)
    other = [decide(tmp_path / f"{n}.csv", row) for n, row in enumerate(reversed(rows))]
    build(tmp_path, f"table={table}", out="one", decisions=(one,), key=first / "release.work" / KEY_FILE)
    build(tmp_path, f"table={table}", out="other", decisions=tuple(other), key=first / "release.work" / KEY_FILE)
    recipes.build(
        recipe.RECIPE,
        recipe.Options(sources=(f"table={table}",), decisions=(one,)),
        tmp_path / "third",
        workspace=first / "release.work",
    )
    assert files_of(tmp_path / "one") == files_of(tmp_path / "other") == files_of(tmp_path / "third")
    assert {row["diagnosis"] for row in rows_of(tmp_path / "one")} == {"acne", "psoriasis", "warts"}
    # The workspace's queue is that of its latest build, whatever was found there.
    assert any(item.decided for item in read_queue(first / "release.work" / NAME))
    recipes.build(
        recipe.RECIPE, recipe.Options(sources=(f"table={table}",)), first / "release", workspace=first / "release.work"
    )
    assert not any(item.decided for item in read_queue(first / "release.work" / NAME))


def test_a_decision_on_another_file_of_the_same_name_is_not_applied(table: Path, first: Path, tmp_path: Path) -> None:
    little = queue_of(first)["acne"]
    path = tmp_path / "decisions.csv"
    path.write_text(f"image_id,decision,content\n{little.picture.key},accept,{'0' * 64}\n", encoding="utf-8")
    manifest = build(tmp_path, f"table={table}", decisions=(path,), key=first / "release.work" / KEY_FILE)
    counted = manifest.settings["decisions"]
    assert isinstance(counted, dict)
    assert (counted["accepted"], counted["without a photo"]) == (0, 1)
    assert reasons(tmp_path / "release")["curate: quality: small"] == 2


def test_copies_accepted_under_two_diagnoses_are_refused(table: Path, first: Path, tmp_path: Path) -> None:
    queue = queue_of(first)
    path = decide(tmp_path / "d.csv", *((queue[name], "accept", "") for name in ("eczema", "psoriasis")))
    with pytest.raises(InputError, match="accepted under different diagnoses.*eczema.*psoriasis"):
        build(tmp_path, f"table={table}", decisions=(path,), key=first / "release.work" / KEY_FILE)
    assert not (tmp_path / "release").exists()


def test_photos_of_a_mixed_class_are_to_be_looked_at(tmp_path: Path) -> None:
    rows = [{"file": f"{n}.jpg", "label": "spots"} for n in range(2)]
    table = photo_table(tmp_path / "photos", rows, {f"{n}.jpg": photo("acne", n) for n in range(2)})
    labels = tmp_path / "labels.csv"
    labels.write_text("label,diagnosis,match,note\nspots,acne,mixed,rosacea is in it\n", encoding="utf-8")
    build(tmp_path, f"table={table}", labels=(f"table={labels}",), mixed_labels=True)
    (item,) = read_queue(tmp_path / "release.work" / NAME)  # one question, not one a photo
    assert item.kept and len(item.beside) == 2 and item.doubts[0].kind == "class"
    assert "Photos labelled spots count as acne, and the class is mixed: rosacea is in it." in item.doubts[0].text
    write_review([item], lambda _: photo("acne", 0), tmp_path / "page.html", title="x")
    assert (tmp_path / "page.html").read_text().count("<svg") == 2
    key = tmp_path / "release.work" / KEY_FILE
    given = {"labels": (f"table={labels}",), "mixed_labels": True, "key": key}
    no = decide(tmp_path / "no.csv", (item, "reject", "wrong diagnosis"))
    one = rows_of(tmp_path / "release")[0]["image_id"]
    no.write_text(no.read_text() + f"{one},,accept,\n")  # what is decided about a photo goes before its class
    build(tmp_path, f"table={table}", out="without", decisions=(no,), **given)
    assert [row["image_id"] for row in rows_of(tmp_path / "without")] == [one]
    assert reasons(tmp_path / "without") == {"curate: review: wrong diagnosis": 1}
    assert all(item.decided for item in read_queue(tmp_path / "without.work" / NAME))
    yes = decide(tmp_path / "yes.csv", (item, "accept", ""))
    build(tmp_path, f"table={table}", out="with", decisions=(yes,), **given)
    assert len(rows_of(tmp_path / "with")) == 2
    assert Manifest.read(tmp_path / "with").settings["decisions"]["accepted"] == 1  # type: ignore[index,call-overload]
    labels.write_text("label,diagnosis,match,note\nspots,acne,mixed,something else is in it\n", encoding="utf-8")
    build(tmp_path, f"table={table}", out="changed", decisions=(no,), **given)
    assert len(rows_of(tmp_path / "changed")) == 2  # the decision was about another table


# --- The file ---------------------------------------------------------------------------------------------------------


def table_of(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "where", "found"),
    [
        ("image_id,decision\na,accept\na,reject\n", ":3", "a: reject (other), but accept in "),
        ("image_id,decision,reason\na,reject,copy\na,reject,other\n", ":3", "a: reject (other), but reject (copy) in "),
        ("image_id,decision\na,maybe\n", ":2", "decision 'maybe'"),
        ("image_id,decision\na,\n", ":2", "decision ''"),
        ("image_id,decision\n,accept\n", ":2", "no image_id"),
        ("image_id,decision,reason\na,reject,ugly\n", ":2", "reason 'ugly'"),
        ('image_id,content,decision\na,"4,97E+63",accept\n', ":2", "content '4,97E+63'"),  # as a spreadsheet saves it
        (f"image_id,content,decision\na,{'0' * 63},accept\n", ":2", "content '000"),
        ("image,verdict\na,accept\n", "", "has no column 'image_id'"),
    ],
)
def test_a_wrong_file_is_one_clear_error(tmp_path: Path, text: str, where: str, found: str) -> None:
    path = table_of(tmp_path / "d.csv", text)
    with pytest.raises(InputError) as error:
        read_decisions([path])
    assert error.value.where == f"{path}{where}"
    assert error.value.found.startswith(found)


def test_two_reviewers_who_agree_are_one_and_who_contradict_each_other_an_error(tmp_path: Path) -> None:
    one = table_of(tmp_path / "one.csv", "image_id,decision,reason\na,Reject,Copy\nb,accept,\n")
    two = table_of(tmp_path / "two.csv", "image_id,decision,reason\na,reject,copy\n")
    assert read_decisions([one, two]).by_key == {"a": Decision("reject", "copy"), "b": Decision("accept")}
    assert read_decisions([one, two]).digest == read_decisions([two, one]).digest
    three = table_of(tmp_path / "three.csv", "image_id,decision\nb,reject\n")
    with pytest.raises(InputError, match=r"b: reject \(other\), but accept in .*one.csv:3"):
        read_decisions([one, three])


def test_blank_rows_that_a_spreadsheet_leaves_are_no_decisions(tmp_path: Path) -> None:
    path = tmp_path / "decisions.csv"
    path.write_text("image_id;content;decision;reason\r\na.jpg;;reject;copy\r\n;;;\r\n;;;\r\n")
    assert read_decisions([path]).by_key == {"a.jpg": Decision("reject", "copy")}


def test_who_states_no_file_agrees_with_whoever_states_one(tmp_path: Path) -> None:
    texts = ["image_id,decision\na,accept\n", *(f"image_id,decision,content\na,accept,{64 * d}\n" for d in "eF")]
    any_file, of_x, of_y = (table_of(tmp_path / f"{n}.csv", text) for n, text in enumerate(texts))
    for order in ([any_file, of_x], [of_x, any_file], [of_x, any_file, of_x]):
        assert read_decisions(order).by_key == {"a": Decision("accept")}
    assert read_decisions([of_x, of_x]).by_key == {"a": Decision("accept", "", 64 * "e")}
    assert read_decisions([of_y]).by_key == {"a": Decision("accept", "", 64 * "f")}  # in capitals, it is the same
    for order in permutations((any_file, of_x, of_y)):
        with pytest.raises(InputError, match=r"a: accept, but accept in .*, of another file"):
            read_decisions(order)


def test_a_folder_without_a_queue_and_a_damaged_queue_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no review.json"):
        read_queue(tmp_path / NAME)
    (tmp_path / NAME).write_text('{"format": 1, "items": [{}]}', encoding="utf-8")
    with pytest.raises(InputError, match=r"no items\.0\.picture.*Build again"):
        read_queue(tmp_path / NAME)
    write_queue(tmp_path / NAME, [])
    (tmp_path / NAME).write_text((tmp_path / NAME).read_text().replace("1", "9"), encoding="utf-8")
    with pytest.raises(InputError, match="format 9"):
        read_queue(tmp_path / NAME)


# --- The page ---------------------------------------------------------------------------------------------------------


def record_of(page: Path) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="record">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found is not None
    record = json.loads(found[1])
    assert isinstance(record, dict)
    return record


def test_the_command_writes_a_page_that_needs_nothing_else(
    first: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "review.html"
    # The workspace, or the release that it lies beside.
    assert execute(["review", str(first / "release"), "-o", str(page)]) == 0
    assert "3 questions (label 2, quality 1)" in capsys.readouterr().out
    text = page.read_bytes()
    assert execute(["review", str(first / "release.work"), "-o", str(page)]) == 0
    assert page.read_bytes() == text
    assert b"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\"" in text
    assert b"http://" not in text and b"https://" not in text and str(first).encode() not in text
    record = record_of(page)
    assert [item["usual"] for item in record["items"]] == ["wrong diagnosis", "wrong diagnosis", "poor quality"]
    assert record["columns"] == ["image_id", "content", "decision", "reason"]
    shown = re.findall(r'<ima?ge? data-image="([^"]+)"', page.read_text(encoding="utf-8"))
    assert len(shown) > len(record["items"]) and set(shown) == set(record["images"])
    assert all(image.startswith("data:image/jpeg;base64,") for image in record["images"].values())


def test_nothing_in_a_name_becomes_markup(tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=alert(1)>"
    shown = Shown(evil, "i", evil)
    item = Item(shown, "0" * 64, True, {"source": evil}, (Doubt("copy", evil),), (shown,))
    write_review([item], lambda _: photo("acne", 0), tmp_path / "page.html", title=evil)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert evil not in text and "<img src=x" not in text
    assert html.unescape(text).count(evil) >= 6
    assert record_of(tmp_path / "page.html")["items"][0]["key"] == evil


def test_an_image_that_is_gone_is_an_error(first: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def gone(name: str) -> bytes:
        raise BedsideError(name, found="an image of this build is missing or damaged")

    with pytest.raises(BedsideError, match="missing or damaged"):
        write_review(read_queue(first / "release.work" / NAME), gone, tmp_path / "page.html", title="x")
    assert not (tmp_path / "page.html").exists()
    assert execute(["review", str(tmp_path), "-o", str(tmp_path / "page.html")]) == 2
    assert "holds no review.json" in capsys.readouterr().err


def test_the_command_of_a_build_tells_of_borderline_photos_and_of_decisions(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["build", "3mdbench", "--source", f"table={table}", "--workers", "1", "--out", str(tmp_path / "release")]
    assert execute(command) == 0
    assert "3 questions wait for review: bedside review" in capsys.readouterr().out
    path = decide(tmp_path / "d.csv", (queue_of(tmp_path)["acne"], "accept", ""))
    assert execute([*command, "--overwrite", "--decisions", str(path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Decisions: 1 accepted, 0 rejected; 0 about photos that are missing or have changed" in said
    assert "2 questions wait for review" in said and "left-out.jsonl" in said
    assert "Decisions not applied" not in said
    path.write_text(f"{path.read_text(encoding='utf-8')}nobody,,reject,\n", encoding="utf-8")
    assert execute([*command, "--overwrite", "--decisions", str(path)]) == 0
    said = "".join(capsys.readouterr().out.split())
    assert f"mistyped):nobody({path}:3)" in said
    assert Manifest.read(tmp_path / "release").splits


def test_photos_that_share_much_stand_side_by_side_with_what_they_share_marked(tmp_path: Path) -> None:
    whole = drawn(3)
    stored = {"a": jpeg(whole), "b": jpeg(ImageOps.mirror(whole.crop((100, 40, 400, 300)))), "c": jpeg(drawn(7))}
    first, second, other = (Shown(name, name, "acne") for name in stored)
    doubt = Doubt("copy", "It shares much with another photo.", ("b", "c"))
    item = Item(first, "0" * 64, True, {}, (doubt,), (second, other))
    write_review([item], stored.__getitem__, tmp_path / "page.html", title="x")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    left, right = re.findall(r"<svg.*?</svg>", page, re.S)
    assert all(f'data-image="{name} 640"' in svg for name, svg in (("a", left), ("b", right)))  # equally large
    assert page.count('<img data-image="c 320"') == 1
    found = [
        [tuple(map(float, place)) for place in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg)] for svg in (left, right)
    ]
    assert len(found[0]) == len(found[1]) == 8
    for (x, y), (u, v) in zip(*found, strict=True):
        # In a square of 100: the 400 x 300 whole lies below 12.5; the crop of it is mirrored, 300 x 260.
        assert abs((x * 4 - 100) - (300 - u * 3)) < 8 and abs(((y - 12.5) * 4 - 40) - (v - 100 / 15) * 3) < 8
    outline = [tuple(map(float, one.split(","))) for one in re.findall(r'polygon points="([^"]+)"', left)[0].split()]
    assert min(x for x, _ in outline) > 20 and min(y for _, y in outline) > 18  # what was cut off lies outside
