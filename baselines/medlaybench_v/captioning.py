"""Zero-shot captioning in two registers: a vision-language model describes images in clinical and in plain words.

MedLayBench-V's Table A5 (Section 4.5, Appendix F): 1,000 test pairs, FKGL of the model's text and its BERTScore
against the reference of the same register. The paper's delta mixes what the model can do with how hard each reference
is, so every text is also scored against the other register's reference (ML-G28): with the same reference on
both sides, only the prompt differs. Greedy, 64 tokens (ML-G27). The prompts are our own, so a run on the paper's
models shows how far its numbers depend on the wording.

Cost: two requests per image, 2,000 for the table, of one image and some 50 words each, with up to 64 tokens back.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from baselines.dialogue.game import Ask, Game
from baselines.medlaybench_v import readability
from baselines.medlaybench_v.language import REGISTERS, read_caption
from baselines.medlaybench_v.learned_metrics import METRICS, Metric, Scores
from baselines.results.published import model_label
from baselines.results.run import DataUsed, Direction, Result, RunRecord
from baselines.statistics.arrays import Floats
from baselines.statistics.resampling import bootstrap_means
from loaders.errors import InputError, MissingExtra, ModelError, how_many, in_number
from loaders.files.images import cell_bytes, clean_bytes
from loaders.files.json_values import read_json
from loaders.files.records import from_json
from loaders.models.asking import without_thoughts, writable
from loaders.models.messages import Decoding, Message
from loaders.models.prompts import Prompts
from loaders.models.prompts import read_prompts as read_texts

if TYPE_CHECKING:
    import datasets

PAPER, TABLE = "MedLayBench-V", "Table A5"
ROLE = "captioner"
MAX_TOKENS = 64
PROMPTS = {"Expert": "captioning_clinical", "Layman": "captioning_lay"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A row of a split: its caption in each register, and what reads the row again."""

    image_id: str
    references: Mapping[str, str]
    article: str | None
    row: Callable[[], Mapping[str, Any]] = field(repr=False, compare=False)

    @property
    def image(self) -> bytes:
        """The bytes of a PNG or JPEG file, made clean each time: all images of a split may not fit into memory."""
        return clean_bytes(cell_bytes(self.row().get("image"), self.image_id), name=self.image_id)[0]


@dataclass(frozen=True, slots=True)
class Pairs:
    """The chosen rows of one split in the order of their ids, the first ones or drawn by `sample_seed`."""

    rows: tuple[Pair, ...]
    data: DataUsed
    sample_seed: int | None

    @property
    def articles(self) -> list[str] | None:
        """The article of each, if every one has one."""
        articles = [row.article for row in self.rows if row.article]
        return articles if len(articles) == len(self.rows) else None

    @property
    def group(self) -> str:
        """What Table A5 calls them: "1000 test pairs"."""
        return f"{len(self.rows)} {self.data.split} {in_number(len(self.rows), 'pair')}"


@dataclass(frozen=True, slots=True)
class Caption:
    """The text for an image in one register, and why it ended (`Answer.stop`)."""

    register: str
    text: str
    stop: str


@dataclass(frozen=True, slots=True)
class Captions:
    """The texts for an image, in the order of `REGISTERS`."""

    image_id: str
    captions: tuple[Caption, Caption]


def read_pairs(rows: datasets.Dataset, data: DataUsed, *, n: int, sample_seed: int | None = None) -> Pairs:
    """The first `n` rows of a split by image_id, or `n` drawn by a seed; all of them if there are fewer. `data` says
    what the rows are.

    Raises InputError, which names the row, for a row without image, caption or id, an image that cannot be used, an id
    twice; and for fewer than two rows.
    """
    import datasets

    places: dict[str, int] = {}
    for place, image_id in enumerate(rows["image_id"]):
        if not image_id:
            raise InputError(f"row {place + 1}", found="no image_id", expected="an id in every row")
        if image_id in places:
            raise InputError(image_id, found="the id of two rows", expected="each id once")
        places[image_id] = place
    chosen = sorted(places)
    if sample_seed is not None:
        chosen = sorted(random.Random(sample_seed).sample(chosen, min(n, len(chosen))))
    chosen = chosen[:n]
    if len(chosen) < 2:
        raise InputError("rows", found="1 row" if chosen else "no row", expected="at least 2: one pair has no interval")
    plain, pairs = rows.cast_column("image", datasets.Image(decode=False)), []
    for name in chosen:
        row = plain[places[name]]
        references = {register: read_caption(row, column, name) for register, column in REGISTERS.items()}
        pairs.append(Pair(name, references, row.get("article_id") or None, partial(plain.__getitem__, places[name])))
        pairs[-1].image  # noqa: B018 - one that cannot be used is named now
    return Pairs(tuple(pairs), data, sample_seed)


