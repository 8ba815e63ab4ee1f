"""Fetch photos that a source only names by address: politely, safely, and never twice.

    downloads = Downloads(workspace / "downloads")
    outcome = downloads.fetch([Wanted("https://example.org/a.jpg", md5=None)])["https://example.org/a.jpg"]

One request at a time to a host, a pause between two of them, and several hosts side by side. An outcome is written down
when it is known: what was fetched is kept, what is gone (404, another file than the digest says, no image) stays gone,
and what may come back (no answer, a busy server) is tried again by the next build. A host that does not answer several
times in a row is left alone for the rest of the run. Nothing that goes wrong with a photo stops a build.

Connections are made directly, never through a proxy, so that every address can be checked (`public_network`).
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

import httpcore2

from builders.threemdbench.public_network import ForbiddenAddress, PublicNetwork
from loaders import __version__
from loaders.disk import write_whole, writing

_REDIRECTS = (301, 302, 303, 307, 308)
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_MAX_REDIRECTS = 5
_LONGEST_WAIT = 120.0  # seconds; a server that asks for more is asked again by the next build
_SAFE = "/%:@!$&'()*+,;=~"
_UNREACHABLE = ("no answer", "cannot be reached")


@dataclass(frozen=True, slots=True)
class Limits:
    """How a host is treated. Seconds: `pause` between two requests, `timeout` of a step, `deadline` of an answer.

    `give_up_after` is how many photos in a row a host may leave without an answer.
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
class Wanted:
    """A photo to fetch, and the MD5 of its bytes where the source states it."""

    url: str
    md5: str | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """What became of an address: the SHA-256 of the bytes kept, or the reason and detail of why there are none.

    `final` is False where another try may end otherwise.
    """

    sha256: str
    reason: str = ""
    detail: str = ""
    final: bool = True


