"""Names that came before are found by digests alone."""

from __future__ import annotations

from unicodedata import normalize

from hypothesis import given
from hypothesis import strategies as st

from builders.pipeline.keys import Keys


@given(st.lists(st.sampled_from(["a", "b", "é", "e\u0301", "", "a b", "ab"]), max_size=30))
def test_repeats_lead_to_the_first(names: list[str]) -> None:
    keys = Keys()
    for name in names:
        keys.add(name)
    names = [normalize("NFC", name) for name in names]
    repeated = {place: names.index(name) for place, name in enumerate(names) if name in names[:place]}
    assert keys.repeats() == repeated
    assert (len(keys), keys.distinct()) == (len(names), len(set(names)))
