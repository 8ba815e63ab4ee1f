"""Questions about a thread to a chat model: the thread goes in as data, the answer is one checked JSON object.

An answer that fails a check is sent back with the failed checks named, twice at most. Answers are stored, so none
is paid for twice.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any, TypeVar

import pyarrow as pa

from builders.chat import Chat
from builders.pipeline.rows import Row
from builders.pipeline.stage import Excluded
from builders.steps import StepFunction, step
from builders.unanswered import ask_with_retries, stored_ask, why
from loaders.errors import ModelError
from loaders.models.answers import Answers
from loaders.models.asking import Unfit, read_object
from loaders.models.messages import ChatModel, Message
from loaders.models.prompts import Prompts
from loaders.spans import shares_span

TEMPERATURE = 0.0
TEXTS = pa.list_(pa.string())

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Asker:
    """A model with the store of its answers and the prompts of this builder."""

    model: ChatModel
    answers: Answers
    prompts: Prompts

    async def ask(
        self,
        prompt: str,
        row: Row,
        schema: Mapping[str, Any],
        read: Callable[[dict[str, Any]], Value],
        *,
        max_tokens: int,
        **values: str,
    ) -> Value:
        """What `read` returns for the first answer about a thread that it accepts; `values` also fill the prompt.
        Raises: Unfit, about the last answer, if none passed; ModelError if there is none, as the request is turned away
        or fails for good."""
        question = Message("user", self.prompts.fill(prompt, {"thread": as_data(row), **values}))
        ask = stored_ask(
            self.answers,
            self.model,
            temperature=TEMPERATURE,
            max_tokens=max_tokens,
            json_schema=schema,
            namespace=f"{prompt} {row['case_id']}",
        )
        asked = await ask_with_retries(
            self.model.name, ask, self.prompts, question, lambda answer: read(read_object(answer.text))
        )
        if asked.value is None:
            raise Unfit(asked.failure)
        return asked.value


Question = Callable[[Row, Asker], Awaitable[Row]]
NO_ANSWER = "the model gave no answer"
_QUOTATION = re.compile(r"""(?<!\w)(["'“‘«`]).*?["'”’»`](?!\w)""")
_REPEATED = 3
"""Consecutive words of a thread in a provider's message, which are taken for a quotation."""


def asked(reason: str, **columns: pa.DataType) -> Callable[[Question], StepFunction[[Chat]]]:
    """Declares a question to the model about each thread, whose answer fills `columns`; without a usable one, the row
    is excluded for `reason`; if there is none at all, as its request is refused or fails for good, so it is, and the
    reason says that: nothing can stand in for what a model reads in a thread.
    """

    def declare(question: Question) -> StepFunction[[Chat]]:
        def ask(rows: list[Row], chat: Chat) -> Iterable[Row | Excluded]:
            async def ask_one(row: Row, answers: Answers) -> Row | Excluded:
                try:
                    return await question(row, Asker(chat.model, answers, chat.prompts))
                except Unfit as unfit:
                    return Excluded(reason, str(unfit))

            asked = chat.each_or_error(ask_one, {row["case_id"]: row for row in rows})
            for row in rows:
                said = asked[row["case_id"]]
                if isinstance(said, ModelError):
                    said = Excluded(f"{reason}: {NO_ANSWER}", _publishable(said, row))
                yield said

        # Requests to a model already run in parallel within a batch.
        declared = step(name=question.__name__, takes="batch", adds=pa.schema(columns.items()), parallel=False)(ask)
        update_wrapper(declared, question, updated=())
        return declared

    return declare


def _publishable(error: ModelError, row: Row) -> str:
    """What the provider said of a request about a thread, without what it quotes: exclusions are published."""
    told = _QUOTATION.sub("[quotation]", why(error))
    if not shares_span(told, [*thread_texts(row), *row["raw"]], _REPEATED):
        return told
    status = re.search(r"HTTP \d{3}", error.found)
    return f"{error.where}: {status[0] if status else 'no answer'}; its message repeats the thread and is left out"


def as_data(row: Row) -> str:
    """A thread for a prompt, between marks that contain its own digest, so that no text in it can imitate them.

    Quotes and line breaks within a text are escaped as in JSON, so that a post cannot end its line and begin another.
    """
    lines = [("patient", f"{row['title']}\n{row['text']}"), *((turn["role"], turn["text"]) for turn in row["turns"])]
    body = "\n".join(
        f"{number}. {role}: {json.dumps(text, ensure_ascii=False)}" for number, (role, text) in enumerate(lines)
    )
    digest = hashlib.sha256(body.encode()).hexdigest()[:16]
    return f"<<<thread {digest}\n{body}\nthread {digest}>>>"


_QUOTED = re.compile(r"^ {0,3}>(?!!).*$", re.MULTILINE)  # not a spoiler


def patient_texts(row: Row) -> list[str]:
    """What the patient wrote, post and turns, without the lines that they quote of somebody else."""
    texts = [row["title"], row["text"], *(turn["text"] for turn in row["turns"] if turn["role"] == "patient")]
    return [part for text in texts for part in _QUOTED.split(text)]


def thread_texts(row: Row) -> list[str]:
    """All texts of a thread."""
    return [row["title"], row["text"], *(turn["text"] for turn in row["turns"])]


def text_of(value: Mapping[str, Any], name: str, *, most: int = 600, empty: bool = False) -> str:
    """A text of an answer, on one line. Raises: Unfit if it is missing, of another type, too long, or empty without
    permission."""
    text = value.get(name)
    if not isinstance(text, str):
        raise Unfit(f'"{name}" is not a text')
    plain = " ".join(text.split())
    if len(plain) > most:
        raise Unfit(f'"{name}" has more than {most} characters')
    if not plain and not empty:
        raise Unfit(f'"{name}" is empty')
    return plain


def whole_of(value: Mapping[str, Any], name: str, least: int, most: int, expected: str) -> int:
    """A whole number of an answer. Raises: Unfit for anything else, which is not `expected`."""
    number = value.get(name)
    if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
        raise Unfit(f'"{name}" is not {expected}')
    return number


def one_of(value: object, allowed: Sequence[str], name: str) -> str:
    """The allowed label that a text names, ignoring case and punctuation. Raises: Unfit if it names none."""
    plain = {_plain(label): label for label in allowed}
    if not isinstance(value, str) or _plain(value) not in plain:
        raise Unfit(f'"{name}" is none of the labels')
    return plain[_plain(value)]


def _plain(label: str) -> str:
    return " ".join(re.findall(r"\w+", label.casefold()))


def as_json(value: object) -> str:
    """What one question leaves for the next."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
