"""Chat models of every provider behind one name, for builders and baselines alike.

    model = open_model("openai/gpt-4o-mini")
    answer = await model.ask([Message("user", "Say hello.")], temperature=0, max_tokens=64)

Names are those of inspect_ai, which is used as a plain library (no cache, and no log except within an evaluation):
`openai/...`, `anthropic/...`, `google/...`, `vllm/...`, `hf/...`; `openai-api/<provider>/<model>` for any server that
speaks the OpenAI protocol. `scripted/...` are deterministic offline models (`scripted_chat`). Chat completions bypass
inspect_ai wherever the result is the same (`direct`).

Whatever a model says is an `Answer`, be it garbage or nothing at all. A model that cannot be reached, or that still
fails after the bounded retries, is a `ModelError`; so is a wrong name or a missing key, as soon as the provider says
so.
"""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import math
import os
import re
import ssl
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self, Unpack
from urllib.parse import urlsplit

from loaders.errors import MissingExtra, ModelError, ModelRefused
from loaders.models.direct import PROVIDERS, Direct, certificates
from loaders.models.endpoint import PREFIX, Endpoint
from loaders.models.failures import secrets_of, unusable
from loaders.models.inspect_form import answer_of, response_schema, to_inspect
from loaders.models.messages import PAYER, Answer, ChatModel, Decoding, Message
from loaders.models.refused import PIECE, TEMPERATURE, Asked
from loaders.models.replies import STREAM, as_meant
from loaders.models.scripted_chat import script_named, scripted
from loaders.models.servers import Servers
from loaders.models.tries import REFUSED, Tries

THOUGHTS = 8192
"""Tokens that a reasoning model may use for thinking, in addition to those of its answer."""

_log = logging.getLogger(__name__)
_NO_LIMIT = 1_000_000
_ADDRESS = re.compile(r"https?://(?:\[[\da-f:]+:[\da-f:.]*\](?::\d+)?|[^/\[\]\s]+)(?:/\S*)?", re.IGNORECASE)


