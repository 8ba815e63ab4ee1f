"""The one shape of every number that a baseline returns, and the record of the run that it came from.

The provenance of a `Result` follows from its record and cannot be set. One without a record is published; one whose
record names a stand-in (scripted agents, sample data, random weights) is a stand-in. For any other,
`baselines.results.conformance` says whether it is reproduced or own, and why; if the run's version recorded no
conditions, it is unknown.

`write_run` leaves `results.jsonl`, `results.csv` and, last, `run.json` in a folder, with the digests of both and of
what else the run stored there; `read_run` accepts nothing less. The run id is a digest of what determines the numbers,
not of time, cost, path or host.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from baselines.results import conformance
from baselines.results.conformance import Judgement, Key, judge
from baselines.results.sheets import table_bytes
from loaders.errors import NEWER, BedsideError, InputError
from loaders.files.disk import make_folder, write_whole
from loaders.files.json_values import read_json
from loaders.files.opening import digest_of, read_file
from loaders.files.paths import is_file, is_folder, is_there
from loaders.files.records import from_json, to_json
from loaders.files.texts import lines_of

if TYPE_CHECKING:
    from loaders.opened import Opened

Direction = Literal["up", "down", "none"]

_SCALES = {"percent": 100.0, "proportion": 1.0}
_LARGEST = sys.float_info.max
_FORMAT = 1
_NUMBERS = ("results.csv", "results.jsonl")
WRITTEN = ("run.json", *_NUMBERS)
"""Names of the files that `write_run` leaves."""
_LATER = {"data": ("repository", "commit", "pinned", "method"), "models": ("source", "refused")}
"""Facts introduced later: left out of the identity if unknown, so that earlier runs keep their ids."""


PROVIDER, ELSEWHERE = "its provider", "another server"
WEIGHTS, RANDOM, VECTORS = "weights", "random weights", "vectors made elsewhere"


def because(*reasons: str | None) -> str | None:
    """Why numbers are no results, as a record states it, or None: "a; b" and "b; c" give "a; b; c"."""
    each = (one for reason in reasons if reason for one in reason.split("; "))
    return "; ".join(dict.fromkeys(filter(None, each))) or None


@dataclass(frozen=True, slots=True)
class ModelUsed:
    """A model of a run: its role (encoder, captioner, doctor, judge), its name, the exact revision of its weights; of a
    chat model, what its servers say they asked under that name, if they say another.

    `source` is who answered under that name: `PROVIDER` or `ELSEWHERE` for a chat model; `WEIGHTS`, `RANDOM` or
    `VECTORS` for an encoder. `refused` names what a chat model was asked without, or in another form, since its server
    refuses it ("seed, system").
    """

    role: str
    name: str
    revision: str | None = None
    source: str | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class DataUsed:
    """The rows of a run: corpus, split, the revision asked for, and the content digest of what was read.

    For rows from a Hub also the repository's address and the commit; `pinned` says whether they are the authors' rows
    as first read, `method` who wrote the texts (see `loaders.opened.Opened`). None: unknown, or a folder.
    """

    corpus: str
    split: str
    revision: str | None
    content_digest: str
    repository: str | None = None
    commit: str | None = None
    pinned: bool | None = None
    method: str | None = None

    @classmethod
    def of(cls, opened: Opened) -> DataUsed:
        """The record of data that a user named."""
        return cls(**{item.name: getattr(opened, item.name) for item in fields(cls)})


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """What was run, on what, with what. `stand_in` is the reason why its numbers are no reproduction, or None.

    options, prompts (name -> digest), seeds and versions (package -> version), with the models and the data, determine
    the numbers and so the run id; command, wall time, tokens and cost only describe how the run went. `wall_seconds` is
    that of the command's last call alone: of a run that resumed, it is less than the whole. `words` are digests of the
    prompts' words alone. `judged` is False for a run of a version that recorded no conditions.
    """

    baseline: str
    data: DataUsed
    models: tuple[ModelUsed, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    seeds: Mapping[str, int] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    stand_in: str | None = None
    command: str = ""
    wall_seconds: int | float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: int | float | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    judged: bool = True

    def __post_init__(self) -> None:
        reason = "none" if self.stand_in is None else self.stand_in.strip()
        if not all((self.baseline, self.data.corpus, self.data.content_digest, reason)):
            raise InputError("RunRecord", found="an empty baseline, corpus, digest or reason", expected="texts")
        for name in ("wall_seconds", "input_tokens", "output_tokens", "cost_usd"):
            spent = getattr(self, name)
            if spent is not None and not 0 <= spent <= _LARGEST:
                raise InputError(f"RunRecord.{name}", found=str(spent), expected="a number >= 0, or None")
        self.run_id  # noqa: B018 - refuses what is not JSON

    @cached_property
    def run_id(self) -> str:
        """Digest (16 hexadecimal digits) of everything that determines the numbers."""
        names = ("baseline", "data", "models", "options", "prompts", "seeds", "versions", "stand_in")
        content = {name: value for name, value in _identified(asdict(self)).items() if name in names}
        try:
            text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError) as error:
            found = f"content that is not JSON: {error}"
            raise InputError("RunRecord", found=found, expected="texts, numbers, lists") from None
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Everything that it says, each under one name ("data.split", "options.decoding.doctor.temperature")."""
        data = asdict(self.data)
        data["repository"] = data["repository"] or "no repository"
        parts = {name: getattr(self, name) for name in ("options", "prompts", "words", "seeds")}
        flat = flattened({"data": data, **parts}, ".")
        for role in dict.fromkeys(model.role for model in self.models):
            players = [model for model in self.models if model.role == role]
            flat[f"models.{role}"] = " + ".join(model.name for model in players)
            flat |= {f"models.{role}.{model.name}.source": model.source for model in players}
            sources = dict.fromkeys(model.source for model in players)
            flat[f"models.{role}.source"] = None if None in sources else " + ".join(map(str, sources))
            if len(players) == 1:
                flat[f"models.{role}.revision"] = players[0].revision
        return flat


