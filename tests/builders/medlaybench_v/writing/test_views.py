"""Names of pictures, what stands behind its noun, and fragments as sentences."""

from __future__ import annotations

import csv
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.words.reads_well import plain_words, reading_of, unexplained_words
from builders.medlaybench_v.writing.sentences import in_sentences
from builders.medlaybench_v.writing.views import pictures
from tests.parts.places import ROOT, shared_data
from tests.parts.rule_captions import bundled, lay


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Contrast-enhanced axial and coronal CT images", "cross-section and front-view CT images with contrast dye"),
        ("Postoperative panoramic radiograph", "wide dental X-ray after surgery"),
        ("AP chest X-ray", "front-to-back chest X-ray"),
        ("Sagittal T2-weighted MRI", "T2-weighted side-view MRI scan"),
        ("MRI sagittal view", "side-view MRI scan"),
        ("Non-contrast CT head", "CT scan of the head without contrast dye"),
        ("magnetic resonance imaging", "MRI scan"),
        ("X-ray skull", "X-ray of the skull"),
        ("MRI lumbar spine", "MRI scan of the lower-back spine"),
        ("CT angiography", None),
        ("CT-guided biopsy", None),
        # Two that are joined beside a third: nothing of it is lost.
        ("Frontal lateral and oblique chest X-rays", None),
        ("Axial coronal and sagittal CT", None),
        ("Initial follow-up and repeat CT", None),
        ("PET/CT", None),
        ("Mr. X. Ray", None),
    ],
)
def test_a_name_of_a_picture_is_unfolded(text: str, said: str | None) -> None:
    assert [picture.lay for picture in pictures(text)] == ([said] if said else [])


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("CT showing a subcutaneous abscess.", "A CT scan shows a pocket of pus in the tissue under the skin."),
        ("Bilateral pleural effusion.", "The image shows fluid build-up around both lungs."),
        ("The nodules were bilateral.", "The lumps were on both sides."),
        ("Lateral cervical spine radiograph.", "This is a side-view neck spine X-ray."),
        ("Thoracic spine MRI.", "This is a chest-level spine MRI scan."),
        ("MRI pelvis - a cyst of the ovary.", "An MRI scan of the pelvis shows a cyst of the ovary."),
        # A part of a longer name is left alone.
        ("Femoral nerve and Baker cyst", "The image shows thigh nerve and Baker cyst (fluid pocket behind the knee)."),
        (
            "MRI of the axial skeleton and the coronal suture.",
            "This is an MRI scan of the axial skeleton and the coronal suture.",
        ),
        ("Inguinal canal, umbilical cord", "Groin canal, umbilical cord."),
        # Behind the name of a picture come its place and its time; a name before a colon is no key.
        ("Follow-up CT head three weeks later.", "This is a follow-up CT scan of the head three weeks later."),
        ("ERCP: stricture of the duct.", "ERCP (scope-guided imaging of the bile ducts): narrowing of the duct."),
        ("Portal vein venogram.", "This is a portal vein scan (venogram)."),
        (
            "Gastroscopy: Forrest Ib ulcer.",
            "Stomach scope examination (gastroscopy): Forrest Ib ulcer.",
        ),
        ("CT shows target sign.", "A CT scan shows a target sign."),
        (
            "A rim-enhancing mass narrowing the airway.",
            "The image shows a rim-enhancing mass (brightening at the edge with contrast dye) narrowing the airway.",
        ),
        (
            "Wide filling defects at MRCP.",
            "An MRI scan of the bile and pancreas ducts shows wide filling defects.",
        ),
        # One explanation, at the first mention.
        (
            "Its portal vein is wide. The portal vein is open.",
            "Its portal vein (supply vein of the liver) is wide. The portal vein is open.",
        ),
        (
            "CT of gastric and duodenal tissue.",
            "This is a CT scan of gastric (stomach) and duodenal (upper small bowel) tissue.",
        ),
        ("CT shows an umbilical artery", "A CT scan shows an umbilical artery (of the cord)."),
        ("CT with a contrast enhancing agent.", "This is a CT scan with a contrast dye."),
        ("The MRI scanner and the CT number are new.", "The MRI scanner and the CT number are new."),
        # Adverbs and joined nouns keep their place.
        ("CT shows subcutaneous fat and muscle.", "A CT scan shows fat under the skin and muscle."),
        ("Cardiac or arterial failure.", "The image shows heart or artery failure."),
        ("It was demonstrated; CT demonstrated it.", "It was shown; CT scan showed it."),
    ],
)
def test_what_the_rules_write(caption: str, said: str) -> None:
    assert lay(caption) == said


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("Lateral X-ray of the wrist showing a fragment.", "A lateral X-ray of the wrist shows a fragment."),
        ("Two CT scans showing stones.", "Two CT scans show stones."),
        ("Case 2. Side view showing a stone. It is old.", "Case 2. A side view shows a stone. It is old."),
        ("Case 2. CT scan shows a stone.", "Case 2. A CT scan shows a stone."),
        ("Ten days old. T-tube X-ray showing a stone.", "Ten days old. A T-tube X-ray shows a stone."),
        ("An X-ray confirms stones showing growth.", "An X-ray confirms stones showing growth."),
        ("In-mouth X-ray showing decay.", "An in-mouth X-ray shows decay."),
        ("Three-dimensional reconstruction of the knee.", "This is a three-dimensional reconstruction of the knee."),
        ("Aortic angiography showing a tear.", "Aortic angiography shows a tear."),
        ("Photo of the eye showing a tear.", "A photo of the eye shows a tear."),
        # What explains may hold a verb.
        (
            "X-ray of a malformation (part that formed wrongly).",
            "This is an X-ray of a malformation (part that formed wrongly).",
        ),
        ("A scan performed in May and showing a stone.", "A scan performed in May and showing a stone."),
        ("MRI showing that the cyst grew.", "An MRI shows that the cyst grew."),
        # A comma that closes what another opened stays; one behind a list goes.
        ("CT scan of the chest, side view, showing a stone.", "A CT scan of the chest, side view, shows a stone."),
        ("CT scan of the chest, belly and pelvis, showing it.", "A CT scan of the chest, belly and pelvis shows it."),
        (
            "X-ray (A), CT scan (B), and bone scan (C) showing it.",
            "An X-ray (A), CT scan (B), and bone scan (C) show it.",
        ),
        # The picture is no subject where something is on it.
        (
            "In the scan, a mass filled the sinus, showing holes.",
            "In the scan, a mass filled the sinus, showing holes.",
        ),
        ("Cannot exclude a break.", "Cannot exclude a break."),
        (
            "Impression: 1. Large heart. 2. Mild swelling of a node.",
            "Impression: 1. Large heart. 2. Mild swelling of a node.",
        ),
        ("The arrow marks a stone.", "The arrow marks a stone."),
        ("Swelling of the knee.", "The image shows swelling of the knee."),
        ("X-ray", "This is an X-ray"),
        ("X-ray landmarks of the hip", "X-ray landmarks of the hip"),
        ("8 months postoperative X-ray showing union.", "8 months postoperative X-ray shows union."),
        # A name keeps its capital, and its fragment stays.
        ("Morton neuroma (nerve lump) in the foot.", "Morton neuroma (nerve lump) in the foot."),
        ("Charcot knee with a break.", "Charcot knee with a break."),
        ("Impella device in the aorta.", "Impella device in the aorta."),
        ("Chance fracture of L2. Smith fracture.", "Chance fracture of L2. Smith fracture."),
        # A person, a time and a verb are no thing that a picture shows.
        ("Matthew Hopkins, finder of stones.", "Matthew Hopkins, finder of stones."),
        ("Nine years after a tear.", "Nine years after a tear."),
        ("Ultrasound image highlights the cysts.", "Ultrasound image highlights the cysts."),
    ],
)
def test_fragments(caption: str, said: str) -> None:
    assert in_sentences(caption) == said