def open_model(
    name: str,
    *,
    timeout: float = 120,
    max_retries: int = 5,
    base_url: str | Sequence[str] | None = None,
    any_temperature: bool = False,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> ChatModel:
    """The chat model of that name. Open it once and keep it; it may be used from one event loop after another.

    `base_url` is the address of the server, or those of several that serve the same model (`servers`).
    `timeout` is in seconds per try, rounded up to whole ones; `max_retries` is the number of tries after the first;
    a busy server is waited for beyond them (`messages.PATIENCE`), unless another one serves the same model.
    With `any_temperature`, a model that refuses the temperature is asked at its own, instead of failing.
    Between tries it waits 1, 2, 4, … up to 60 s, or what the server asks for (`sleep` does the waiting).

    Raises ModelError for a name, key or address that cannot work; MissingExtra for a package that is not installed.
    """
    if timeout <= 0 or max_retries < 0:
        raise ValueError("timeout must be positive and max_retries not negative")
    opening = partial(
        open_model, name, timeout=timeout, max_retries=max_retries, any_temperature=any_temperature, sleep=sleep
    )
    if base_url is not None and not isinstance(base_url, str):
        addresses: Sequence[str | None] = list(dict.fromkeys(base_url)) or [None]
        opened = [opening(base_url=address) for address in addresses]
        return opened[0] if len(opened) == 1 else Servers(opened)
    if base_url is not None and not _is_address(base_url):
        raise ModelError(name, found="the base URL is not an address", expected="one such as http://localhost:8000/v1")
    if name.startswith(PREFIX):
        return Endpoint(Path(name.removeprefix(PREFIX)), timeout, max_retries, sleep)
    provider, rest = _parted(name)
    if provider == "scripted":
        return scripted(script_named(rest), name=rest)
    if provider in ("mockllm", "none"):
        # If they were not marked as stand-ins, their answers would pass for a model's.
        raise ModelError(name, found="is a provider for inspect_ai's own tests", do="Use scripted/... instead")
    if provider == "vllm" and not (base_url or os.environ.get("VLLM_BASE_URL")) and find_spec("vllm") is None:
        # inspect_ai would say so with the first question, which may come after hours of other models.
        do = "Name the address of its server (--base-url or VLLM_BASE_URL), or install vllm on a machine with a GPU"
        raise ModelError(name, found="needs vLLM, which is not installed", do=do)
    with MissingExtra.needed("dialogue", purpose=f"the chat model {name}"):
        from inspect_ai import model as models
    _check_certificates(name)
    # In one process, hf/ answers one prompt at a time: its batches depend on timing, and padding changes answers.
    # Elsewhere the caller limits concurrency; inspect_ai would begin with 20 and never exceed 100.
    config = models.GenerateConfig(max_connections=1 if provider == "hf" else _NO_LIMIT)
    try:
        model = models.get_model(name, config=config, base_url=base_url, memoize=False)
    except Exception as error:
        raise unusable(name, error, secrets_of()) from None
    if provider == "vllm":  # it prints to the screen what an error says anyway
        logging.getLogger("inspect_ai.model._providers.vllm").setLevel(logging.CRITICAL)
    if base_url is not None and hasattr(model.api, "_server"):
        # inspect_ai has one server per vLLM model in a process, at the first address that was given.
        model.api._server = type(model.api._server)()
    key = getattr(model.api, "api_key", None) or ""
    if key != key.strip() or not key.isascii() or not key.isprintable():
        raise ModelError(name, found="its API key holds a space, line break or other character that no key contains")
    found = InspectModel(model, name=name, timeout=timeout, max_retries=max_retries, base_url=base_url, sleep=sleep)
    found.wanted = () if any_temperature else (TEMPERATURE,)
    found.direct = Direct(model, math.ceil(timeout)) if provider in PROVIDERS else None
    found.again = partial(opening, base_url=base_url)
    return found


def _is_address(url: str) -> bool:
    try:
        urlsplit(url).port  # noqa: B018 - raises for a port that cannot be one
    except ValueError:
        return False
    return _ADDRESS.fullmatch(url) is not None


def _check_certificates(name: str) -> None:
    """Raises ModelError if SSL_CERT_FILE names no certificates: each request would fail without saying why."""
    if file := os.environ.get("SSL_CERT_FILE"):
        try:
            certificates()
        except OSError as error:  # ssl.SSLError too
            found = "no certificates" if isinstance(error, ssl.SSLError) else error.strerror or str(error)
            do = "Correct the variable, or unset it to use the certificates that come with Python's packages"
            raise ModelError(
                name, found=f"SSL_CERT_FILE={file}: {found}", expected="a file of certificates (PEM)", do=do
            ) from None


def _parted(name: str) -> tuple[str, str]:
    """Provider and model. Raises: ModelError if one of them is missing."""
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


class InspectModel(ChatModel):
    """An `inspect_ai.model.Model`, such as that of a role in an evaluation, as a `ChatModel`.

    It is asked with our bounded retries and reports errors our way; in an evaluation its requests are in the log.
    """

    stand_in = False
    wanted: Collection[str] = (TEMPERATURE,)
    """What a request is never sent without (`refused`)."""
    direct: Direct | None = None
    """Who asks without inspect_ai in between wherever the result is the same."""
    again: Callable[[], ChatModel] | None = None
    """Opens this model in another process: a client with its connections cannot be sent there."""

    def __init__(
        self,
        model: Any,
        *,
        name: str | None = None,
        timeout: float = 120,
        max_retries: int = 5,
        base_url: str | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = name or str(model)
        self._model = model
        provider = self.name.partition("/")[0]
        self._identity = {
            "name": self.name,
            "provider": provider,
            "base_url": _address(model.api, provider, base_url),
            "client": f"inspect_ai {version('inspect_ai')}",
        }
        secrets = secrets_of(getattr(model.api, "api_key", None), base_url)
        self._tries = Tries(self.name, math.ceil(timeout), max_retries, secrets, partial(_retry_after, model), sleep)
        self._thinks: bool | None = None  # not known yet
        self._without: frozenset[str | int] = frozenset()  # what its server refuses: parts, and the hashes of pictures
        self._logged = False

    def __copy__(self) -> Self:
        mine = object.__new__(type(self))
        mine.__dict__.update(self.__dict__, again=None, direct=None)
        return mine

    def __reduce__(self) -> tuple[Callable[[], ChatModel], tuple[()]]:
        if self.again is None:
            raise TypeError(f"{self.name} plays a role in an evaluation, which is of one process")
        return self.again, ()

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
        self, messages: Sequence[Message], *, json_schema: Mapping[str, Any] | None = None, **decoding: Unpack[Decoding]
    ) -> Answer:
        if not messages:
            raise ValueError("no messages")
        # No name says which model reasons. A thought shows it, and so may the first truncated answer, once it gets more
        # room: if the template holds the start of the thought, only its end is in the text. Only the tokens of the
        # answer that is returned are stored, so that an interrupted run counts like any other; both are paid.
        cut, payer = None, PAYER.get()
        if not self._thinks:
            cut = await self._asked(messages, json_schema, decoding)
            unknown, self._thinks = self._thinks is None, _thinks(cut) or self._thinks
            if cut.stop != "max_tokens" or not (self._thinks or unknown):
                return cut
        if payer is not None:
            if cut is not None:
                payer.pay(cut)
            await payer.allow(decoding["max_tokens"] + THOUGHTS)
        try:
            answer = await self._asked(messages, json_schema, decoding, room=THOUGHTS)
        except ModelError as error:  # for instance from a server whose context is too small for that
            if not error.found.startswith(REFUSED):
                raise
            answer = None
        if answer is None or answer.stop == "model_length":
            return cut or await self._asked(messages, json_schema, decoding)
        self._thinks = self._thinks or _thinks(answer)
        if payer is not None:
            payer.pay(answer)
        return answer if self._thinks or cut is None else cut

    async def _asked(
        self, messages: Sequence[Message], json_schema: Mapping[str, Any] | None, decoding: Decoding, room: int = 0
    ) -> Answer:
        """The answer to a request that may be `room` tokens longer than the decoding says."""
        whole, without = Asked(messages, json_schema, decoding), self._without
        while True:
            asked = whole.leaving_out(without)

            async def ask(request: str, asked: Asked = asked) -> Answer:
                generate = partial(self._generated, asked, room, request)
                if self.direct is not None:
                    drawn = (room, asked.left, *sorted(asked.decoding.items()), json.dumps(asked.json_schema))
                    answer = await self.direct.ask(asked.messages, drawn, request, generate)
                    if answer is not None:
                        return answer
                return answer_of(await generate(self._model))

            try:
                answer = await self._tries.until_answered(ask, messages, str(room))
            except ModelRefused:
                raise
            except ModelError as error:  # llama.cpp refuses with the status of a failure
                part, found = asked.refused(error.found, self.wanted)
                if not part:
                    raise
                without |= {part, *found}
                continue
            # An error may name what it is not about: answers decide.
            for part in sorted(one for one in without - self._without if isinstance(one, str)):
                _log.warning("%s refuses %s: from now on without, or in another form", self.name, part)
            self._without |= without
            changed = sorted(asked.left - {PIECE})  # in pieces it is the same answer
            return replace(answer, refused=", ".join(changed)) if changed else answer

    async def _generated(self, asked: Asked, room: int, request: str, model: Any) -> Any:
        """The output of inspect_ai's `model`, asked once."""
        from inspect_ai.model import GenerateConfig

        decoding, longest = asked.decoding, asked.decoding["max_tokens"] + room
        temperature = decoding["temperature"]
        greedy = temperature == 0 and hasattr(model.api, "do_sample")
        if greedy:
            # transformers refuses to sample at temperature 0; the copies share the weights.
            model = copy.copy(model)
            model.api = copy.copy(model.api)
            model.api.do_sample = False
        headers = {"Idempotency-Key": request} if request else {}
        instead: dict[str, Any] = {"max_completion_tokens": longest} if "max_tokens" in asked.left else {}
        if PIECE in asked.left:
            headers["Accept"] = STREAM
            instead |= {"stream": True, "stream_options": {"include_usage": True}}
        config = GenerateConfig(
            temperature=None if greedy or temperature is None else float(temperature),
            top_p=decoding.get("top_p"),
            max_tokens=None if "max_tokens" in asked.left else longest,
            extra_body=instead or None,
            seed=decoding.get("seed"),
            reasoning_effort=decoding.get("reasoning_effort"),
            response_schema=None if asked.json_schema is None else response_schema(asked.json_schema),
            reasoning_summary="none",  # otherwise OpenAI's reasoning models are sent a paid request to probe for it
            max_retries=0,  # unlimited unless set
            attempt_timeout=self._tries.timeout,
            extra_headers=headers or None,
        )
        if start := getattr(model.api, "_ensure_server_started", None):
            await start()  # only then vLLM has a client: its first answers, too, are read as meant
        # Providers' clients retry by themselves too, which would multiply the tries.
        client: Any = getattr(model.api, "client", None)
        if hasattr(client, "max_retries"):
            client.max_retries = 0
        replied = getattr(getattr(client, "_client", None), "event_hooks", {"response": []})["response"]
        if as_meant not in replied:
            replied.append(as_meant)
        answer = model.generate([to_inspect(message) for message in asked.messages], config=config, cache=False)
        # inspect_ai appends each prompt to a transcript that lives as long as the context: in an evaluation the
        # sample's, elsewhere that of a task created for it.
        output = await (answer if self._logged else asyncio.create_task(answer))
        if not output.choices:
            raise ValueError("it holds no choice")
        return output


def _retry_after(model: Any, cause: BaseException) -> float:
    """Seconds that the server asked us to wait (Retry-After); 0 if it did not."""
    return getattr(model.api.should_retry(cause), "retry_after", None) or 0.0


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
"""Provider -> the address of its models."""


def at_its_provider(identity: Mapping[str, str]) -> bool:
    """Whether a model of this identity is asked at its provider's own address, not at one that the user gave.

    A model that runs in this process is its own provider.
    """
    host = urlsplit(identity.get("base_url", "")).hostname
    return host is None or host == _HOSTS.get(identity.get("provider", ""))
