"""A product with its own API as a chat model: `endpoint:FILE.py`, a user's file with one function.

    async def reply(session: str, text: str) -> str: ...

A product keeps the state of a dialogue itself. In a dialogue that it knows, it is sent only the newest message. In any
other (the first request, one that was stopped before, a side question) it is sent all that was said so far, in a new
session. A function is also given the pictures, as bytes, if it has a parameter that is called `images` or `pictures`.
Its other parameters are its own and need defaults. Two dialogues never share a session.

A failed request is sent again, as to any model (`tries`), but in a new session with the whole conversation: the product
may or may not have taken in the message that it did not answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import inspect
import json
import math
import sys
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from loaders.errors import InputError, ModelError, ModelRefused
from loaders.files.opening import read_file
from loaders.files.paths import is_file
from loaders.models.failures import Unanswered
from loaders.models.messages import Answer, ChatModel, Decoding, Message, read_image
from loaders.models.tries import Tries

PREFIX = "endpoint:"
TALK: ContextVar[str] = ContextVar("talk", default="")
"""Which talk a request belongs to: set by whoever plays it, since two talks may begin with the same words."""

Reply = Callable[..., Awaitable[str]]
_EXPECTED = "async def reply(session: str, text: str) -> str"
_PICTURES = ("images", "pictures")
LONGEST_REPLY = 200_000  # characters
_SPEAKERS = {"system": "Instructions", "user": "They said", "assistant": "You said"}


@dataclass
class Product:
    """What a file provides: its function, the parameter that takes pictures ("" for none), and its text's digest."""

    name: str
    reply: Reply
    pictures: str
    digest: str

    async def say(self, session: str, text: str, images: Sequence[bytes] = ()) -> Any:
        """What the function returns. If it would end Bedside (`sys.exit`, a cancelled task), Unanswered is raised."""
        given = {self.pictures: list(images)} if self.pictures else {}
        try:
            return await self.reply(session, text, **given)
        except SystemExit:
            raise Unanswered("its reply ended with SystemExit", transient=False) from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise  # we did it: the time is up, or the run was stopped
            raise Unanswered("its reply ended with CancelledError") from None


