"""Fetches photos that a source only names by address: politely, safely, and never twice.

    downloads = Downloads(workspace / "downloads")
    outcome = downloads.fetch([Wanted("https://example.org/a.jpg", md5=None)])["https://example.org/a.jpg"]

One request at a time per host, with a pause in between, and several hosts in parallel. Each outcome is written down as
soon as it is known: what was fetched is kept, what is gone (404, another file than the digest says, no image) stays
gone, and what may come back (no answer, a busy server) is tried again by the next build, after what was never asked
for. A host that fails to answer, or is busy, several times in a row is left alone for the rest of the run. What
robots.txt forbids is not fetched, and a pause that it asks for is kept. No fault of a photo stops a build.

Only public addresses are fetched (`request`).
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from urllib.parse import urljoin, urlsplit, urlunsplit
from urllib.robotparser import RobotFileParser

from builders.threemdbench.request import (
    AGENT,
    CONTACT,
    LONGEST_WAIT,
    Limits,
    Refused,
    contact,
    host_of,
    request,
    web_address,
)
from loaders.errors import InputError
from loaders.files.disk import write_whole
from loaders.files.images import ImageError, open_image
from loaders.files.kinds import picture_format
from loaders.files.opening import read_file
from loaders.files.records import from_json, to_json
from loaders.files.texts import MARK

_PASSING = (408, 425, 429)  # and whatever is a fault of the server: 5xx, also that of a proxy before it (520 to 530)
_MAX_REDIRECTS = 5
_WHO_ASKS = f"the server may want to know who asks: set {CONTACT} to your mail address, and build again"
_ROBOTS_FAILED = "robots.txt cannot be read"
_MOST_ROBOTS_BYTES = 500 << 10  # the minimum that RFC 9309 asks a crawler to read; the rest is ignored
_UNREACHABLE = ("no answer", "cannot be reached", "the proxy refuses it", _ROBOTS_FAILED, "HTTP 429", "HTTP 503")
_UNTOLD = ("", "application/octet-stream", "binary/octet-stream")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A photo to fetch, with the MD5 of its bytes if the source states it."""

    url: str
    md5: str | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """The outcome for an address: the SHA-256 of the stored bytes, or the reason and detail of why there are none.

    `final` is False if another try may succeed.
    """

    sha256: str
    reason: str = ""
    detail: str = ""
    final: bool = True


@dataclass(frozen=True, slots=True)
class _Record:
    url: str
    md5: str | None
    outcome: Fetched


