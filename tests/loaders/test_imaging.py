"""Which imaging method a record names, and from where that is known."""

from __future__ import annotations

import csv

import pytest

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.facts.imaging import imaging
from loaders.imaging import method_of, methods_in, wordings
from tests.parts.places import shared_data


@pytest.mark.parametrize(
    ("cuis", "text", "method"),
    [
        (["C0040405"], "", "DRCT cui"),
        (["C0817096", "C1306645", "C1996865"], "MRI of the chest", "DRXR cui"),
        (["C0032743"], "", "DRPE cui"),
        (["C0040405", "C0040405"], "", "DRCT cui"),
        (["C0040405", "C0032743"], "", "DRCO cui"),
        (["C1699633"], "", "DRCO cui"),
        (["C0817096"], "", "DRCO none"),
        ([], "", "DRCO none"),
        # An ancestor speaks for its narrower concepts, and a text that names one of those is nearer.
        (["C0202823"], "", "DRCT cui"),
        (["C0085532"], "", "DRAN cui"),
        (["C0243032"], "", "DRMR cui"),
        (["C0002978"], "Right renal angiogram", "DRAN cui"),
        (["C0002978"], "CT angiogram of the aorta", "DRCT text"),
        (["C0002978"], "Angiogram; a CT had shown nothing", "DRAN cui"),
        (["C0002978"], "A CT had shown nothing", "DRAN cui"),
        (["C0002978"], "CT angiogram and MRI", "DRAN cui"),
        (["C0002978", "C0024485"], "", "DRMR cui"),
        # Of several concepts, the text decides; it may not bring in another.
        (["C0040405", "C1306645"], "Radiograph of the wrist", "DRXR text"),
        (["C0040405", "C1306645"], "Sonogram of the wrist", "DRCO cui"),
        ([], "Sonogram of the wrist", "DRUS text"),
        ([], "CT and MRI of the wrist", "DRCO text"),
    ],
)
def test_cui_then_ancestor_then_text(cuis: list[str], text: str, method: str) -> None:
    assert " ".join(method_of(cuis, text)) == method


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("HRCT of the lungs", "DRCT"),
        ("CBCT, axial cut", "DRCT"),
        ("X-ray computed tomography of a jaw", "DRCT"),
        ("The mass measured 40 HU", "DRCT"),
        ("MR venography of the sinuses", "DRMR"),
        ("Sagittal T2-weighted image", "DRMR"),
        ("FLAIR sequence, axial", "DRMR"),
        ("Sagittal proton-density fat-saturated image", "DRMR"),
        ("Axial fast spin-echo image", "DRMR"),
        ("Echo-planar imaging, echo time 90 ms", "DRMR"),
        ("Time-of-flight angiography of the circle of Willis", "DRMR"),
        ("MR elastography of the liver", "DRMR"),
        ("Bilateral hyperintensities of the white matter", "DRMR"),
        ("CT with a hyperintense pancreatic mass", "DRCT"),
        ("Weak echo, low signal intensity", "DRUS"),
        ("Sonohysterography of a septum", "DRUS"),
        ("Arthrogram of the hip", "DRXR"),
        ("AP and lateral views of the shin bone", "DRXR"),
        ("Right ventricular injection, anteroposterior view", "DRAN"),
        ("AP view, CT scout", "DRCT"),
        ("CT KUB with a stone", "DRCT"),
        ("T2* GRE sequence", "DRMR"),
        ("Skeletal survey of an infant", "DRXR"),
        ("Spin echo sequence after gadolinium", "DRMR"),
        ("MRCP shows a stone", "DRMR"),
        ("MR mammography", "DRMR DRXR"),
        ("Colour Doppler of the testis", "DRUS"),
        ("Parasternal long-axis view", "DRUS"),
        ("A hypoechoic nodule of the thyroid", "DRUS"),
        ("POCUS with B-lines", "DRUS"),
        ("X‐ray, then T2‑weighted images", "DRMR DRXR"),
        ("Nuchal translucency of 4.5 mm", "DRUS"),
        ("AXR with free air", "DRXR"),
        ("Digital breast tomosynthesis", "DRXR"),
        ("TEE shows a clot; abdominal US normal", "DRUS"),
        ("let us see a tee and a pet", ""),
        ("Orthopantomogram", "DRXR"),
        ("Barium swallow", "DRXR"),
        ("ERCP with a stent", "DRXR"),
        ("Endoscopic retrograde cholangiopancreatography", "DRXR"),
        ("DSA of the left internal carotid artery", "DRAN"),
        ("X-ray angiogram", "DRAN"),
        ("CT pulmonary angiography", "DRCT"),
        ("CT urography", "DRCT"),
        ("X-ray CT of a jaw", "DRCT"),
        ("CT of the chest after coronary angiography", "DRAN DRCT"),
        ("FDG positron emission tomography", "DRPE"),
        ("FDG PET/CT", "DRCT DRPE"),
        ("Optical coherence tomography of the retina", ""),
        ("Fluorescein angiography of the fundus", ""),
        ("SPECT of the heart", ""),
        ("Photograph of the wound", ""),
        ("Intact structures after resection", ""),
        ("Esophagram with a leak; OPGs", "DRXR"),
        ("Coronal T2 image", "DRMR"),
        ("Fracture from T2 to T7; CTV of the tumor", ""),
    ],
)
def test_methods_that_a_text_names(text: str, codes: str) -> None:
    assert " ".join(sorted(methods_in(text))) == codes


def test_nine_of_ten_captions_that_name_one_method_get_it() -> None:
    with shared_data("text/roco_test.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    named = [(row, said) for row in rows if len(said := methods_in(row["caption"])) == 1]
    right = sum(method_of(row["cuis"].split(";"), row["caption"]).code in said for row, said in named)
    assert len(named) > 6_000 and right >= 0.98 * len(named)
    assert sum(methods_in(row["caption"]) == {"DRMR"} for row in rows) > 1_000


def test_the_gates_read_the_same_table() -> None:
    """What names a method for the record names it for the gates; what only implies one is no fact to be kept."""
    for _, method, wording in wordings("names", "capitals"):
        said = wording.replace("*", "phy" if wording.endswith("gra*") else "")
        said = said.upper() if " " not in said and len(said) < 6 else said
        assert method in imaging(read(f"A {said} of it.")).methods, wording
    implied = [wording for _, method, wording in wordings("implied") if method == "ultrasound"]
    assert "hypoecho*" in implied and not imaging(read("A hypoechoic nodule.")).methods
