"""Chat completions over aiohttp: inspect_ai writes the first request of each form, and the rest are copies of it.

inspect_ai and the OpenAI client under it take some 7 ms of CPU per request, too much to keep a server of many GPUs
busy. Their requests differ only in the messages. So they write one request of each form (decoding, schema, roles of the
messages), which is caught before it is sent: address, headers, and a body with the messages in the middle. A later
request is that body with its own messages in the middle, byte for byte what they would send.

A plain answer (`plain`) is read here. Any other reply, and every error, is handed back to inspect_ai as if its own
client had met it, so what it means is decided in one place.

inspect_ai itself sends whatever cannot safely be copied: pictures, protocols other than chat completions, keys that are
not fixed, a proxy in the environment, an address that is redirected, and settings of inspect_ai that change how
requests are sent.
"""

from __future__ import annotations

import asyncio
import copy
import json
import os
import ssl
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from loaders.models.inspect_form import answer_of, counted, served
from loaders.models.messages import Answer, Message
from loaders.models.replies import marked

if TYPE_CHECKING:
    import aiohttp
    import httpx2

PROVIDERS = ("openai", "openai-api", "vllm")
"""inspect_ai's providers whose requests to a server are chat completions, or may be."""
_SETTINGS = ("INSPECT_HTTP_", "INSPECT_TELEMETRY", "INSPECT_API_KEY_OVERRIDE", "INSPECT_DISABLE_MODEL_API")
_NOT_KEPT = {"host", "content-length", "accept-encoding", "connection", "idempotency-key", "x-irid"}
"""Headers that belong to one request or to a client; `x-irid` is inspect_ai's own request number."""
_NOT_GIVEN = {"content-encoding", "content-length", "transfer-encoding", "connection"}
"""Headers about the encoding of a body, which is already decoded when it is passed to inspect_ai."""
_CONNECT = 60.0  # seconds, the same as inspect_ai's
_IDLE = 5.0  # seconds that a connection is kept for the next request, the same as httpx's
_LONGEST_HEADER = 1 << 16
_STOPS = {"stop": "stop", "length": "max_tokens"}

Generate = Callable[[Any], Awaitable[Any]]
"""Has a model of inspect_ai make the request, and returns its output."""


@dataclass(frozen=True, slots=True)
class Form:
    """A request around its messages."""

    url: str
    headers: dict[str, str]
    head: bytes
    tail: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's reply, decompressed."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


@dataclass(frozen=True)
class _Line:
    """What belongs to one event loop."""

    session: aiohttp.ClientSession
    learning: asyncio.Lock
    open: AsyncIterator[aiohttp.ClientSession]


class Direct:
    """The server of a model of inspect_ai, asked directly; `timeout` is in seconds per request."""

    def __init__(self, model: Any, timeout: int) -> None:
        self._model, self._timeout = model, timeout
        self._moved = False  # a redirected address: only the client goes after it
        self._forms: dict[Hashable, Form | None] = {}
        self._lines: dict[asyncio.AbstractEventLoop, _Line] = {}

    async def ask(self, messages: Sequence[Message], drawn: Hashable, name: str, generate: Generate) -> Answer | None:
        """The answer from a single try; None if inspect_ai has to ask, in which case no model was asked.

        `drawn` stands for everything but the messages that determines the form; `name` is sent as `Idempotency-Key`
        unless empty.

        Raises: what `generate` raises for such a reply or error; TimeoutError.
        """
        # vLLM's client is created on first use.
        if self._moved or not hasattr(self._model.api, "client") or any(message.images for message in messages):
            return None
        line = await self._line()
        form = await self._form(line, messages, drawn, generate)
        try:
            told = _messages_json(messages)
        except UnicodeEncodeError:  # an unpaired surrogate
            return None
        if form is None:
            return None
        headers = form.headers | {"Idempotency-Key": name} if name else form.headers
        reply = await self._replied(line.session, form.url, headers, form.head + told + form.tail)
        if isinstance(reply, Reply) and 300 <= reply.status < 400:
            self._moved = True
            return None
        answer = plain(reply) if isinstance(reply, Reply) else None
        return answer_of(await generate(self._given_reply(reply))) if answer is None else answer

    async def _line(self) -> _Line:
        loop = asyncio.get_running_loop()
        line = self._lines.get(loop)
        if line is None:
            self._lines = {loop: line for loop, line in self._lines.items() if not loop.is_closed()}
            open = _sessions()
            line = self._lines[loop] = _Line(await anext(open), asyncio.Lock(), open)
        return line

    async def _form(self, line: _Line, messages: Sequence[Message], drawn: Hashable, generate: Generate) -> Form | None:
        """The form of a request; None if inspect_ai makes it in a way that is unknown here, or could not make it."""
        kind = (self._model.api.api_key, drawn, tuple(message.role for message in messages))
        if kind not in self._forms:
            async with line.learning:
                if kind not in self._forms:
                    request = await self._written(generate)
                    if request is None:
                        return None
                    self._forms[kind] = _form_of(request, messages, self._model.api)
        return self._forms[kind]

    async def _written(self, generate: Generate) -> httpx2.Request | None:
        """The request that inspect_ai makes, which is not sent."""
        import httpx2

        written: list[httpx2.Request] = []

        def keep(request: httpx2.Request) -> httpx2.Response:
            written.append(request)
            raise httpx2.ConnectError("not sent")

        with suppress(Exception):  # whatever it is, inspect_ai meets it again when it asks
            await generate(self._over(keep))
        return written[0] if len(written) == 1 else None

    def _given_reply(self, reply: Reply | Exception) -> Any:
        """The model, with a client to which every server gives that reply."""
        import httpx2

        def give(request: httpx2.Request) -> httpx2.Response:
            if isinstance(reply, Exception):
                raise httpx2.ConnectError(str(reply)) from reply
            return httpx2.Response(reply.status, headers=reply.headers, content=reply.body)

        return self._over(give)

    def _over(self, handle: Callable[[httpx2.Request], httpx2.Response]) -> Any:
        """The model, with a client that passes its requests to a function."""
        import httpx2

        client = httpx2.AsyncClient(transport=httpx2.MockTransport(handle), trust_env=False)
        model = copy.copy(self._model)
        model.api = copy.copy(model.api)
        model.api.client = model.api.client.copy(http_client=client, max_retries=0)
        return model

    async def _replied(
        self, session: aiohttp.ClientSession, url: str, headers: dict[str, str], body: bytes
    ) -> Reply | Exception:
        """The server's reply, or why there is none. Raises: TimeoutError if it takes too long."""
        import aiohttp

        try:
            asked = session.post(url, data=body, headers=headers, allow_redirects=False)
            async with asyncio.timeout(self._timeout), asked as response:
                told = [(name, text) for name, text in response.headers.items() if name.lower() not in _NOT_GIVEN]
                return Reply(response.status, told, await response.read())
        except aiohttp.ClientPayloadError:
            return ConnectionError("the reply ended before its end")
        except (aiohttp.ClientError, ConnectionError, UnicodeError) as error:  # a host that cannot be a name
            return error