@dataclass
class Downloads:
    """A folder of fetched photos. `unnamed` counts those that a server may have refused for not knowing who asks."""

    folder: Path
    limits: Limits = field(default_factory=Limits)
    unnamed: int = 0

    def fetch(self, wanted: Sequence[Wanted], tell: Callable[[], None] = lambda: None) -> dict[str, Fetched]:
        """The outcome of every address, after fetching what is missing; `tell` is called when one is known.

        Raises: BedsideError if the disk is full, or the folder cannot be written to.
        """
        outcomes: dict[str, Fetched] = {}
        by_host: dict[str, list[Wanted]] = {}
        left: list[tuple[bool, Wanted]] = []

        def report(one: Wanted, outcome: Fetched) -> None:
            outcomes[one.url] = outcome
            tell()

        for one in {one.url: one for one in wanted}.values():
            known = self._known(one)
            if known is not None and known.final:
                report(one, known)
            else:
                left.append((known is not None, one))
        # What failed before comes last: should it fail again, its host would be left before anything new is asked for.
        for _, one in sorted(left, key=itemgetter(0)):
            by_host.setdefault(host_of(one.url), []).append(one)
        robots = Robots()
        with ThreadPoolExecutor(self.limits.hosts) as pool:
            running = [pool.submit(self._fetch_host, queue, robots, report) for queue in by_host.values()]
            try:
                for future in running:
                    future.result()
            except BaseException:
                # What is queued is dropped; what is in flight ends within its deadline.
                for queue in by_host.values():
                    queue.clear()
                pool.shutdown(cancel_futures=True)
                raise
        unnamed = {url: replace(one, detail="") for url, one in outcomes.items() if one.detail == _WHO_ASKS}
        self.unnamed = len(unnamed)
        return outcomes | unnamed  # the advice is for who builds, not for a release

    def path(self, url: str) -> Path:
        """Where the bytes of an address are stored once they are fetched."""
        return self._place(url, "files")

    def _fetch_host(self, queue: list[Wanted], robots: Robots, report: Callable[[Wanted, Fetched], None]) -> None:
        """Fetch the photos of one host, one after another, until it has failed to answer too often."""
        pace = _Pace(self.limits.pause)
        silent, reason = 0, ""
        while queue:
            one = queue.pop(0)
            if silent >= self.limits.give_up_after:
                detail = f"{host_of(one.url)} gave none of {silent} photos in a row: {reason}"
                report(one, Fetched("", "host does not answer", detail, final=False))
                continue
            outcome = self._fetch(one, robots, pace)
            silent, reason = silent + 1 if outcome.reason in _UNREACHABLE else 0, outcome.reason
            self._record(one, outcome)
            report(one, outcome)

    def _fetch(self, one: Wanted, robots: Robots, pace: _Pace) -> Fetched:
        for attempt in range(self.limits.tries):
            try:
                data = self._get(one.url, robots, pace)
            except Refused as refused:
                last = refused
                if refused.final or refused.wait > LONGEST_WAIT:
                    break
                if attempt + 1 < self.limits.tries:
                    # Random, so as not to retry in step with every other refused client; it never affects an output.
                    time.sleep(max(refused.wait, 2.0**attempt * random.uniform(1.0, 1.5)))
                continue
            found = hashlib.md5(data, usedforsecurity=False).hexdigest()
            if one.md5 and found != one.md5:
                return Fetched("", "another file than the source's digest says", f"MD5 {found}, expected {one.md5}")
            path = self.path(one.url)
            write_whole(path, data)
            return Fetched(hashlib.sha256(data).hexdigest())
        return Fetched("", last.reason, last.detail, last.final)

    def _get(self, url: str, robots: Robots, pace: _Pace) -> bytes:
        """The bytes at an address; redirects are followed here, so that each address is checked.

        Raises: Refused.
        """
        for _ in range(_MAX_REDIRECTS + 1):
            url = web_address(url)
            pace.wait(robots.pause(url, lambda place: self._robots(place, pace)))
            answer = request(url, self.limits, accept="image/*", head=self._check_head)
            if answer.target is None:
                _check_body(answer.data, answer.headers)
                return answer.data
            url = urljoin(url, answer.target)
        raise Refused("too many redirects", url)

    def _robots(self, url: str, pace: _Pace) -> tuple[int, bytes]:
        """The status and bytes of a robots.txt. Raises: Refused if its host would not answer for photos either."""
        for hop in range(_MAX_REDIRECTS + 1):
            pace.wait()
            try:
                answer = request(web_address(url), self.limits, accept="text/plain", head=lambda *_: _MOST_ROBOTS_BYTES)
            except Refused as refused:
                if hop and refused.final:
                    break  # it leads nowhere, which says nothing about the photo
                raise
            if answer.target is None:
                return answer.status, answer.data
            url = urljoin(url, answer.target)
        return 404, b""  # RFC 9309: what redirects do not lead to counts as missing

    def _check_head(self, status: int, headers: Mapping[str, str]) -> None:
        if status != 200:
            passing = status in _PASSING or status >= 500
            detail = _WHO_ASKS * (status == 403 and not contact())
            raise Refused(f"HTTP {status}", detail, final=not passing, wait=_retry_after(headers) if passing else 0.0)
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self.limits.max_bytes:
            raise Refused("too large", f"{int(length):,} bytes, at most {self.limits.max_bytes:,}")

    # --- What is known from earlier runs ------------------------------------------------------------------------------

    def _known(self, one: Wanted) -> Fetched | None:
        """What an earlier run found; None if it must be done again, or its file is gone or damaged."""
        try:
            path = self._place(one.url, "outcomes")
            record = from_json(_Record, read_file(path), path)
        except InputError:
            return None
        outcome = record.outcome
        if record.md5 != one.md5 or (outcome.detail == _WHO_ASKS and contact()):
            return None
        if not outcome.sha256:
            return outcome
        try:
            data = read_file(self.path(one.url))
        except InputError:
            return None
        return outcome if hashlib.sha256(data).hexdigest() == outcome.sha256 else None

    def _record(self, one: Wanted, outcome: Fetched) -> None:
        path = self._place(one.url, "outcomes")
        record = to_json(_Record(one.url, one.md5, outcome))
        write_whole(path, json.dumps(record, sort_keys=True, indent=1).encode())

    def _place(self, url: str, kind: str) -> Path:
        name = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
        return self.folder / kind / name[:2] / name