@dataclass(frozen=True, slots=True)
class Keyed:
    """What a number, own or published, is about; no two numbers of a run, or of the papers, share it."""

    paper: str
    table: str
    row: str
    setting: str
    column: str
    split_or_group: str

    @property
    def key(self) -> Key:
        """What joins an own number to the published one: paper, table, row, setting, column, split or group."""
        return self.paper, self.table, self.row, self.setting, self.column, self.split_or_group


@dataclass(frozen=True, kw_only=True)
class Result(Keyed):
    """One number: the ten columns of the ledger of published numbers, and what makes an own one checkable: its counts,
    its interval and the record of its run (None: published).

    value is None if it was not computed; note then says what is missing. An interval of no width is stored as None.
    numerator / denominator are the counts behind a rate; if both are there, value must be their ratio in its unit
    (percent or proportion).
    """

    value: float | None
    unit: str
    direction: Direction = "none"
    note: str = ""
    n: int | None = None
    numerator: float | None = None
    denominator: float | None = None
    ci95: tuple[float, float] | None = None
    record: RunRecord | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        where = " / ".join(self.key)
        for name in ("paper", "table", "row", "column", "unit"):
            if not getattr(self, name):
                raise InputError(where, found=f"an empty {name}", expected="a text")
        if self.direction not in get_args(Direction):
            raise InputError(where, found=f"direction {self.direction!r}", expected="up, down or none")
        if self.value is None and not self.note:
            raise InputError(where, found="neither a value nor a note", expected="a note that says what is missing")
        if self.value is None and self.ci95 is not None:
            raise InputError(where, found="an interval without a value", expected="both or none")
        numbers = (self.value, self.numerator, self.denominator, *(self.ci95 or ()))
        if not all(number is None or abs(number) <= _LARGEST for number in numbers):
            raise InputError(where, found="a number that is not finite", expected="finite numbers, or value None")
        if self.ci95 is not None and self.ci95[0] > self.ci95[1]:
            raise InputError(where, found=f"interval {self.ci95}", expected="the lower bound first")
        if self.ci95 is not None and isclose(*self.ci95, rel_tol=1e-12, abs_tol=1e-15):
            # Rows that are all alike on an unbounded scale say nothing about how others would differ.
            object.__setattr__(self, "ci95", None)
        if self.n is not None and self.n < 0:
            raise InputError(where, found=f"n = {self.n}", expected="n >= 0")
        self._check_counts(where)

    def _check_counts(self, where: str) -> None:
        if self.numerator is None or self.denominator is None:
            return
        if self.denominator <= 0:
            raise InputError(where, found=f"denominator {self.denominator}", expected="a number > 0")
        if self.value is None or self.unit not in _SCALES:
            return
        ratio = _SCALES[self.unit] * (self.numerator / self.denominator)
        if not isclose(self.value, ratio, rel_tol=1e-9, abs_tol=1e-9):
            expected = f"{ratio}, as its numerator and denominator say"
            raise InputError(where, found=f"{self.value} {self.unit}", expected=expected)

    @property
    def run_id(self) -> str | None:
        return None if self.record is None else self.record.run_id

    @cached_property
    def provenance(self) -> str:
        """Where it comes from: published, stand-in, unknown, reproduced, or own with what differs: "own (data)"."""
        if self.record is None:
            return "published"
        if self.record.stand_in is not None:
            return "stand-in"
        return self.conformance.label if self.record.judged else "unknown"

    @property
    def kind(self) -> str:
        """Its provenance in one word: published, stand-in, unknown, reproduced or own."""
        return self.provenance.partition(" ")[0]

    @cached_property
    def conformance(self) -> Judgement:
        """How it compares with the conditions of its paper's table. Raises ValueError for a published number."""
        if self.record is None:
            raise ValueError("a published number")
        return judge(self.key, self.record.facts)

    def as_row(self) -> dict[str, Any]:
        """The result as a flat mapping in the order of the files' columns, the ledger's ten first."""
        row = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in ("ci95", "record")}
        low, high = self.ci95 or (None, None)
        return row | {"ci95_low": low, "ci95_high": high, "provenance": self.provenance, "run_id": self.run_id}


