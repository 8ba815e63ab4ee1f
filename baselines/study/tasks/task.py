"""What a task of a study is: items from a source, a page for each, a form read, and the sheet of all answers.

A page is built only from what `page` returns. Everybody may see what `Item.payload` holds, so a gold label or a hidden
concern has no place in it. What the sheet needs and people must not see is in `Item.key`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from baselines.study.design import TALKS, Design, TaskName
from baselines.study.schedule import Offer
from loaders.opened import Opened

Form = Mapping[str, Sequence[str]]
"""The posted form: name -> texts, each stripped of surrounding spaces."""


def first_text(form: Form, name: str) -> str:
    """The first text of a field; "" if the form does not have it."""
    return next(iter(form.get(name, ())), "")


class Rows(tuple[Mapping[str, Any], ...]):
    """Rows in memory with the interface of a `datasets` split."""

    def select_columns(self, names: Sequence[str]) -> Rows:
        return Rows({name: row[name] for name in names} for row in self)


@dataclass(frozen=True, slots=True)
class Bundled:
    """Rows shipped with Bedside, instead of a release: nothing is opened, and `datasets` is not imported."""

    corpus: str
    splits: Mapping[str, Rows]


@dataclass(frozen=True, slots=True)
class Source:
    """What a study is served from: a corpus, or finished runs (rubric). `stand_in` says why answers are no results."""

    design: Design
    opened: Opened | Bundled | None = None
    runs: tuple[Path, ...] = ()
    stand_in: str | None = None


@dataclass(frozen=True, slots=True)
class Item(Offer):
    """Something that a person is given. `id` is unique within its task; in talks and diagnosis nobody gets two items of
    one `group`, which is the case.

    `payload` is JSON that a page may show. `key` is JSON for the sheet and is shown to nobody. `picture` is a clean
    JPEG or PNG (`loaders.files.images`), shown at /picture.
    """

    payload: Mapping[str, Any] = field(repr=False)
    key: Mapping[str, Any] = field(default_factory=dict, repr=False)
    picture: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Response:
    """A person's answer to an item. `seconds` is the time it took; `repeat` says that it was shown before."""

    participant: str
    item: Item
    given: Mapping[str, Any]
    seconds: float
    repeat: bool = False
    position: int = 0


class FormError(Exception):
    """An unacceptable answer: the field, and a sentence for the person who filled it in."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field, self.text = field, text


class Task(Protocol):
    """A kind of work. Its template is `pages/<name>.html`, which extends `pages/work.html`; `title` heads it."""

    name: TaskName
    title: str

    def items(self, source: Source) -> tuple[Item, ...]:
        """The items of a source, in an order that depends only on the source and the design. Raises InputError."""
        ...

    def page(self, item: Item) -> Mapping[str, Any]:
        """What the template is given, besides `frame` (baselines.study.flow), `given` and `error`."""
        ...

    def practice(self) -> Item:
        """A made-up item that nobody exports."""
        ...

    def feedback(self, item: Item, given: Mapping[str, Any]) -> str:
        """What a person is told after the practice item."""
        ...

    def read(self, item: Item, form: Form) -> Mapping[str, Any]:
        """The answer, as JSON. Raises FormError for the first field that is not acceptable."""
        ...

    def sheet(self, responses: Sequence[Response], folder: Path, of: Sequence[str], stand_in: str | None) -> list[Path]:
        """Writes the files that the baselines read, and returns them; `of` names all items of the task. Practice items
        are left out; a repeat goes into `repeats.csv` beside the sheet. Raises InputError."""
        ...


def task_named(name: TaskName) -> Task:
    """The task of that name: the `TASK` of its module, but for the two that are talks."""
    module = import_module(f"baselines.study.tasks.{'conversation' if name in TALKS else name}")
    task: Task = getattr(module, name.upper() if name in TALKS else "TASK")
    return task
