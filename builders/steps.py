"""The steps of a build: functions with a decorator.

    @step(adds=pa.schema([("draft", pa.string())]))
    def draft(row: Row, lexicon: Lexicon) -> Row | Excluded:
        return {"draft": lexicon.draft(row["caption"])}

    steps = [admit(), unique(KEY, "captions"), draft(lexicon)]

A step returns the columns that it adds to a row, or `Excluded` with the reason. A step that `takes` a batch, or all
rows, returns one such result for each, in order. Arguments beside the rows determine the result, so they are part of
the name under which it is stored: plain values as they are, anything else by its `identity`. Steps are sent to worker
processes by the name of their function, so they must be defined at module level.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, update_wrapper
from inspect import signature
from itertools import repeat
from pathlib import Path
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypedDict, Unpack, overload

import pyarrow as pa
from pydantic import JsonValue

from builders.chat import Chat
from builders.licences import asks_for_credit
from builders.pipeline.image_store import FRAMES, ImageStore
from builders.pipeline.keys import Keys, in_one_form
from builders.pipeline.rows import BuildError, Row
from builders.pipeline.run import Run
from builders.pipeline.stage import Excluded, Stage
from loaders.engines.sight import check_same
from loaders.errors import first_of
from loaders.files.images import ImageError, clean_bytes, image_bytes, is_clean
from loaders.files.kinds import picture_format

WHY = pa.struct({"reason": pa.string(), "detail": pa.string()})
"""A source's columns `refused` and `no_image`: why a row is excluded, or null."""

Given = ParamSpec("Given")


class StepFunction(Generic[Given]):
    """A declared step; called with the arguments that follow the rows, it becomes a `Step` of a build."""

    def __init__(
        self,
        function: Callable[..., Any],
        takes: str,
        stage: Mapping[str, Any],
        *,
        adds: pa.Schema,
        drops: Sequence[str],
        writes: pa.Schema | None,
    ) -> None:
        update_wrapper(self, function)
        self.function = function
        self.takes = takes
        self.stage = stage
        self.adds, self.drops, self.writes = adds, drops, writes

    def __call__(self, *given: Given.args, **named: Given.kwargs) -> Step:
        try:
            bound = signature(self.function).bind(None, *given, **named)
        except TypeError as error:
            found = f"arguments that it does not take ({error})"
            raise BuildError(f"step {self.stage['name']}: found {found}, expected {signature(self.function)}") from None
        bound.apply_defaults()
        return Step(self, dict(list(bound.arguments.items())[1:]))

    def __reduce__(self) -> str:
        name: str = self.__qualname__  # type: ignore[attr-defined]
        return name

    def columns_after(self, before: pa.Schema) -> pa.Schema:
        """The columns of the rows that it returns, given those that it gets."""
        if self.writes is not None:
            return self.writes
        added = {column.name: column for column in self.adds}
        kept = [added.pop(column.name, column) for column in before if column.name not in self.drops]
        return pa.schema([*kept, *added.values()])


@dataclass(frozen=True)
class Step:
    """A step with all its arguments."""

    declared: StepFunction[Any]
    given: Mapping[str, Any]

    def stage(self, before: pa.Schema) -> Stage:
        """The pipeline stage that applies this step to rows of the schema `before`."""
        name, reads = self.declared.stage["name"], self.declared.stage["reads"]
        if missing := [column for column in reads if column not in before.names]:
            raise BuildError(f"step {name}: reads {missing}, which no step before it writes")
        settings = {each: _identity(value, f"step {name}: {each}") for each, value in self.given.items()}
        # A model may answer the requests of one step and none of another's, which hold a photo or are longer.
        given = {each: value.of_a_step() if isinstance(value, Chat) else value for each, value in self.given.items()}
        chats = [value for value in given.values() if isinstance(value, Chat)]
        return Stage(
            schema_in=before,
            schema_out=self.declared.columns_after(before),
            function=partial(_applied, self.declared, given),
            settings=settings,
            by_row=self.declared.takes == "row",
            requests=sum(chat.concurrency for chat in chats),
            answers=tuple(chat.answers for chat in chats if chat.bucket is None),
            **self.declared.stage,
        )


def _applied(declared: StepFunction[Any], given: Mapping[str, Any], rows: Collection[Row]) -> Iterable[Row | Excluded]:
    if declared.takes == "row":
        return (declared.function(row, **given) for row in rows)
    answers: Iterable[Row | Excluded] = declared.function(rows, **given)
    return answers