async def _sessions() -> AsyncIterator[aiohttp.ClientSession]:
    """One session, closed when its event loop ends, which closes all such iterators."""
    import aiohttp

    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE, ssl=certificates())
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout, max_field_size=_LONGEST_HEADER) as session:
        yield session


def certificates() -> ssl.SSLContext:
    """Those that the environment names, or the usual ones: read once, as that takes longer than many requests.

    Raises: OSError if SSL_CERT_FILE names none.
    """
    return _certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _certificates(*_named: str | None) -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()


def _form_of(request: httpx2.Request, messages: Sequence[Message], api: Any) -> Form | None:
    """The form of a request; None if it is no chat completion, its key is not fixed, or only the client can send it."""
    from openai import AsyncOpenAI

    url = str(request.url)
    told = b'"messages":' + _messages_json(messages)
    head, found, tail = request.content.partition(told)
    fixed = type(api.client) is AsyncOpenAI and request.headers.get("authorization") == f"Bearer {api.api_key}"
    if not (found and fixed and request.url.path.endswith("/chat/completions")) or _proxied(url):
        return None
    if any(name.startswith(_SETTINGS) for name in os.environ):
        return None
    headers = {name: text for name, text in request.headers.items() if name not in _NOT_KEPT}
    return Form(url, headers, head + b'"messages":', tail)


def _proxied(url: str) -> bool:
    parts = urlsplit(url)
    proxies = urllib.request.getproxies()
    if not {parts.scheme, "all"} & proxies.keys():
        return False
    return not urllib.request.proxy_bypass(parts.hostname or "")


def _messages_json(messages: Sequence[Message]) -> bytes:
    """Messages in the form in which the OpenAI client writes them."""
    told = [{"role": message.role, "content": message.text} for message in messages]
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()


def plain(reply: Reply) -> Answer | None:
    """A reply that is one text that ended or was cut off, with its tokens and nothing else; None for any other."""
    kinds = [text for name, text in reply.headers if name.lower() == "content-type"]
    if reply.status != 200 or [kind.partition(";")[0] for kind in kinds] != ["application/json"]:
        return None
    try:
        told = json.loads(reply.body)
        match told:
            case {
                "id": str(),
                "model": str() as model,
                "choices": [
                    {
                        "index": int(),
                        "message": {"role": "assistant", "content": str() as text, **message},
                        "finish_reason": ("stop" | "length") as stop,
                        **choice,
                    }
                ],
                "usage": {
                    "prompt_tokens": int() as asked,
                    "completion_tokens": int() as answered,
                    "total_tokens": int() as total,
                    **usage,
                },
            }:
                text.encode()
            case _:
                return None
    except (ValueError, RecursionError):  # not JSON; an unpaired surrogate
        return None
    if told.get("error") or told.get("prompt_logprobs") or any(message.values()):
        return None
    if choice.get("logprobs") or choice.get("error"):
        return None
    details = usage.get("completion_tokens_details") or {}
    thought = not isinstance(details, dict) or details.get("reasoning_tokens") or "<think" in text
    if thought or total > asked + answered or marked(text) != text or not text.strip():
        return None
    return Answer(text, counted(asked), counted(answered), _STOPS[stop], served=served(model))
