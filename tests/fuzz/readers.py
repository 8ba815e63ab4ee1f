"""Who reads bytes from outside: a sound file or folder of the yard, which of its files are spoiled, and the reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from baselines.dialogue.played import PlayedCase, read_played
from baselines.medconceal.fitting import read_labels
from baselines.medconceal.judgement import JudgedEpisode
from baselines.medconceal.policy import PolicyConfig
from baselines.medconceal.transcripts import read_transcripts
from baselines.medlaybench_v import ratings
from baselines.medlaybench_v.captioning import read_prompts
from baselines.medlaybench_v.differences import captions_of
from baselines.medlaybench_v.embedding_cache import EmbeddingCache
from baselines.results.comparison import FinishedRun
from baselines.results.run import read_run
from baselines.threemdbench import relevance_sheets
from baselines.threemdbench.classifier.cues import read_cues
from baselines.threemdbench.classifier.data import from_folder
from baselines.threemdbench.classifier.weights import read_tensors
from baselines.threemdbench.consultation import physicians, selection_raters
from baselines.threemdbench.consultation.record import Consultation
from builders.curation.index import Index
from builders.curation.pictures import read_picture
from builders.curation.review import read_decisions, read_queue
from builders.curation.sampling import read_prevalence
from builders.medconceal.plausibility import read_plausibility
from builders.medconceal.sources import open_source as open_patients
from builders.medconceal.spool import spool_threads
from builders.medconceal.threads import thread_rows
from builders.medlaybench_v.recognizers import MedcatRecognizer, SpacyRecognizer
from builders.medlaybench_v.sources import open_source as open_captions
from builders.medlaybench_v.vocabulary import read_vocabulary
from builders.release.croissant import read_statement
from builders.release.shards import read_rows
from builders.samples.medconceal.cases import profiles
from builders.threemdbench.download import Robots
from builders.threemdbench.labels import read_label_map
from builders.threemdbench.request import Refused
from builders.threemdbench.sources import open_source as open_photos
from loaders.corpus import load
from loaders.files.foreign import read_mapping
from loaders.files.images import clean_bytes
from loaders.files.tables import read_records
from loaders.manifest import Manifest
from loaders.models.answers import AnswerStore
from loaders.models.asking import Unfit, read_object
from loaders.models.encoders import open_encoder, read_embeddings
from loaders.models.sentences import open_sentence_encoder
from loaders.threemdbench import NAMES
from tests.fuzz.yard import DIGEST


@dataclass(frozen=True)
class Reader:
    """`damaged` are the files of a folder that are spoiled; `signed` is the one that lists digests of the others."""

    seed: str
    read: Callable[[Path], object]
    damaged: tuple[str, ...] = ()
    signed: str = ""
    suffix: str = ""
    often: int = 30
    """How many cases of it there are for each of a reader that takes long."""


def _release(seed: str, read: Callable[[Path], object]) -> Reader:
    damaged = ("manifest.json", "manifest.json", "README.md", "*.parquet", "data/*")
    return Reader(seed, read, damaged, "manifest.json", often=2)


def _run(seed: str, read: Callable[[Path], object], often: int = 1) -> Reader:
    return Reader(seed, read, ("*.json", "*.jsonl", "*.csv"), "run.json", often=often)


def _all(rows: Iterable[object]) -> int:
    return sum(1 for _ in rows)


def _command(*words: str) -> Callable[[Path], object]:
    """A command as reader: PATH is the file, NEW a place to write to."""

    def read(path: Path) -> object:
        from scripts.cli import root

        given = [str(path) if word == "PATH" else word for word in words]
        return root().main([*given, "--workers", "1"] if words[0] == "build" else given, standalone_mode=False)

    return read


def _threads(path: Path) -> object:
    submissions = sorted(path.glob("submissions*"))
    comments = sorted(path.glob("comments*"))
    return _all(thread_rows(spool_threads(submissions, comments, path / "spool"), b"key"))


def _patients(path: Path) -> object:
    return open_patients(f"cases={path}", synthetic=None, seed=0, workspace=path.parent)


def _photos(kind: str) -> Callable[[Path], object]:
    return lambda path: _all(open_photos(f"{kind}={path}").photos())


def _image(path: Path) -> object:
    clean_bytes(path)
    return read_picture(path.read_bytes())


def _images(path: Path) -> object:
    """Each image; the first error is told when all were tried."""
    with ExitStack() as errors:
        for one in sorted(path.iterdir()):
            errors.callback(_image, one)
    return None


def _answers(path: Path) -> object:
    with AnswerStore(path) as store, store.explained():
        return store.connection.execute("SELECT * FROM answers").fetchall()


def _index(path: Path) -> object:
    with Index(path) as index:
        return index.keys("x"), index.get("x", "key")


def _answer(path: Path) -> object:
    with suppress(Unfit):
        return read_object(path.read_text("utf-8", "surrogateescape"))


def _caption_scores(path: Path) -> object:
    return captions_of([FinishedRun(path, *read_run(path))])[0].places


def _consultations(path: Path) -> object:
    return read_played(path, PlayedCase[Consultation])


def _episodes(path: Path) -> object:
    return read_played(path, PlayedCase[JudgedEpisode])


def _tensor(path: Path) -> object:
    return read_embeddings(path, rows=3, tensor="texts")


def _embeddings(path: Path) -> object:
    return EmbeddingCache(path, 4).read("texts", [bytes(32)])


def _encoder(path: Path) -> object:
    return open_encoder(str(path), device="cpu")


def _sentences(path: Path) -> object:
    return open_sentence_encoder(str(path), device="cpu")


_played = cache(profiles)


def _transcripts(path: Path) -> object:
    return read_transcripts(path, _played())


def _robots(path: Path) -> object:
    with suppress(Refused):
        return Robots().pause("http://example.org/a", lambda _: (200, path.read_bytes()))
    return None


_TABLES = {f"records {suffix}": Reader(f"tables/captions.{suffix}", lambda path: _all(read_records(path).each(None)))
           for suffix in ("csv", "tsv", "json", "jsonl", "yaml", "parquet")}  # fmt: skip
_CAPTIONS = {f"captions {suffix}": Reader(f"tables/captions.{suffix}", lambda path: _all(open_captions(path).rows()))
             for suffix in ("csv", "tsv", "json", "jsonl", "parquet")}  # fmt: skip
_WORDS: dict[str, Callable[[Path], object]] = {
    "verify": _command("verify", "PATH"),
    "preview": _command("preview", "PATH", "-o", "new.html"),
    "info": _command("info", "PATH"),
    "diff": _command("diff", "PATH", "PATH"),
}
_RELEASES = {
    f"{word} {name}": _release(name, read)
    for word, read in _WORDS.items()
    for name in ("captions", "photos", "patients")
}

READERS: dict[str, Reader] = _TABLES | _CAPTIONS | _RELEASES | {
    # sources
    "roco": Reader("tables/roco", lambda path: _all(open_captions(path).rows()), ("**/*.txt",)),
    "vocabulary": Reader("tables/vocabulary.csv", read_vocabulary),
    "medlineplus": Reader("tables/topics.xml", read_vocabulary),
    "medlineplus zip": Reader("tables/topics.zip", read_vocabulary),
    "umls": Reader("tables/META", read_vocabulary, ("*.RRF",)),
    "medcat": Reader("tables/pack.zip", lambda path: MedcatRecognizer(path, trust=True)),
    "spacy": Reader("tables/pipeline", lambda path: SpacyRecognizer(str(path), False), ("*",)),
    "statement": Reader("tables/statement.yaml", read_statement),
    "mapping": Reader("tables/mapping.yaml", lambda path: read_mapping(path, ("age", "sex", "name"))),
    "cases json": Reader("tables/cases.json", _patients, often=4),
    "cases jsonl": Reader("tables/cases.jsonl", _patients, often=6),
    "dump": Reader("tables/dump", _threads, ("*.jsonl",)),
    "packed dump": Reader("tables/packed", _threads, ("*.zst",)),
    "photo table": Reader("tables/photos.csv", _photos("table")),
    "photo records": Reader("tables/photos.jsonl", _photos("table")),
    "web table": Reader("tables/web.csv", _photos("web")),
    "isic": Reader("tables/isic/metadata.csv", _photos("isic")),
    "isic one-hot": Reader("tables/isic/one_hot.tsv", _photos("isic")),
    "scin": Reader("tables/scin", _photos("scin"), ("*.csv",)),
    "fitzpatrick17k": Reader("tables/fitz", _photos("fitzpatrick17k"), ("*.csv",)),
    "class folders": Reader("tables/classes", from_folder, ("**/*.jpg",)),
    "labels": Reader("tables/labels.csv", read_label_map),
    "prevalence": Reader("tables/prevalence.csv", lambda path: read_prevalence(path, NAMES)),
    "decisions": Reader("tables/decisions.csv", lambda path: read_decisions([path])),
    "plausibility": Reader("tables/plausibility.csv", lambda path: read_plausibility([path])),
    "queue": Reader("tables/review.json", read_queue),
    "robots": Reader("tables/robots.txt", _robots),
    "images": Reader("tables/images", _images, ("*",)),
    "curate": Reader("pictures", _command("curate", "PATH", "-o", "new", "--workers", "1"), ("*.jpg",), often=1),
    # what a build and a run leave
    "index": Reader("tables/index.sqlite", _index, often=10),
    "answers": Reader("tables/answers.sqlite", _answers),
    "load": _release("captions", lambda path: load("medlaybench-v", source=path)),
    "rows": _release("patients", lambda path: _all(read_rows(path, Manifest.read(path)))),
    "run": _run("runs/language", read_run, 30),
    "caption scores": Reader("runs/language", _caption_scores, ("captions.json",), "run.json"),
    "consultations": Reader("runs/consultation", _consultations, ("dialogues.jsonl",)),
    "episodes": Reader("runs/confirmation", _episodes, ("dialogues.jsonl",)),
    "report language": _run("runs/language", _command("report", "PATH", "-o", "new.html")),
    "report concepts": _run("runs/concepts", _command("report", "PATH", "-o", "new.html")),
    "report consultation": _run("runs/consultation", _command("report", "PATH", "-o", "new.html")),
    "report confirmation": _run("runs/confirmation", _command("report", "PATH", "-o", "new.html")),
    "compare": _run("runs/language", _command("compare", "PATH")),
    "contrast": _run("runs/confirmation", _command("contrast", "PATH", "PATH")),
    "pack": _run("runs/confirmation", _command("pack", "PATH", "-o", "new.zip")),
    # what a user writes for a baseline
    "policy": Reader("tables/policy.json", PolicyConfig.read),
    "labels of turns": Reader("tables/labels.jsonl", read_labels),
    "transcripts": Reader("tables/transcripts.jsonl", _transcripts),
    "cues": Reader("tables/cues.parquet", lambda path: read_cues(path, DIGEST)),
    "prompts": Reader("prompts", read_prompts, ("*.md",)),
    "ratings": Reader("sheets/pairs-R1.csv", lambda path: ratings.read_sheets([path])),
    "relevance": Reader("sheets/pairs-R1.csv", lambda path: relevance_sheets.read_relevance_sheets([path])),
    "raters": Reader("sheets/consultations-R1.csv", lambda path: selection_raters.read_sheets([path])),
    "physicians": Reader("sheets/physicians-R1.csv", lambda path: physicians.read_sheets([path])),
    "answer": Reader("tables/answer.json", _answer),
    # models
    "vectors npy": Reader("tables/vectors.npy", lambda path: read_embeddings(path, rows=3)),
    "vectors safetensors": Reader("tables/vectors.safetensors", _tensor),
    "tensors": Reader("tables/tensors.safetensors", lambda path: read_tensors(path, do="")),
    "embeddings": Reader("tables/embeddings", _embeddings, ("*.bin",)),
    "open_clip": Reader("tables/open-clip", _encoder, ("*",), often=10),
    "transformers": Reader("tables/hf-model", _encoder, ("*",), often=10),
    "sentences": Reader("tables/sentences", _sentences, ("**/*.json",), often=1),
}  # fmt: skip