def stages(steps: Iterable[Step], schema: pa.Schema) -> list[Stage]:
    """The steps as consecutive pipeline stages, for a source whose rows have `schema`."""
    chain: list[Stage] = []
    for each in steps:
        if not isinstance(each, Step):
            name = each.stage["name"] if isinstance(each, StepFunction) else ""
            expected = f"{name}(…): a step is called with its arguments, if any" if name else "steps, made by @step"
            raise BuildError(f"the plan's steps: found {name or f'a {type(each).__name__}'}, expected {expected}")
        chain.append(each.stage(schema))
        schema = chain[-1].schema_out
    return chain


class _Declared(TypedDict, total=False):
    name: str
    adds: pa.Schema
    drops: Sequence[str]
    writes: pa.Schema | None
    version: int
    parallel: bool


@overload
def step(
    **more: Unpack[_Declared],
) -> Callable[[Callable[Concatenate[Row, Given], Row | Excluded]], StepFunction[Given]]: ...


@overload
def step(
    *, takes: Literal["batch"], **more: Unpack[_Declared]
) -> Callable[[Callable[Concatenate[list[Row], Given], Iterable[Row | Excluded]]], StepFunction[Given]]: ...


@overload
def step(
    *, takes: Literal["all"], reads: Sequence[str], **more: Unpack[_Declared]
) -> Callable[[Callable[Concatenate[Collection[Row], Given], Iterable[Row | Excluded]]], StepFunction[Given]]: ...


def step(
    *,
    takes: str = "row",
    reads: Sequence[str] = (),
    name: str = "",
    adds: pa.Schema = pa.schema([]),  # noqa: B008
    drops: Sequence[str] = (),
    writes: pa.Schema | None = None,
    version: int = 1,
    parallel: bool = True,
) -> Callable[[Callable[..., Any]], StepFunction[Any]]:
    """Declare a function as a step, under the function's name unless another is given.

    `adds` and `drops` are the columns that it adds (or replaces) and removes; alternatively, `writes` are all columns
    of its output. A step that takes all rows gets only the key of each and the columns that it `reads`, from disk each
    time it iterates over them. Raise `version` when the meaning of a step changes in a way that its code does not show.
    A step that calls a model is not `parallel`: its batches overlap (`builders.pipeline.overlap`).
    """

    if takes not in ("row", "batch", "all"):
        raise BuildError(f"@step: found takes={takes!r}, expected one of 'row', 'batch', 'all'")
    for word, schema in (("adds", adds), ("writes", writes)):
        if not isinstance(schema, pa.Schema | None):
            expected = 'pa.schema([("column", pa.string()), …])'
            raise BuildError(f"@step: found a {type(schema).__name__} as {word}, expected {expected}")

    def declare(function: Callable[..., Any]) -> StepFunction[Any]:
        stage = {
            "name": name or function.__name__,
            "version": version,
            "whole": takes == "all",
            "reads": tuple(reads),
            "parallel": parallel,
        }
        return StepFunction(function, takes, stage, adds=adds, drops=drops, writes=writes)

    return declare


def _identity(value: Any, where: str) -> JsonValue:
    """What represents a value in the name of a result."""
    if hasattr(value, "identity"):
        identity: JsonValue = value.identity
        return identity
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {str(name): _identity(inner, where) for name, inner in value.items()}
    if isinstance(value, frozenset):
        return sorted(_identity(inner, where) for inner in value)  # type: ignore[type-var]
    if isinstance(value, list | tuple):
        return [_identity(inner, where) for inner in value]
    raise BuildError(f"{where}: found a {type(value).__name__}, expected a plain value or one with an `identity`")


# --- Steps of several corpora -----------------------------------------------------------------------------------------


@step(drops=("refused",))
def admit(row: Row) -> Row | Excluded:
    """Exclude the rows that their source refuses, with its reason."""
    return Excluded(**row["refused"]) if row["refused"] else {}


PLACED = pa.schema([("where", pa.string()), ("says", pa.string())])
"""Where a row stands in its source, and a digest of what it says, by which `unique` tells a copy from a conflict."""


