"""Chat models of every provider behind one name, for builders and baselines alike.

    model = open_model("openai/gpt-4o-mini")
    answer = await model.ask([Message("user", "Say hello.")], temperature=0, max_tokens=64)

Names are those of inspect_ai, used as a plain library (no cache, and no log but that of an evaluation in which a model
is asked): `openai/...`, `anthropic/...`, `google/...`, `vllm/...`, `hf/...`; `openai-api/<provider>/<model>` for any
server that speaks the OpenAI protocol. `scripted/...` are deterministic offline models (`scripted_chat`).

What a model says is an `Answer`, be it garbage or nothing at all. A model that cannot be reached, or that still fails
after the bounded retries, is a `ModelError`; so is a wrong name or a missing key, as early as the provider tells.
"""

from __future__ import annotations

import asyncio
import base64
import copy
import json
import logging
import math
import os
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, Self, Unpack
from urllib.parse import urlsplit

from loaders.errors import BedsideError, MissingExtra, ModelError, ModelRefused
from loaders.models.endpoint import PREFIX, open_endpoint
from loaders.models.messages import REQUEST, Answer, ChatModel, Decoding, Message, read_image
from loaders.models.scripted_chat import open_scripted
from loaders.models.servers import Servers
from loaders.models.waiting import waiting

LONGEST_BACKOFF = 60.0  # seconds between two tries when the server does not say how long
RATE_LIMIT = 300.0  # seconds that a request waits for a server that says "too many requests" and not how long
LONGEST_RETRY_AFTER = 600.0  # seconds; a server that asks for more is treated as down
THOUGHTS = 8192
"""Tokens that a reasoning model may think for, beside those of its answer."""

TOLD: ContextVar[dict[Message, Any] | None] = ContextVar("told", default=None)
"""What was sent in a dialogue, in inspect_ai's form: whoever plays one begins with nothing, and it ends with that."""

_NO_LIMIT = 1_000_000
_REFUSED = "refused the request or failed"
_log = logging.getLogger(__name__)


