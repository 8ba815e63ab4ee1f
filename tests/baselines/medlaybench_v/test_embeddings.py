"""Each item is encoded once, whatever kills the run, and a cache never gives what it should not."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from filelock import FileLock
from PIL import Image

from baselines.medlaybench_v import embeddings
from baselines.medlaybench_v.embedding_cache import EmbeddingCache
from baselines.medlaybench_v.embeddings import Embeddings, embed
from loaders.errors import BedsideError, InputError, ModelError
from loaders.files.images import ImageError, open_image
from loaders.models.encoder import Vectors
from loaders.models.encoders import open_encoder
from tests.parts.places import shared_data
from tests.parts.processes import printed, started
from tests.parts.tiny_encoders import FakeEncoder, pictures, png

DIM = 8
RECORD = 32 + 1 + 4 * DIM + 4


def captions(count: int, word: str = "lesion") -> list[str | None]:
    return [f"{word} number {number}" for number in range(count)]


def pairs(
    images: Sequence[Image.Image], opened: list[str] | None = None
) -> list[tuple[str, Callable[[], Image.Image]]]:
    def opener(digest: str, data: bytes) -> Image.Image:
        if opened is not None:
            opened.append(digest)
        return open_image(data)

    made: list[tuple[str, Callable[[], Image.Image]]] = []
    for image in images:
        data = png(image)
        digest = hashlib.sha256(data).hexdigest()
        made.append((digest, partial(opener, digest, data)))
    return made


def alone(encoder: FakeEncoder, texts: Sequence[Any]) -> Vectors:
    """What the encoder says of the texts, without any cache."""
    fresh = FakeEncoder(encoder.dim, version=encoder.version)
    return np.concatenate([fresh.encode_texts([text])[0] for text in texts])


def same(first: Embeddings, second: Embeddings) -> None:
    np.testing.assert_array_equal(first.images.rows(), second.images.rows())
    assert first.texts.keys() == second.texts.keys()
    for register, made in first.texts.items():
        np.testing.assert_array_equal(made.rows(), second.texts[register].rows())
        np.testing.assert_array_equal(made.truncated, second.texts[register].truncated)


def test_each_distinct_item_is_encoded_once(tmp_path: Path) -> None:
    encoder, opened = FakeEncoder(DIM), list[str]()
    first, second, third = pictures(3)
    images = pairs([first, second, first, third, first], opened)
    texts = {"expert": ["a", "b", "a", "c", "b"], "layman": ["d", "c", "c", "d", "e"]}
    made = embed(encoder, images=images, texts=texts, cache=tmp_path, batch_size=2)

    assert made.encoded == 3 + 5
    assert sum(encoder.calls) == 8
    assert sorted(opened) == sorted({digest for digest, _ in images})
    assert made.images.index.tolist() == [0, 1, 0, 2, 0]
    assert made.images.vectors.shape == (3, DIM)
    expected = [FakeEncoder(DIM).encode_images([image])[0] for image in (first, second, first, third, first)]
    np.testing.assert_array_equal(made.images.rows(), expected)
    for register, given in texts.items():
        own = made.texts[register]
        assert len(own.vectors) == len(set(given))
        np.testing.assert_array_equal(own.rows(), alone(encoder, given))


def test_each_register_has_its_captions_in_order_of_its_own_first_appearance(tmp_path: Path) -> None:
    """As `retrieval` takes distinct captions, also where a lay caption is an expert caption unchanged."""
    texts = {"expert": ["a", "b", "c", "a"], "layman": ["c", "x", "a", "c"]}
    made = embed(FakeEncoder(DIM), texts=texts, cache=tmp_path)
    assert made.encoded == 4
    for register, distinct, index in (("expert", "abc", [0, 1, 2, 0]), ("layman", "cxa", [0, 1, 2, 0])):
        np.testing.assert_array_equal(made.texts[register].vectors, alone(FakeEncoder(DIM), distinct))
        assert made.texts[register].index.tolist() == index


def test_a_second_run_calls_nothing(tmp_path: Path) -> None:
    opened: list[str] = []
    arguments: dict[str, Any] = {"texts": {"expert": captions(7), "layman": captions(5, "spot")}, "cache": tmp_path}
    before = embed(FakeEncoder(DIM), images=pairs(pictures(6)), **arguments)
    encoder = FakeEncoder(DIM)
    after = embed(encoder, images=pairs(pictures(6), opened), batch_size=3, **arguments)
    assert (encoder.calls, opened, after.encoded) == ([], [], 0)
    same(before, after)
    # What is new is encoded, what is known is not.
    more = embed(encoder, texts={"expert": [*captions(7), "one more"]}, cache=tmp_path)
    assert (encoder.calls, more.encoded) == ([1], 1)


def test_truncation_is_counted_per_register_also_from_the_cache(tmp_path: Path) -> None:
    long, longer = "word " * 21, "word " * 40
    texts = {"expert": ["short", long, "short"], "layman": [long, longer, longer], "none": []}
    for _ in range(2):
        made = embed(FakeEncoder(DIM), texts=texts, cache=tmp_path)
        assert {register: part.truncated.tolist() for register, part in made.texts.items()} == {
            "expert": [False, True, False],
            "layman": [True, True, True],
            "none": [],
        }
    assert made.texts["none"].rows().shape == (0, DIM)
    assert made.images.rows().shape == (0, DIM)


def test_another_key_shares_nothing_and_images_and_texts_do_not_mix(tmp_path: Path) -> None:
    old, new = FakeEncoder(DIM), FakeEncoder(DIM, version="2")
    wide = FakeEncoder(DIM + 1)
    assert len({old.key, new.key, wide.key}) == 3
    for encoder in (old, new, wide):
        made = embed(encoder, texts={"expert": captions(4)}, cache=tmp_path)
        assert made.encoded == 4
        np.testing.assert_array_equal(made.texts["expert"].rows(), alone(encoder, captions(4)))
    # A text whose digest is an image's digest is still another item.
    text = "lesion number 0"
    digest = hashlib.sha256(text.encode()).hexdigest()
    made = embed(old, images=[(digest, lambda: pictures(1)[0])], texts={"expert": [text]}, cache=tmp_path)
    assert made.encoded == 1
    assert json.loads((tmp_path / old.key / "identity.json").read_bytes())["version"] == "1"


def test_batches_and_progress(tmp_path: Path) -> None:
    encoder, told = FakeEncoder(DIM), list[tuple[str, int, int]]()
    embed(
        encoder,
        images=pairs(pictures(5)),
        texts={"expert": captions(3)},
        cache=tmp_path,
        batch_size=2,
        workers=3,
        progress=lambda kind, done, total: told.append((kind, done, total)),
    )
    assert encoder.calls == [2, 2, 1, 2, 1]
    assert told == [("images", 2, 5), ("images", 4, 5), ("images", 5, 5), ("texts", 2, 3), ("texts", 3, 3)]


def test_images_are_opened_no_further_than_two_batches_ahead(tmp_path: Path) -> None:
    """Constant memory: however many images there are, few wait prepared."""
    lock, waiting, most = threading.Lock(), 0, 0

    def opener(number: int) -> Image.Image:
        nonlocal waiting, most
        with lock:
            waiting += 1
            most = max(most, waiting)
        return Image.new("L", (2, 2), number)

    class Slow(FakeEncoder):
        def encode_prepared(self, prepared: Sequence[bytes]) -> Vectors:
            nonlocal waiting
            time.sleep(0.01)
            with lock:
                waiting -= len(prepared)
            return super().encode_prepared(prepared)

    images = [(hashlib.sha256(bytes([number])).hexdigest(), partial(opener, number)) for number in range(60)]
    made = embed(Slow(DIM), images=images, cache=tmp_path, batch_size=4, workers=4)
    assert made.encoded == 60
    assert most <= 2 * 4


WORKER = """
import sys, time
from pathlib import Path
from baselines.medlaybench_v.embeddings import embed
from tests.parts.processes import printed, started
from tests.parts.tiny_encoders import FakeEncoder

