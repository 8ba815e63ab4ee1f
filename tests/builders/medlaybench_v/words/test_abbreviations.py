"""Abbreviations as captions define them, and what only looks like one."""

import csv

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.medlaybench_v.words.abbreviations import KEY, LONG_SHORT, SHORT_LONG, resolve, without_key
from tests.parts.places import shared_data


def pairs(caption: str) -> list[tuple[str, str]]:
    return [(a.short, a.long) for a in resolve(caption)]


IN_BRACKETS = [
    ("Axial computed tomography (CT) of the abdomen.", "CT", "computed tomography"),
    ("Transesophageal echocardiography (TEE) image.", "TEE", "Transesophageal echocardiography"),
    ("Anteroposterior (AP) radiograph.", "AP", "Anteroposterior"),
    ("The left anterior descending artery (LAD) is occluded.", "LAD", "left anterior descending"),
    ("Magnetic resonance imaging (MRI; arrow) of the knee.", "MRI", "Magnetic resonance imaging"),
    ("Two regions of interest (ROIs) are drawn.", "ROIs", "regions of interest"),
    ("Axial fluid attenuated inversion recovery (FLAIR) image.", "FLAIR", "fluid attenuated inversion recovery"),
    ("The underlying common carotid artery [CCA] is patent.", "CCA", "common carotid artery"),
]


@pytest.mark.parametrize(("caption", "short", "long"), IN_BRACKETS)
def test_long_form_before_brackets(caption: str, short: str, long: str) -> None:
    assert [(a.short, a.long, a.form) for a in resolve(caption)] == [(short, long, LONG_SHORT)]


def test_short_form_before_brackets() -> None:
    found = resolve("Rotatory displacement on CT-MIP (maximum intensity projection).")
    assert [(a.short, a.long, a.form) for a in found] == [("MIP", "maximum intensity projection", SHORT_LONG)]
    assert pairs("Large right SAH (subarachnoid hemorrhage, arrow).") == [("SAH", "subarachnoid hemorrhage")]


def test_spans_point_into_the_caption() -> None:
    caption = "Axial computed tomography (CT). LV = left ventricle."
    ct, lv = resolve(caption)
    assert (ct.short_span, ct.long_span) == ((27, 29), (6, 25))
    assert (lv.short_span, lv.long_span) == ((32, 34), (37, 51))


KEYS = [
    (
        "Four-chamber view. AO: aorta; LV = left ventricle; RA - right atrium.",
        [("AO", "aorta"), ("LV", "left ventricle"), ("RA", "right atrium")],
    ),
    ("Occlusion. DSA, Digital Subtraction Angiography", [("DSA", "Digital Subtraction Angiography")]),
    ("Post-SWL film. SWL = extracorporeal shockwave lithotripsy.", [("SWL", "extracorporeal shockwave lithotripsy")]),
    (
        "Osteometric data. BCB: bicondylar breadth, distance between the two condyles.",
        [("BCB", "bicondylar breadth")],
    ),
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
        "SCM: sternocleidomastoid muscle, T: Chassaignac's tubercle, med: medial, lat : lateral.",
        [("SCM", "sternocleidomastoid muscle"), ("T", "Chassaignac's tubercle"), ("med", "medial"), ("lat", "lateral")],
    ),
    (
        "Levels. PCM = Posterior Central Meniscus (inner two-thirds), PM = Posterior Meniscus.",
        [("PCM", "Posterior Central Meniscus"), ("PM", "Posterior Meniscus")],
    ),
    (
        "Strain. RV = right ventricular, RV LPSS = RV longitudinal peak systolic strain.",
        [("RV", "right ventricular"), ("RV LPSS", "RV longitudinal peak systolic strain")],
    ),
]


