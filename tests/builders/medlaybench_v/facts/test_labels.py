"""Values that changed labels: which segment, mark, side or phase a value stands with."""

import pytest

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.facts.labels import exchanged_labels, other_label


@pytest.mark.parametrize(
    ("expert", "lay", "told"),
    [
        (
            "The segment VIII lesion was proven cancer; the segment III lesion was presumed cancer.",
            "Proven cancer is in segment III, and presumed cancer in segment VIII.",
            "proven with viii and presumed with iii",
        ),
        (
            "Bright in the arterial phase (left) and dark in the portal venous phase (right).",
            "On the left, in the portal venous phase; on the right, in the arterial phase.",
            "left with arterial and right with portal",
        ),
        (
            "A fracture at L4–L5 (arrow) and a cyst at L5–S1 (asterisk).",
            "A fracture of L5–S1 (arrow), a cyst at L4–L5 (asterisk).",
            "arrow with l4 and asterisk with l5",
        ),
    ],
)
def test_two_values_that_stand_with_each_others_labels_were_exchanged(expert: str, lay: str, told: str) -> None:
    assert told in exchanged_labels(read(expert), read(lay))
    assert not exchanged_labels(read(expert), read(expert))


@pytest.mark.parametrize(
    "lay",
    [
        "On the right there is a cyst; on the left, a fracture.",
        "A cyst is on the right and a break on the left.",
        "A cyst and a fracture, the one on the right and the other on the left.",
    ],
)
def test_another_order_is_no_exchange(lay: str) -> None:
    assert not exchanged_labels(read("A fracture on the left and a cyst on the right."), read(lay))


@pytest.mark.parametrize(
    ("expert", "lay", "told"),
    [
        (
            "The segment VIII lesion was proven at biopsy; the segment III lesion was presumed a cyst.",
            "A sample of the spot in segment III was taken. The one in segment VIII was assumed to be the same.",
            "presumed with iii became with viii",
        ),
        ("Edema is conspicuous on T2 (a), gone on T1 (b).", "It leaps to the eye in b, and is gone in a.", "b"),
    ],
)
def test_a_value_that_went_to_another_label_is_told(expert: str, lay: str, told: str) -> None:
    assert told in other_label(read(expert), read(lay))
    assert not other_label(read(expert), read(expert))


def test_a_label_that_only_one_caption_names_tells_nothing() -> None:
    expert, lay = "Segment VIII: proven cancer. Segment III: presumed cancer.", "Segment VIII: presumably cancer."
    assert not other_label(read(expert), read(lay))