class Slow(FakeEncoder):
    def _vectors(self, items):
        time.sleep(0.02)
        return super()._vectors(items)

def told(kind, done, total):
    print(done, flush=True)

embed(Slow(8), texts={"expert": [f"lesion number {n}" for n in range(400)]}, cache=Path(sys.argv[1]), batch_size=4,
      progress=told)
"""


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_continues_where_it_was(sign: signal.Signals, tmp_path: Path) -> None:
    worker = started("-c", WORKER, tmp_path)
    assert worker.stdout is not None
    assert worker.stderr is not None
    seen = 0
    for line in worker.stdout:
        seen = int(line)
        if seen >= 40:
            worker.send_signal(sign)
            break
    rest = [int(line) for line in worker.stdout]
    seen = rest[-1] if rest else seen
    said = worker.stderr.read()
    assert worker.wait() != 0
    assert 40 <= seen < 400, "the run ended before it could be killed"
    if sign == signal.SIGINT:
        assert "run the same command again to resume" in said

    encoder = FakeEncoder(DIM)
    made = embed(encoder, texts={"expert": captions(400)}, cache=tmp_path, batch_size=4)
    # What was finished when it died is never made again; it may have finished one batch more than it could say.
    assert made.encoded in (400 - seen, 400 - seen - 4)
    assert made.encoded == sum(encoder.calls)
    assert made.damaged == 0
    same(made, embed(FakeEncoder(DIM), texts={"expert": captions(400)}, cache=tmp_path / "other", batch_size=4))


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[tuple[Path, Path, Embeddings]]:
    """A cache of five texts, its one file, and the embeddings."""
    made = embed(FakeEncoder(DIM), texts={"expert": captions(5)}, cache=tmp_path / "cache", batch_size=2)
    (file,) = (tmp_path / "cache").glob("*/texts-0.bin")
    assert file.stat().st_size == 5 * RECORD
    yield tmp_path / "cache", file, made


def test_a_file_cut_off_anywhere_loses_only_what_was_cut(filled: tuple[Path, Path, Embeddings]) -> None:
    cache, file, before = filled
    whole = file.read_bytes()
    for length in [*range(0, 5 * RECORD, 7), 5 * RECORD]:
        file.write_bytes(whole[:length])
        after = embed(FakeEncoder(DIM), texts={"expert": captions(5)}, cache=cache)
        assert after.encoded == 5 - length // RECORD
        same(before, after)
        assert file.stat().st_size == 5 * RECORD
        assert embed(FakeEncoder(DIM), texts={"expert": captions(5)}, cache=cache).encoded == 0


def test_a_changed_byte_anywhere_loses_only_its_record(
    filled: tuple[Path, Path, Embeddings], caplog: pytest.LogCaptureFixture
) -> None:
    cache, file, before = filled
    whole = file.read_bytes()
    for place in range(0, 5 * RECORD, 3):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        file.write_bytes(damaged)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            after = embed(FakeEncoder(DIM), texts={"expert": captions(5)}, cache=cache)
        assert (after.encoded, after.damaged) == (1, 1)
        assert "1 damaged records" in caplog.text
        same(before, after)
        # The broken record is gone, and nothing else is.
        assert file.stat().st_size == 5 * RECORD
        again = embed(FakeEncoder(DIM), texts={"expert": captions(5)}, cache=cache)
        assert (again.encoded, again.damaged) == (0, 0)


def test_a_file_of_something_else_is_passed_over(filled: tuple[Path, Path, Embeddings]) -> None:
    cache, file, before = filled
    file.write_bytes(b"x" + file.read_bytes())  # every record is out of place
    after = embed(FakeEncoder(DIM), texts={"expert": captions(5)}, cache=cache)
    assert (after.encoded, after.damaged) == (5, 5)
    same(before, after)


def test_two_runs_at_once_do_not_write_into_one_file(filled: tuple[Path, Path, Embeddings]) -> None:
    cache, file, before = filled
    with FileLock(file.with_suffix(".lock")):
        same(before, embed(FakeEncoder(DIM), texts={"expert": captions(5)}, cache=cache))  # reading needs no lock
        with pytest.raises(BedsideError, match="another run is adding"):
            embed(FakeEncoder(DIM), texts={"expert": captions(6)}, cache=cache)
    assert embed(FakeEncoder(DIM), texts={"expert": captions(6)}, cache=cache).encoded == 1


def test_records_of_several_processes_are_read_together(tmp_path: Path) -> None:
    store = EmbeddingCache(tmp_path, 2)
    store.describe(b"{}")
    digests = [bytes([number]) * 32 for number in range(4)]
    for process, part in ((0, [0, 2]), (1, [1])):
        with store.writer("images", process) as append:
            vectors = np.array([[number, -number] for number in part], dtype=np.float32)
            append([digests[number] for number in part], vectors, [number == 2 for number in part])
    found = store.read("images", [digests[number] for number in (3, 2, 1, 0)])
    assert found.present.tolist() == [False, True, True, True]
    assert found.truncated.tolist() == [False, True, False, False]
    assert found.vectors.tolist() == [[0, 0], [2, -2], [1, -1], [0, 0]]
    assert not store.read("texts", digests).present.any()


@pytest.mark.parametrize(
    ("poison", "said"),
    [("lesion number 3", "its embedding of the text 'lesion number 3' is not finite"), ("zero", "is all zero")],
)
def test_an_embedding_that_is_no_direction_stops_the_run_and_names_the_item(
    poison: str, said: str, tmp_path: Path
) -> None:
    class Zero(FakeEncoder):
        def _vectors(self, items: Sequence[bytes]) -> Vectors:
            vectors = super()._vectors(items)
            if poison == "zero":
                vectors[[item == b"lesion number 3" for item in items]] = 0
            return vectors

    with pytest.raises(ModelError) as caught:
        embed(Zero(DIM, poison=[poison]), texts={"expert": captions(6)}, cache=tmp_path, batch_size=2)
    assert said in str(caught.value)
    # The batch before it is kept, and it is not.
    assert embed(FakeEncoder(DIM), texts={"expert": captions(6)}, cache=tmp_path).encoded == 4


def test_an_image_whose_embedding_is_not_finite_is_named(tmp_path: Path) -> None:
    image = pictures(1)[0]
    ((digest, load),) = pairs([image])
    encoder = FakeEncoder(DIM, poison=[image.tobytes().decode("latin-1")])
    with pytest.raises(ModelError, match=f"of the image {digest} is not finite"):
        embed(encoder, images=[(digest, load)], cache=tmp_path)


def test_an_image_that_cannot_be_opened_stops_the_run_and_keeps_what_is_done(tmp_path: Path) -> None:
    images = pairs(pictures(5))
    broken = images.copy()
    broken[4] = (images[4][0], partial(open_image, b"no image", name="figure-5.jpg"))
    with pytest.raises(ImageError, match=r"figure-5\.jpg"):
        embed(FakeEncoder(DIM), images=broken, cache=tmp_path, batch_size=2)
    assert embed(FakeEncoder(DIM), images=images, cache=tmp_path).encoded == 1


def test_a_cache_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file, not a folder"):
        embed(FakeEncoder(DIM), texts={"expert": ["a"]}, cache=tmp_path / "file")


def test_a_full_disk_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    embed(FakeEncoder(DIM), texts={"expert": captions(2)}, cache=tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("baselines.medlaybench_v.embedding_cache.os.fsync", full)
        with pytest.raises(BedsideError, match="the disk is full"):
            embed(FakeEncoder(DIM), texts={"expert": captions(4)}, cache=tmp_path)
    made = embed(FakeEncoder(DIM), texts={"expert": captions(4)}, cache=tmp_path)
    np.testing.assert_array_equal(made.texts["expert"].rows(), alone(FakeEncoder(DIM), captions(4)))


LAUNCHED = """
import json, os, sys
from pathlib import Path
import numpy as np
from baselines.medlaybench_v.embeddings import embed
from tests.baselines.medlaybench_v.test_embeddings import captions, pairs
from tests.parts.tiny_encoders import FakeEncoder, pictures

