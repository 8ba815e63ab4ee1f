"""What depends on a photo or on the code alone, found out once for modules that build releases of the same few photos
again and again."""

from __future__ import annotations

from functools import cache

import pytest

from builders.curation import comparing, examine
from builders.curation.pictures import Picture
from builders.curation.verification import Features, features
from loaders import reached

_measure = examine._measured
_measured = cache(_measure)
_features: dict[tuple[bytes, bool], Features] = {}
_reached: dict[frozenset[tuple[str, str]], reached.Reach] = {}
_reach = reached.reach


def find_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(examine, "_measured", _measured)
    patch.setattr(comparing, "features", _features_once)
    patch.setattr(reached, "reach", _reach_once)


def measure_anew(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(examine, "_measured", _measure)
    patch.setattr(comparing, "features", features)


def _features_once(picture: Picture, text: bool = True) -> Features:
    key = picture.grey.tobytes(), text
    if key not in _features:
        _features[key] = features(picture, text=text)
    return _features[key]


def _reach_once(*objects: object) -> reached.Reach:
    """Each of a build's eight steps looks for its code in two hundred files, none of which such a test changes."""
    held = reached._Held()
    held.dump(objects)
    places = frozenset(held.places)
    if places not in _reached:
        _reached[places] = _reach(*objects)
    return _reached[places]
