"""Errors of chat models: which are transient, what caused them, and which parts of their texts may be shown."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from loaders.errors import BedsideError, MissingExtra, ModelRefused


class Unanswered(Exception):
    """A request to a product failed. The text may be shown.

    An HTTP status alone decides whether the failure is transient; `headers` may say when to ask again.
    """

    def __init__(
        self, text: str, status: int | None = None, headers: Mapping[str, str] | None = None, *, transient: bool = True
    ) -> None:
        super().__init__(text)
        self.status_code = status
        self.transient = transient if status is None else status in (408, 425, 429) or status >= 500
        self.retry_after = _seconds(str((headers or {}).get("Retry-After", "")))


def _seconds(asked: str) -> float:
    """What `Retry-After` asks to wait: seconds, or a date; 0 for anything else."""
    if asked.isdecimal():
        return float(asked)
    with suppress(ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(asked).timestamp() - time.time())
    return 0.0


def passing(error: Exception) -> bool:
    """Whether another try can help: inspect_ai wraps the errors that it knows to be transient in tenacity's."""
    if isinstance(error, Unanswered):
        return error.transient
    # Without a connection inspect_ai takes a local vLLM for dead, although it may be starting.
    return type(error).__name__ in ("RetryError", "APIConnectionError") or garbled(error) or late(error)


def late(error: BaseException) -> bool:
    """Whether no answer came in time."""
    return type(error).__name__ == "AttemptTimeoutError" or isinstance(error, TimeoutError)


def garbled(error: BaseException) -> bool:
    """Whether the cause is a body with status 200 that is no chat completion: broken JSON, a page, null."""
    if "non-ChatCompletion" in str(error):  # inspect_ai's own error, of no type of Python's
        return True
    return isinstance(error, ValueError | TypeError | AttributeError | LookupError) and not isinstance(
        error, UnicodeEncodeError
    )


def cause_of(error: BaseException) -> BaseException:
    """The provider's error inside tenacity's RetryError and inside inspect_ai's own, whose text contains the prompt."""
    while True:
        behind = None
        if type(error).__name__ == "RetryError":
            behind = error.last_attempt.exception()  # type: ignore[attr-defined]
        elif hasattr(error, "provider_message"):
            behind = error.__cause__
        if behind is None:
            return error
        error = behind


def said_in(body: object) -> str:
    """What a provider says in the body of an error, whose form each server chooses; "" for nothing, and for a page.

    >>> said_in([{"message": "too long", "loc": ["body"]}]), said_in({"detail": [{"msg": "Unknown", "loc": ["n"]}]})
    ('too long', 'Unknown: n')
    """
    while isinstance(body, list | dict):
        match body:
            case {"loc": [*where], "msg": str(text)}:  # a validator's, as of FastAPI
                return f"{text}: {'.'.join(map(str, where))}"
        parts = body if isinstance(body, list) else [body.get(name) for name in ("message", "msg", "detail", "error")]
        body = next(filter(None, parts), None)
    return body if isinstance(body, str) and not body.startswith("<") else ""


def unusable(name: str, error: Exception, secrets: Sequence[str]) -> BedsideError:
    """The error for a model that cannot be opened: what is missing and how to get it."""
    # inspect_ai writes such messages with rich's markup, for a terminal.
    message = re.sub(r"\[/?(?:bold|blue|red)\]", "", str(getattr(error, "message", error)))
    text = cleaned(message.removeprefix("ERROR: "), secrets)
    install = re.search(r"pip install (?:--upgrade )?(.+)$", text)
    if install:
        do = f"Install it with: pip install --upgrade {install[1]}"
        return MissingExtra(name, found="its provider's package is missing or too old", do=do)
    if "defined in the environment" in text:
        do = "Set it there and run again; a local server that needs no key takes any word"
        if "BASE_URL" in text:
            do = "Name the address of the model's server there or with --base-url, and run again"
        return ModelRefused(name, found=text, do=do)
    if "not recognized" in text:
        return ModelRefused(name, found=text, do="Providers: https://inspect.aisi.org.uk/providers.html")
    return ModelRefused(name, found=f"cannot be opened: {text or type(error).__name__}")


def secrets_of(*known: str | None) -> list[str]:
    """Every value that must not appear in a text: keys in use, passwords in addresses, keys of the environment."""
    values = {value for value in known if value}
    for address in [value for value in values if "://" in value]:
        values.remove(address)
        values |= {urlsplit(address).username or "", urlsplit(address).password or ""}
    values |= {
        value for name, value in os.environ.items() if re.search(r"KEY|TOKEN|SECRET|PASSWORD", name, re.IGNORECASE)
    }
    # Shorter ones are placeholders such as "none"; removing them would only garble texts.
    return sorted({value.strip() for value in values if len(value.strip()) >= 8}, key=len, reverse=True)


def cleaned(text: str, secrets: Iterable[str]) -> str:
    """A text on one line of at most 300 characters, without secrets or anything that looks like a key."""
    for secret in secrets:
        text = text.replace(secret, "***")
    text = re.sub(r"\bsk-[\w*-]{8,}|\bhf_\w{8,}|(?<=Bearer )\S+", "***", text)
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= 300 else text[:299] + "…"