def write_run(folder: Path, record: RunRecord, results: Iterable[Result], *, stored: Iterable[str] = ()) -> Path | None:
    """Writes results.jsonl, results.csv and run.json, each whole or not at all; other files of the folder stay.

    `stored` names what else the run has written in the folder; run.json keeps its digests. The files of another run are
    moved to `earlier/ID`, those that no run wrote to `earlier/other-1`; that folder is returned. Raises InputError on
    no result, two results with the same key, or a result of another run; then nothing is written.
    """
    found = list(results)
    if not found:
        raise InputError(folder, found="no result", expected="one or more")
    seen: set[Key] = set()
    for result in found:
        if result.record != record:
            raise InputError(" / ".join(result.key), found=f"run {result.run_id}", expected=f"run {record.run_id}")
        if result.key in seen:
            raise InputError(" / ".join(result.key), found="the same cell twice", expected="one result per cell")
        seen.add(result.key)
    rows = [result.as_row() for result in found]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    files = {"results.jsonl": lines.encode(), "results.csv": table_bytes(list(rows[0]), rows)}
    aside = set_aside(folder, record, files)
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    said = _identified(to_json(record))
    said = {name: value for name, value in said.items() if name != "judged" and (value or name != "words")}
    digests |= {name: digest_of(folder / name) for name in stored if is_there(folder / name)}
    run = {"format": _FORMAT, "run_id": record.run_id, **said, "results": len(rows), "files": digests}
    if record.judged:
        run["conformance"] = {
            "decided_by": conformance.digest(),
            "tables": conformance.tables((result.key for result in found), record.facts),
        }
    files["run.json"] = (json.dumps(run, ensure_ascii=False, indent=2) + "\n").encode()
    for name, content in files.items():
        write_whole(folder / name, content)
    return aside


