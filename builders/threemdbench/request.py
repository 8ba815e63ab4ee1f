"""One request for something that a source only names by address, to a public address and within limits.

Every address is checked (`public_network`), unless the environment names a proxy for it (HTTP_PROXY, HTTPS_PROXY,
ALL_PROXY, with NO_PROXY as exception): a proxy resolves names itself, so that is up to its owner; an address written as
numbers is checked all the same. A redirect is returned as an answer, for the caller to follow.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit, urlunsplit
from urllib.request import getproxies_environment, proxy_bypass

import httpcore2

from builders.threemdbench.public_address import is_public, literal_address
from builders.threemdbench.public_network import ForbiddenAddress, PublicNetwork
from loaders import __version__
from loaders.errors import InputError

CONTACT = "BEDSIDE_CONTACT"
"""Names in the environment whom a server's owner may write to. Some, such as Wikimedia, answer 403 without that."""

AGENT = "bedside"
LONGEST_WAIT = 120.0  # seconds; if a server asks for more, the next build tries again
_REDIRECTS = (301, 302, 303, 307, 308)
_COMPRESSED = frozenset({"br", "compress", "deflate", "gzip", "gz", "lzma", "xz", "zip", "zstd"})
_SAFE = "/%:@!$&'()*+,;=~"


@dataclass(frozen=True, slots=True)
class Limits:
    """How a host is treated. In seconds: `pause` between two requests, `timeout` of a step, `deadline` of an answer.

    `give_up_after` is how many photos in a row a host may leave unanswered.
    """

    pause: float = 1.0
    timeout: float = 20.0
    deadline: float = 90.0
    tries: int = 3
    max_bytes: int = 32 << 20
    hosts: int = 8
    give_up_after: int = 5
    allow_loopback: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer. `target` is where it redirects to; then there are no bytes."""

    status: int
    headers: Mapping[str, str]
    data: bytes
    target: str | None = None


Head = Callable[[int, Mapping[str, str]], int | None]
"""Looks at status and headers before the body is read; returns how many bytes of it are wanted, or None for all."""


class Refused(Exception):
    """An address that gave nothing this time; `final` is False if another try may succeed.

    `wait` is how many seconds its server asks us to wait.
    """

    def __init__(self, reason: str, detail: str, *, final: bool = True, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = " ".join(detail.split())[:200]
        self.final = final
        self.wait = wait


def request(url: str, limits: Limits, *, accept: str, head: Head) -> Answer:
    """Request an address, in the form that `web_address` returns.

    Raises: Refused for an address that is not public, no answer in time, a broken one, or more bytes than the limit;
    InputError for a proxy that cannot be used.
    """
    proxy = _proxy_for(url)
    literal = literal_address(host_of(url))
    if literal is not None and not is_public(literal, allow_loopback=limits.allow_loopback):
        raise Refused("address is not public", literal)
    network = PublicNetwork(limits.deadline, allow_loopback=limits.allow_loopback, checked=proxy is None)
    headers: dict[bytes | str, bytes | str] = {
        "User-Agent": f"{AGENT}/{__version__} (builds a research corpus{'; ' * bool(contact())}{contact()})",
        "Accept": accept,
        "Accept-Encoding": "identity",
        "Connection": "close",
    }
    timeouts = dict.fromkeys(("connect", "read", "write", "pool"), limits.timeout)
    data = bytearray()
    try:
        with (
            httpcore2.ConnectionPool(network_backend=network, proxy=proxy, max_connections=1, retries=0) as pool,
            pool.stream("GET", url, headers=headers, extensions={"timeout": timeouts}) as response,
        ):
            said = {_text(name).lower(): _text(value) for name, value in response.headers}
            if proxy is not None and url.startswith("http:") and response.status in (403, 407):
                # What this proxy forbids today, another network may allow tomorrow.
                raise Refused("the proxy refuses it", f"HTTP {response.status}", final=False)
            if response.status in _REDIRECTS and "location" in said:
                return Answer(response.status, said, b"", said["location"])
            if _COMPRESSED.intersection(re.findall(r"\w+", said.get("content-encoding", "").lower())):
                # not asked for, and maybe a bomb
                raise Refused("compressed answer", said["content-encoding"], final=False)
            wanted = head(response.status, said)
            for part in response.iter_stream():
                data += part
                if wanted is not None and len(data) >= wanted:
                    break
                if len(data) > limits.max_bytes:
                    raise Refused("too large", f"more than {limits.max_bytes:,} bytes")
    except ForbiddenAddress as error:
        raise Refused("address is not public", str(error)) from None
    except (httpcore2.TimeoutException, TimeoutError) as error:
        raise Refused("no answer", str(error) or "it took too long", final=False) from None
    except (httpcore2.ConnectError, httpcore2.NetworkError, OSError) as error:
        raise Refused("cannot be reached", str(error), final=False) from None
    except httpcore2.ProxyError as error:
        raise Refused("the proxy refuses it", str(error), final=False) from None
    except (httpcore2.ProtocolError, httpcore2.UnsupportedProtocol, ValueError) as error:
        raise Refused("broken answer", str(error), final=False) from None
    return Answer(response.status, said, bytes(data))


def _text(sent: bytes) -> str:
    """A header's name or value; in UTF-8 where that is possible, as browsers read a redirect to "/é.jpg"."""
    try:
        return sent.decode()
    except UnicodeDecodeError:
        return sent.decode("latin-1")