def read_prompts(folder: Path | None = None) -> Prompts:
    """The prompt of each register: the shipped text, or the file of the same name in `folder` where there is one.
    Raises InputError as `loaders.models.prompts.read_prompts`."""
    known: dict[str, frozenset[str]] = dict.fromkeys(PROMPTS.values(), frozenset())
    read = read_texts(Path(__file__).parent / "prompts", known, folder)
    return Prompts({name: " ".join(text.split()) for name, text in read.texts.items()})


def captioning_game(prompts: Prompts, *, max_tokens: int = MAX_TOKENS) -> Game[Pair, Captions]:
    """A game of one role: an image, asked about in clinical and in plain words."""
    texts = {register: prompts.texts[name] for register, name in PROMPTS.items()}
    decoding: Decoding = {"temperature": 0, "max_tokens": max_tokens}

    async def play(pair: Pair, ask: Ask) -> Captions:
        image = pair.image

        async def caption(register: str) -> Caption:
            answer = await ask(ROLE, [Message("user", texts[register], (image,))], **decoding)
            text, _ = without_thoughts(writable(answer.text))
            # what a model says to refuse, or before a filter stops it, describes no image
            return Caption(register, "" if answer.stop == "content_filter" else text.strip(), answer.stop)

        return Captions(pair.image_id, (await caption("Expert"), await caption("Layman")))

    def transcript(pair: Pair, said: Captions) -> list[Message]:
        expert, layman = said.captions
        return [
            Message("user", texts[expert.register], (pair.image,)),
            Message("assistant", expert.text),
            Message("user", texts[layman.register]),
            Message("assistant", layman.text),
        ]

    return Game(
        name="captioning",
        roles=(ROLE,),
        case_id=lambda pair: pair.image_id,
        play=play,
        transcript=transcript,
        scores=_shown,
        settings={"prompts": prompts.words},
        decoding={ROLE: decoding},
    )


def _shown(said: Captions) -> dict[str, float]:
    """FKGL of each register if there is a word, and whether a text is empty or was cut at the limit."""
    shown: dict[str, float] = {}
    for one in said.captions:
        shown[f"empty, {one.register}"] = float(not one.text)
        shown[f"truncated, {one.register}"] = float(one.stop == "max_tokens")
        with suppress(MissingExtra):  # the extra `language`
            if readability.in_english(one.text):
                shown[f"FKGL, {one.register}"] = float(readability.measure([one.text])["FKGL"][0])
    return shown


@dataclass(frozen=True, slots=True)
class _Kept:
    """A caption as earlier versions stored it."""

    image_id: str
    register: str
    text: str
    stop: str


def read_captions(path: Path, pairs: Pairs) -> list[Captions]:
    """The captions of these pairs in a file `captions.json`, which runs of earlier versions left. Raises: InputError if
    the file holds something else, or lacks one of the pairs."""
    rows = read_json(path, expected="the captions stored by the run")
    if not isinstance(rows, list):
        raise InputError(path, found="no list", expected="the captions stored by the run")
    kept = [from_json(_Kept, row, f"{path}, caption {at}") for at, row in enumerate(rows, start=1)]
    said = {(one.register, one.image_id): Caption(one.register, one.text.strip(), one.stop) for one in kept}
    names = [row.image_id for row in pairs.rows]
    if missing := [name for register in REGISTERS for name in names if (register, name) not in said]:
        raise InputError(path, found=f"no caption of {missing[0]}", expected="two of each image of the run")
    return [Captions(name, (said["Expert", name], said["Layman", name])) for name in names]


