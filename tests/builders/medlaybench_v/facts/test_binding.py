"""What a value is said of, and which values changed places."""

import pytest

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.facts.binding import Placed, exchanged, in_order

EXPERT = "A renal cyst on the left and a hepatic stone on the right."
SIDES = [Placed("left", 5, 5), Placed("right", 12, 12)]


@pytest.mark.parametrize(
    ("lay", "same"),
    [
        ("A cyst of the kidney on the left, and on the right a stone of the liver.", False),
        ("A kidney cyst on the left side and further a liver stone on the right.", True),
        ("A liver stone on the right and a kidney cyst on the left.", False),
        ("", True),
    ],
)
def test_what_both_texts_tell_is_told_in_one_order_or_not(lay: str, same: bool) -> None:
    assert in_order(read(EXPERT), read(lay)) is same


def test_an_exchange_is_sure_where_the_neighbours_tell_the_values_apart() -> None:
    swap = exchanged(
        read(EXPERT), SIDES, read("A renal cyst on the right and a hepatic stone on the left."),
        [Placed("right", 5, 5), Placed("left", 12, 12)],
    )  # fmt: skip
    assert swap is not None and (swap.one, swap.other, swap.sure) == ("left", "right", True)


def test_values_in_one_order_beside_the_same_things_were_not_exchanged() -> None:
    lay = read("A kidney cyst on the left and a liver stone on the right.")
    assert exchanged(read(EXPERT), SIDES, lay, SIDES) is None