folder, rank = Path(sys.argv[1]), os.environ["RANK"]
given = {"images": pairs(pictures(9)), "texts": {"expert": captions(31)}, "cache": folder / "cache", "batch_size": 4}
encoded = []
for _ in range(2):
    made = embed(FakeEncoder(8), **given)
    encoded.append(made.encoded)
    for name, rows in (("images", made.images), ("texts", made.texts["expert"])):
        np.save(folder / f"{name}-{rank}-{len(encoded)}.npy", rows.rows())
(folder / f"encoded-{rank}.json").write_text(json.dumps(encoded))
"""


def test_two_processes_share_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads, each taken for a process; `test_two_launched_processes_share_the_work` launches some."""
    given: dict[str, Any] = {"images": pairs(pictures(9)), "texts": {"expert": captions(31)}}
    alone = embed(FakeEncoder(DIM), **given, cache=tmp_path / "one")
    # Some of it is there already, and the second time all of it.
    embed(FakeEncoder(DIM), texts={"expert": captions(7)}, cache=tmp_path / "cache")
    here, together = threading.local(), threading.Barrier(2, timeout=60)
    monkeypatch.setattr(embeddings, "_processes", lambda: here.group)

    def share(rank: int) -> list[Embeddings]:
        here.group = SimpleNamespace(process_index=rank, num_processes=2, wait_for_everyone=together.wait)
        return [embed(FakeEncoder(DIM), **given, cache=tmp_path / "cache", batch_size=4) for _ in range(2)]

    with ThreadPoolExecutor(2) as threads:
        made = list(threads.map(share, range(2)))
    assert sorted(first.encoded for first, _ in made) == [4 + 12, 5 + 12]
    assert [second.encoded for _, second in made] == [0, 0]
    for one in (*made[0], *made[1]):
        same(one, alone)


