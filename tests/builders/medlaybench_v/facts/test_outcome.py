"""What an alarm may rest on is decided in one place."""

from types import ModuleType

import pytest

from builders.medlaybench_v.facts import (
    amounts,
    certainty,
    comparison,
    imaging,
    inventions,
    marks_kept,
    order,
    polarity,
    read,
)
from builders.medlaybench_v.facts.outcome import FAILS, Basis, Outcome


@pytest.mark.parametrize("basis", Basis)
def test_only_positive_evidence_fails_a_pair(basis: Basis) -> None:
    outcome = Outcome()
    outcome.add("lost", "2 cm", basis)
    assert outcome.failed == (basis in FAILS) and outcome.reason == "lost: 2 cm"


UNMET = [
    (certainty, "Fat pads imply a fracture.", "The fat pads are raised. Perhaps a bone is broken."),
    (certainty, "Opacity consistent with oedema.", "A haze, as water in the lung would give."),
    (comparison, "Fewer stones are in the duct.", "The duct holds some of the stones."),
    (imaging, "Bone densitometry of the hip.", "An X-ray that measures how dense the hip bone is."),
    (inventions, "Embolization of the artery.", "The artery was closed in an operation."),
    (order, "Initial CT of the spleen.", "The CT of the spleen after the accident."),
    (amounts, "Leak into the disc at T12-L1.", "A leak into the disc at L1 and the bone above."),
]


@pytest.mark.parametrize(("gate", "expert", "lay"), UNMET)
def test_what_the_tables_do_not_know_is_left_to_a_reader(gate: ModuleType, expert: str, lay: str) -> None:
    assert not gate.compare(read(expert), read(lay), read("")).failed


CONTRADICTED = [
    (certainty, "Confirmed by biopsy: cancer.", "This may be cancer."),
    (imaging, "CT of the hip.", "MRI of the hip."),
    (inventions, "A cyst of the liver.", "A cyst of the liver. There is no need to worry."),
    (order, "CT before the operation.", "CT after the operation."),
    (amounts, "A cyst of 15 mm.", "A cyst of 15 cm."),
    (amounts, "Five cysts.", "Seven cysts."),
    (polarity, "No stone in the duct.", "A stone in the duct."),
    (polarity, "A stone in the duct.", "There is no stone in the duct."),
    (comparison, "The mass has increased.", "The lump has become smaller."),
    (marks_kept, "Cyst (white arrow).", "A cyst."),
]
# What looks like one, and is none where the sentence is read otherwise: (gate, expert, lay)
READ_OTHERWISE = [
    (polarity, "No displaced fracture.", "If there is a fracture at all, its parts are in place."),
    (comparison, "After closed reduction of the wrist.", "After the growing end of the wrist was set."),
    (inventions, "A thin-walled cyst, most likely functional.", "A sac that comes with the monthly cycle."),
    (imaging, "Sagittal T1 image of the pituitary.", "A side-view slice of the pituitary, T1 type."),
    (order, "CT before chemotherapy.", "CT, once when no chemotherapy had been given."),
    (inventions, "A tear of the muscle.", "The muscle is strained and torn."),
    (amounts, "The T8 bone is broken, and two more.", "Three bones are broken."),
    (amounts, "A gap of 3.9 cm.", "A gap of just over 4 cm."),
    (polarity, "The vein is patent.", "The vein is blocked on neither side."),
    (polarity, "Sludge, no stone; the wall is not thickened.", "Thick bile, no stone; the wall is as thin as any."),
    (comparison, "The left lobe has decreased.", "The left lobe had been larger before."),
    (order, "MRI before (a) and after (b) dye.", "MRI: a, without dye; b, once dye had been given."),
    (inventions, "A stent in the duct.", "A tube in the duct, which is closed off no more."),
]


@pytest.mark.parametrize(("gate", "expert", "lay"), READ_OTHERWISE)
def test_what_rests_on_the_reading_of_a_sentence_fails_nothing(gate: ModuleType, expert: str, lay: str) -> None:
    assert not gate.compare(read(expert), read(lay), read("")).failed


