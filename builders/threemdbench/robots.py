"""What a host's robots.txt lets us fetch (RFC 9309), requested once per host and run.

The rules are those of the group for `bedside`, or else for everybody, as `urllib.robotparser` reads them: a path is a
prefix, so a pattern such as `/*.jpg$` is taken literally. A host without robots.txt (any 4xx but 429) forbids nothing;
one whose server fails to deliver it is left alone for now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit
from urllib.robotparser import RobotFileParser

from loaders.files.texts import MARK

AGENT = "bedside"
MOST_BYTES = 500 << 10  # the minimum that RFC 9309 asks a crawler to read; the rest is ignored


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for one address: whether it may be fetched, and the seconds to keep between two requests."""

    allowed: bool
    delay: float = 0.0


@dataclass
class Robots:
    """The rules of the hosts of a run."""

    _known: dict[str, RobotFileParser | None] = field(default_factory=dict)

    def rules(self, url: str, fetch: Callable[[str], tuple[int, bytes]]) -> Rules | None:
        """The rules for an address; None if its server failed on robots.txt, which is requested again next time.

        `fetch` returns the status and bytes at an address, redirects followed.
        """
        place = urlsplit(url)
        origin = urlunsplit((place.scheme, place.netloc, "/robots.txt", "", ""))
        if origin not in self._known:
            status, data = fetch(origin)
            if status >= 500 or status == 429:
                return None
            self._known[origin] = _parsed(data) if 200 <= status < 300 else None
        parser = self._known[origin]
        if parser is None:
            return Rules(True)
        delay, rate = parser.crawl_delay(AGENT), parser.request_rate(AGENT)
        wanted = max(float(delay or 0), rate.seconds / rate.requests if rate and rate.requests else 0.0)
        return Rules(parser.can_fetch(AGENT, url), wanted)


def _parsed(data: bytes) -> RobotFileParser:
    parser = RobotFileParser()
    parser.parse(data.decode("utf-8", "replace").lstrip(MARK).splitlines())
    return parser