@pytest.mark.long
def test_two_launched_processes_share_the_work(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    script = tmp_path / "launched.py"
    script.write_text(LAUNCHED)
    alone = embed(FakeEncoder(DIM), images=pairs(pictures(9)), texts={"expert": captions(31)}, cache=tmp_path / "one")
    embed(FakeEncoder(DIM), texts={"expert": captions(7)}, cache=tmp_path / "cache")
    # What accelerate itself launches where there are several GPUs; without any it would start a single process.
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    printed(*launch, script, tmp_path, CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1")
    encoded = [json.loads((tmp_path / f"encoded-{rank}.json").read_bytes()) for rank in range(2)]
    for turn, wanted in enumerate(([4 + 12, 5 + 12], [0, 0])):
        assert sorted(counts[turn] for counts in encoded) == wanted
        for rank in range(2):
            for name, rows in (("images", alone.images), ("texts", alone.texts["expert"])):
                np.testing.assert_array_equal(np.load(tmp_path / f"{name}-{rank}-{turn + 1}.npy"), rows.rows())


def test_with_a_real_model_on_real_radiographs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shared_data("radiology")
    pytest.importorskip("open_clip")
    files = sorted(folder.glob("*.jpg"))[:24]
    images = [(hashlib.sha256(file.read_bytes()).hexdigest(), partial(open_image, file)) for file in files]
    texts = {"expert": [f"radiograph {file.stem}" for file in files]}
    encoder = open_encoder("random:tiny", device="cpu")
    made = embed(encoder, images=images, texts=texts, cache=tmp_path, batch_size=10)
    assert made.encoded == len({digest for digest, _ in images}) + len(files)
    direct = encoder.encode_images([open_image(file) for file in files])
    np.testing.assert_allclose(made.images.rows(), direct, atol=2e-6)
    for name in ("encode_prepared", "encode_texts", "prepare"):
        monkeypatch.setattr(encoder, name, None)
    same(made, embed(encoder, images=images, texts=texts, cache=tmp_path))


def test_threads_end_with_an_interrupted_run(tmp_path: Path) -> None:
    class Stopped(FakeEncoder):
        def encode_prepared(self, prepared: Sequence[bytes]) -> Vectors:
            if self.calls:
                raise KeyboardInterrupt
            return super().encode_prepared(prepared)

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt, match=r"Finished batches are kept in"):
        embed(Stopped(DIM), images=pairs(pictures(9)), cache=tmp_path, batch_size=2)
    assert threading.active_count() == before
    assert embed(FakeEncoder(DIM), images=pairs(pictures(9)), cache=tmp_path).encoded == 7


def test_the_cache_may_move(filled: tuple[Path, Path, Embeddings], tmp_path: Path) -> None:
    cache, _, before = filled
    moved = Path(shutil.move(cache, tmp_path / "moved"))
    encoder = FakeEncoder(DIM)
    same(before, embed(encoder, texts={"expert": captions(5)}, cache=moved))
    assert encoder.calls == []


def test_without_several_processes_accelerate_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "accelerate", None)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert embeddings._processes() is None
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(BedsideError, match=r"accelerate: is not installed"):
        embeddings._processes()
