"""From candidate pairs to clusters, and to the one picture of each set of copies that is kept.

Two kinds of link join pictures (see `verification`): a copy, which shows the same pixels in any disguise, and a scene,
another photo of the same thing. Copies of copies are one set, of which the best is kept. Sets joined by a scene are
one cluster: all stay, but they belong in one split.

A collage joins nothing: the photos in it are not copies of each other. It is a picture that shows others in panels that
lie apart, between seams (`seams`). Two crops of one photo that lie apart in it look just so, except that there is no
seam between them: the photo joins them, as any crops. A collage is never kept, and belongs to no cluster but its own
copies'.

The best of a set is chosen by, in this order: precedence, no overlaid text, no border, in colour, most pixels, not
much less sharp than the others of its size, fewest clipped pixels, most bytes (of the same pixels the fewest: a JPEG
that was saved as PNG has gained nothing), first name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations, starmap
from statistics import median

from rich.progress import Progress
from scipy.cluster.hierarchy import DisjointSet

from builders.curation.alignment import Box, apart
from builders.curation.candidates import candidates
from builders.curation.comparing import Compare, Files, LookAt, Memory, Pair
from builders.curation.examine import Content
from builders.curation.folders import File
from builders.curation.index import Index
from builders.curation.pictures import Look
from builders.curation.sampling import joined
from builders.curation.verification import COPY, DIFFERENT, SCENE, PairVerdict
from builders.pipeline.progress import Meter
from loaders.engines.engine import Engine

POLICY = (
    "the one without text laid over, without a border, in colour, with most pixels, not blurred against others of its "
    "size, with fewest pixels clipped, most bytes (of the same pixels fewest); then the first by name"
)

_ROUND = 256  # pairs compared before copies are counted again: fixed, so that the number of workers changes nothing
_SAME_AREA = 0.8  # minimum common area, of the copy that shows more, for both to show the same
_GREY = 2.0  # mean distance of the colours from grey, in levels, below which a picture counts as grey


@dataclass(frozen=True, slots=True)
class Link:
    """A compared pair, by digest, the smaller first."""

    first: str
    second: str
    verdict: PairVerdict


@dataclass(frozen=True, slots=True)
class Place:
    """Where a picture belongs: its cluster, the best of its set of copies, and its relation to that one.

    `verdict` is given from the best one's point of view; None for the best itself, for identical pixels, and for a copy
    of a copy that is too different from the best to be compared directly. `shows` are the pictures that a collage shows
    or shares a photo with, each the best of its copies; empty for anything else.
    """

    cluster: str
    best: str
    same_pixels: bool
    verdict: PairVerdict | None
    shows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Groups:
    """The place of each picture, the pairs that were found alike or remained unclear, and the number of pictures with
    more look-alikes than are compared (`candidates.CLOSEST`)."""

    places: Mapping[str, Place]
    links: tuple[Link, ...]
    crowded: int = 0


def group(
    contents: Sequence[Content], files: Files, index: Index, *, engine: Engine, progress: Progress | None = None
) -> Groups:
    """Cluster distinct contents, given in the order of their digests.

    `files` gives the first file of each, which is read again (and refused if it has changed).
    """
    by_digest = {content.digest: content for content in contents}
    written = {content.digest for content in contents if content.quality.text_characters}
    memory = Memory(index, engine, files)
    links, crowded = _links(contents, written, memory, progress)
    collages = _collages(links)
    joining = [
        link
        for link in links
        if {link.first, link.second}.isdisjoint(collages) or (collages >= {link.first, link.second} and _whole(link))
    ]
    copies, clusters = (
        joined((link.first, link.second) for link in joining if link.verdict.kind in kinds)
        for kinds in ((COPY,), (COPY, SCENE))
    )
    sets: dict[str, list[str]] = defaultdict(list)
    for digest in sorted(copies):
        sets[copies[digest]].append(digest)
    looks = _looks(sorted(copies), memory, progress)
    best: dict[str, str] = {}
    for members in sets.values():
        sharpness: dict[int, list[float]] = defaultdict(list)
        for digest in members:
            sharpness[_pixels(by_digest[digest])].append(by_digest[digest].quality.sharpness)
        usual = {pixels: median(levels) for pixels, levels in sharpness.items()}
        sizes: dict[str, list[int]] = defaultdict(list)
        for digest in members:
            sizes[looks[digest].pixels].append(by_digest[digest].size)
        chosen = min(members, key=lambda digest: _merit(by_digest[digest], looks[digest], usual, sizes, files[digest]))
        best.update(dict.fromkeys(members, chosen))
    pairs = [(best[digest], digest) for digest in by_digest if best.get(digest, digest) != digest]
    verdicts = _verdicts(pairs, written, memory, Compare())
    shows: dict[str, set[str]] = defaultdict(set)
    for link in links:
        for one, other in ((link.first, link.second), (link.second, link.first)):
            if link.verdict.kind in (COPY, SCENE) and one in collages and best.get(one, one) != best.get(other, other):
                shows[best.get(one, one)].add(best.get(other, other))
    places = {}
    for digest in by_digest:
        kept = best.get(digest, digest)
        same = digest != kept and looks[digest].pixels == looks[kept].pixels
        verdict = None if same or digest == kept else _from_best(verdicts[_key(kept, digest)], kept, digest)
        shown = tuple(sorted(shows[kept])) if kept in collages else ()
        places[digest] = Place(clusters.get(digest, digest)[:16], kept, same, verdict, shown)
    return Groups(places, tuple(links), crowded)


def _from_best(verdict: PairVerdict, best: str, digest: str) -> PairVerdict | None:
    if verdict.kind != COPY:
        return None
    return verdict if best < digest else verdict.swapped()


def _merit(
    content: Content, look: Look, usual_sharpness: Mapping[int, float], sizes: Mapping[str, list[int]], file: File
) -> tuple[object, ...]:
    """A sort key: smaller is better. `usual_sharpness` is that of the copies with as many pixels, `sizes` are those of
    the copies with the same pixels."""
    quality = content.quality
    pixels = _pixels(content)
    return (
        -file.precedence,
        quality.text_characters > 0,
        quality.border >= 0.02,
        look.colour < _GREY,
        -pixels,
        quality.sharpness < usual_sharpness[pixels] / 2,
        round(quality.clipped, 2),  # what compression changes is less
        -min(sizes[look.pixels]),
        content.size,
        file.name,
    )


def _pixels(content: Content) -> int:
    """Pixels inside the border."""
    return round(content.quality.width * content.quality.height * (1 - content.quality.border))


def _key(first: str, second: str) -> tuple[str, str]:
    return (first, second) if first < second else (second, first)


def _whole(link: Link) -> bool:
    """Do copies show nearly the same area?"""
    return link.verdict.kind == COPY and min(link.verdict.of_first, link.verdict.of_second) >= _SAME_AREA


def _collages(links: Sequence[Link]) -> set[str]:
    """The pictures that show two others, one surely as a copy, in panels that lie apart; and all copies of such a
    picture as a whole."""
    panels: dict[str, list[tuple[Box, str]]] = defaultdict(list)
    for link in links:
        if not _whole(link):
            panels[link.first].append((link.verdict.in_first, link.verdict.kind))
            panels[link.second].append((link.verdict.in_second, link.verdict.kind))
    found = {
        digest
        for digest, several in panels.items()
        if any(COPY in (kind, of) and apart(one, other) for (one, kind), (other, of) in combinations(several, 2))
    }
    whole = joined((link.first, link.second) for link in links if _whole(link))
    sets = {whole[digest] for digest in found if digest in whole}
    return found | {digest for digest, name in whole.items() if name in sets}


def _links(
    contents: Sequence[Content], written: Set[str], memory: Memory, progress: Progress | None
) -> tuple[list[Link], int]:
    """The candidates whose verdict is not "different", in order, and how many pictures have more than are compared;
    pairs already known as copies of copies are skipped, if these show the same area: else parts of a collage are not
    told apart."""
    pairs, crowded = candidates(contents)
    meter = Meter(progress, "compare", rows=len(pairs), batches=1, unit="pair")
    copies = DisjointSet()
    links = []
    compare = Compare()
    for start in range(0, len(pairs), _ROUND):
        some = [(contents[i].digest, contents[j].digest) for i, j in pairs[start : start + _ROUND]]
        asked = [pair for pair in some if not (pair[0] in copies and pair[1] in copies and copies.connected(*pair))]
        for (first, second), verdict in _verdicts(asked, written, memory, compare).items():
            link = Link(first, second, verdict)
            if verdict.kind != DIFFERENT:
                links.append(link)
            if _whole(link):
                copies.add(first)
                copies.add(second)
                copies.merge(first, second)
        meter.advance(len(some))
    meter.finish(0)
    return links, crowded


def _verdicts(pairs: Sequence[Pair], written: Set[str], memory: Memory, compare: Compare) -> dict[Pair, PairVerdict]:
    """The verdict on each pair, smaller digest first; `written` have text over them."""
    keys = {" ".join(key): key for key in starmap(_key, pairs)}
    asked = {name: tuple((digest, digest in written) for digest in key) for name, key in keys.items()}
    verdicts = memory.answers(compare, PairVerdict, asked, dict, "compare")
    return {key: verdicts[name] for name, key in keys.items()}


def _looks(digests: Sequence[str], memory: Memory, progress: Progress | None) -> dict[str, Look]:
    meter = Meter(progress, "choose", rows=len(digests), batches=1, unit="photo")
    asked = dict(zip(digests, digests, strict=True))
    looks = memory.answers(LookAt(), Look, asked, lambda digest: (digest,), "choose", meter.advance)
    meter.finish(0)
    return looks