def evaluate(
    pairs: Pairs,
    said: Sequence[Captions],
    record: RunRecord,
    *,
    label: str | None = None,
    bertscore: Metric = METRICS["BERTScore"],
    resamples: int = 1000,
    seed: int = 0,
) -> list[Result]:
    """The model's row of Table A5, both cross-register scores, the control deltas, and what the model failed to say.

    `record` says who was asked and how; what else the numbers are made of is added. Pairs without captions are left
    out. `label` names the row; by default it is the paper's for one of its models, else the model's name. Empty
    answers score 0 by BERTScore, which has no value if every answer to a prompt is empty; texts without an English word
    have no FKGL and are left out of its mean, whose n says how many remain. ci95 is the percentile interval of
    `resamples` bootstrap means over pairs, or articles where every row has one. What needs a package or weights that
    are not here has no value, and a note that says what is missing.
    """
    by_id = {one.image_id: one for one in said}
    pairs = replace(pairs, rows=tuple(row for row in pairs.rows if row.image_id in by_id))
    given = _by_register([by_id[row.image_id] for row in pairs.rows])
    texts = {register: [one.text for one in captions] for register, captions in given.items()}
    fkgl, fkgl_missing = _unless_missing(
        lambda: {register: readability.measure(given)["FKGL"] for register, given in texts.items()}
    )
    # All four combinations one after another, prompt by prompt: the weights are loaded once per call.
    hypotheses = [text for prompt in REGISTERS for _ in REGISTERS for text in texts[prompt]]
    references = [row.references[reference] for _ in REGISTERS for reference in REGISTERS for row in pairs.rows]
    scores, scores_missing = _unless_missing(lambda: bertscore(hypotheses, references))
    captioner = next(model for model in record.models if model.role == ROLE)
    record = replace(
        record,
        data=pairs.data,
        models=(captioner, *(scores.models if scores else ())),
        options={
            **record.options,
            "pairs": len(pairs.rows),
            "chosen": "first by image_id" if pairs.sample_seed is None else "sampled",
            "resamples": resamples,
            "resampled": "articles" if pairs.articles else "pairs",
        },
        seeds={**record.seeds, **({} if pairs.sample_seed is None else {"sample": pairs.sample_seed})},
        versions={**record.versions, **(readability.versions() if fkgl else {}), **(scores.versions if scores else {})},
    )
    row = label or model_label(PAPER, captioner.name)
    cell = partial(Result, paper=PAPER, table=TABLE, row=row, split_or_group=pairs.group, record=record)
    means = partial(_means, pairs.articles, resamples, seed)
    return [
        *_bertscore_cells(partial(cell, n=len(pairs.rows)), means, scores, scores_missing, texts),
        *_fkgl_cells(cell, means, fkgl, fkgl_missing, texts),
        *_failures(partial(cell, n=len(pairs.rows)), given),
    ]


def told_of_empty(said: Sequence[Captions], record: RunRecord) -> tuple[list[str], list[str]]:
    """What to say of empty answers, prompt by prompt: of prompts with some, and of prompts with nothing else."""
    limit = record.options.get("decoding", {}).get(ROLE, {}).get("max_tokens")  # an early version did not record it
    most = "of tokens" if limit is None else f"of {how_many(limit, 'token')}"
    some, every = [], []
    for register, given in _by_register(said).items():
        empty = [one for one in given if not one.text]
        cut = sum(one.stop == "max_tokens" for one in empty)
        # As of a model that thinks first: the limit holds for its thoughts too.
        why = f", {cut:,} of them cut off at the limit {most}" if cut else ""
        are = "is" if len(empty) == 1 else "are"
        count = f"{len(empty):,} of {len(given):,} answers to the {register} prompt {are} empty{why}"
        if len(empty) == len(given):
            every.append(f"{count}, so that {TABLE} has no BERTScore and no FKGL of them")
        elif empty:
            some.append(f"{count}: in {TABLE}, BERTScore counts each as 0, and FKGL leaves it out")
    return some, every


def _by_register(said: Sequence[Captions]) -> dict[str, list[Caption]]:
    return {register: [one.captions[at] for one in said] for at, register in enumerate(REGISTERS)}


_CONTROL = "not in the paper: one reference for both prompts"
_Maker = Callable[..., Result]
_Means = Callable[..., Iterator[dict[str, Any]]]
Value = TypeVar("Value")


def _unless_missing(compute: Callable[[], Value]) -> tuple[Value | None, str]:
    """What is computed, or why it is not: a package or weights are not here."""
    try:
        return compute(), ""
    except (MissingExtra, ModelError) as problem:
        return None, f"not computed: {problem}"


