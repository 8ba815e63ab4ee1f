"""What an alarm may rest on is decided in one place."""

from types import ModuleType

import pytest

from builders.medlaybench_v.facts import certainty, comparison, imaging, inventions, order, quantities, read
from builders.medlaybench_v.facts.outcome import FAILS, Basis, Outcome


@pytest.mark.parametrize("basis", Basis)
def test_only_positive_evidence_fails_a_pair(basis: Basis) -> None:
    outcome = Outcome()
    outcome.add("lost", "2 cm", basis)
    assert outcome.failed == (basis in FAILS) and outcome.reason == "lost: 2 cm"


UNRECOGNISED = [
    (certainty, "Fat pads imply a fracture.", "The fat pads are raised. Perhaps a bone is broken."),
    (certainty, "Opacity consistent with oedema.", "A haze, as water in the lung would give."),
    (comparison, "Fewer stones are in the duct.", "The duct holds some of the stones."),
    (imaging, "Bone densitometry of the hip.", "An X-ray that measures how dense the hip bone is."),
    (inventions, "Embolization of the artery.", "The artery was closed in an operation."),
    (order, "Initial CT of the spleen.", "The CT of the spleen after the accident."),
    (quantities, "Leak into the disc at T12-L1.", "A leak into the disc at L1 and the bone above."),
]


@pytest.mark.parametrize(("gate", "expert", "lay"), UNRECOGNISED)
def test_what_the_tables_do_not_know_is_left_to_a_reader(gate: ModuleType, expert: str, lay: str) -> None:
    assert not gate.compare(read(expert), read(lay), read("")).failed


CONTRADICTED = [
    (certainty, "Confirmed by biopsy: cancer.", "This may be cancer."),
    (imaging, "CT of the hip.", "MRI of the hip."),
    (inventions, "A cyst of the liver.", "A cyst of the liver after years of smoking."),
    (order, "CT before the operation.", "CT after the operation."),
]


@pytest.mark.parametrize(("gate", "expert", "lay"), CONTRADICTED)
def test_a_contradiction_still_fails(gate: ModuleType, expert: str, lay: str) -> None:
    assert gate.compare(read(expert), read(lay), read("")).failed