def test_no_chain_of_more_than_two_hyphens_is_written() -> None:
    written = {lay for _, lay in bundled().pairs}
    assert [said for said in sorted(written) if any(word.count("-") > 2 for word in said.split())] == []


def test_how_a_caption_reads() -> None:
    assert len(plain_words()) > 5_000 and {"lungs", "seen", "swelling", "is"} <= plain_words()
    assert unexplained_words("The hilum (root of the lung) is dense; the omentum (arrow).") == ("omentum",)
    assert reading_of("A CT with contrast contrast.").repeats == 1
    assert reading_of("An out-of-the-way thing.").hyphens == 1
    assert reading_of("Left upper lobe lung cancer tissue mass edge.").stacks == 1
    assert reading_of("This is an X-ray of the hand.").score == 1.0
    # Five words in a row are no stack, and a word far off, short, or in another sentence is not said twice.
    assert reading_of("Upper lobe lung cancer tissue.").stacks == 0
    assert reading_of("The lung near the small lung.").repeats == 1
    assert reading_of("The lung near the small left lung.").repeats == 0
    assert reading_of("A lung. The lung; no ox, no ox.").repeats == 0
    # A stumbling block costs half a point per ten words, an unexplained word half of that, and few words count as ten.
    assert reading_of("A lung lung.").score == 0.5
    assert reading_of("Left upper lobe lung cancer tissue mass edge.").score == 0.5
    assert reading_of("The hilum is dense.").score == 0.75
    assert unexplained_words("A bulge (weak spot; arrow) of the hilum (root of it; arrow); a lung-lining line.") == ()


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("Postcontrast T1-weighted images", "These are T1-weighted images after contrast dye."),
        ("A preoperative T1 image is shown.", "A T1 image before surgery is shown."),
        (
            "Fractures of bilateral C3 pedicles.",
            "The image shows fractures of C3 pedicles (bony bridges of a spine bone) on both sides.",
        ),
        ("Ultrasound showing a cyst.", "An ultrasound shows a cyst."),
        ("Axial slices of the neck.", "These are cross-sections of the neck."),
        ("PET/CT scan showing uptake.", "A PET/CT scan shows uptake (taking up of the tracer)."),
        ("April 2013 PET/CT scan showing a cyst.", "An April 2013 PET/CT scan shows a cyst."),
        ("10/30/14 head CT scan showing a cyst.", "10/30/14 head CT scan shows a cyst."),
        ("Abscess following catheter test.", "The image shows a pocket of pus following catheter test."),
        ("X-ray abdomen on admission.", "This is an X-ray of the belly on arrival at the hospital."),
        ("Contrast‐enhanced CT‐scan of it.", "Contrast‐enhanced (with contrast dye) CT scan of it."),
        ("Drug‐eluting stent in a vein.", "The image shows a drug-releasing support tube (stent) in a vein."),
        ("The catheter is in place.", "The catheter (thin tube) is in place."),
        ("A pseudoaneurysm (arrow) is seen.", "A pseudoaneurysm (walled-off leak; arrow) is seen."),
        (
            "The internal jugular vein (IJV) is wide.",
            "The internal jugular vein (IJV, in the neck) is wide.",
        ),
        ("The fetal head is seen.", "The unborn baby's head is seen."),
        ("Dilated intestinal loops are seen.", "Widened bowel loops are seen."),
        (
            "The left coronary artery tree is open.",
            "The left coronary artery (of the heart) tree is open.",
        ),
        ("A gastric perforation is seen.", "A hole in the stomach is seen."),
        ("(A) Edema. (B) Fracture of the knee.", "(A) Swelling. (B) Fracture of the knee."),
        ("Chest CT with PE.", "This is a chest CT scan with PE (blood clot in the lung)."),
        ("Carcinoma rectum.", "The image shows cancer of the rectum."),
        ("MRI on postoperative day 10.", "This is an MRI scan on day 10 after surgery."),
        ("3D CT showing a stone.", "A 3D CT scan shows a stone."),
        ("Subcutaneous abscess grade 3.", "The image shows subcutaneous (under the skin) abscess grade 3."),
        ("Subcutaneous abscess stage 3 is seen.", "Subcutaneous (under the skin) abscess stage 3 is seen."),
        ("A subcutaneous mass like lesion.", "A subcutaneous (under the skin) mass like lesion."),
        ("C3 fracture", "The image shows a C3 fracture."),
        ("A calcified wedge shaped mass.", "A calcified (with calcium build-up) wedge shaped mass."),
        (
            "CT also demonstrated a cyst; it was clearly demonstrated.",
            "CT scan also showed a cyst; it was clearly shown.",
        ),
    ],
)
def test_a_word_is_taken_whole_or_left(caption: str, said: str) -> None:
    assert lay(caption) == said