@dataclass
class Robots:
    """What the robots.txt of each host of a run lets us fetch (RFC 9309), requested once per host.

    The rules are those of the group for `bedside`, or else for everybody, as `urllib.robotparser` reads them: a path is
    a prefix, so a pattern such as `/*.jpg$` is taken literally. A host without robots.txt (any 4xx but 429) forbids
    nothing; one whose server fails to deliver it is left alone for now.
    """

    _known: dict[str, RobotFileParser | None] = field(default_factory=dict)

    def pause(self, url: str, fetch: Callable[[str], tuple[int, bytes]]) -> float:
        """The seconds to keep between two requests before an address is fetched.

        `fetch` returns the status and bytes at an address, redirects followed.

        Raises: Refused if robots.txt forbids the address or asks for a longer pause than a build accepts (its owner may
        change it: the next build asks again, this one does not), or its server failed on it (requested again next
        time).
        """
        place = urlsplit(url)
        origin = urlunsplit((place.scheme, place.netloc, "/robots.txt", "", ""))
        if origin not in self._known:
            status, data = fetch(origin)
            if status >= 500 or status == 429:
                raise Refused(_ROBOTS_FAILED, host_of(url), final=False)
            self._known[origin] = _parsed(data) if 200 <= status < 300 else None
        parser = self._known[origin]
        if parser is None:
            return 0.0
        delay, rate = parser.crawl_delay(AGENT), parser.request_rate(AGENT)
        pause = max(float(delay or 0), rate.seconds / rate.requests if rate and rate.requests else 0.0)
        if (allowed := parser.can_fetch(AGENT, url)) and pause <= LONGEST_WAIT:
            return pause
        asks = f" asks for {pause:g} s between requests" if allowed else ""
        raise Refused("robots.txt forbids it", host_of(url) + asks, final=False, wait=math.inf)


def _parsed(data: bytes) -> RobotFileParser:
    parser = RobotFileParser()
    parser.parse(data.decode("utf-8", "replace").lstrip(MARK).splitlines())
    return parser


@dataclass
class _Pace:
    """Keeps at least `pause` seconds between the starts of two requests."""

    pause: float
    last: float = field(default=float("-inf"))

    def wait(self, asked: float = 0.0) -> None:
        """Wait before the next request, as long as the host asks for."""
        left = self.last + max(self.pause, asked) - time.monotonic()
        if left > 0:
            time.sleep(left)
        self.last = time.monotonic()


def _check_body(data: bytes, headers: Mapping[str, str]) -> None:
    if not data:
        raise Refused("empty answer", "")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        raise Refused("not an image", f"a page, sent as {kind or 'nothing'}")
    if not kind.startswith("image/") and kind not in _UNTOLD and not picture_format(data):
        raise Refused("not an image", kind)
    if not headers.keys() & {"content-length", "transfer-encoding"}:
        # Then the connection ends where the picture does, or where it broke.
        try:
            open_image(data)
        except ImageError as error:
            if error.reason == "truncated":
                raise Refused("broken answer", error.found, final=False) from None


def _retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that a server asks us to wait; a date counts as a minute."""
    text = headers.get("retry-after", "").strip()
    if not text:
        return 0.0
    return float(text) if text.isdigit() else 60.0
