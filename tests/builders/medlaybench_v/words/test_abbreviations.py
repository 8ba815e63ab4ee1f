"""Keys of abbreviations at the end of a caption, and what only looks like one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.medlaybench_v.words.abbreviations import without_key
from builders.medlaybench_v.writing.footnotes import Part, unfold_key


def pairs(caption: str) -> list[tuple[str, str]]:
    return [(short, caption[slice(*long)]) for short, long in without_key(caption)[1]]


KEYS = [
    (
        "Four-chamber view. AO: aorta; LV = left ventricle; RA - right atrium.",
        [("AO", "aorta"), ("LV", "left ventricle"), ("RA", "right atrium")],
    ),
    ("Occlusion. DSA, Digital Subtraction Angiography", [("DSA", "Digital Subtraction Angiography")]),
    (
        "Defect (arrow) to the right. LV indicates left ventricle; Ao, aorta.",
        [("LV", "left ventricle"), ("Ao", "aorta")],
    ),
    (
        "Healed.Abbreviations: MRA, magnetic resonance arthrography; R, right.",
        [("MRA", "magnetic resonance arthrography"), ("R", "right")],
    ),
    ("Two vessels (RV – right ventricle, LV – left ventricle).", [("RV", "right ventricle"), ("LV", "left ventricle")]),
    # Letters that do not fit are believed among neighbours whose letters do.
    (
        "Neck. SCM: sternocleidomastoid muscle, T: Chassaignac's tubercle, med: medial, lat : lateral.",
        [("SCM", "sternocleidomastoid muscle"), ("T", "Chassaignac's tubercle"), ("med", "medial"), ("lat", "lateral")],
    ),
    (
        "Strain. RV = right ventricular, RV LPSS = RV longitudinal peak systolic strain.",
        [("RV", "right ventricular"), ("RV LPSS", "RV longitudinal peak systolic strain")],
    ),
]


@pytest.mark.parametrize(("caption", "expected"), KEYS)
def test_key(caption: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(caption) == expected


NONE = [
    "",
    "Large mass in the right lung.",
    "Nodule (arrow) and cyst (white arrow), mass (arrowheads).",
    "Liver (a), spleen (B), kidney (C).",
    "Right (right) and left (Left) views (*) (Figure 2) (Fig. 2A).",
    "Aberrant artery posterior to the esophagus (E) and trachea (T).",
    "EUS: circumferential occupation of the duodenal wall.",
    "Enhanced CT: enlarged pancreatic tail.",
    "Group B: Baseline (pre-operatively).",
    "Spin echo (TR/TE: 2400/28), slice thickness: 2 mm, T = 10 mm.",
    "More at DOI: http://dx.doi.org/10.7554/eLife.24232.007",
    "Done in Jammu, Jammu and Kashmir, India.",
    "Yellow arrow = right main bronchus.",
]


@pytest.mark.parametrize("caption", NONE)
def test_not_an_abbreviation(caption: str) -> None:
    assert without_key(caption) == (caption, [])


def test_letters_of_panels_are_not_told_where_they_are_used() -> None:
    caption = "(A, B) Swelling of the orbit. A: axial view. B: coronal view."
    assert unfold_key(caption) == [Part(0, len(caption))]


def test_a_sentence_within_a_key_is_not_cut_with_it() -> None:
    body, _ = without_key("The LV and RV are large. LV: left ventricle. Note the effusion. RV: right ventricle.")
    assert body.endswith("Note the effusion.")


def test_a_key_is_cut_where_it_starts() -> None:
    caption = "Dilated RV (arrow). Abbreviations: RV, right ventricle; LA, left atrium."
    assert without_key(caption)[0] == "Dilated RV (arrow)."
    assert pairs(caption) == [("RV", "right ventricle"), ("LA", "left atrium")]
    assert without_key("Patent vessels (LAO: left anterior oblique view).")[0] == "Patent vessels"


@pytest.mark.parametrize(
    "caption",
    [
        "Breadths. BCB: bicondylar breadth, distance between the two condyles.",  # more than long forms
        "Short axis. LA, left atrium; LV, left ventricle. Arrow indicates the leak.",  # not at the end
        "Levels. PM = Posterior Meniscus, PCM = Posterior Central Meniscus (inner two-thirds).",
        "LV: left ventricle, RV: right ventricle.",  # nothing but a key
        "Muscles seen from above RV- right ventricle, LV- left ventricle.",  # no sentence ends before it
    ],
)
def test_a_key_that_cannot_be_cut_without_loss_stays(caption: str) -> None:
    assert without_key(caption) == (caption, [])


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from("LVRA lvraet:=,;.-–()[]\n1é中"), max_size=120))
def test_any_text_is_survived_and_spans_hold(caption: str) -> None:
    body, key = without_key(caption)
    assert caption.startswith(body) and all(len(body) <= start < end <= len(caption) for _, (start, end) in key)


@pytest.mark.parametrize("unit", ["A=", "(", "ABC ", "ab, ", "A - ", "AB (", "LV: left ventricle, ", "oa", "note "])
def test_long_captions_do_not_explode(unit: str) -> None:
    caption = (unit * 20_000)[:20_000] + " x (AAAAAAAAAAAB)"
    assert len(without_key(caption)[0]) <= len(caption)