def open_model(
    name: str,
    *,
    timeout: float = 120,
    max_retries: int = 5,
    base_url: str | Sequence[str] | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> ChatModel:
    """The chat model of that name. Open it once and keep it; it may be used from one event loop after another.

    `base_url` is the address of the server, or those of several that serve the same model (`servers`).
    `timeout` is in seconds per try, rounded up to whole ones; `max_retries` is the number of tries after the first;
    a rate limit is waited for beyond them (`RATE_LIMIT`).
    Between tries it waits 1, 2, 4, … up to 60 s, or what the server asks for (`sleep` does the waiting).

    Raises ModelError for a name, key or address that cannot work; MissingExtra for a package that is not installed.
    """
    if timeout <= 0 or max_retries < 0:
        raise ValueError("timeout must be positive and max_retries not negative")
    if base_url is not None and not isinstance(base_url, str):
        addresses: Sequence[str | None] = list(dict.fromkeys(base_url)) or [None]
        opened = [
            open_model(name, timeout=timeout, max_retries=max_retries, base_url=address, sleep=sleep)
            for address in addresses
        ]
        return opened[0] if len(opened) == 1 else Servers(opened)
    if base_url is not None and not re.match(r"https?://[^/\[\]]+", base_url):
        raise ModelError(name, found="the base URL is not an address", expected="one such as http://localhost:8000/v1")
    if name.startswith(PREFIX):
        return open_endpoint(name, timeout=timeout)
    provider, rest = _parted(name)
    if provider == "scripted":
        return open_scripted(rest)
    if provider in ("mockllm", "none"):
        # Not marked as stand-ins, their answers would pass for a model's.
        raise ModelError(name, found="is a provider for inspect_ai's own tests", do="Use scripted/... instead")
    try:
        from inspect_ai import model as models
    except ImportError:
        raise MissingExtra.named("inspect_ai", extra="dialogue", purpose=f"the chat model {name}") from None
    # In one process, hf/ answers one prompt at a time: its batches depend on timing, and padding changes answers.
    # Elsewhere who asks says how many at a time; inspect_ai would begin with 20 and never go beyond 100.
    config = models.GenerateConfig(max_connections=1 if provider == "hf" else _NO_LIMIT)
    try:
        model = models.get_model(name, config=config, base_url=base_url, memoize=False)
    except Exception as error:
        raise _unusable(name, error, _secrets()) from None
    key = getattr(model.api, "api_key", None) or ""
    if key != key.strip() or not key.isascii() or not key.isprintable():
        raise ModelError(name, found="its API key holds a space, line break or other character that no key has")
    found = of_inspect(model, name=name, timeout=timeout, max_retries=max_retries, base_url=base_url, sleep=sleep)
    return found.opened_by(
        partial(open_model, name, timeout=timeout, max_retries=max_retries, base_url=base_url, sleep=sleep)
    )


def _parted(name: str) -> tuple[str, str]:
    """Provider and model. Raises: ModelError where one of them is missing."""
    provider, _, rest = name.partition("/")
    if not provider or not rest:
        raise ModelError(
            name or "(no name)",
            found="is not the name of a chat model",
            expected="provider/model",
            do="For example openai/gpt-4o-mini, vllm/Qwen/Qwen3-8B, openai-api/<provider>/<model>, scripted/echo or "
            "endpoint:FILE.py",
        )
    return provider, rest


def of_inspect(
    model: Any,
    *,
    name: str | None = None,
    timeout: float = 120,
    max_retries: int = 5,
    base_url: str | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> _InspectModel:
    """An `inspect_ai.model.Model`, such as the one of a role in an evaluation, as a chat model of ours.

    It is asked with our bounded retries and tells its errors our way; in an evaluation its requests are in the log.
    """
    import inspect_ai

    client = f"inspect_ai {inspect_ai.__version__}"
    return _InspectModel(name or str(model), model, timeout, max_retries, base_url, client, sleep)


class _InspectModel(ChatModel):
    """A model of inspect_ai, with retries of our own around single tries."""

    stand_in = False

    def __init__(
        self,
        name: str,
        model: Any,
        timeout: float,
        max_retries: int,
        base_url: str | None,
        client: str,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self.name = name
        self._model = model
        self._timeout = math.ceil(timeout)
        self._max_retries = max_retries
        self._sleep = sleep
        provider = name.partition("/")[0]
        self._identity = {
            "name": name,
            "provider": provider,
            "base_url": _address(model.api, provider, base_url),
            "client": client,
        }
        self._secrets = _secrets(getattr(model.api, "api_key", None), base_url)
        self._thinks: bool | None = None  # not known yet
        self._logged = False
        self._again: Callable[[], ChatModel] | None = None

    def opened_by(self, again: Callable[[], ChatModel]) -> Self:
        """This model, which another process opens by `again`: a client with its connections cannot be sent."""
        self._again = again
        return self

    def __copy__(self) -> Self:
        mine = object.__new__(type(self))
        mine.__dict__.update(self.__dict__, _again=None)
        return mine

    def __reduce__(self) -> tuple[Callable[[], ChatModel], tuple[()]]:
        if self._again is None:
            raise TypeError(f"{self.name} plays a role in an evaluation, which is of one process")
        return self._again, ()

    @property
    def identity(self) -> dict[str, str]:
        return dict(self._identity)

    def in_role(self, role: str) -> tuple[ChatModel, Any]:
        # Copies that share client and weights: the role is written into the model, and one model may play two roles.
        mine = copy.copy(self)
        mine._model = copy.copy(self._model)
        mine._model._set_role(role)
        mine._logged = True
        return mine, mine._model

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None = None,
        **decoding: Unpack[Decoding],
    ) -> Answer:
        if not messages:
            raise ValueError("no messages")
        # No name says which model reasons. A thought shows it, and so may the first answer that is cut off, once it has
        # room: a template that holds the start of the thought leaves its end alone in the text. The tokens are those of
        # the answer that is given, so that a run that was stopped counts like another.
        cut = None
        if not self._thinks:
            cut = await self._asked(messages, json_schema, decoding)
            unknown, self._thinks = self._thinks is None, _thinks(cut) or self._thinks
            if cut.stop != "max_tokens" or not (self._thinks or unknown):
                return cut
        try:
            answer = await self._asked(messages, json_schema, decoding, room=THOUGHTS)
        except ModelError as error:  # such as of a server whose context has not that much room
            if not error.found.startswith(_REFUSED):
                raise
            answer = None
        if answer is None or answer.stop == "model_length":
            return cut or await self._asked(messages, json_schema, decoding)
        self._thinks = self._thinks or _thinks(answer)
        return answer if self._thinks or cut is None else cut

    async def _asked(
        self,
        messages: Sequence[Message],
        json_schema: Mapping[str, Any] | None,
        decoding: Decoding,
        room: int = 0,
    ) -> Answer:
        """The answer to a request that may be `room` tokens longer than the decoding says."""
        from inspect_ai.model import GenerateConfig

        model, temperature = self._model, decoding["temperature"]
        greedy = temperature == 0 and hasattr(model.api, "do_sample")
        if greedy:
            # transformers refuses to sample at temperature 0; the copies share the weights.
            model = copy.copy(model)
            model.api = copy.copy(model.api)
            model.api.do_sample = False
        config = GenerateConfig(
            temperature=None if greedy or temperature is None else float(temperature),
            top_p=decoding.get("top_p"),
            max_tokens=decoding["max_tokens"] + room,
            seed=decoding.get("seed"),
            reasoning_effort=decoding.get("reasoning_effort"),
            response_schema=None if json_schema is None else _response_schema(json_schema),
            reasoning_summary="none",  # otherwise OpenAI's reasoning models are sent a paid request to probe for it
            max_retries=0,  # unlimited unless set
            attempt_timeout=self._timeout,
        )
        chat = [_to_inspect(message) for message in messages]
        attempt, waited, refused, name = 0, 0.0, 0, REQUEST.get()
        while True:
            if name:  # what was answered, if only with an error, is another request when it is sent again
                config.extra_headers = {"Idempotency-Key": f"{name}-{room}-{refused}"}
            # Kits of providers retry by themselves too, which would multiply the tries; vLLM's appears only in use.
            client: Any = getattr(model.api, "client", None)
            if hasattr(client, "max_retries"):
                client.max_retries = 0
            try:
                asked = model.generate(chat, config=config, cache=False)
                # inspect_ai appends each prompt to a transcript that lives as long as the context: in an evaluation the
                # sample's, elsewhere that of a task made for it.
                output = await (asked if self._logged else asyncio.create_task(asked))
                if not output.choices:
                    raise ValueError("it holds no choice")
                return _answer(output)
            except Exception as error:
                failure, wait = error, self._wait(error, attempt, waited)
                # 409: an equal request is on its way there; the next try is still the same one
                refused += _garbled(error) or getattr(_cause(error), "status_code", 409) != 409
                text = self._describe(error, messages)
                if wait is None:
                    raise self._failure(error, text, attempt + 1) from None
            _log.info("%s: %s; try %d follows in %g s", self.name, text, attempt + 2, wait)
            with waiting(self._reason(_cause(failure)), wait):
                await self._sleep(wait)
            attempt, waited = attempt + 1, waited + wait

    def _wait(self, error: Exception, attempt: int, waited: float) -> float | None:
        """Seconds to wait before the next try; None when there is none, or when it could not help.

        The tries are counted, but for a rate limit, which passes with time: where tries are allowed at all, it is
        waited for until `RATE_LIMIT` seconds are spent.
        """
        cause = _cause(error)
        limited = getattr(cause, "status_code", None) == 429 and getattr(cause, "code", None) != "insufficient_quota"
        limited = limited and self._max_retries > 0 and waited < RATE_LIMIT
        if not _passing(error) or (attempt >= self._max_retries and not limited):
            return None
        asked = self._asked_wait(error)
        return None if asked > LONGEST_RETRY_AFTER else max(asked, min(2.0 ** min(attempt, 10), LONGEST_BACKOFF))

    def _asked_wait(self, error: Exception) -> float:
        """Seconds that the server asked to be left alone (Retry-After); 0 when it asked for nothing."""
        return getattr(self._model.api.should_retry(_cause(error)), "retry_after", None) or 0.0

    def _failure(self, error: Exception, text: str, tries: int) -> BedsideError:
        if type(error).__name__ == "PrerequisiteError":  # vLLM looks for its package at the first request
            return _unusable(self.name, error, self._secrets)
        status = getattr(_cause(error), "status_code", None)
        if status in (401, 403):
            do = "Check the key and what it may use"
            return ModelRefused(self.name, found=f"refused the API key: {text}", do=do)
        if status == 404:
            do = "Check the model's name and the base URL"
            return ModelRefused(self.name, found=f"is not there: {text}", do=do)
        if not _passing(error):
            return ModelError(self.name, found=f"{_REFUSED}: {text}")
        counted = "1 try" if tries == 1 else f"{tries} tries"
        if (asked := self._asked_wait(error)) > LONGEST_RETRY_AFTER:
            text += f"; it asks to wait {asked:g} s"
        return ModelError(
            self.name,
            found=f"gave no answer in {counted}; the last error: {text}",
            do="Check that the model can be reached, then run again",
        )

    def _reason(self, cause: BaseException) -> str:
        """A few words about a passing failure, in which nothing of what the provider said stands."""
        status = getattr(cause, "status_code", None)
        if status is not None:
            return "rate limit" if status == 429 else f"server error {status}"
        if type(cause).__name__ == "AttemptTimeoutError":
            return f"no answer within {self._timeout} s"
        return "a reply that is no chat completion" if _garbled(cause) else "no connection"

    def _describe(self, error: Exception, messages: Sequence[Message]) -> str:
        """One line about an error, without keys and without the prompt, which may hold what must stay hidden."""
        cause = _cause(error)
        status = getattr(cause, "status_code", None)
        if type(cause).__name__ == "AttemptTimeoutError":
            text = self._reason(cause)
        elif _garbled(cause):
            text = f"{self._reason(cause)} ({cause})"
        elif status is not None:
            body = getattr(cause, "body", None)
            said = (body.get("message") or body.get("detail")) if isinstance(body, dict) else None
            text = f"HTTP {status}" + (f": {said}" if isinstance(said, str) else "")
        else:
            text = str(cause) or type(cause).__name__
            deepest = cause
            while behind := deepest.__cause__ or deepest.__context__:
                deepest = behind
            if deepest is not cause and str(deepest):
                text += f" ({deepest})"
        for message in messages:
            for line in message.text.splitlines():
                if len(line.strip()) >= 12:
                    text = text.replace(line.strip(), "[prompt]")
        return _clean(text, self._secrets)


def _to_inspect(message: Message) -> Any:
    """The message in inspect_ai's form: of a dialogue the same object for the same one, which its log holds once."""
    told = TOLD.get()
    if told is None or any(isinstance(image, Path) for image in message.images):  # a file may have changed
        return inspect_message(message)
    if message not in told:
        told[message] = inspect_message(message)
    return told[message]


def inspect_message(message: Message) -> Any:
    """The message in inspect_ai's form, for a log; images are in it, never their paths. Raises InputError."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, ContentImage, ContentText

    if message.role == "system":
        return ChatMessageSystem(content=message.text)
    if message.role == "assistant":
        return ChatMessageAssistant(content=message.text)
    if not message.images:
        return ChatMessageUser(content=message.text)
    content: list[Any] = [ContentText(text=message.text)]
    for image in message.images:
        data, kind = read_image(image)
        content.append(ContentImage(image=f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"))
    return ChatMessageUser(content=content)


def _response_schema(json_schema: Mapping[str, Any]) -> Any:
    return _parsed_schema(json.dumps(json_schema))


@lru_cache(maxsize=64)
def _parsed_schema(text: str) -> Any:
    from inspect_ai.model import ResponseSchema
    from inspect_ai.util import JSONSchema

    json_schema = json.loads(text)
    schema = JSONSchema.model_validate(json_schema)
    if schema.model_dump(exclude_none=True) != json_schema:
        raise ValueError("json_schema holds keywords that inspect_ai does not pass on to providers")
    return _shared(ResponseSchema)(name="answer", json_schema=schema)


@cache
def _shared(kind: Any) -> Any:
    """The class, with copies that are the thing itself: inspect_ai copies a schema, which nobody changes, node by node
    for each request, in a seventh of the time that the request takes it."""
    return type(kind.__name__, (kind,), {"__module__": __name__, "__deepcopy__": lambda schema, memo: schema})


def _answer(output: Any) -> Answer:
    stop = str(output.stop_reason)
    usage = output.usage
    if usage is None:
        # A rejected prompt: inspect_ai hands on the provider's error as if the model had said it.
        refused = stop in ("model_length", "content_filter")
        return Answer("" if refused else output.completion, None, None, stop)
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return Answer(output.completion, usage.input_tokens + cached, usage.output_tokens, stop, _thought(output))


def _thought(output: Any) -> str | None:
    """What the model thought, as far as the provider tells it; None where nothing speaks for a thought."""
    content = output.message.content
    parts = [part for part in content if part.type == "reasoning"] if isinstance(content, list) else []
    if parts:
        return "\n".join(part.reasoning for part in parts if not part.redacted).strip()
    hidden = output.usage.reasoning_tokens or (
        # All tokens are gone and no word was said: they went somewhere.
        not output.completion.strip() and str(output.stop_reason) == "max_tokens" and output.usage.output_tokens
    )
    return "" if hidden else None


def _thinks(answer: Answer) -> bool:
    """Whether an answer shows that its model reasons."""
    return answer.thought is not None or re.search(r"</?think", answer.text) is not None


def _address(api: Any, provider: str, base_url: str | None) -> str:
    """Where requests go, without credentials and query; empty for a model that runs in this process."""
    url = (
        base_url
        or getattr(api, "base_url", None)
        or getattr(getattr(api, "client", None), "base_url", None)
        or os.environ.get(f"{provider.upper().replace('-', '_')}_BASE_URL")
        or ""
    )
    parts = urlsplit(str(url))
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/") if parts.netloc else ""


_HOSTS = {
    "openai": "api.openai.com",
    "anthropic": "api.anthropic.com",
    "google": "generativelanguage.googleapis.com",
    "mistral": "api.mistral.ai",
    "openrouter": "openrouter.ai",
}
"""Provider -> where its models answer."""


def at_its_provider(identity: Mapping[str, str]) -> bool:
    """Whether a model of this identity is asked where its provider answers, and not at an address that was named.

    A model that runs in this process is its own provider.
    """
    host = urlsplit(identity.get("base_url", "")).hostname
    return host is None or host == _HOSTS.get(identity.get("provider", ""))


def _passing(error: Exception) -> bool:
    """Whether another try can help: inspect_ai wraps the errors that it knows to be passing in tenacity's."""
    return type(error).__name__ == "RetryError" or _garbled(error)


def _garbled(error: BaseException) -> bool:
    """Whether it comes of a body with status 200 that is no chat completion: broken JSON, an error of a proxy, null."""
    return isinstance(error, ValueError | TypeError | AttributeError | LookupError) and not isinstance(
        error, UnicodeError
    )


def _cause(error: BaseException) -> BaseException:
    """The provider's error behind tenacity's RetryError and behind inspect_ai's own, whose text holds the prompt."""
    while True:
        behind = None
        if type(error).__name__ == "RetryError":
            behind = error.last_attempt.exception()  # type: ignore[attr-defined]
        elif hasattr(error, "provider_message"):
            behind = error.__cause__
        if behind is None:
            return error
        error = behind


def _unusable(name: str, error: Exception, secrets: Sequence[str]) -> BedsideError:
    """The error for a model that cannot be opened: what is missing and how to get it."""
    # inspect_ai writes such messages with rich's markup, for a terminal.
    message = re.sub(r"\[/?(?:bold|blue|red)\]", "", str(getattr(error, "message", error)))
    text = _clean(message.removeprefix("ERROR: "), secrets)
    install = re.search(r"pip install (?:--upgrade )?(.+)$", text)
    if install:
        return MissingExtra(
            name,
            found="its provider's package is missing or too old",
            do=f"Install it with: pip install --upgrade {install[1]}",
        )
    if "defined in the environment" in text:
        do = "Set it there and run again; a local server that needs no key takes any word"
        return ModelRefused(name, found=text, do=do)
    if "not recognized" in text:
        return ModelRefused(name, found=text, do="Providers: https://inspect.aisi.org.uk/providers.html")
    return ModelRefused(name, found=f"cannot be opened: {text or type(error).__name__}")


def _secrets(*known: str | None) -> list[str]:
    """Every value that must not appear in a text: keys in use, passwords in addresses, keys of the environment."""
    values = {value for value in known if value}
    for address in [value for value in values if "://" in value]:
        values.remove(address)
        values |= {urlsplit(address).username or "", urlsplit(address).password or ""}
    values |= {
        value for name, value in os.environ.items() if re.search(r"KEY|TOKEN|SECRET|PASSWORD", name, re.IGNORECASE)
    }
    # Shorter ones are placeholders such as "none"; striking them out would only garble texts.
    return sorted({value.strip() for value in values if len(value.strip()) >= 8}, key=len, reverse=True)


def _clean(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "***")
    text = re.sub(r"\bsk-[\w*-]{8,}|\bhf_\w{8,}|(?<=Bearer )\S+", "***", text)
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= 300 else text[:299] + "…"