def _figures(text: str) -> set[str]:
    """Every word with a figure in it, as it is written but for its kind of hyphen."""
    return set(re.findall(r"[\w-]*\d[\w-]*", text.replace("\u2010", "-")))


@example(text="3D preoperative 3D preoperative")
@given(
    st.lists(
        st.sampled_from(
            "preoperative Postoperative bilateral well-defined subcutaneous postcontrast contrast-enhanced axial 3D T1 "
            "T2-weighted L4-5 C3 5-FU 3.5 cm 1.5T IL-6 18F-FDG image CT MRI scan lesion day 3 of and with , . (".split()
        ),
        max_size=9,
    ).map(" ".join)
)
def test_words_with_figures_stand_in_any_draft(text: str) -> None:
    assert _figures(text) <= _figures(bundled().draft(read(text), bundled().match(read(text))).text), text
    assert _figures(text) <= _figures(lay(text)), text


def test_words_with_figures_stand_in_the_drafts_of_real_captions() -> None:
    with (ROOT / "builders/samples/medlaybench_v/captions.csv").open(encoding="utf-8") as file:
        sample = [row["caption"] for row in csv.DictReader(file)]
    with shared_data("text/roco_test.csv").open(encoding="utf-8") as file:
        captions = [row["caption"] for row in csv.DictReader(file)]
    for text in (*sample, *captions):
        caption = read(text)
        assert _figures(text) <= _figures(bundled().draft(caption, bundled().match(caption)).text), text


@pytest.mark.parametrize(
    "words", ["T1 weighted", "T2-weighted", "follow-up", "initial", "non contrast", "iv contrast enhanced", "3D", "and"]
)
def test_the_name_of_a_picture_is_read_from_its_first_word(words: str) -> None:
    text = f"Note: (axial {words}  sagittal computed tomography (CT) images."
    found = next(pictures(text))
    assert text[found.start : found.end].startswith("axial") and text[: found.end].endswith("images")
