"""What is normal in one caption and ill in the other, what is left out, and denials beside the contrast dye."""

from __future__ import annotations

import pytest

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.gates import Context, Verdict, check

BROKEN = [
    ("CT shows a normal appendix.", "CT shows an inflamed appendix."),
    ("CT shows a normal spleen.", "CT shows a torn spleen."),
    ("Chest radiograph is unremarkable.", "The chest X-ray shows pneumonia."),
    ("The left kidney is normal on ultrasound.", "The left kidney is swollen on ultrasound."),
    ("CT of a normal appendix and a normal gallbladder.", "CT scan of an inflamed appendix and a normal gallbladder."),
    ("Brain MRI showing a glioblastoma in the left frontal lobe.", "Brain MRI: the left frontal lobe looks normal."),
    ("CT showing pulmonary embolism and pneumonia.", "CT scan shows a clear lung."),
    ("MRI showing meningioma.", "MRI: nothing was found."),
    ("MRI shows that the tumor does not enhance after contrast.", "MRI shows that the tumor enhances after contrast."),
    ("MRI shows no enhancement after contrast.", "MRI shows enhancement after contrast."),
    ("No passage of contrast into the duodenum.", "Passage of contrast into the duodenum."),
    ("Contrast study: no contrast reached the colon.", "Contrast study: contrast reached the colon."),
    ("MRI: no gadolinium uptake in the scar.", "MRI: gadolinium uptake in the scar."),
    ("The tumor enhances after gadolinium on MRI.", "On MRI, the tumor does not brighten after gadolinium."),
    ("CT head showing a subdural hematoma.", "CT scan of the head with a tumor under the brain's cover."),
    ("CT of a seroma of the abdominal wall.", "CT scan of a tumor of the belly wall."),
    ("Ultrasound: no flow in the left renal artery.", "Ultrasound: blood is flowing through the left kidney artery."),
    ("CT showing acute appendicitis with a perforated tip.", "A CT scan shows the"),
    ("CT showing acute appendicitis with a perforated tip.", "CT scan of the patient."),
    ("X-ray showing a fracture.", "An X-ray."),
    ("CT showing splenomegaly, ascites and thrombosis.", "CT scan: the spleen is enlarged, with fluid in the belly."),
    ("CT of acute appendicitis.", '{"layman_caption": "CT scan of an inflamed appendix."}'),
    ("The effusion has resolved since the last radiograph.", "The fluid has increased since the last X-ray."),
    ("Complete resolution of the pneumonia.", "The lung infection has partly cleared."),
]
FAITHFUL = [
    ("CT shows a normal appendix.", "The CT scan shows a healthy appendix."),
    ("The aorta is of normal calibre.", "The main artery has its usual width."),
    ("Chest radiograph is unremarkable.", "Nothing is wrong on the chest X-ray."),
    ("CT without the use of contrast shows a stone.", "CT scan shows a stone."),
    ("Non-contrast CT shows a bleed.", "CT scan without dye shows bleeding."),
    (
        "Liver MRI after radiofrequency ablation.",
        "MRI of the liver after the tumor was destroyed with heat from radio waves.",
    ),
    ("No flow in the renal artery.", "No blood is flowing through the kidney artery."),
    ("Mass not separable from the liver on CT.", "On CT, the lump cannot be told apart from the liver."),
    ("MRI suspicious for a metastasis.", "The MRI gives reason to think of a spread of cancer."),
    (
        "MRCP showing choledocholithiasis.",
        "A scan of the bile ducts (MRCP): gallstones have moved into the main bile duct.",
    ),
]


def _verdicts(expert: str, lay: str) -> list[Verdict]:
    return [v for v in check(read(expert), read(lay), Context()) if not v.passed]


@pytest.mark.parametrize(("expert", "lay"), BROKEN)
def test_the_opposite_fails(expert: str, lay: str) -> None:
    assert _verdicts(expert, lay)


@pytest.mark.parametrize(("expert", "lay"), FAITHFUL)
def test_the_same_in_other_words_does_not(expert: str, lay: str) -> None:
    assert not _verdicts(expert, lay)
