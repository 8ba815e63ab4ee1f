"""One request for something that a source only names by address, to a public address and within limits.

Every address is checked (`public_network`), or left to the owner of the proxy that the environment names (`proxies`). A
redirect is returned as an answer, for the caller to follow.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit, urlunsplit

import httpcore2

from builders.threemdbench.proxies import proxy_for
from builders.threemdbench.public_address import is_public, literal_address
from builders.threemdbench.public_network import ForbiddenAddress, PublicNetwork
from builders.threemdbench.robots import AGENT
from loaders import __version__

CONTACT = "BEDSIDE_CONTACT"
"""Names in the environment whom a server's owner may write to. Some, such as Wikimedia, answer 403 without that."""

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

    Raises:
        Refused: an address that is not public, no answer in time, a broken one, or more bytes than the limit.
        InputError: the environment names a proxy that cannot be used.
    """
    proxy = proxy_for(url)
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
            said = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
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
