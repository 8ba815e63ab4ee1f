"""Fragments that become sentences, and what is left as it is."""

import pytest

from builders.medlaybench_v.writing.grammar import indefinite
from builders.medlaybench_v.writing.sentences import in_sentences


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        # What shows something, whatever it is.
        ("Upper GI series showing a tube in the stomach.", "Upper GI series shows a tube in the stomach."),
        ("Arrow showing clots. Arrows showing air.", "Arrow shows clots. Arrows show air."),
        ("EUS (ultrasound from inside) showing mass.", "An EUS (ultrasound from inside) shows a mass."),
        ("Ultrasound of the arm which showed a clot.", "An ultrasound of the arm shows a clot."),
        ("CT scan 6 months after surgery shows a clot.", "A CT scan 6 months after surgery shows a clot."),
        ("CT scan obtained after surgery shows a clot.", "A CT scan obtained after surgery shows a clot."),
        ("CT scan: small stone in the kidney.", "A CT scan shows a small stone in the kidney."),
        ("(a) CT scan showing clots.", "(a) A CT scan shows clots."),
        ("Case 2: chest X-ray of a boy: showing clots.", "Case 2: A chest X-ray of a boy shows clots."),
        ("Case two: plain X-ray showing clots.", "Case two: A plain X-ray shows clots."),
        ("Chest X-ray Displaying a Clot.", "A chest X-ray shows a Clot."),
        ("Standing X-ray of the leg shows a clot.", "A standing X-ray of the leg shows a clot."),
        ("Old bullet, missed on the chest X-ray.", "Old bullet, missed on the chest X-ray."),
        ("Fracture not visible on the first X-ray.", "Fracture not visible on the first X-ray."),
        ("Lump in the liver, barely visible on a CT scan.", "Lump in the liver, barely visible on a CT scan."),
        ("A lump, darker-looking on a CT scan.", "A lump, darker-looking on a CT scan."),
        ("CT scan: fracture ruled out.", "CT scan: fracture ruled out."),
        ("CT scan not showing any fracture.", "CT scan not showing any fracture."),
        ("CT scan suggesting but not confirming tumor.", "CT scan suggesting but not confirming tumor."),
        ("Cyst of the leg, dark on CT scan with swelling.", "Cyst of the leg, dark on CT scan with swelling."),
        # What a finding suggests, behind a colon, the picture does not.
        ("Bone scan with dye: spots suggesting cancer.", "A bone scan with dye shows spots suggesting cancer."),
        ("CT scan with contrast dye: large mass.", "A CT scan with contrast dye shows a large mass."),
        # The title of a picture; a finding that is told before the picture which shows it.
        ("CT appearance of a burst lung.", "The image shows the CT appearance of a burst lung."),
        ("Example of a cyst.", "This is an example of a cyst."),
        ("The example of a cyst.", "This is the example of a cyst."),
        ("Old bullet seen on the chest X-ray.", "The chest X-ray shows an old bullet."),
        ("Presence of a clot on ultrasound of the leg.", "An ultrasound of the leg shows the presence of a clot."),
        ("Elongated bone of the skull.", "The image shows an elongated bone of the skull."),
        ("Cone-beam CT front-view section.", "This is a cone-beam CT front-view section."),
        ("Side view showing segmentations along a bone.", "A side view shows segmentations along a bone."),
        # A part of the body, and what has no name that is listed.
        ("Left kidney with a clot.", "The image shows left kidney with a clot."),
        ("The complete blockage of the tube.", "The image shows the complete blockage of the tube."),
        ("Clearly outlined dark lumps.", "The image shows clearly outlined dark lumps."),
        ("Acute denervation in the front part.", "The image shows acute denervation in the front part."),
        ("Fracture at the end of the plate.", "The image shows a fracture at the end of the plate."),
        ("Enlarged vein (CT scan).", "The image shows an enlarged vein (CT scan)."),
        ("Twisting (torsion) of the bowel.", "The image shows twisting (torsion) of the bowel."),
        ("Patient with a cough.", "The image shows a patient with a cough."),
        ("A 44-year-old-man with a cyst.", "The patient is a 44-year-old-man with a cyst."),
        # Longer names of pictures, and other ways to say that they show something.
        ("CT blood vessel scan of the neck.", "This is a CT blood vessel scan of the neck."),
        ("Chest X-ray – large mass in the lung.", "A chest X-ray shows a large mass in the lung."),
        ("Chest X-ray outlining the mass.", "A chest X-ray outlines the mass."),
        ("Cross-section of the neck showing a clot.", "A cross-section of the neck shows a clot."),
        # How large it is, and how an organ looks.
        ("CT showing 4.5 cm mass.", "A CT shows a 4.5 cm mass."),
        ("CT showing enlarged left kidney.", "A CT shows an enlarged left kidney."),
        ("CT showing small bowel on the bladder.", "A CT shows small bowel on the bladder."),
        # A picture that was made at some time.
        ("Chest X-ray taken after 6 months.", "This is a chest X-ray taken after 6 months."),
        ("Chest X-ray of a patient in case 2.", "This is a chest X-ray of a patient in case 2."),
        ("Patient's chest X-ray after surgery.", "Patient's chest X-ray after surgery."),
        ("25-year-old patient with a cough.", "This is a 25-year-old patient with a cough."),
        # Things that can be counted, and what is not the thing.
        ("CT showing air-and-fluid line.", "A CT shows an air-and-fluid line."),
        ("CT showing lymph node swelling.", "A CT shows lymph node swelling."),
        ("CT showing same tumour.", "A CT shows same tumour."),
        ("Chest X-ray day 1 after surgery.", "This is a chest X-ray day 1 after surgery."),
        # A finding behind the picture, or another finding.
        (
            "CT scan of the belly. Large mass in the liver.",
            "This is a CT scan of the belly. It shows a large mass in the liver.",
        ),
        (
            "CT scan of the belly. Thickening (growing) of the wall.",
            "This is a CT scan of the belly. It shows thickening (growing) of the wall.",
        ),
        ("Clot in a vein. CT scan of the neck.", "The image shows a clot in a vein. This is a CT scan of the neck."),
        ("Case 2. A 29-year-old man with pain.", "Case 2. The patient is a 29-year-old man with pain."),
        ("He fell. Left knee fracture with swelling.", "He fell. The image shows a left knee fracture with swelling."),
        ("18-year-old man with pain.", "The patient is an 18-year-old man with pain."),
        ("Ten weeks after surgery, X-ray showing a scar.", "Ten weeks after surgery, an X-ray shows a scar."),
        ("Six months later, CT scans showing a scar.", "Six months later, CT scans show a scar."),
        ("At the end, front-view X-ray showed a scar.", "At the end, a front-view X-ray showed a scar."),
        (
            "Lymphoscintigram (scan of the lymph vessels) in a woman: swelling of the left leg.",
            "A lymphoscintigram (scan of the lymph vessels) in a woman shows swelling of the left leg.",
        ),
        ("Severe AS, bicuspid valve with fusion.", "The image shows severe AS, bicuspid valve with fusion."),
    ],
)
def test_a_fragment_becomes_a_sentence(caption: str, said: str) -> None:
    assert in_sentences(caption) == said