@dataclass
class Downloads:
    """A folder of fetched photos. `sleep` does the waiting."""

    folder: Path
    limits: Limits = field(default_factory=Limits)
    sleep: Callable[[float], None] = time.sleep

    def fetch(self, wanted: Sequence[Wanted], progress: Callable[[int, int], None] | None = None) -> dict[str, Fetched]:
        """The outcome of every address, after fetching what is not there yet; `progress(done, total)` now and then.

        Raises:
            BedsideError: the disk is full, or the folder cannot be written to.
        """
        outcomes: dict[str, Fetched] = {}
        by_host: dict[str, list[Wanted]] = {}
        for one in {one.url: one for one in wanted}.values():
            known = self._known(one)
            if known is not None and known.final:
                outcomes[one.url] = known
            else:
                by_host.setdefault(_host(one.url), []).append(one)
        total = len(outcomes) + sum(map(len, by_host.values()))

        def report(one: Wanted, outcome: Fetched) -> None:
            outcomes[one.url] = outcome
            if progress is not None:
                progress(len(outcomes), total)

        with ThreadPoolExecutor(self.limits.hosts) as pool:
            running = [pool.submit(self._fetch_host, queue, report) for queue in by_host.values()]
            try:
                for future in running:
                    future.result()
            except BaseException:
                # What is queued is dropped; what is under way ends within its deadline.
                for queue in by_host.values():
                    queue.clear()
                pool.shutdown(cancel_futures=True)
                raise
        return outcomes

    def path(self, url: str) -> Path:
        """Where the bytes of an address lie once they are fetched."""
        return self._place(url, "files")

    def _fetch_host(self, queue: list[Wanted], report: Callable[[Wanted, Fetched], None]) -> None:
        """Fetch the photos of one host, one after the other, until it has not answered too often."""
        pace = _Pace(self.limits.pause, self.sleep)
        silent = 0
        while queue:
            one = queue.pop(0)
            if silent >= self.limits.give_up_after:
                detail = f"{_host(one.url)} left {silent} photos in a row without an answer"
                report(one, Fetched("", "host does not answer", detail, final=False))
                continue
            outcome = self._fetch(one, pace)
            silent = silent + 1 if outcome.reason in _UNREACHABLE else 0
            self._record(one, outcome)
            report(one, outcome)

    def _fetch(self, one: Wanted, pace: _Pace) -> Fetched:
        for attempt in range(self.limits.tries):
            try:
                data = self._get(one.url, pace)
            except _Refused as refused:
                last = refused
                if refused.outcome.final or refused.wait > _LONGEST_WAIT:
                    break
                if attempt + 1 < self.limits.tries:
                    # Not in step with everyone else who was turned away at the same moment; never part of an output.
                    self.sleep(max(refused.wait, 2.0**attempt * random.uniform(1.0, 1.5)))
                continue
            found = hashlib.md5(data, usedforsecurity=False).hexdigest()
            if one.md5 and found != one.md5:
                return Fetched("", "another file than the source's digest says", f"MD5 {found}, expected {one.md5}")
            path = self.path(one.url)
            with writing(path.parent):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)
            return Fetched(hashlib.sha256(data).hexdigest())
        return last.outcome

    def _get(self, url: str, pace: _Pace) -> bytes:
        """The bytes at an address, redirects followed by hand so that each address is checked.

        Raises: _Refused.
        """
        for _ in range(_MAX_REDIRECTS + 1):
            url = _web_address(url)
            pace.wait()
            target, data = self._answer(url)
            if target is None:
                return data
            url = urljoin(url, target)
        raise _Refused("too many redirects", url)

    def _answer(self, url: str) -> tuple[str | None, bytes]:
        """One request: where it redirects to, or the bytes that it gave."""
        limits = self.limits
        network = PublicNetwork(limits.deadline, allow_loopback=limits.allow_loopback)
        headers: dict[bytes | str, bytes | str] = {
            "User-Agent": f"bedside/{__version__} (builds a research corpus)",
            "Accept": "image/*",
            "Accept-Encoding": "identity",
            "Connection": "close",
        }
        timeouts = dict.fromkeys(("connect", "read", "write", "pool"), limits.timeout)
        try:
            with (
                httpcore2.ConnectionPool(network_backend=network, max_connections=1, retries=0) as pool,
                pool.stream("GET", url, headers=headers, extensions={"timeout": timeouts}) as response,
            ):
                said = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
                if response.status in _REDIRECTS and "location" in said:
                    return said["location"], b""
                _check_head(response.status, said, limits.max_bytes)
                data = bytearray()
                for part in response.iter_stream():
                    data += part
                    if len(data) > limits.max_bytes:
                        raise _Refused("too large", f"more than {limits.max_bytes:,} bytes")
        except ForbiddenAddress as error:
            raise _Refused("address is not public", str(error)) from None
        except (httpcore2.TimeoutException, TimeoutError) as error:
            raise _Refused("no answer", str(error) or "it took too long", final=False) from None
        except (httpcore2.ConnectError, httpcore2.NetworkError, OSError) as error:
            raise _Refused("cannot be reached", str(error), final=False) from None
        except (httpcore2.ProtocolError, httpcore2.UnsupportedProtocol, ValueError) as error:
            raise _Refused("broken answer", str(error), final=False) from None
        _check_body(bytes(data), said)
        return None, bytes(data)

    # --- What is known from earlier runs ------------------------------------------------------------------------------

    def _known(self, one: Wanted) -> Fetched | None:
        """What an earlier run found; None where it is to be done anew, or where its file is gone or damaged."""
        try:
            record = json.loads(self._place(one.url, "outcomes").read_bytes())
            outcome, asked = Fetched(**record["outcome"]), record["md5"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if asked != one.md5:
            return None
        if not outcome.sha256:
            return outcome
        try:
            data = self.path(one.url).read_bytes()
        except OSError:
            return None
        return outcome if hashlib.sha256(data).hexdigest() == outcome.sha256 else None

    def _record(self, one: Wanted, outcome: Fetched) -> None:
        path = self._place(one.url, "outcomes")
        with writing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        record = {"url": one.url, "md5": one.md5, "outcome": asdict(outcome)}
        write_whole(path, json.dumps(record, sort_keys=True, indent=1).encode())

    def _place(self, url: str, kind: str) -> Path:
        name = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
        return self.folder / kind / name[:2] / name


class _Refused(Exception):
    """An address that gave nothing this time. `wait` is how many seconds its server asks to be left alone."""

    def __init__(self, reason: str, detail: str, *, final: bool = True, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.outcome = Fetched("", reason, " ".join(detail.split())[:200], final)
        self.wait = wait


@dataclass
class _Pace:
    """Keeps the starts of two requests apart."""

    pause: float
    sleep: Callable[[float], None]
    last: float = field(default=float("-inf"))

    def wait(self) -> None:
        left = self.last + self.pause - time.monotonic()
        if left > 0:
            self.sleep(left)
        self.last = time.monotonic()


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").casefold()
    except ValueError:
        return ""


def _web_address(url: str) -> str:
    """The address in the form that goes over the wire: spaces and letters beyond ASCII escaped.

    >>> _web_address("http://example.org/a b/é.jpg?q=1#top")
    'http://example.org/a%20b/%C3%A9.jpg?q=1'

    Raises: _Refused for what is no address, is not http or https, or holds a password.
    """
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").encode("idna").decode() if ":" not in (parts.hostname or "") else parts.hostname
        port = parts.port
    except (ValueError, UnicodeError):
        raise _Refused("no web address", url) from None
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise _Refused("no web address", url)
    if parts.username is not None or parts.password is not None:
        raise _Refused("no web address", "it holds a user name or password")
    place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    path, query = quote(parts.path or "/", safe=_SAFE), quote(parts.query, safe=_SAFE + "?")
    return urlunsplit((parts.scheme, place, path, query, ""))


def _check_head(status: int, headers: dict[str, str], max_bytes: int) -> None:
    if status != 200:
        passing = status in _PASSING
        raise _Refused(f"HTTP {status}", "", final=not passing, wait=_retry_after(headers) if passing else 0.0)
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and not kind.startswith("image/") and kind not in ("application/octet-stream", "binary/octet-stream"):
        raise _Refused("not an image", kind)
    length = headers.get("content-length", "")
    if length.isdigit() and int(length) > max_bytes:
        raise _Refused("too large", f"{int(length):,} bytes, at most {max_bytes:,}")


def _check_body(data: bytes, headers: dict[str, str]) -> None:
    if not data:
        raise _Refused("empty answer", "")
    if data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        raise _Refused("not an image", f"a page, sent as {headers.get('content-type', 'nothing')}")


def _retry_after(headers: dict[str, str]) -> float:
    """Seconds that a server asks for; a date is taken for a minute."""
    text = headers.get("retry-after", "").strip()
    if not text:
        return 0.0
    return float(text) if text.isdigit() else 60.0