def _means(
    articles: Sequence[str] | None, resamples: int, seed: int, values: Floats, used: Sequence[int] | None = None
) -> Iterator[dict[str, Any]]:
    """Value and ci95 of the mean of each column of values (n, m), over the pairs numbered in `used`."""
    clusters = articles if articles is None or used is None else [articles[place] for place in used]
    boot = bootstrap_means(values, resamples=resamples, seed=seed, clusters=clusters)
    for mean, (low, high) in zip(boot.estimates.tolist(), boot.interval().tolist(), strict=True):
        yield {"value": mean, "ci95": (low, high)}


def _bertscore_cells(
    cell: _Maker, means: _Means, scores: Scores | None, missing: str, texts: Mapping[str, list[str]]
) -> Iterator[Result]:
    cells: list[tuple[partial[Result], Sequence[str]]] = []  # each with the prompts whose answers it is made of
    for prompt in REGISTERS:
        empty = sum(not text for text in texts[prompt])
        for reference in REGISTERS:
            also = "" if prompt == reference else "not in the paper"
            note = "; ".join(filter(None, (also, f"{empty} empty answers score 0" if empty else "")))
            setting = f"{prompt} prompt vs {reference} reference"
            made = partial(cell, setting=setting, column="BERTScore", unit="percent", direction="up", note=note)
            cells.append((made, (prompt,)))
    for setting, column, note in (
        ("difference", "Expert - Layman", "each prompt against its own register's reference"),
        *((f"{one} reference", "Expert prompt - Layman prompt", _CONTROL) for one in REGISTERS),
    ):
        delta = partial(
            cell, setting=setting, column=f"BERTScore delta ({column})", unit="percentage points", note=note
        )
        cells.append((delta, tuple(REGISTERS)))
    if scores is None:
        yield from (made(value=None, note=missing) for made, _ in cells)
        return
    both = scores.values.reshape(4, -1)  # prompt by prompt, reference by reference
    table = np.vstack([both, both[0] - both[3], both[0] - both[2], both[1] - both[3]]).T
    for (made, prompts), number in zip(cells, means(table), strict=True):
        if silent := [f"the {prompt} prompt" for prompt in prompts if not any(texts[prompt])]:
            # A score of 0 would pass for that of what the model said.
            number = {"value": None, "note": f"not computed: every answer to {' and '.join(silent)} is empty"}
        yield made(**number)


def _fkgl_cells(
    cell: _Maker, means: _Means, fkgl: dict[str, Floats] | None, missing: str, texts: Mapping[str, list[str]]
) -> Iterator[Result]:
    worded = {
        register: [place for place, text in enumerate(given) if readability.in_english(text)]
        for register, given in texts.items()
    }
    in_both = sorted(set(worded["Expert"]) & set(worded["Layman"]))
    parts: list[tuple[str, str, Direction, list[int], str]] = [
        ("Expert prompt", "FKGL", "none", worded["Expert"], ""),
        ("Layman prompt", "FKGL", "down", worded["Layman"], ""),
        ("difference", "FKGL delta (Expert - Layman)", "none", in_both, "not in the paper"),
    ]
    for setting, column, direction, used, about in parts:
        made = partial(cell, setting=setting, column=column, unit="grade", direction=direction, n=len(used))
        if fkgl is None or not used:
            yield made(value=None, note=missing or "not computed: no answer holds an English word")
            continue
        expert, layman = fkgl["Expert"][used], fkgl["Layman"][used]
        values = {"Expert prompt": expert, "Layman prompt": layman, "difference": expert - layman}[setting]
        (number,) = means(values, used)
        left_out = len(texts["Expert"]) - len(used)
        note = "; ".join(filter(None, (about, f"{left_out} without an English word left out" if left_out else "")))
        yield made(note=note, **number)


def _failures(cell: _Maker, captions: Mapping[str, Sequence[Caption]]) -> Iterator[Result]:
    """Shares of answers that break off at the token limit, and of empty ones."""
    for register, given in captions.items():
        refused = sum(one.stop == "content_filter" for one in given)
        cut = sum(one.stop == "max_tokens" for one in given)
        empty = sum(not one.text for one in given)
        were = how_many(refused, "answer was", "answers were")
        why = f"{were} refused, or stopped by the provider's filter" if refused else ""
        for column, count, note in (
            ("Truncated answers", cut, "in every score as they are"),
            ("Empty answers", empty, why),
        ):
            yield cell(
                setting=f"{register} prompt", column=column, unit="percent", direction="down", note=note,
                value=100 * count / len(given), numerator=float(count), denominator=float(len(given)),
            )  # fmt: skip
