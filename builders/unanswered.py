"""Rows for which a model gives no answer: its provider refuses the request, or fails for good.

Such a row is treated as its corpus says, with the reason, and counted; a model that answers no row ends the build
(`builders.chat.Chat.each_or_error`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from builders.pipeline.workspace import RESULTS
from loaders.errors import ModelError
from loaders.files.stores import Store
from loaders.models.asking import ENDED, FILTERED, NO_ROOM, Ask, Asked, Unfit, ask_until, read_object
from loaders.models.messages import Answer, ChatModel, Message
from loaders.models.prompts import Prompts
from loaders.models.tries import REFUSED

if TYPE_CHECKING:
    from loaders.models.answers import Answers

UNANSWERED = "unanswered"
"""A column of the workspace that no release holds: which requests for a row have no answer of use, and why."""
RETRIES = 2
NONE_PASSED = "no answer passed the checks: "

Value = TypeVar("Value")


async def ask_for_row(
    name: str, ask: Ask, messages: Sequence[Message], read: Callable[[Answer], Value], **how: Any
) -> Asked[Value]:
    """As `ask_until` with these arguments, of a model called `name`. Raises: ModelError also if the question does not
    fit into the model's context or a filter stops it, since it may be so for every row."""

    def heard(answer: Answer) -> Value:
        if answer.turned_away and answer.stop == "content_filter":
            raise ModelError(name, found=f"{REFUSED}: {FILTERED}")
        return read(answer)

    asked = await ask_until(ask, messages, heard, **how)
    if asked.failure == NO_ROOM:
        raise ModelError(name, found=f"{REFUSED}: {NO_ROOM}", do="Serve it with a longer context, then run again")
    return asked


def stored_ask(answers: Answers, model: ChatModel, **how: Any) -> Ask:
    """Asks a model through the store of its answers, with these settings; each attempt has a seed of its own."""

    async def ask(messages: Sequence[Message], attempt: int) -> Answer:
        return await answers.ask(model, messages, seed=attempt, **how)

    return ask


async def ask_with_retries(
    name: str, ask: Ask, prompts: Prompts, question: Message, read: Callable[[Answer], Value]
) -> Asked[Value]:
    """As `ask_for_row`, below the prompt `system`; an answer that cannot be used is sent back, twice at most, with the
    prompt `retry`, which says what is wrong with it."""
    return await ask_for_row(
        name,
        ask,
        [Message("system", prompts.fill("system")), question],
        read,
        attempts=1 + RETRIES,
        again=lambda failures: prompts.fill("retry", {"failures": failures}),
    )


def field_of(answer: Answer, name: str) -> object:
    """A field of the one JSON object in an answer; None if it has no such field. Raises: Unfit for anything else, as
    one line of the list in a prompt `retry`."""
    try:
        return read_object(answer.text).get(name)
    except Unfit as unfit:
        raise Unfit(f"- format: {ENDED.get(answer.stop, '')}{unfit}") from None


def why(error: ModelError | Unfit) -> str:
    """The reason of a row that a model failed: which one, and what its provider said, or what is wrong with its last
    answer."""
    if isinstance(error, Unfit):
        return NONE_PASSED + str(error).removeprefix("- ").replace("\n- ", "; ")
    return f"{error.where} {error.found}"


def counted(reasons: Counter[str], what: str = "") -> str:
    """How many there are, and the most frequent reason.

    >>> counted(Counter(["HTTP 400", "HTTP 400", "HTTP 500"]), "there is no answer")
    '3 there is no answer (most often: HTTP 400)'
    """
    return " ".join(filter(None, (f"{reasons.total():,}", what, f"(most often: {reasons.most_common(1)[0][0]})")))


def ask_again(store: Store) -> str:
    """How the rows without an answer are asked for again."""
    do = f"delete {store}/{RESULTS} and run the same command with --overwrite: no stored answer is paid for twice."
    return f"To ask again for those without an answer, {do}"