@pytest.mark.parametrize(("caption", "expected"), KEYS)
def test_key(caption: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(caption) == expected
    assert {a.form for a in resolve(caption)} == {KEY}


NONE = [
    "",
    "Large mass in the right lung.",
    "Nodule (arrow) and cyst (white arrow), mass (arrowheads).",
    "Liver (a), spleen (B), kidney (C).",
    "Right (right) and left (Left) views (*) (Figure 2) (Fig. 2A).",
    "Aberrant artery posterior to the esophagus (E) and trachea (T).",
    "Nodules after contrast (CT) in one patient (PET).",  # letters of one word, in order, are no abbreviation
    "MRI (after contrast) and CT (sagittal view).",
    "(A, B) Swelling of the orbit. A: axial view. B: coronal view.",
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
    assert resolve(caption) == []
    assert without_key(caption) == (caption, None)


def test_a_sentence_within_a_key_is_not_cut_with_it() -> None:
    body, _ = without_key("The LV and RV are large. LV: left ventricle. Note the effusion. RV: right ventricle.")
    assert body.endswith("Note the effusion.")


def test_a_key_is_cut_where_it_starts() -> None:
    caption = "Dilated RV (arrow). Abbreviations: RV, right ventricle; LA, left atrium."
    body, span = without_key(caption)
    assert body == "Dilated RV (arrow)."
    assert span is not None and caption[slice(*span)].strip() == "Abbreviations: RV, right ventricle; LA, left atrium."
    assert without_key("Patent vessels (LAO: left anterior oblique view).") == ("Patent vessels", (14, 49))


@pytest.mark.parametrize(
    "caption",
    [
        "Breadths. BCB: bicondylar breadth, distance between the two condyles.",  # more than long forms
        "Short axis. LA, left atrium; LV, left ventricle. Arrow indicates the leak.",  # not at the end
        "Levels. PM = Posterior Meniscus, PCM = Posterior Central Meniscus (inner two-thirds).",
        "LV: left ventricle, RV: right ventricle.",  # nothing but a key
        "Muscles seen from above RV- right ventricle, LV- left ventricle.",  # no sentence ends before it
        "Axial computed tomography (CT).",
    ],
)
def test_a_key_that_cannot_be_cut_without_loss_stays(caption: str) -> None:
    assert resolve(caption)
    assert without_key(caption) == (caption, None)


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from("LVRA lvraet:=,;.-–()[]\n1é中"), max_size=120))
def test_any_text_is_survived_and_spans_hold(caption: str) -> None:
    for found in resolve(caption):
        assert caption[slice(*found.short_span)] == found.short
        assert caption[slice(*found.long_span)] == found.long
    body, span = without_key(caption)
    assert body == caption if span is None else caption.startswith(body) and span == (len(body), len(caption))


@pytest.mark.parametrize("unit", ["A=", "(", "ABC ", "ab, ", "A - ", "AB (", "LV: left ventricle, ", "oa", "note "])
def test_long_captions_do_not_explode(unit: str) -> None:
    caption = (unit * 20_000)[:20_000] + " x (AAAAAAAAAAAB)"
    assert isinstance(resolve(caption), list)
    assert len(without_key(caption)[0]) <= len(caption)


def test_real_captions() -> None:
    with shared_data("text/roco_test.csv").open(encoding="utf-8", newline="") as file:
        captions = [row["caption"] for row in csv.DictReader(file)]
    found = [(caption, a) for caption in captions for a in resolve(caption)]
    assert len({caption for caption, _ in found}) > 550
    assert all(caption[slice(*a.long_span)] == a.long and a.long[0].isalnum() for caption, a in found)
    markers = {"arrow", "arrows", "arrowhead", "arrowheads", "asterisk", "left", "right", "figure", "patient", "image"}
    assert not [a for _, a in found if a.short.lower() in markers]
    assert not [a for _, a in found if a.form != KEY and len(a.short) < 2]
    ventricles = [a.long.lower() for _, a in found if a.short == "RV"]
    assert len(ventricles) > 20 and all("right ventric" in long for long in ventricles)
