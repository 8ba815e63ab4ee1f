"""What a caption is about, and the words by which that is recognised: "heart" by "heart", "valve", "atrium" …

`topics.csv` names each topic; tables of patterns refer to one as "@heart@". Captions are examined in lower case: a
pattern that has to try letters of either case takes three times as long.
"""

from __future__ import annotations

import re
from functools import cache, partial
from pathlib import Path

from builders.medlaybench_v.facts.words import rows

_NAMED = re.compile(r"@(\w+)@")
table = partial(rows, folder=Path(__file__).parent)


@cache
def _topics() -> dict[str, str]:
    topics: dict[str, str] = {}
    for row in table("topics.csv"):
        topics[row["topic"]] = _NAMED.sub(lambda named: topics[named[1]], row["told_by"])
    return topics


def pattern(told: str) -> re.Pattern[str]:
    """A pattern of a table, with the words of the topics that it names."""
    return re.compile(_NAMED.sub(lambda named: _topics()[named[1]], told))