@step(takes="all", reads=PLACED.names, drops=PLACED.names)
def unique(rows: Collection[Row], key: str, named: str) -> Iterable[Row | Excluded]:
    """Keep the first row of each key; exclude all rows of a key whose contents, called `named`, differ."""
    keys = Keys()
    for row in rows:
        keys.add(row[key])
    earlier = keys.repeats()
    kept: Row = {}  # one object for all rows: a build holds an answer for each
    if not earlier:
        yield from repeat(kept, len(keys))
        return
    first: dict[int, Row] = {place: {} for place in earlier.values()}
    other: dict[int, str] = {}  # for each key, the place of the first row that differs from the key's first row
    for number, row in enumerate(rows):
        if number in first:
            first[number] = row
        elif number in earlier and row["says"] != first[earlier[number]]["says"]:
            other.setdefault(earlier[number], row["where"])
    for number, row in enumerate(rows):
        of = earlier.get(number, number)
        if of in other:
            against = other[of] if number == of else first[of]["where"]
            yield Excluded(f"one id for different {named}", f"{row['where']}, and {against}")
        elif number in earlier:
            yield Excluded("duplicate id", f"{row['where']} repeats the id of {first[of]['where']}")
        else:
            yield kept


WITHDRAWN = "withdrawn"


@step(name=WITHDRAWN)
def withdraw(row: Row, key: str, keys: frozenset[str]) -> Row | Excluded:
    """Exclude withdrawn rows, whose keys in one form are given, after all other steps, so that nothing else changes."""
    return Excluded(WITHDRAWN) if in_one_form(row[key]) in keys else {}


@step(adds=pa.schema([("image", pa.string()), (FRAMES, pa.int32())]), drops=("image_path", "image_bytes", "no_image"))
def images(row: Row, store: ImageStore) -> Row | Excluded:
    """Strip each image of its metadata and store it; `image` becomes its name in the store, or null if there is none.

    A row whose image is missing, broken or too large is excluded. The source gives an image's path in `image_path` or
    its bytes in `image_bytes`; `no_image` says why an expected image is absent. `content` is the SHA-256 of a file that
    was read before.

    Raises: InputError if a file with such a `content` is missing or has changed: then the photo is not at fault, but a
    node that cannot read it, or whoever changed it.
    """
    if row["no_image"]:
        return Excluded(**row["no_image"])
    try:
        source = _image_of(row)
        if source is None:
            return {"image": None, FRAMES: 0}
        cleaned, frames = clean_bytes(source, name=row["image_path"] or "")
    except ImageError as error:
        return Excluded(f"image {error.reason.replace('_', ' ')}", error.detail)
    ending = ".png" if picture_format(cleaned) == "PNG" else ".jpg"
    return {"image": f"{store.put(cleaned)}{ending}", FRAMES: frames}


def unclean(row: Row) -> list[str]:
    """What is wrong with the image of a published row, since `images` has cleaned it."""
    image = row["image"]
    clean = image is None or is_clean(image["bytes"] or b"")
    return [] if clean else ["an image that is no whole JPEG or PNG, or holds more than its pixels"]


def remarks(finished: Run, key: str) -> Iterator[str]:
    """Sentences about the rows whose image is the first of several in its file, and about those that say not whom to
    credit though their licence asks for it."""
    columns = {FRAMES, "licence", "attribution"} & set(finished.schema.names)
    several, uncredited, first = list[str](), 0, ""
    for row in finished.workspace.rows(finished.batches, (key, *columns)) if columns else ():
        if row.get(FRAMES, 0) > 1:
            several.append(f"{row[key]} ({row[FRAMES]:,})")
        if "attribution" in row and not row["attribution"] and asks_for_credit(row.get("licence")):
            uncredited, first = uncredited + 1, first or row[key]
    if several:
        yield f"Files with several pictures, of which the first was used: {first_of(several)}"
    if uncredited:
        yield f"Rows without `attribution` though their licence asks for credit: {uncredited:,}, the first is {first}"


def _image_of(row: Row) -> bytes | None:
    """The image that a row holds or names. Raises: ImageError; InputError if it does not match its `content`."""
    held: bytes | None = row.get("image_bytes")
    if held is not None or row["image_path"] is None:
        return held
    place, content = Path(row["image_path"]), row.get("content")
    try:
        data = image_bytes(place)
    except ImageError as error:
        if content and error.reason == "missing":
            check_same(place, None, content)
        raise
    if content:
        check_same(place, data, content)
    return data