@pytest.mark.parametrize(
    "caption",
    [
        "A CT scan shows a cyst. Fluid collects around it.",  # a verb that a noun could be
        "A CT scan shows a cyst. History of stones.",
        "A CT scan shows a cyst. No treatment.",
        "A CT scan shows a cyst. Image of the kidney with permission from the hospital.",
        "A CT scan shows a cyst. KUB, kidney and bladder.",
        "A CT scan shows a cyst. The mass in the liver brightens with dye.",
        "Standard deviation of the map.",
        "US (ultrasound) of the neck.",
        "A CT scan shows a cyst. Stones seen in the duct.",
        "A CT scan shows a cyst. SWL = breaking up of stones.",
        "A CT scan shows a cyst. White arrow, stones of the duct.",
        "30-year-old man underwent surgery.",
        "Case 2.",
        "After an example of treatment with a course of radiation.",
        "Enlarged by a cyst.",
        "Obtaining a midline image is important.",
        "CT scan: A, stone; B, cyst.",
        "Lung windows (settings that show lung) after surgery were used.",
        "The final blood vessel scan underlines the correction.",
        "A bright tail and the swelling of the mass favor a tumor.",
        "Fournier gangrene with gas in the scrotum.",
    ],
)
def test_what_may_be_none_stays(caption: str) -> None:
    assert in_sentences(caption) == caption


def test_letters_that_begin_with_e_take_an() -> None:
    assert (indefinite("EUS"), indefinite("European"), indefinite("11 mm"), indefinite("110 mm")) == (
        "an",
        "a",
        "an",
        "a",
    )