def set_aside(folder: Path, record: RunRecord | None = None, files: Mapping[str, bytes] | None = None) -> Path | None:
    """Move away the files of another run than this, or of somebody else, and return where to; run.json goes last, so
    that a kill separates nothing. A run of another baseline takes along what it stored besides: none of that is this
    run's. Without a record this run has failed, and what was written before it is another's."""
    path, files = folder / "run.json", files or {}
    try:
        run = read_json(path, expected="a file written by a run") if is_there(path) else None
    except BedsideError:
        run = None  # not a run's
    run = run if isinstance(run, dict) else {}
    before, names = str(run.get("run_id")), [name for name in sorted(WRITTEN) if is_there(folder / name)]
    if record and before == record.run_id:
        return None
    if re.fullmatch("[0-9a-f]{8,64}", before):
        aside = folder / "earlier" / before
        if record and run.get("baseline") != record.baseline and isinstance(stored := run.get("files"), dict):
            others = [folder / name for name in stored if Path(name).name == name and name not in WRITTEN]
            names[:0] = [one.name for one in others if is_file(one) and digest_of(one) == stored[one.name]]
    else:  # what an interrupted start of this run left is what it writes again
        own = {name: hashlib.sha256(files.get(name, b"")).hexdigest() for name in names}
        names = [name for name in names if is_file(folder / name) and digest_of(folder / name) != own[name]]
        places = (folder / "earlier" / f"other-{number}" for number in itertools.count(1))
        aside = next(place for place in places if not is_there(place))
    if not names:
        return None
    make_folder(aside)
    for name in names:
        (folder / name).replace(aside / name)
    return aside


# Who edited a copy that others gave away, as `bedside pack` makes them, cannot run it again.
_RESTORE = "Restore the file (if this run came in an archive, unpack that again), or run the baseline again"


def check_baseline(folder: Path, record: RunRecord, baseline: str) -> None:
    """Raises InputError for a run of another baseline."""
    if record.baseline != baseline:
        do = f"Pass the folder of a finished `bedside run {baseline}`"
        raise InputError(folder, found=f"a run of {record.baseline}", expected=f"one of {baseline}", do=do)


def read_run(folder: Path) -> tuple[RunRecord, list[Result]]:
    """The record and the results of a folder that `write_run` left.

    Raises InputError if run.json is missing (unfinished), a file differs from its digest (changed or half replaced),
    or a field has a wrong value.
    """
    path = folder / "run.json"
    if not is_there(path):
        do = "Pass the folder that `bedside run … -o` named; if that run was interrupted, repeat its command"
        if folder.suffix == ".zip" and is_file(folder):
            do = "Unpack it, and pass the folder inside"
        found = "no run.json" if is_folder(folder) else "is a file" if is_there(folder) else "does not exist"
        raise InputError(folder, found=found, expected="the folder of a finished run", do=do)
    run = read_json(path, expected="a file written by a run")
    if not isinstance(run, dict) or run.get("format") != _FORMAT:
        number = run.get("format") if isinstance(run, dict) else None
        do = NEWER if isinstance(number, int) and number > _FORMAT else "Name the folder of a run"
        raise InputError(path, found="another format", expected=f"format {_FORMAT}", do=do)
    about = ("format", "run_id", "results", "files", "conformance", "judged")
    record = from_json(
        RunRecord, {name: value for name, value in run.items() if name not in about}, path, do=_RESTORE, ours=True
    )
    record = replace(record, judged="conformance" in run)
    if record.run_id != run.get("run_id"):
        expected = f"{record.run_id}, the digest of its content"
        raise InputError(path, found=f"run id {run.get('run_id')}", expected=expected, do=_RESTORE)
    files = run.get("files")
    _check_files(folder, files if isinstance(files, dict) else {})
    content = read_file(folder / "results.jsonl")
    stated = run.get("conformance")
    told = stated if isinstance(stated, dict) and stated.get("decided_by") == conformance.digest() else None
    results = list(_read_results(content, record, folder / "results.jsonl", same=told is not None))
    if told is not None and told.get("tables") != conformance.tables((result.key for result in results), record.facts):
        do = "Run the baseline again, or `bedside rescore` the folder"
        raise InputError(path, found="a conformance table that its own facts do not make", expected="theirs", do=do)
    return record, results