def _proxy_for(url: str) -> httpcore2.Proxy | None:
    """The proxy for a web address; None where it is reached directly, as loopback addresses always are.

    Raises: InputError if the environment names a proxy that cannot be used.
    """
    asked = urlsplit(url)
    host = asked.hostname or ""
    literal = literal_address(host)
    loopback = literal is not None and is_public(literal, allow_loopback=True) and not is_public(literal)
    if loopback or host == "localhost" or host.endswith(".localhost"):
        return None
    proxies = getproxies_environment()
    named = proxies.get(asked.scheme) or proxies.get("all")
    if not named or proxy_bypass(asked.netloc):
        return None
    try:
        return _proxy(named)
    except ValueError as error:
        raise InputError(
            f"the proxy for {asked.scheme} addresses",
            found=str(error),
            expected="http://HOST:PORT or https://HOST:PORT in the environment",
            do="Fix HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, or unset it to connect directly.",
        ) from None


def _proxy(named: str) -> httpcore2.Proxy:
    """Raises: ValueError, which does not show the password."""
    try:
        place = urlsplit(named if "://" in named else f"http://{named}")
        host, port = (place.hostname or "").encode("idna").decode(), place.port
    except ValueError:
        host = ""
    if not host:
        raise ValueError("not a proxy address")
    if place.scheme not in ("http", "https"):
        raise ValueError(f"{place.scheme} proxies cannot be used")
    host = f"[{host}]" if ":" in host else host
    login = (
        None if place.username is None else (unquote(place.username).encode(), unquote(place.password or "").encode())
    )
    return httpcore2.Proxy(f"{place.scheme}://{host}:{port or (443 if place.scheme == 'https' else 80)}", auth=login)


def contact() -> str:
    """What CONTACT holds, as far as it may stand in a header."""
    return " ".join(re.findall(r"[!-~]+", os.environ.get(CONTACT, "")))


def host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").casefold()
    except ValueError:
        return ""


def is_web_address(text: str) -> bool:
    """Whether it is an address that `web_address` accepts."""
    try:
        web_address(text)
    except Refused:
        return False
    return True


def web_address(url: str) -> str:
    """The address in the form that goes over the wire: spaces and letters beyond ASCII escaped.

    >>> web_address("http://example.org/a b/é.jpg?q=1#top")
    'http://example.org/a%20b/%C3%A9.jpg?q=1'

    Raises: Refused for anything that is not an address, is not http or https, or holds a password.
    """
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").encode("idna").decode() if ":" not in (parts.hostname or "") else parts.hostname
        port = parts.port
    except (ValueError, UnicodeError):
        raise Refused("no web address", url) from None
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise Refused("no web address", url)
    if parts.username is not None or parts.password is not None:
        raise Refused("no web address", "it holds a user name or password")
    place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    path, query = quote(parts.path or "/", safe=_SAFE), quote(parts.query, safe=_SAFE + "?")
    return urlunsplit((parts.scheme, place, path, query, ""))