def read_product(path: Path) -> Product:
    """Runs a user's file and takes its function. Raises InputError for a file that has none, or that fails."""
    text = read_file(path, most=1_000_000, expected="a Python file")
    name = f"bedside_endpoint_{uuid.uuid4().hex}"  # a new module each time, as after a restart
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise InputError(path, found="is no Python file", expected=f"one with {_EXPECTED}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for it
    try:
        # The very text of the digest: a loader may run what it compiled before of a file of the same length and time.
        exec(compile(text, path, "exec", dont_inherit=True), vars(module))
    except (Exception, SystemExit) as error:  # anybody's code
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        beside = f"{getattr(error, 'name', None) or ''}.py"
        do = ""
        if isinstance(error, ModuleNotFoundError) and is_file(path.with_name(beside)):
            # If it changed, stored answers would still be taken for those of this product.
            do = f"Only {path.name} itself counts as the product: copy {beside} into it, or install it as a package"
        found = f"{type(error).__name__}{line}: {error}"
        raise InputError(path, found=found, expected="a file that runs", do=do) from None
    reply = getattr(module, "reply", None)
    if not inspect.iscoroutinefunction(reply):
        found = "no function reply" if reply is None else "a reply that is not async"
        if inspect.isasyncgenfunction(reply):
            found = "a reply that yields parts instead of returning a text"
        raise InputError(path, found=found, expected=_EXPECTED)
    return Product(path.name, reply, _for_pictures(path, reply), hashlib.sha256(text).hexdigest())


def _for_pictures(path: Path, reply: Reply) -> str:
    """The parameter of a function that takes pictures; "" for none."""
    signature = inspect.signature(reply)
    given = [p for p in signature.parameters.values() if p.default is p.empty or p.name in _PICTURES]
    given = [p for p in given if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    named = [p for p in given[:2] if p.kind is p.KEYWORD_ONLY] + [p for p in given[2:] if p.kind is p.POSITIONAL_ONLY]
    strange = any((p.name in _PICTURES) != (at == 2) for at, p in enumerate(given))  # it would get what it is not for
    if named or strange or len(given) not in (2, 3):
        found = f"reply{signature}"
        raise InputError(path, found=found, expected=f"{_EXPECTED}, or images besides; its own need defaults")
    return given[2].name if given[2:] else ""


@dataclass
class _Session:
    """A session of the product, and the digests of what it was sent in it."""

    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    said: tuple[str, ...] = ()


class Endpoint(ChatModel):
    """The product that a file reaches through a function. Raises what `read_product` raises."""

    stand_in = False

    def __init__(self, file: Path, timeout: float, max_retries: int, sleep: Callable[[float], Awaitable[None]]) -> None:
        self.product, self.timeout = read_product(file), timeout
        self.name = f"{PREFIX}{self.product.name}"
        self._tries = Tries(self.name, math.ceil(timeout), max_retries, (), _retry_after, sleep)
        self._sessions: dict[tuple[str, ...], _Session] = {}

    @property
    def identity(self) -> dict[str, str]:
        return {"name": self.name, "provider": "endpoint", "base_url": "", "client": f"file {self.product.digest[:16]}"}

    @property
    def answers_as(self) -> str:
        """Includes the file's digest: a name says neither which folder it is in nor what was changed in it since."""
        return f"{self.name} {self.product.digest}"

    async def ask(
        self, messages: Sequence[Message], *, json_schema: Mapping[str, Any] | None = None, **decoding: Unpack[Decoding]
    ) -> Answer:
        """The product's reply; decoding and schema are left to the product."""
        if not messages:
            raise ValueError("no messages")
        # Its own words come back cleaned, and it knows them. The first message tells a talk from a question about it.
        digests = tuple(_digest(message) for message in messages if message.role != "assistant")
        key = (TALK.get(), _digest(messages[0]))

        async def ask(_: str) -> Answer:
            session = self._sessions.pop(key, None)  # none after a failure
            if session is None or session.said != digests[:-1]:
                session, text, new = _Session(), _whole(messages), messages
            else:
                text, new = messages[-1].text, messages[-1:]
            answer = await self._asked(session.name, text, new)
            session.said = digests
            self._sessions[key] = session
            return Answer(answer, None, None, "stop")

        return await self._tries.until_answered(ask, messages, "")

    async def _asked(self, session: str, text: str, messages: Sequence[Message]) -> str:
        images = [read_image(image)[0] for message in messages for image in message.images]
        if images and not self.product.pictures:
            do = "Play a setting without images, or let reply take them: reply(session, text, images: list[bytes])"
            raise ModelRefused(self.name, found="takes no pictures", expected="a third parameter for them", do=do)
        try:
            answer = await asyncio.wait_for(self.product.say(session, text, images), self.timeout)
        except (TimeoutError, Unanswered):
            raise
        except Exception as error:  # a user's function may raise anything; the text may repeat the prompt
            raise unanswered(error) from None
        if answer is None:  # as a busy product may send once
            raise Unanswered("its reply was None")
        if not isinstance(answer, str) or len(answer) > LONGEST_REPLY:
            found = f"its reply was {type(answer).__name__}" if not isinstance(answer, str) else "its reply has no end"
            raise ModelError(self.name, found=found, expected=f"a text of at most {LONGEST_REPLY:,} characters")
        return answer.encode("utf-8", "replace").decode()


def unanswered(error: Exception) -> Unanswered:
    """What may be told of an error in a product's function: its type, or the HTTP status by any client's name."""
    response = getattr(error, "response", error)
    found = (getattr(response, name, None) for name in ("status_code", "status", "code"))
    status = next((one for one in found if isinstance(one, int) and 400 <= one <= 599), None)
    if status is not None:
        return Unanswered(f"HTTP {status}", status, getattr(response, "headers", None))
    behind = error.__context__
    if isinstance(error, KeyError) and isinstance(behind, KeyError) and isinstance(behind.args[0], bytes):
        told = f"its reply needs the environment variable {error.args[0]}, which is not set"  # as os.environ says it
        return Unanswered(told, transient=False)
    mistaken = isinstance(error, NameError | ImportError | AssertionError | NotImplementedError)
    return Unanswered(f"its reply ended with {type(error).__name__}", None, transient=not mistaken)


def _retry_after(error: BaseException) -> float:
    return error.retry_after if isinstance(error, Unanswered) else 0.0


def _digest(message: Message) -> str:
    return hashlib.sha256(json.dumps([message.role, message.text]).encode()).hexdigest()


def _whole(messages: Sequence[Message]) -> str:
    """All that was said, for a session that knows nothing of it; two messages need no speakers' names."""
    if len(messages) == 1 or [message.role for message in messages] == ["system", "user"]:
        return "\n\n".join(message.text for message in messages)
    return "\n\n".join(f"{_SPEAKERS[message.role]}:\n{message.text}" for message in messages)
