"""Sets of photos with known copies: the shared one, fresh copies made here, and pairs that somebody listed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageFont, ImageOps

from loaders.files.images import open_image
from loaders.files.tables import read_table
from tests.parts.pictures import jpeg

Pair = tuple[int, int]


@dataclass(frozen=True)
class Photos:
    """Files, the source of each, and the pairs known to be copies.

    `shows` names the lesion or patient that each shows, "" where that is not known; a pair of one lesion is no mistake.
    `how` tells, for photos that were made from another one, in which way, and is "" for the originals, and None for
    those that nothing was made of.
    """

    name: str
    files: Sequence[Path]
    sources: Sequence[str]
    pairs: frozenset[Pair]
    shows: Sequence[str] = field(default=())
    how: Sequence[str | None] = field(default=())

    def mistakes(self, named: set[Pair]) -> set[Pair]:
        """Pairs that are neither known nor of one lesion or patient."""
        return {pair for pair in named - self.pairs if not self.shows or not self._one(*pair)}

    def _one(self, first: int, second: int) -> bool:
        return self.shows[first] == self.shows[second] != ""


def shared_set(folder: Path) -> Photos:
    """The folder with truth.csv (file, source_file, transform, group) and images/."""
    rows = _rows(folder / "truth.csv", "file", "source_file", "transform", "group")
    rows.sort(key=lambda row: row["file"])
    originals: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        originals[row["source_file"]].append(place)
    return Photos(
        "the shared set",
        [folder / "images" / row["file"] for row in rows],
        [row["group"] for row in rows],
        frozenset(pair for members in originals.values() for pair in combinations(members, 2)),
        how=[{"distractor": None, "original": ""}.get(row["transform"], row["transform"]) for row in rows],
    )


def listed_pairs(table: Path, data: Path, name: str) -> Photos | None:
    """Photos of the data folder that share a source with a pair of a table (from_img, to_img: names without suffix).

    None where no pair has both of its photos there.
    """
    facts = {Path(row["file"]).stem: row for row in _manifest(data)}
    at = {path.stem: path for path in sorted((data / "photos").rglob("*")) if path.stem in facts}
    pairs = [(row["from_img"], row["to_img"]) for row in _rows(table, "from_img", "to_img")]
    here = [(one, other) for one, other in pairs if one in at and other in at]
    if not here:
        return None
    wanted = {facts[stem]["group"] for pair in here for stem in pair}
    stems = sorted(stem for stem in at if facts[stem]["group"] in wanted)
    place = {stem: number for number, stem in enumerate(stems)}
    return Photos(
        f"{name}: {len(here)} of {len(pairs)} pairs have both photos here",
        [at[stem] for stem in stems],
        [facts[stem]["group"] for stem in stems],
        frozenset((min(place[a], place[b]), max(place[a], place[b])) for a, b in here),
        [facts[stem]["group_id"] for stem in stems],
    )


def fresh_copies(data: Path, used: set[str], each: int, folder: Path) -> Photos:
    """Copies in disguises that the shared set does not have, of `each` photos a source that it does not use.

    Written into a folder, the same for the same photos.
    """
    groups: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in _manifest(data):
        if row["file"] not in used and (data / row["file"]).is_file():
            groups[row["group"]].append(row)
    draw = np.random.default_rng(0)
    files: list[Path] = []
    sources: list[str] = []
    shows: list[str] = []
    how: list[str | None] = []
    pairs: list[Pair] = []
    for group, rows in sorted(groups.items()):
        if len(rows) < each:
            continue
        for row in (rows[n] for n in sorted(draw.choice(len(rows), each, replace=False).tolist())):
            image = open_image(data / row["file"]).convert("RGB")
            first = len(files)
            for name, disguise in {"": lambda image: image, **DISGUISES}.items():
                target = folder / f"{len(files):05}.jpg"
                target.write_bytes(jpeg(disguise(image).convert("RGB"), QUALITY.get(name, 88)))
                files.append(target)
                sources.append(group)
                shows.append(row["group_id"])
                how.append(name)
            pairs += combinations(range(first, len(files)), 2)
    name = f"fresh copies of {len(files) // (len(DISGUISES) + 1)} other photos, in other disguises"
    return Photos(name, files, sources, frozenset(pairs), shows, how)


def _cut(image: Image.Image, left: float, top: float, right: float, bottom: float) -> Image.Image:
    """Crop by shares of the sides."""
    width, height = image.size
    return image.crop((round(width * left), round(height * top), round(width * right), round(height * bottom)))


def _captioned(image: Image.Image) -> Image.Image:
    """A black strip with white text below."""
    strip = max(20, image.height // 10)
    wider = Image.new("RGB", (image.width, image.height + strip))
    wider.paste(image)
    text = ImageFont.load_default(strip * 0.6)
    ImageDraw.Draw(wider).text((strip // 3, image.height + strip // 6), "Figure 3. Before treatment", "white", text)
    return wider


DISGUISES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "jpeg q12": lambda image: image,
    "to a quarter": lambda image: image.resize(
        (max(1, image.width // 4), max(1, image.height // 4)), Image.Resampling.LANCZOS
    ),
    "crop to a half": lambda image: _cut(image, 0.05, 0.10, 0.75, 0.82),
    "off-centre crop, mirrored": lambda image: ImageOps.mirror(_cut(image, 0.0, 0.0, 0.85, 0.9)),
    "turned by 5°": lambda image: image.rotate(5, Image.Resampling.BICUBIC),
    "stretched by a quarter": lambda image: image.resize(
        (round(image.width * 1.25), image.height), Image.Resampling.BICUBIC
    ),
    "darker, flatter": lambda image: ImageEnhance.Contrast(ImageEnhance.Brightness(image).enhance(0.7)).enhance(0.6),
    "transposed, grey, half": lambda image: (
        ImageOps.grayscale(image)
        .transpose(Image.Transpose.TRANSPOSE)
        .resize((max(1, image.height // 2), max(1, image.width // 2)), Image.Resampling.LANCZOS)
    ),
    "caption strip": _captioned,
}
QUALITY = {"jpeg q12": 12}


def _manifest(data: Path) -> list[dict[str, str]]:
    return _rows(data / "photos_manifest.csv", "file", "group", "group_id")


def used_by(folder: Path) -> set[str]:
    """The photos of the data folder that the shared set was made of."""
    return {row["data_file"] for row in _rows(folder / "truth.csv", "data_file")}


def _rows(path: Path, *columns: str) -> list[dict[str, str]]:
    table = read_table(path)
    for column in columns:
        table.column(column, needed=True)
    return [cells for _, cells in table.rows]
