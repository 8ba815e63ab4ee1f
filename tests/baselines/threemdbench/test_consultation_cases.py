"""Rows of the corpus to cases: what is sent of a photo, and what becomes of rows that cannot be played."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

import datasets
import pytest
from PIL import Image

from baselines.threemdbench.classifier.cues import Cues, More
from baselines.threemdbench.consultation.agents import AGENTS
from baselines.threemdbench.consultation.cases import read_cases
from baselines.threemdbench.consultation.game import consultation_game
from baselines.threemdbench.consultation.record import Case
from loaders.errors import InputError
from loaders.models.messages import read_image
from loaders.threemdbench import CORPUS
from tests.parts.pictures import drawn, jpeg
from tests.parts.played_consultations import PROMPTS, Table

CANARY = "canary-stye"


def photo(size: tuple[int, int] = (500, 300)) -> bytes:
    """A photo whose EXIF and comment tell the diagnosis."""
    image = drawn(3, size)
    exif = Image.Exif()
    exif[0x010E] = exif[0x013B] = CANARY  # description, artist
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", exif=exif, comment=CANARY.encode())
    assert CANARY.encode() in buffer.getvalue()
    return buffer.getvalue()


def row(number: int = 0, **more: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "image": {"bytes": photo(), "path": f"{CANARY}.jpg"},
        "image_id": f"{CANARY}_{number}",
        "split": "test",
        "diagnosis": "stye",
        "domain": "ophthalmology",
        "general_complaint": "You have a  red lump on your eyelid.",
        "complaints": ["You see a yellow point.", "You noticed it two days ago."],
        "personality": "sanguine",
    }
    return facts | more


def size(image: bytes | Path) -> tuple[int, int]:
    with Image.open(io.BytesIO(read_image(image)[0])) as opened:
        return opened.size


def test_a_row_becomes_a_case() -> None:
    found = read_cases([row()])
    (one,) = found.cases
    assert (one.diagnosis, one.domain, one.temperament) == ("stye", "ophthalmology", "sanguine")
    assert one.basic == "You have a red lump on your eyelid."
    assert one.additional == ("You see a yellow point.", "You noticed it two days ago.")
    assert (one.cues, found.invalid, found.giveaways) == (None, {}, ())


@pytest.mark.parametrize(
    ("more", "group"),
    [({}, ""), ({"group_id": "p1", "cluster_id": "c1"}, "p1"), ({"group_id": None, "cluster_id": "c1"}, "c1")],
)
def test_a_case_is_resampled_with_its_patient_or_near_copies(more: dict[str, Any], group: str) -> None:
    (one,) = read_cases([row(**more)]).cases
    assert one.group == group


def test_small_photos_are_at_most_400_pixels_wide() -> None:
    wide, narrow = read_cases([row(0), row(1, image=photo((300, 500)))]).cases
    assert (size(wide.image), size(narrow.image)) == ((400, 240), (300, 500))
    assert wide.assessor_image is None
    (original,) = read_cases([row()], photos="original").cases
    assert size(original.image) == (500, 300)
    assert original.assessor_image == wide.image


@pytest.mark.parametrize("photos", ["small", "original"])
@pytest.mark.parametrize("in_folder", [False, True])
def test_nothing_but_pixels_is_sent_of_a_photo(photos: Any, in_folder: bool, tmp_path: Path) -> None:
    folder = tmp_path / "photos" if in_folder else None
    (one,) = read_cases([row()], photos=photos, folder=folder).cases
    table = Table({"patient": AGENTS["patient"](one), "doctor": AGENTS["keyword"](one)})
    asyncio.run(consultation_game("dialogue+image", PROMPTS).play(one, table.ask))
    images = [image for asked in table.asked for message in asked.messages for image in message.images]
    assert images
    for image in images:
        assert isinstance(image, Path) == in_folder
        assert "canary" not in str(image) or not in_folder
        assert "stye" not in Path(image).name if isinstance(image, Path) else True
        data = read_image(image)[0]
        assert b"canary" not in data
        with Image.open(io.BytesIO(data)) as opened:
            assert not opened.getexif() and "comment" not in opened.info
    for asked in (*table.of("patient"), *table.of("doctor")):
        assert "canary" not in str([message.text for message in asked.messages])


def test_photos_in_a_folder_are_written_once_under_their_digests(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "photos"
    first = read_cases([row(0), row(1)], folder=folder).cases
    assert first[0].image == first[1].image
    (written,) = folder.iterdir()
    assert len(written.stem) == 64 and written.suffix == ".jpeg"
    before = written.stat().st_mtime_ns
    assert read_cases([row(0), row(1)], folder=folder).cases == first
    assert written.stat().st_mtime_ns == before
    photo = written.read_bytes()
    written.write_bytes(photo[:-9])  # no longer what its name says
    assert read_cases([row(0), row(1)], folder=folder).cases == first
    assert written.read_bytes() == photo


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"complaints": None}, "no complaints"),
        ({"complaints": []}, "no complaints"),
        ({"complaints": " "}, "no complaints"),
        ({"complaints": [3]}, "a complaint of type int"),
        ({"general_complaint": None}, "no general complaint"),
        ({"general_complaint": "  "}, "no general complaint"),
        ({"image": None}, "no image"),
        ({"image": {"bytes": None, "path": None}}, "no image"),
        ({"image": {"bytes": b"GIF8 is no photo", "path": None}}, "image not an image"),
        ({"image": photo()[:900]}, "image truncated"),
        ({"image": Path("/nowhere/at/all.jpg")}, "image missing"),
        ({"image": "/etc/hostname"}, "the name of a file, not an image"),
        ({"image": {"bytes": None, "path": "/etc/hostname"}}, "the name of a file, not an image"),
        ({"personality": None}, "no temperament of the four"),
        ({"diagnosis": "measles"}, "no diagnosis of the 34"),
    ],
)
def test_a_row_that_cannot_be_played_is_counted_with_its_reason(wrong: dict[str, Any], reason: str) -> None:
    found = read_cases([row(0), row(1, **wrong), row(2)])
    assert [one.case_id[-1] for one in found.cases] == ["0", "2"]
    assert found.invalid == {f"{CANARY}_1": reason}


def cues_of(names: dict[str, tuple[str, ...]], without: dict[str, str] | None = None) -> Cues:
    return Cues(names, "digest", "model", "run", None, "digest", More(without=without or {}))


@pytest.mark.parametrize(
    ("rows", "cues", "said"),
    [
        ([row(image_id=None)], None, "no image_id"),
        ([row(), row()], None, "the id of two rows"),
        ([row()], cues_of({"another": ("acne", "warts", "stye")}), "none for 1 of 1 cases, without a reason: "),
    ],
)
def test_what_makes_all_rows_useless_is_an_error(rows: list[dict[str, Any]], cues: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_cases(rows, cues=cues)


def test_cues_are_joined_by_id() -> None:
    cues = {
        f"{CANARY}_{number}": names
        for number, names in enumerate([("acne", "warts", "stye"), ("stye", "hives", "acne")])
    }
    found = read_cases([row(1), row(0)], cues=cues_of(cues))
    assert [one.cues for one in found.cases] == [("acne", "warts", "stye"), ("stye", "hives", "acne")]


def test_cases_without_cues_are_not_played_and_say_why() -> None:
    rows = [row(0), row(1), row(2, diagnosis="measles")]
    cues = cues_of({f"{CANARY}_0": ("acne", "warts", "stye")}, {f"{CANARY}_1": "dropped"})
    found = read_cases(rows, cues=cues)
    assert [one.case_id for one in found.cases] == [f"{CANARY}_0"]
    assert found.invalid == {f"{CANARY}_1": "no cues: dropped", f"{CANARY}_2": "no diagnosis of the 34"}


def test_a_complaint_that_names_the_diagnosis_is_reported() -> None:
    rows = [row(0, complaints=["Your stye hurts."]), row(1, general_complaint="You have a hordeolum."), row(2)]
    assert read_cases(rows).giveaways == (f"{CANARY}_0", f"{CANARY}_1")


def test_loaded_rows_are_read_without_decoding_them_twice() -> None:
    rows = [{name: row(number).get(name) for name in CORPUS.features} for number in (1, 0)]
    loaded = datasets.Dataset.from_list(rows, features=CORPUS.features)
    assert read_cases(loaded).cases == read_cases(rows).cases
    assert isinstance(read_cases(loaded).cases[0], Case)


def test_a_photo_file_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(jpeg(drawn(3, (500, 300))))
    (one,) = read_cases([row(image=path)]).cases
    assert size(one.image) == (400, 240)
