"""Retries of requests to chat models: how long to wait between them, when to give up, and what to report.

One loop serves every way in which a model is asked. A try is one request, or one that was cut off and is sent again.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from loaders.errors import BedsideError, ModelError, ModelRefused, how_many
from loaders.models.failures import Unanswered, cause_of, cleaned, garbled, late, passing, said_in, unusable
from loaders.models.messages import PATIENCE, REQUEST, Answer, Message
from loaders.models.waiting import waiting

LONGEST_BACKOFF = 60.0  # seconds between two tries if the server does not say how long
LONGEST_ANSWER = 1_000_000  # characters, thoughts included: they are stored, and read once more in every turn
LONGEST_RETRY_AFTER = 600.0  # seconds; a server that asks for more is treated as down
REFUSED = "refused the request or failed"
_OF_A_DAY = re.compile(r"\bper[ -]day\b", re.I)
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tries:
    """How often a model is asked, and how its failures are reported.

    `retry_after` returns the seconds that a server asked us to wait, read from its error, 0 for none; `secrets` are
    never shown.
    """

    name: str
    timeout: int
    max_retries: int
    secrets: Sequence[str]
    retry_after: Callable[[BaseException], float]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def until_answered(
        self, ask: Callable[[str], Awaitable[Answer]], messages: Sequence[Message], part: str
    ) -> Answer:
        """The result of `ask` at the first try that does not fail; it is passed the name of the request, "" for none.

        `part` distinguishes the requests that are sent under one name (`REQUEST`).

        Raises: ModelError after the last try, or when another cannot help; ModelRefused, MissingExtra.
        """
        attempt, refused, name = 0, 0, REQUEST.get()
        limits, waited = 0, 0.0  # the tries that met a busy server, and the seconds waited for it
        while True:
            try:
                # a request that was answered, if only with an error, gets a new name when it is sent again
                answer = await ask(f"{name}-{part}-{refused}" if name else "")
                if len(answer.text) > LONGEST_ANSWER:  # of a server that knows no limit of tokens
                    expected = f"a text of at most {LONGEST_ANSWER:,} characters"
                    raise ModelError(self.name, found="its answer has no end", expected=expected)
                return answer
            except BedsideError:  # such as for a picture that cannot be read
                raise
            except Exception as error:
                cause = cause_of(error)
                # 409: an equal request is in progress there; the next try is still the same one
                refused += garbled(cause) or getattr(cause, "status_code", 409) != 409
                text = self._describe(cause, messages)
                wait = None if _BLIND.search(text) else self._wait(error, attempt, limits, waited)
                if wait is None:
                    raise self._failure(error, text, attempt + 1) from None
                reason = self._reason(cause)
            _log.info("%s: %s; try %d follows in %g s", self.name, text, attempt + 2, wait)
            with waiting(reason, wait):
                await self.sleep(wait)
            attempt += 1
            if _limited(cause):
                limits, waited = limits + 1, waited + wait

    def _wait(self, error: Exception, attempt: int, limits: int, waited: float) -> float | None:
        """Seconds to wait before the next try; None if there is none, or if it could not help.

        All tries count except those that met a busy server, which passes with time: if retries are allowed at all, it
        is waited for as often as that, and until the seconds of `PATIENCE` are spent.
        """
        cause = cause_of(error)
        if _limited(cause):
            over = limits >= self.max_retries and (self.max_retries == 0 or waited >= PATIENCE.get())
        else:
            over = attempt - limits >= self.max_retries
        if over or not passing(error) or _spent(cause):
            return None
        asked = self.retry_after(cause)
        if not asked and _limited(cause) and _OF_A_DAY.search(said_in(getattr(cause, "body", None))):
            return None
        own = min(2.0 ** min(attempt, 10), LONGEST_BACKOFF)
        return None if asked > (LONGEST_RETRY_AFTER if PATIENCE.get() else own) else max(asked, own)

    def _failure(self, error: Exception, text: str, tries: int) -> BedsideError:
        if type(error).__name__ == "PrerequisiteError":  # vLLM looks for its package only at the first request
            return unusable(self.name, error, self.secrets)
        cause = cause_of(error)
        status = getattr(cause, "status_code", None)
        of_the_key = (status == 403 and not _OF_THE_TEXT.search(text)) or (status == 400 and _OF_THE_KEY.search(text))
        if status == 401 or of_the_key:
            do = "Check the key and what it may use, then run the same command again"
            return ModelRefused(self.name, found=f"refused the API key: {text}", do=do)
        if status == 402 or _spent(cause) or (status == 400 and _OF_CREDIT.search(text)):
            do = "Pay for more there, then run the same command again"
            return ModelRefused(self.name, found=f"wants to be paid: {text}", do=do)
        if _BLIND.search(text):
            do = "Choose a model that sees, serve it with what it sees with (llama.cpp: --mmproj), or play without"
            return ModelRefused(self.name, found=f"takes no pictures: {text}", do=do)
        if status in (404, 405, 410) or (status == 400 and _OF_THE_NAME.search(text)):
            do = "Check the model's name and the base URL, then run again"
            return ModelRefused(self.name, found=f"is not there: {text}", do=do)
        if not passing(error):
            return ModelError(self.name, found=f"{REFUSED}: {text}")
        counted = how_many(tries, "try", "tries")
        if (asked := self.retry_after(cause)) > LONGEST_RETRY_AFTER:
            text += f"; it asks to wait {asked:g} s"
        do = "Check that the model can be reached, then run again"
        if late(cause):
            do = "Let it take longer (--timeout), or ask less of it at a time (--concurrency), then run again"
        if garbled(cause):
            do = "Check the base URL, and what answers there (a page?), then run again"
        if "WRONG_VERSION_NUMBER" in text:
            do = "Begin the base URL with http://, as no TLS is spoken there, then run again"
        if "CERTIFICATE_VERIFY_FAILED" in text:
            do = "If it is the right server, name the file of its certificate in SSL_CERT_FILE, then run again"
        return ModelError(self.name, found=f"gave no answer in {counted}; the last error: {text}", do=do)

    def _reason(self, cause: BaseException) -> str:
        """A few words about a transient failure, without anything that the provider said."""
        status = getattr(cause, "status_code", None)
        if status is not None:
            return "rate limit" if status == 429 else f"server error {status}"
        if late(cause):
            return f"no answer within {self.timeout} s"
        return "a reply that is no chat completion" if garbled(cause) else "no connection"

    def _describe(self, cause: BaseException, messages: Sequence[Message]) -> str:
        """One line about an error, without keys and without the prompt, which may hold what must stay hidden."""
        status = getattr(cause, "status_code", None)
        if late(cause):
            text = self._reason(cause)
        elif garbled(cause):
            # any other error is Python's, in which nothing is about the reply
            text = self._reason(cause) + f" ({cause})" * isinstance(cause, ValueError)
        elif status is not None:
            said = said_in(getattr(cause, "body", None))
            text = f"HTTP {status}" + (f": {said}" if said else "")
        else:
            text = str(cause) or type(cause).__name__
            deepest = cause
            # Behind `Unanswered` is whatever a user's product has raised, perhaps an address with its key.
            while not isinstance(cause, Unanswered) and (behind := deepest.__cause__ or deepest.__context__):
                deepest = behind
            if deepest is not cause and str(deepest):
                text += f" ({deepest})"
        for message in messages:
            for line in message.text.splitlines():
                if len(line.strip()) >= 12:
                    text = text.replace(line.strip(), "[prompt]")
        return cleaned(text, self.secrets)


# Some providers answer 400 where others answer 401 and 402, which would pass for a fault of the request, or 403 where
# others answer 400. A request that is too long or unwanted is refused in other words.
_OF_THE_TEXT = re.compile(r"\bflagged\b|\bmoderation\b|\bcontent[ _-]policy\b", re.I)  # OpenRouter, guardrails
_OF_THE_KEY = re.compile(r"\bapi[ _-]key\b", re.I)
_OF_THE_NAME = re.compile(
    r"\bmodel\b.{0,80}\bnot (?:exist|found|supported by any provider)\b|\bnot a valid model\b|模型不存在"
    r"|\b(?:invalid|unknown) model(?::| name| id| ')",
    re.IGNORECASE,
)
_OF_CREDIT = re.compile(r"\bcredit balance\b|\bbilling\b|\binsufficient (?:balance|credits?|funds|quota)\b", re.I)

_BLIND = re.compile(  # of a model that takes no pictures; llama.cpp and Ollama say it with status 500
    r"(?:\bnot?|n't)\b.{0,30}\bsupport (?:image|vision)(?! format)|\bnot a multi-?modal model\b|\bat most 0 image"
    r"|\bcontent must be a string\b|\bvalid string: body\.messages\b.*\bcontent\b"
    r"|\bimage(?:_url| inputs?(?: modality)?)\W+(?:is|are) (?:not|only) (?:supported|enabled)"
    r"|\brequired for image input|\b(?:unknown variant|unsupported content part)\b.*\bimage_url\b",
    re.IGNORECASE,
)


def _spent(cause: BaseException) -> bool:
    """Whether the server says that the account's quota is spent, with the status of a rate limit or of a bad request.

    The words are those of OpenAI, Moonshot, LiteLLM and DashScope.
    """
    words = {"insufficient_quota", "exceeded_current_quota_error", "budget_exceeded", "Arrearage"}
    return not words.isdisjoint(str(getattr(cause, name, "")) for name in ("code", "type"))


def _limited(cause: BaseException) -> bool:
    """Whether the server is busy: too many requests, a model that loads (503) or is overloaded (529 of Anthropic).

    A spent quota does not pass with time.
    """
    return getattr(cause, "status_code", None) in (429, 503, 529) and not _spent(cause)
