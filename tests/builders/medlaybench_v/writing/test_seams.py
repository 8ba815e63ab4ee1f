"""What is mended where plain words meet what stands beside them, and what is left alone."""

from __future__ import annotations

import pytest

from builders.medlaybench_v.writing.grammar import tidy
from tests.parts.rule_captions import lay


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        # No word twice across a short joint.
        ("The probe lies at the tip of the cardiac apex.", "tip of the heart apex (tip)"),
        ("Uptake in the area of the lesion.", "area of the lesion (abnormal area)"),
        ("The cyst is ovoid in shape.", "cyst is egg-shaped."),
        ("A cyst with lobulated margins is seen.", "with lumpy margins"),
        ("An exophytic growth is seen.", "An outward growth"),
        ("Injection of contrast medium into the joint.", "injection of contrast dye into the joint"),
        # A place is told once.
        ("A renal lesion within the lower pole of the kidney.", "an abnormal area within the lower pole of the kidney"),
        ("Uptake of tracer in the rib.", "uptake of tracer (radioactive marker)"),
        ("A renal lesion and a stone of the kidney.", "an abnormal area in the kidney and a stone"),
        # A verb follows the number of what is said for its subject.
        ("The vasculature is blurred.", "The blood vessels are blurred"),
        ("Bile ducts and the vasculature is blurred.", "blood vessels are blurred"),
        ("The size of the vasculature is normal.", "blood vessels is normal"),
        # What tells when or where stands behind the verb.
        ("The mass was preoperatively misdiagnosed as a cyst.", "was misdiagnosed before surgery as"),
        ("The mass was pathologically classified as benign.", "was classified in the laboratory as"),
        ("The needles are percutaneously inserted into the liver.", "are inserted through the skin into"),
        ("These findings were highly suggestive of a tumor.", "findings strongly suggested a tumor"),
        ("The result is suggestive of a tumor.", "result suggests a tumor"),
        # One patient, one article, one adjective.
        ("The patient in supine position is calm.", "The patient lying on the back"),
        ("Enlarged nodes and perforation of the colon.", "and a hole in the colon"),
        ("Signs of gastroduodenal perforation are seen.", "Signs of a gastroduodenal hole"),
        ("Barium esophagogram showing a stricture.", "A food-pipe X-ray with barium shows"),
        ("Spread into the overlying abdominal wall.", "into the overlying belly wall"),
        ("The film did not show any fracture.", "did not show any"),
        ("Cysts demonstrated within the spleen.", "shown within the spleen"),
        ("A paucity of gas is seen.", "Very little gas"),
        ("It grew without a mass effect.", "without pressure on nearby parts"),
        # What builds up, builds up in a thing; a picture has dye, what it shows brightens.
        ("Calcification of the ligament is seen.", "Calcium build-up in the ligament"),
        ("Note the anterior dislocation of the elbow.", "forward dislocation of the elbow"),
        ("Intermittent pain is felt by the patient.", "On-and-off pain"),
        ("A diffusely enlarged pancreas is seen.", "widely enlarged pancreas"),
        ("One of three metastases to the brain is old.", "three areas of cancer spread to the brain"),
        ("A moderate amount of abdominal, and pelvic fluid.", "amount of belly, and"),
        ("Gadolinium–enhanced axial CT of the knee.", "CT scan of the knee with gadolinium contrast dye"),
        # A degree is one of how a thing is, a size one of how much there is.
        ("Severe aortic stenosis is seen.", "Severely narrowed outlet valve of the heart"),
        ("There is a moderate to severe mitral regurgitation.", "a moderately to severely leaky heart valve"),
        ("Large pneumoperitoneum and a small joint effusion.", "large amount of free air"),
        ("There is a small joint effusion.", "a small amount of fluid in the joint"),
        ("There are small bilateral pleural effusions.", "There are small amounts of fluid around both lungs"),
        ("Small joint effusion is seen.", "A small amount of fluid in the joint"),
        # Other spellings of one name.
        ("Grade III intraventricular haemorrhage.", "haemorrhage (bleeding in the brain's fluid chambers)"),
        ("Signs of vasogenic oedema.", "swelling from leaky blood vessels"),
        # Letters that are told, a key that lost its stop, and the arrow of what is shown.
        ("A digital subtraction angiography (DSA) image.", "digital blood vessel image (DSA)"),
        ("Left lateral decubitus film showing air.", "Film with the patient lying on the left side shows air."),
        ("The patient was placed in right lateral decubitus.", "was placed lying on the right side."),
        ("Axial (a), coronal (b) and sagittal (c) CT.", "Cross-section (a), front-view (b) and side-view (c) CT"),
        ("(A, B) Axial CT of the neck.", "(A, B) Cross-section CT"),
        ("a, b: Coronal CT before and after surgery.", "a, b: Front-view CT"),
        ("Angiograms of the left kidney.", "blood vessel scans (angiograms)"),
        ("The cerebellar tonsils lie 11 mm below it.", "tonsils (of the lower rear brain) lie 11 mm"),
        ("A repeat CT shows mesenteric venous gas.", "shows gas in the bowel veins."),
        ("Nasal bone fracture with depression.", "shows a nose bone fracture with"),
        # What a key explains is not explained within that.
        ("The LPV is open. LPV, left portal vein.", "The LPV (left portal vein) is open."),
        # A verb in plain words is joined to no noun.
        ("CT demonstrating pneumobilia.", "shows air in the bile ducts."),
    ],
)
def test_plain_words_fit_their_neighbours(caption: str, said: str) -> None:
    assert said in lay(caption), lay(caption)


