"""Articles that captions leave out, and where none belongs."""

import pytest

from builders.medlaybench_v.writing.articles import with_articles


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("X-ray of left hand.", "X-ray of the left hand."),
        ("Stones in right renal artery and kidney.", "Stones in the right renal artery and kidney."),
        (
            "Pressure on base of the skull, clot in body's main artery.",
            "Pressure on the base of the skull, clot in the body's main artery.",
        ),
        ("Mass of head of pancreas (arrow).", "Mass of the head of the pancreas (arrow)."),
        ("CT of chest and abdomen with contrast.", "CT of the chest and abdomen with contrast."),
        ("It shows large mass in the lung, suggesting cyst.", "It shows a large mass in the lung, suggesting a cyst."),
        (
            "Mass at left side of neck, compressing windpipe.",
            "Mass at the left side of the neck, compressing the windpipe.",
        ),
        ("Bleeding in frontal lobe with blood clot.", "Bleeding in the frontal lobe with a blood clot."),
        ("Scan in patient with fever.", "Scan in a patient with fever."),
        (
            "It was seen on chest CT scan, on X-ray and on hip X-ray.",
            "It was seen on a chest CT scan, on X-ray and on a hip X-ray.",
        ),
        ("Scan showing left kidney with a cyst.", "Scan showing the left kidney with a cyst."),
        ("Scan of inside of the pelvis.", "Scan of the inside of the pelvis."),
        ("Scan of left groin region.", "Scan of the left groin region."),
        ("Bleeding in bridge between the brain halves.", "Bleeding in the bridge between the brain halves."),
        ("A break of wrist end of the bone.", "A break of the wrist end of the bone."),
        (
            "A clot lies in front of the aorta, a mass at level of L3.",
            "A clot lies in front of the aorta, a mass at the level of L3.",
        ),
        ("Spread toward side wall of the chest.", "Spread toward the side wall of the chest."),
        (
            "It shows many-chambered dark area with small bright spot.",
            "It shows a many-chambered dark area with a small bright spot.",
        ),
        ("It shows ectopic (in the wrong place) lump.", "It shows an ectopic (in the wrong place) lump."),
        ("It shows large amount of fluid.", "It shows a large amount of fluid."),
    ],
)
def test_an_organ_and_what_is_shown_get_theirs(caption: str, said: str) -> None:
    assert with_articles(caption) == said


@pytest.mark.parametrize(
    "caption",
    [
        "Spread of breast cancer to both lungs.",
        "Pain in chest walls, masses of kidney origin.",
        "The ureter (tube from kidney to bladder) and a cyst (it shows mass).",
        "It shows mass effect, two cysts, the mass and air.",
        "Arrow indicates lesion.",
        "Lines on each X-ray, scan showing liver and spleen infarcts.",
        "Views in left lateral position.",
        "Scan with contrast dye shows clots, bowel joined with artery.",
        "Scan showing left rib fractures, blood clots and normal artery walls.",
        "Stents in two arteries, in accessory artery.",
    ],
)
def test_elsewhere_nothing_is_put_in(caption: str) -> None:
    assert with_articles(caption) == caption
