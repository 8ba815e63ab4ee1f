"""A machine that does not see what the driver sees ends the work with one error; nothing is left out in silence."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from builders.curation.output import curate_set
from builders.pipeline.image_store import ImageStore
from builders.pipeline.run import Run, run
from builders.release.parts import Sharding
from builders.release.shards import Shape
from builders.steps import WHY, images, stages
from loaders.engines.engine import Done, Engine, Task
from loaders.errors import InputError
from loaders.files.opening import digest_of
from loaders.files.stores import Folder
from tests.parts.pictures import drawn, jpeg
from tests.parts.small_release import FEATURES, Held

SCHEMA = pa.schema([*((name, pa.string()) for name in ("id", "image_path", "content")), ("no_image", WHY)])


class Blind(Engine):
    """A cluster on whose nodes a folder is not what the driver sees there: `turn` makes it so, and back."""

    slots, grain, spread = 2, 64, True

    def __init__(self, turn: Callable[[], None], back: Callable[[], None]) -> None:
        self._turn, self._back = turn, back

    def narrowed(self, slots: int) -> AbstractContextManager[Engine]:
        return nullcontext(self)

    def each(self, task: Task[Done], units: Iterable[tuple[str, Any]], *, where: str) -> Generator[tuple[str, Done]]:
        for name, unit in units:
            self._turn()
            try:
                done = task(name, unit)
            finally:
                self._back()
            yield name, done


def hiding(folder: Path) -> Blind:
    away = folder.with_name("elsewhere")

    def turn() -> None:
        folder.rename(away)

    def back() -> None:
        away.rename(folder)

    return Blind(turn, back)


def other_files_in(folder: Path) -> Blind:
    own = {path: path.read_bytes() for path in folder.iterdir()}

    def turn() -> None:
        for path in own:
            path.write_bytes(jpeg(drawn(99, (24, 16))))

    def back() -> None:
        for path, data in own.items():
            path.write_bytes(data)

    return Blind(turn, back)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for at in range(4):
        (folder / f"{at}.jpg").write_bytes(jpeg(drawn(at, (24, 16))))
    return folder


def built(photos: Path, workspace: Path, engine: Engine | None = None) -> Run:
    source = [
        {"id": path.name, "image_path": str(path), "content": digest_of(path), "no_image": None}
        for path in sorted(photos.iterdir())
    ]
    chain = stages([images(ImageStore(Folder(workspace)))], SCHEMA)
    return run(source, chain, key="id", workspace=workspace, source_identity="x", batch_rows=2, engine=engine)


@pytest.mark.parametrize(
    ("blind", "told"),
    [
        (lambda photos, work: hiding(photos), r"node .*: does not see .*0\.jpg .* all nodes share"),
        (lambda photos, work: other_files_in(photos), r"node .*: .*0\.jpg is another file"),
        (lambda photos, work: hiding(work), r"node .*: does not see .*/work .* all nodes share"),
    ],
    ids=["photos", "other photos", "workspace"],
)
def test_a_build_leaves_out_nothing_that_a_node_does_not_see(
    blind: Callable[[Path, Path], Blind], told: str, photos: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=told):
        built(photos, tmp_path / "work", blind(photos, tmp_path / "work"))
    done = built(photos, tmp_path / "work")
    assert len(list(done.rows())) == 4 and not list(done.exclusions())


def test_photos_that_were_moved_after_they_were_read_are_not_left_out(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError):  # stopped when its source was read
        built(photos, tmp_path / "work", hiding(photos))
    photos = photos.rename(tmp_path / "moved")
    with pytest.raises(InputError, match=r"if it was moved, first delete the workspace"):
        built(photos, tmp_path / "work")


def test_photos_that_a_node_does_not_see_are_not_unreadable(photos: Path, tmp_path: Path) -> None:
    (photos / "broken.jpg").symlink_to("nowhere.jpg")
    with pytest.raises(InputError, match=r"\d\.jpg: is read here, but was not where .* \(missing: does not exist\)"):
        curate_set(str(photos), tmp_path / "out", engine=hiding(photos))
    assert not (tmp_path / "out" / "photos.parquet").exists()


def test_a_shard_is_not_written_to_a_folder_that_the_driver_cannot_see(tmp_path: Path) -> None:
    task = Sharding(Held([], "image_id"), Shape.of(FEATURES, "image_id"), tmp_path / ".release.shards", None)
    with pytest.raises(InputError, match=r"node .*: does not see .*\.release\.shards"):
        task("train-00000.parquet", [])
    assert not any(tmp_path.iterdir())
