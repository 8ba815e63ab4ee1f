"""Each gate on sentences that one can judge by eye, and none on a faithful rewrite."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.facts.outcome import Outcome
from builders.medlaybench_v.gates import GATES, STYLE, Context, check


def failures(expert: str, lay: str, context: Context | None = None) -> dict[str, str]:
    return {v.gate: v.reason for v in check(read(expert), read(lay), context or Context()) if not v.passed}


FAITHFUL = [
    (
        "Thoracic CT scan showing perihilar lymphadenomegaly.",
        "The chest CT scan shows enlarged lymph nodes near the center of the lungs.",
    ),
    ("Axial MRI shows two lesions of 5 mm (white arrows).", "A cross-section MRI: 2 spots of 5 mm (white arrows)."),
    ("No evidence of pleural effusion on the left.", "There is no fluid around the lung on the left."),
    ("Bilateral renal cysts on US.", "Ultrasound shows cysts in both kidneys."),
    ("CT of a patient with a stone, left.", "CT of a patient with a stone on the left."),
    ("CT: a cyst that is simple, left (arrow).", "CT: a simple cyst on the left (arrow)."),
    ("X-ray: unilateral slip of the hip.", "X-ray of both hips: a slip of one hip."),
    ("MRI: the scar of a previous section.", "MRI: the scar that an earlier section left."),
    ("Left and right ovaries are enlarged.", "Both ovaries are enlarged."),
    ("Follow-up on the 33rd day of treatment.", "A check-up on day 33 of the treatment."),
    ("Type II fracture of the 3rd metacarpal.", "A type 2 break of the third hand bone."),
    ("Angiogram without contrast leak or clot.", "The blood vessel scan shows no contrast leak and no clot."),
    ("Chest radiograph (arrowhead).", "Chest X-ray (arrow)."),
    ("MRI: a syrinx from C3 to T1.", "MRI: a hollow in the cord from C3 down to the first chest vertebra."),
    ("CT of a normal appendix.", "CT of the appendix, the worm-shaped tail of the bowel, which is fine."),
    ("CT of a cyst (asterisk).", "CT of a cyst, marked with the star-shaped sign."),
    ("Angiogram: 75% stenosis.", "A picture of vessels: a quarter of the normal width of the artery is left."),
    ("CT. Intravenous contrast material was not administered.", "CT. No dye was put into a vein."),
    ("CT of a stone after IV antibiotics.", "CT of a stone after drugs against germs through a vein."),
    ("Axial T2*-weighted MRI of a bleed.", "A cross-section MRI, T2-star, of a bleed."),
    ("Left ventricular volume of 260 mL.", "The main pumping chamber of the heart holds 260 mL."),
    ("Biopsy was obviated.", "The doctors did not need to take a sample."),
    ("MRI of a likely cancer.", "MRI: a clearly darker spot, which should be a cancer."),
    ("CT: left kidney stone, right normal.", "CT: the right kidney is normal, the left one holds a stone."),
    ("Cyst larger on the left than on the right.", "The cyst on the right is smaller than that on the left."),
    ("Sagittal MRI: clot in a vein (no. 3).", "MRI seen from the side: a clot in a vein (no. 3)."),
    (
        "CT before surgery: two stones.",
        "The CT shows two stones. It was made before the operation, three hours earlier.",
    ),
    ("X-ray 2 days after a tap.", "Two days before this X-ray was taken, there was a tap."),
    ("MRI without gadolinium: a 3 cm cyst.", "Gadolinium wasn't used for this MRI. It shows a 3 cm cyst."),
    ("US of a fetus at 20 weeks.", "Ultrasound halfway through the 40 weeks of a pregnancy."),
    ("A 40-year-old woman, well. X-ray of the arm.", "She felt fine. On an X-ray, her arm, at 40 years."),
    ("MRI: a clot (red arrow).", "MRI: a clot at the arrow that has the colour of blood."),
    ("CT of a clot.", "The X-ray scanner that makes slices found a clot."),
    ("MRI of a clot.", "The magnet scanner found a clot."),
    ("CT: no mass at the cardia.", "CT: there is no lump at the entrance to the stomach."),
    ("CT: air under the diaphragm, lower lobe clear.", "CT: air on top of the liver. The lower lobe is clear."),
    ("CT: hypo dense spot in the lobe.", "CT: a darker spot in the lobe."),
    ("CT: a clot (black arrow head).", "CT: a clot (black arrowhead)."),
    (
        "An oval mass is shown at the right upper quadrant on the anteroposterior fluoroscopic view (arrow).",
        "An oval mass is shown at the right upper belly on the front-to-back view of live X-ray (arrow).",
    ),
    ("MRI: the optic chiasm could be seen.", "MRI: the crossing of the optic nerves, on the other hand, was seen."),
    ("MR angiogram without gadolinium.", "MRI of vessels. Gadolinium dye was not part of this scan."),
    ("Sagittal T2-weighted MRI of the womb.", "A side-view MRI of the womb, of T2 type."),
    ("Five nodules per lobe, each smaller than 1 cm.", "Every lobe holds five spots, none of which reaches 10 mm."),
    ("Disappearance of gastric and liver masses.", "Disappearance of gastric (stomach) and liver masses."),
    ("MRI without contrast in a boy with a stone.", "MRI of a boy without contrast dye. The boy has a stone."),
    ("MRI of atrophy: a sign not specific for atrophy.", "MRI of shrinkage: a sign that fits with it, but not alone."),
    ("A child with pain shows absent flow.", "A child has pain. There is no flow."),
    ("MRI: a needle (arrow).", "MRI: the needle on its way is picked out by the arrow."),
    ("CT of a liver in a man of 50.", "This CT slice of the liver comes from a man of 50."),
    ("CT: a dark cyst. Another one lay more caudally.", "CT: a cyst darker than the rest. Another one lay lower down."),
    ("MRI of a carcinoma with nonmass enhancement.", "MRI of a cancer that lights up without forming a lump."),
    ("PET: uptake in the spleen is lower than in the liver.", "PET: the spleen glows; the liver glows more."),
    ("Mammograms of both breasts: a cyst in the left one.", "X-rays: the right breast holds none, the other a cyst."),
    ("MRI: muscle edema, which had disappeared later.", "MRI: a swollen muscle. Later it was back to normal."),
    ("CT of the liver: a unilocular cyst.", "CT of the liver: a cyst with a single chamber."),
    ("CT: mass (large arrow) and tubes (small arrows).", "CT: a mass (large arrow) and tubes (small arrows)."),
    ("CT (a) of a tumor, MRI (b) of a cyst.", "In a, a tumour on CT; in b, a cyst on MRI."),
    ("Stenosis of the right coronary artery.", "The right-hand artery of the heart is narrow."),
    ("US: catheter (white arrow), vein (black arrow).", "Ultrasound: a tube (pale arrow) and a vein (dark arrow)."),
    ("MRI: the cyst is no longer visible.", "MRI: the cyst is not seen any more."),
    (
        "CT after right nephrectomy: the left kidney is large.",
        "CT: the right kidney was taken out, and its remaining twin is large.",
    ),
    ("Dual-energy CT of gout.", "Gout. The toe was looked at with X-rays of two different strengths in a scanner."),
    (
        "MRI after oral contrast but without intravenous gadolinium.",
        "MRI. The patient drank contrast; none was injected.",
    ),
    ("Pie chart of 40 scores.", "The circle shows 40 scores."),
    ("Coronal T2 MRI of the wrist.", "Frontal MRI of the wrist (T2)."),
    ("MRI of a parasagittal meningioma.", "MRI of a meningioma beside the midline."),
    ("PET: nodes with uptake, no uptake below the liver.", "PET: nodes with uptake. Below the liver is no uptake."),
    (
        "US: a large mobile mass (star) prolapsing in diastole.",
        "US: a large mobile mass (star) slips through in diastole.",
    ),
    ("The arrow marks the non-dilated bile duct.", "The arrow is on the bile duct, which is not widened."),
    ("A and B: an enlarged right tonsil (star).", "Two pictures, A and B. In both, the right tonsil is large (star)."),
    ("PET: splenic uptake exceeding that of the liver.", "PET: the liver takes up less sugar than the spleen does."),
    ("Map: red marks arteries, blue marks veins.", "On the map the blue veins and the red arteries can be told apart."),
]


@pytest.mark.parametrize(("expert", "lay"), FAITHFUL)
def test_a_faithful_rewrite_passes_all_gates(expert: str, lay: str) -> None:
    assert failures(expert, lay) == {}


UNFAITHFUL = [
    ("numbers", "A mass of 2 cm and 10 mL of fluid.", "A mass of 2 cm and some fluid.", "lost: 10 mL"),
    ("numbers", "A 2 cm mass.", "A 2 mm mass.", "changed: 2 cm became 2 mm"),
    ("certainty", "A spot compatible with an adenoma.", "The spot rules out an adenoma.", "became “rules out”"),
    ("numbers", "A mass of the liver.", "A 3 cm mass of the liver.", "new: 3 cm"),
    ("numbers", "T2-weighted MRI of a Type 1 canal.", "An MRI of a special canal.", "lost: 1"),
    ("laterality", "Mass in the left lung.", "Mass in the lung.", "lost: left"),
    ("laterality", "Mass in the left lung.", "Mass in the right lung.", "changed: left became right"),
    ("laterality", "Left kidney stone and right lung nodule.", "Right kidney stone and left lung nodule.", "swapped:"),
    (
        "laterality",
        "Stenosis of the left renal artery; the left ureter and the right one are normal.",
        "Narrowing of the right kidney artery; the left ureter and the right one are normal.",
        "changed: left became right",
    ),
    (
        "comparison",
        "CT: a nodule in the upper lobe.",
        "CT: a spot in the lower lobe.",
        "changed: “upper” became “lower”",
    ),
    ("comparison", "CT of a large cyst.", "CT of a small cyst.", "changed: “large” became “small”"),
    (
        "comparison",
        "A dilated ureter, a thick wall.",
        "A narrowed ureter, a thick wall.",
        "“dilated” became “narrowed”",
    ),
    ("comparison", "A 60-year-old man.", "A woman 60 years old.", "changed: “man” became “woman”"),
    (
        "negation",
        "MRI showed no bullet and a clear lung.",
        "The MRI showed a bullet. The lung is clear.",
        "changed: no bullet",
    ),
    ("negation", "CT: a 3 cm mass.", "CT shows no 3 cm mass (a lump).", "mass became no mass"),
    ("comparison", "Spread to the contralateral hemisphere.", "Spread within the same half.", "became “same half”"),
    ("comparison", "MRI: a mass; ipsilateral hearing loss.", "MRI: a lump; the opposite ear is deaf.", "opposite ear"),
    (
        "modality",
        "CT showed a stone in the bladder. PET showed a mass in the liver.",
        "PET showed a stone in the bladder. CT showed a lump in the liver.",
        "swapped: CT and PET",
    ),
    (
        "markers",
        "Sagittal T2-weighted (a) and axial T1-weighted (b) MRI.",
        "MRI: from the side with T1 weighting (a), in a slice across with T2 weighting (b).",
        "swapped: letter A and letter B",
    ),
    ("invention", "CT: cysts in the liver.", "CT: cysts in the spleen.", "changed: liver became spleen"),
    ("invention", "Liver and kidney; liver cyst.", "Liver and kidney; a spleen cyst.", "changed: liver became spleen"),
    (
        "comparison",
        "Impacted third molar (arrow) and dentigerous cyst (arrowheads).",
        "A wisdom tooth is impacted (arrowheads), and there is a cyst (arrow).",
        "swapped: cyst with arrowheads and impacted with arrow",
    ),
    ("numbers", "MRI: two nodules of the ankle.", "MRI: three lumps of the ankle.", "changed: two became three"),
    ("numbers", "Its volume was reduced by one fourth.", "Its volume is reduced to a fourth.", "became to a fourth"),
    ("comparison", "A nonunion after plating.", "The break has healed after plating.", "became “break has healed”"),
    ("numbers", "CT in June 2019, 4 years after injury.", "CT in June 2016, 4 years after injury.", "2019 became 2016"),
    (
        "comparison",
        "MRI: a lesion hyperintense to muscle and isointense to fat.",
        "MRI: a lesion darker than muscle and just as bright as fat.",
        "changed: “hyperintense” became “darker”",
    ),
    (
        "comparison",
        "The left lung is smaller and more lucent than the right on CT.",
        "CT: the left lung is bigger and more lucent than the right one.",
        "changed: “smaller” became “more”",
    ),
    ("numbers", "The mean of two readings.", "The mean of three readings.", "changed: two became three"),
    ("time", "CT a week after a fall; no bleed.", "A CT a week before a fall shows no bleed.", "after became before"),
    (
        "modality",
        "Angiogram of the left kidney.",
        "Angiogram of the left kidney without dye.",
        "became without contrast",
    ),
    ("invention", "CT of a renal cyst.", "CT of a kidney cyst. The patient had a fever.", "new: "),
    ("laterality", "Bilateral effusions.", "Fluid in the chest.", "lost: both"),
    (
        "negation",
        "There is no fracture of the hip.",
        "There is a fracture of the hip.",
        "changed: no fracture became fracture",
    ),
    ("negation", "A fracture of the hip.", "There is no fracture of the hip.", "changed: fracture became no fracture"),
    ("negation", "No fracture but a hematoma.", "A fracture but no hematoma.", "swapped: no fracture and no bleeding"),
    (
        "invention",
        "CT of a renal cyst.",
        "CT of a kidney cyst, with a fracture nearby.",
        "new: “with a fracture nearby”",
    ),
    ("invention", "CT of the chest: effusion.", "CT of the pelvis: effusion.", "changed: chest became pelvis"),
    ("numbers", "CT: at least four stones.", "CT: there are four stones at most.", "changed: four became four"),
    ("numbers", "CT: a wall of up to 7 mm.", "CT: a wall of 7 mm and more.", "changed: 7 mm became 7 mm"),
    (
        "markers",
        "The asterisk lies on fat, the dotted line follows the wall.",
        "The star lies on the wall, the dotted line follows the fat.",
        "swapped: asterisk and dotted line",
    ),
    (
        "comparison",
        "Mild stenosis of the aorta and severe stenosis of the carotid artery.",
        "The aorta is severely narrowed, the carotid artery mildly.",
        "swapped: Mild and severe",
    ),
    (
        "comparison",
        "MRI of the wrist: a cyst on the radial side of the joint.",
        "MRI of the wrist: a cyst on the little finger side of the joint.",
        "changed: “radial side” became “little finger side”",
    ),
    (
        "negation",
        "Doppler sonogram of the renal graft: the vein is patent.",
        "Under colour ultrasound, which looks at blood on the move, the vein is blocked in the new kidney.",
        "changed: no obstruction became obstruction",
    ),
    (
        "comparison",
        "Cyst of the liver (arrow), and a tear of the spleen (star).",
        "A cyst of the spleen (arrow), and a tear of the liver (star).",
        "swapped: arrow with liver and star with spleen",
    ),
    (
        "numbers",
        "Echo: peak gradient of 92 mmHg, mean gradient 55 mmHg.",
        "Heart ultrasound: peak gradient of 55 mmHg, mean gradient of 92 mmHg.",
        "swapped: 55 mmHg and 92 mmHg",
    ),
    ("modality", "CT shows a cyst of the liver.", "The scan shows a cyst of the liver.", "lost: CT"),
    ("modality", "A cyst of the liver.", "MRI of a cyst of the liver.", "new: MRI"),
    ("markers", "Aneurysm (*) and clot (blue arrow).", "Aneurysm and clot (arrow).", "lost: asterisk, blue colour"),
    ("markers", "Clot in a vein.", "Clot in a vein (red arrow).", "new: arrow, red colour"),
    ("invention", "Opacity in the left lung.", "A cancer in the left lung.", "new: cancer"),
    ("person", "CT of the chest.", "CT of your chest.", "new: your"),
    ("length", "CT of a large mass in the upper part of the liver near the vein.", "CT of a mass.", "4 words for 15"),
    ("length", "Brain CT.", "A CT of the brain, which " + "very " * 40 + "well shows it.", "words for 2"),
    (
        "markers",
        "Color Doppler US: red indicates flow toward the probe.",
        "Ultrasound: blue is for flow to the probe.",
        "changed: red became blue",
    ),
    ("markers", "CT of an abscess (C).", "CT of a pocket of pus, labelled T.", "changed: letter C became letter T"),
    (
        "markers",
        "CT model: the anterior column is yellow, the posterior column purple.",
        "CT model: the rear column is yellow, the front column purple.",
        "swapped: purple colour and yellow colour",
    ),
    (
        "comparison",
        "Cancer of the cervix that invades the bladder.",
        "A cancer of the bladder grows into the neck of the womb.",
        "swapped: cervix and bladder",
    ),
    (
        "modality",
        "CT in lung window: a cavity.",
        "CT in bone window: a hollow.",
        "changed: lung window became bone window",
    ),
    ("numbers", "A cyst of 6 x 4 x 3 cm.", "A cyst of 6 by 4 by 2 cm.", "changed: 3 cm became 2 cm"),
    ("numbers", "A 12-F sheath.", "A tube 12 mm wide.", "changed: 12-F became 12 mm"),
    ("numbers", "A nodule of -20 HU.", "A lump of 20 HU.", "changed: 20 HU became 20 HU"),
    ("numbers", "Wedging of T11.", "A wedge-shaped bone, L2.", "changed: T11 became L2"),
    ("numbers", "MRI of two aneurysms.", "MRI of one aneurysm.", "changed: two became one"),
    ("negation", "The spleen is unremarkable.", "The spleen is abnormal.", "changed: normal became abnormal"),
    ("negation", "No flow in the graft.", "There is flow in the graft.", "changed: no flow became flow"),
    (
        "laterality",
        "Stones in the left kidney, none in the right.",
        "Stones in both kidneys.",
        "changed: none on the right became both",
    ),
    ("invention", "CT of a stroke.", "CT of bleeding.", "changed: stroke became bleeding"),
    ("invention", "CT of a hernia.", "CT of a hernia and a fracture.", "new: “and a fracture”"),
    (
        "certainty",
        "A probable cyst and a proven lipoma.",
        "A probable cyst and a probable lipoma.",
        "changed: confirmed became",
    ),
    (
        "modality",
        "Sagittal MRI of the brain.",
        "This MRI cuts the brain horizontally.",
        "changed: sagittal became axial",
    ),
]


@pytest.mark.parametrize(("gate", "expert", "lay", "reason"), UNFAITHFUL)
def test_a_gate_names_what_is_wrong(gate: str, expert: str, lay: str, reason: str) -> None:
    found = failures(expert, lay)
    assert reason in found[gate]


@pytest.mark.parametrize(
    ("gate", "expert", "lay", "reason"),
    [
        ("numbers", "MRI from March 2012.", "MRI from 2012.", "lost: March"),
        ("numbers", "An 8 French tube.", "A tube about 3 mm wide.", "8 French became 3 mm"),
        ("numbers", "A 5-Fr catheter.", "A tube under 2 mm wide.", "5-Fr became 2 mm"),
        ("certainty", "MRI: malignancy is unlikely.", "MRI: this is not cancer.", "lost: unlikely"),
        ("invention", "CT of a fetus.", "CT of an unborn boy.", "new: unborn boy"),
        (
            "comparison",
            "CT: an extra-axial mass.",
            "CT: a lump within the brain and inside the brain itself.",
            "extra-axial",
        ),
        ("comparison", "MRI with fat suppression.", "MRI in which fat was left in.", "became “fat was left in”"),
        (
            "negation",
            "No fracture but a hematoma.",
            "The bone is broken, with no pooling of blood beside it.",
            "no fracture became fracture",
        ),
        ("invention", "CT of the chest: effusion.", "Fluid was found by this CT of the belly.", "chest became abdomen"),
        (
            "comparison",
            "MRI: edema is conspicuous on T2 (a) and gone on T1 (b).",
            "Waterlogged bone leaps to the eye in one picture (b), while the other (a) hardly shows any of it.",
            "changed: conspicuous with a became with b",
        ),
        ("invention", "An adrenal lump on the right.", "A lump of the adrenal (gland atop the lung).", "new: lung"),
        ("invention", "Aneurysm of the basilar artery.", "A bulge on an artery of the liver.", "new: liver"),
        ("invention", "CT: a mass in the kidney.", "CT: a lump and a cyst in the kidney.", "new: cyst"),
        ("invention", "MRI with a torn meniscus.", "MRI with a torn meniscus and stones.", "new: stones"),
        ("comparison", "Stenosis of the distal ureter.", "A narrow ureter.", "lost: “distal”"),
        ("comparison", "Bony fusion was achieved.", "The bones had not grown together.", "“not grown together”"),
        (
            "negation",
            "Ultrasound shows absent end-diastolic flow.",
            "Ultrasound shows normal flow at the end of each heartbeat.",
            "changed: no flow became flow",
        ),
        (
            "numbers",
            "CT angiogram: 70% stenosis.",
            "CT of the artery: 70% of it is open.",
            "changed: 70% stenosis became 70% left",
        ),
    ],
)
def test_what_depends_on_how_a_sentence_is_read_is_doubtful(gate: str, expert: str, lay: str, reason: str) -> None:
    outcome = GATES[gate](read(expert), read(lay), Context())
    assert isinstance(outcome, Outcome) and not outcome.failed and reason in outcome.reason


@pytest.mark.parametrize(
    ("context", "outcome"), [("{}", "failed"), (f"{{}}, {', '.join(['of whom nothing is known'] * 3)}.", "doubtful")]
)
def test_a_doubt_of_a_short_caption_holds(context: str, outcome: str) -> None:
    """In few words there is little to mistake; how much of them is kept decides in many."""
    expert, lay = (
        read(context.format("Bony fusion of an arthrodesis was achieved")),
        read("The bones had not grown together."),
    )
    found = {v.gate: v.outcome for v in check(expert, lay, Context())}
    assert found["comparison"] == outcome


@pytest.mark.parametrize(
    "text",
    [
        "T2 MRI picture. The abnormal area is darker than muscle and just as bright as fat.",
        "The nodule is exactly as bright as the liver and brighter than the spleen.",
        "The left kidney is larger than the right; the right ureter is wider than the left one, as before surgery.",
    ],
)
def test_a_copy_keeps_every_fact(text: str) -> None:
    assert not [v for v in check(read(text), read(text), Context()) if v.gate not in STYLE and v.reason]


def test_copying_fails_only_where_there_is_something_to_simplify() -> None:
    caption = "Axial CT of the abdomen."
    assert failures(caption, caption) == {}
    assert set(failures(caption, caption, Context(simplifiable=True))) == {"unchanged"}


def test_facts_of_the_vocabulary_phrases_are_no_inventions() -> None:
    glosses = Context(glosses=(("asymptomatic", "without symptoms"), ("carcinoma", "cancer")))
    expert, lay = "Asymptomatic carcinoma of the lung.", "Lung cancer without symptoms."
    assert failures(expert, lay, glosses) == {}
    assert failures("Asymptomatic mass of the lung.", lay)["invention"] == "new: cancer"


def test_the_records_modality_may_be_named() -> None:
    expert, lay = "Arrow shows a cyst.", "The CT scan shows a cyst (arrow)."
    assert failures(expert, lay, Context(modalities=frozenset({"CT"}))) == {}


def test_every_row_carries_the_gates_in_order() -> None:
    verdicts = check(read("CT."), read(""), Context())
    assert [v.gate for v in verdicts][:-1] == list(GATES) and len(GATES) == 12
    assert not verdicts[list(GATES).index("length")].passed


def test_an_abbreviation_that_disappears_is_remarked_without_failing() -> None:
    verdicts = check(read("Arrow shows ULP at the arch."), read("The arrow shows an ulcer at the arch."), Context())
    remark = next(v for v in verdicts if v.gate == "abbreviations")
    assert remark.passed and remark.reason == "dropped: ULP"


@pytest.mark.parametrize(
    ("expert", "lay"),
    [
        (
            "CT: pulmonary artery 38 mm, aorta 31 mm.",
            "CT: the aorta is 3.1 cm wide, 7 mm slimmer than the lung artery.",
        ),
        ("CT: a cavity of 9 cm, later of 3 cm.", "CT: a hollow of 90 mm, later of one third of that."),
        (
            "Endoscopic retrograde cholangiopancreatogram: a stone.",
            "An X-ray of the bile ducts, made with a scope: a stone.",
        ),
        ("Sagittal US of a cyst.", "Ultrasound, a slice that divides left from right, of a cyst."),
        ("CT: a cavity with residual bands.", "CT: a hollow that still has some scar bands left."),
        ("MRI: complete tear of the ligament.", "MRI: the ligament is torn through."),
        ("MRI: an opaque sac, in keeping with acute infection.", "MRI: an opaque sac, which fits acute infection."),
        (
            "CT: a leak after repair with enlarging aneurysm sac.",
            "CT: a leak after repair, the aneurysm sac is growing.",
        ),
        ("CT of idiopathic fibrosis.", "CT scan of scarring of unknown cause."),
        ("X-ray of a cryptogenic pneumonia.", "X-ray image of lung inflammation whose cause is not known."),
    ],
)
def test_what_follows_from_what_is_said_is_no_doubt(expert: str, lay: str) -> None:
    said = [v.reason for v in check(read(expert), read(lay), Context()) if v.gate != "length" and v.reason]
    assert not [reason for reason in said if not reason.startswith("dropped")]


def test_what_only_a_reader_can_decide_is_doubtful() -> None:
    verdicts = check(read("Contrast-enhanced CT of a cyst."), read("A CT of a cyst."), Context())
    modality = next(v for v in verdicts if v.gate == "modality")
    assert (modality.passed, modality.doubtful, modality.outcome) == (True, True, "doubtful")
    assert modality.reason == "doubtful: lost: with contrast"


@pytest.mark.parametrize(
    ("lay", "evidence"),
    [
        ("A 3 cm stone on the left.", "contradicted"),
        ("A stone on the left.", "missing"),
        ("A 2 cm stone, worn by age, on the left.", ""),
        ("A 2 cm stone on the left caused by a blow.", "missing"),
        ("A 2 cm stone on the left that presses on the gullet.", "not met in words"),
    ],
)
def test_a_verdict_says_what_it_rests_on(lay: str, evidence: str) -> None:
    verdicts = check(read("Stone of 2 cm on the left."), read(lay), Context())
    assert [v.evidence for v in verdicts if v.evidence] == ([evidence] if evidence else [])


_WORDS = st.lists(
    st.one_of(
        st.sampled_from(
            "no not without left right both CT MRI axial T2 2 cm 3 x 4² IV of a half arrow (A) before after than "
            "may be seen none ? , . ; and stone in kidney 1,2 12.03.2014 ³ isn't R".split()
        ),
        st.text(max_size=6),
    ),
    max_size=14,
).map(" ".join)


@settings(max_examples=150)
@given(_WORDS, _WORDS)
def test_any_two_texts_are_judged(expert: str, lay: str) -> None:
    verdicts = check(read(expert), read(lay), Context())
    assert [v.gate for v in verdicts][:-1] == list(GATES)
