"""A real, tiny MedCAT pack, made here, opened and used through the adapter; and packs that must not be opened."""

import pickle
import re
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from builders.medlaybench_v.recognizers import TRUST_OPTION, MedcatRecognizer, folder_digest
from loaders.errors import MissingExtra, ModelError


def archive_of(pack: Path) -> Path:
    return pack.with_name(pack.name + ".zip")


@pytest.fixture(scope="module")
def recognizer(pack: Path) -> MedcatRecognizer:
    return MedcatRecognizer(pack, trust=True)


CAPTIONS = [
    "Chest computed tomography shows a right-sided Pleural Effusion (arrow) next to the lung.",
    "",
    "Normal study.",
    "Shift of the mediastinum; effusion of the pleura.\nNo change.",
    "Große “Läsion” — lung ✱ 肺",
    "x" * 20_000,
]


def test_concepts_are_found_with_their_cuis(recognizer: MedcatRecognizer) -> None:
    found = recognizer(CAPTIONS)
    assert [[(m.surface, m.cui) for m in mentions] for mentions in found] == [
        [("computed tomography", "C0040405"), ("Pleural Effusion", "C0032227"), ("lung", "C0024109")],
        [],
        [],
        [("mediastinum", None), ("effusion of the pleura", "C0032227")],
        [("lung", "C0024109")],
        [],
    ]
    for caption, mentions in zip(CAPTIONS, found, strict=True):
        assert all(caption[m.start : m.end] == m.surface and m.source == "medcat" for m in mentions)


def test_a_mention_does_not_depend_on_its_neighbours(recognizer: MedcatRecognizer) -> None:
    assert recognizer(CAPTIONS[::-1])[::-1] == [recognizer([c])[0] for c in CAPTIONS]


def test_a_worker_gets_the_same_recogniser(recognizer: MedcatRecognizer) -> None:
    copy = pickle.loads(pickle.dumps(recognizer))
    assert copy.identity == recognizer.identity
    assert copy(CAPTIONS) == recognizer(CAPTIONS)


def test_archive_and_folder_are_one_pack(pack: Path, recognizer: MedcatRecognizer, tmp_path: Path) -> None:
    alone = shutil.copy(archive_of(pack), tmp_path / "pack.zip")
    archived = MedcatRecognizer(Path(alone), trust=True)
    assert archived.identity == recognizer.identity
    assert archived(CAPTIONS) == recognizer(CAPTIONS)
    assert [p.name for p in tmp_path.iterdir()] == ["pack.zip"]  # nothing was unpacked beside it


def test_a_pack_with_another_file_has_another_identity(
    pack: Path, recognizer: MedcatRecognizer, tmp_path: Path
) -> None:
    other = Path(shutil.copytree(pack, tmp_path / "other"))
    (other / "model_card.json").write_bytes((other / "model_card.json").read_bytes() + b"\n")
    assert folder_digest(pack) in recognizer.identity and folder_digest(other) not in recognizer.identity


class Payload:
    """Writes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Path.touch, (self.target,)


def test_a_pack_is_not_opened_without_trust(pack: Path, tmp_path: Path) -> None:
    hostile = Path(shutil.copytree(pack, tmp_path / "hostile"))
    target = tmp_path / "was-executed"
    (hostile / "cdb" / "raw_dict.dat").write_bytes(pickle.dumps(Payload(target)))
    with pytest.raises(ModelError, match=TRUST_OPTION):
        MedcatRecognizer(hostile, trust=False)
    assert not target.exists()
    with pytest.raises(ModelError):
        MedcatRecognizer(hostile, trust=True)
    assert target.exists()  # why trust is asked for


def test_a_sound_archive_needs_trust_too(pack: Path) -> None:
    with pytest.raises(ModelError, match=TRUST_OPTION):
        MedcatRecognizer(archive_of(pack), trust=False)


def test_damaged_packs(pack: Path, tmp_path: Path) -> None:
    truncated = tmp_path / "truncated.zip"
    truncated.write_bytes(archive_of(pack).read_bytes()[:500])
    short = Path(shutil.copytree(pack, tmp_path / "short"))
    dill = short / "cdb" / "raw_dict.dat"
    dill.write_bytes(dill.read_bytes()[:100])
    without = Path(shutil.copytree(pack, tmp_path / "without"))
    (without / "vocab" / "raw_dict.dat").unlink()
    (without / ".schema.json").write_text("{", encoding="utf-8")
    for path in (truncated, short, without):
        with pytest.raises(ModelError, match=path.name):
            MedcatRecognizer(path, trust=True)


def test_what_is_no_pack_is_named(tmp_path: Path) -> None:
    empty_file, text, folder, foreign = (tmp_path / n for n in ("empty.zip", "text.zip", "folder", "foreign.zip"))
    empty_file.touch()
    text.write_text("not an archive", encoding="utf-8")
    folder.mkdir()
    with zipfile.ZipFile(foreign, "w") as archive:
        archive.writestr("photo.jpg", b"")
    later = tmp_path / "later.zip"  # of a version of the format that is yet to come
    later.write_bytes(re.sub(rb"(PK\x01\x02..)..", b"\\g<1>\xff\x00", foreign.read_bytes(), flags=re.DOTALL))
    for path, found in {
        tmp_path / "missing": "does not exist",
        empty_file: "empty file",
        text: "not a readable .zip",
        later: "not a readable .zip",
        folder: "holds nothing",
        foreign: "holds photo.jpg",
    }.items():
        with pytest.raises(ModelError, match=found):
            MedcatRecognizer(path, trust=True)


def test_without_medcat_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cdb").mkdir()
    (tmp_path / "model_card.json").write_text("{}", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "medcat.cat", None)
    with pytest.raises(MissingExtra, match=r"\[medcat\]"):
        MedcatRecognizer(tmp_path, trust=True)
