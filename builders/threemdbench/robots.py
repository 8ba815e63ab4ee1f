"""What a host's robots.txt lets us fetch (RFC 9309), requested once per host and run.

The rules are those of the group for `bedside`, or else for everybody, as `urllib.robotparser` reads them: a path is a
prefix, so a pattern such as `/*.jpg$` is taken literally. A host without robots.txt (any 4xx but 429) forbids nothing;
one whose server fails to deliver it is left alone for now.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit
from urllib.robotparser import RobotFileParser

from builders.threemdbench.request import AGENT, LONGEST_WAIT, Refused, host_of
from loaders.files.texts import MARK

FAILED = "robots.txt cannot be read"
MOST_BYTES = 500 << 10  # the minimum that RFC 9309 asks a crawler to read; the rest is ignored


@dataclass
class Robots:
    """The rules of the hosts of a run."""

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
                raise Refused(FAILED, host_of(url), final=False)
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