@pytest.mark.parametrize(("gate", "expert", "lay"), CONTRADICTED)
def test_a_contradiction_still_fails(gate: ModuleType, expert: str, lay: str) -> None:
    assert gate.compare(read(expert), read(lay), read("")).failed


# A class of fact each: (gate, expert, a lay caption that breaks it, one that keeps it)
CLASSES = [
    (imaging, "Transrectal ultrasound of the gland.", "Ultrasound over the belly.", "Ultrasound through the rectum."),
    (imaging, "Frontal radiograph of the knee.", "X-ray of the knee from the side.", "X-ray of the knee, front view."),
    (imaging, "STIR MRI of the hip.", "T1 MRI of the hip.", "Fat-suppressed MRI of the hip."),
    (imaging, "SPECT of the heart.", "PET of the heart.", "Nuclear scan of the heart."),
    (amounts, "First seen in 2011.", "First seen in 2013.", "Found in 2011."),
    (amounts, "Four of the nine coils moved.", "Three of the nine coils moved.", "4 of 9 coils moved."),
    (amounts, "Stage T1N0M0.", "Stage T1N1M0.", "Stage T1N0M0 cancer."),
    (amounts, "Growth over ten years.", "Growth over ten months.", "Growth over a decade."),
    (amounts, "Ribs 3–5 are broken.", "Ribs 3 to 6 are broken.", "Ribs three, four and five are broken."),
    (amounts, "Ratio of 0.4.", "A ratio of 50%.", "A ratio of 40%."),
    (amounts, "2 cm by 1 cm.", "2 cm by 3 cm.", "2 cm, and half as wide."),
    (polarity, "CT excludes an abscess.", "CT shows an abscess.", "CT finds no abscess."),
    (polarity, "Neither stones nor a cyst.", "There are stones and a cyst.", "It holds no stones and no cyst."),
    (polarity, "A small effusion, no fracture.", "No effusion, but a fracture.", "Some fluid; nothing is broken."),
    (polarity, "The stone has not resolved.", "There is no stone.", "The stone is still there."),
    (polarity, "No change in the mass.", "There is no mass.", "The lump looks just as before."),
    (polarity, "No progression of the mass.", "No sign of a mass.", "No sign of the mass getting bigger."),
    (certainty, "A clot was ruled out.", "A clot is possible.", "There is no clot."),
    (certainty, "Probably a cyst.", "There is a faint chance of a cyst.", "It is likely a cyst."),
    (comparison, "The node is isoechoic.", "The node is brighter.", "The node is equally bright."),
    (comparison, "It went from 3 cm to 5 cm.", "It went from 5 cm to 3 cm.", "It was 3 cm and is 5 cm."),
    (marks_kept, "Cyst (star), stone (arrow).", "Cyst (arrow), stone (star).", "A stone (arrow), a cyst (star)."),
    (
        marks_kept,
        "Cyst (thin arrow), air (thick arrow).",
        "Cyst (thick arrow), air (thin arrow).",
        "Air (thick arrow), cyst (thin arrow).",
    ),
    (inventions, "CT of a cyst.", "CT of a woman with a cyst.", "CT of a patient with a cyst."),
    (inventions, "Sonogram of the uterus.", "Ultrasound of a girl's womb.", "Ultrasound of a woman's womb."),
    (inventions, "Mild stenosis.", "Moderate narrowing.", "Mild narrowing."),
    (inventions, "An aneurysm.", "A burst bulge of a vessel.", "A bulge of a vessel."),
    (inventions, "A cyst.", "A cyst. It should be removed.", "A cyst, wider than it should be."),
]  # fmt: skip


@pytest.mark.parametrize(("gate", "expert", "broken", "kept"), CLASSES)
def test_what_breaks_a_fact_is_told_and_what_keeps_it_does_not_fail(
    gate: ModuleType, expert: str, broken: str, kept: str
) -> None:
    assert gate.compare(read(expert), read(broken), read("")).reason
    assert not gate.compare(read(expert), read(kept), read("")).failed
