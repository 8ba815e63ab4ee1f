"""Small releases of photos for the tests of classifiers, and the options of a network that is trained on them."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from loaders.threemdbench import CORPUS, DIAGNOSES
from tests.parts.small_release import write_small

TINY = ("--model", "random:tiny", "--size", "16", "--test-size", "16", "--device", "cpu")
_CARD = "---\nlicense: cc0-1.0\n---\n# Drawn\n"


def noise(label: int, number: int) -> bytes:
    """Noise with the colour of its class."""
    generator = np.random.default_rng([label, number])
    colour = np.random.default_rng(label).integers(40, 216, 3)
    pixels = np.clip(generator.normal(colour, 25, (20, 24, 3)), 0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=90)
    return file.getvalue()


def row(split: str, image_id: str, label: int, picture: bytes, **more: Any) -> dict[str, Any]:
    """A photo of a diagnosis, by its position among the 34; `more` replaces columns."""
    diagnosis = DIAGNOSES[label]
    given = {"image": {"bytes": picture, "path": None}, "image_id": image_id, "split": split, "source": "drawn"}
    named = {"diagnosis": diagnosis.name, "domain": diagnosis.domain}
    return dict.fromkeys(CORPUS.features) | given | named | more


def noisy(split: str, label: int, number: int) -> dict[str, Any]:
    """A photo of noise, in a cluster of its own."""
    picture = noise(label, number)
    return row(split, f"{split}-{label:02}-{number}", label, picture, cluster_id=f"c{label}-{number}")


def write_photos(folder: Path, rows: Iterable[dict[str, Any]], stand_in: str | None = None) -> Path:
    """A release of these photos."""
    write_small(
        folder, rows, corpus="3mdbench", features=CORPUS.features, exclusions=[], stand_in=stand_in,
        measure=lambda found: {"rows": sum(1 for _ in found)}, card=lambda manifest: _CARD,
    )  # fmt: skip
    return folder