def _check_files(folder: Path, digests: Mapping[str, Any]) -> None:
    """Raises InputError for a file of the run that changed. A copy may lack what the run stored besides its numbers."""
    for name in dict.fromkeys((*_NUMBERS, *digests)):
        place = folder / name
        if Path(name).name != name:
            raise InputError(folder / "run.json", found=f"the digest of {name!r}", expected="names of files of the run")
        if name not in _NUMBERS and not is_there(place):
            continue
        if not is_there(place) or digest_of(place) != digests.get(name):
            found = "content that differs from its digest in run.json" if is_there(place) else "no such file"
            raise InputError(place, found=found, expected="the unchanged file", do=_RESTORE)


def absent_files(folder: Path) -> list[str]:
    """What a finished run stored besides its numbers, and its folder, which `read_run` accepts, has no longer."""
    return [name for name in read_json(folder / "run.json")["files"] if not is_there(folder / name)]


def _read_results(content: bytes, record: RunRecord, path: Path, *, same: bool) -> Iterator[Result]:
    """The lines as results. Provenance is decided anew; if the `same` rules made it, the line must agree with it."""
    for number, line in lines_of(content):
        where = f"{path}, line {number}"
        row = from_json(_Row, line, where, do=_RESTORE, ours=True)
        said = {item.name: getattr(row, item.name) for item in fields(Result) if item.name not in ("ci95", "record")}
        low, high = row.ci95_low, row.ci95_high
        if (low is None) != (high is None):
            raise InputError(where, found="half an interval", expected="both bounds or none")
        result = Result(**said, ci95=None if low is None or high is None else (low, high), record=record)
        called = result.provenance if same or record.stand_in else row.provenance
        if (row.provenance, row.run_id) != (called, result.run_id):
            found, expected = f"{row.provenance} of run {row.run_id}", f"{called} of run {result.run_id}"
            raise InputError(where, found=found, expected=f"{expected}, as run.json says")
        yield result


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row(Keyed):
    """A line of results.jsonl, as `Result.as_row` writes it."""

    value: int | float | None
    unit: str
    direction: Direction
    note: str
    n: int | None
    numerator: int | float | None
    denominator: int | float | None
    ci95_low: int | float | None
    ci95_high: int | float | None
    provenance: str
    run_id: str


def _identified(content: dict[str, Any]) -> dict[str, Any]:
    """A record as JSON, without the facts of data and models that are `_LATER` and unknown."""

    def known(part: str, facts: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in facts.items() if value is not None or name not in _LATER[part]}

    models = [known("models", model) for model in content["models"]]
    return {**content, "data": known("data", content["data"]), "models": models}


def flattened(facts: Mapping[str, Any], joint: str, before: str = "") -> dict[str, Any]:
    """Nested objects flattened, with their names joined; other values stay as they are."""
    flat: dict[str, Any] = {}
    for name, value in facts.items():
        if isinstance(value, Mapping):
            flat |= flattened(value, joint, f"{before}{name}{joint}")
        else:
            flat[f"{before}{name}"] = value
    return flat