@pytest.mark.parametrize(
    ("caption", "said", "never"),
    [
        # How a thing is, is said neither behind a noun nor before one.
        ("Severe bowel ischemia is seen.", "reduced blood supply to the bowel", "bowel reduced"),
        ("Severe ischemia is seen.", "reduced blood supply", "ischemia"),
        ("The bladder lumen is wide.", "inside of the bladder", "bladder inner"),
        ("A cutaneous fistula is seen.", "abnormal passage to the skin", "skin abnormal"),
        ("The tube malposition case is shown.", "malposition", "wrong position"),
        ("The fistula walls are thick.", "fistula walls", "abnormal passage"),
        ("Diverticulitis perforation is seen.", "ole in the inflamed colon pouches", "diverticulitis hole"),
        ("The consolidation extends to the hilum.", "dense patch extends", "consolidation"),
        # Half a word hangs on the other half.
        ("The pre- and postoperative films differ.", "pre- and postoperative", "after surgery"),
        ("Subarachnoid and intraventricular hemorrhage.", "and intraventricular", "and bleeding in"),
        ("The film was taken 6 months post operative.", "6 months", "months film"),
        ("Conical distally tapering bones.", "distally tapering", "farther along"),
        # A verb is no part of a name, nor is an arrow.
        ("The endothelial cell breaks the chain.", "breaks the chain", "breaks ("),
        ("The interatrial septum bulges into the atrium.", "heart chambers) bulges into", "bulges ("),
        # All directions of a list, or none.
        ("The anterior and posterior walls are thick.", "The front and rear walls", "anterior"),
        ("The posterior, medial, and anterior walls are thick.", "The rear, inner, and front walls", "medial"),
        # One word in a bracket parts no noun from its adjective; "poor" stands where "suboptimal" stood.
        ("A mucinous tumor is seen.", "mucinous (mucus-making) tumor", "tumor ("),
        ("A suboptimal pattern is seen.", "poor pattern", "pattern poor"),
    ],
)
def test_what_would_not_fit_is_kept(caption: str, said: str, never: str) -> None:
    told = lay(caption)
    assert said in told and never not in told, told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a CT scan scan of the head", "A CT scan of the head."),
        ("a CT scan with contrast dye scanning of it", "A CT scan with contrast dye of it."),
        ("a CT scan without contrast dye scan-axial view", "A CT scan without contrast dye, axial view."),
        ("an MRI scan of the brain (T2w image) scan shows it", "An MRI scan of the brain (T2w image) shows it."),
        ("an X-ray of the pelvisA CT scan shows it", "An X-ray of the pelvis. A CT scan shows it."),
    ],
)
def test_tidy_says_a_scan_once(text: str, expected: str) -> None:
    assert tidy(text) == expected
