"""Substitution: word-bounded, plural-aware, longest first, never in protected spans nor in its own insertions."""

import csv
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.medlaybench_v.facts import facts_of, read
from builders.medlaybench_v.lexicon import Lexicon
from builders.medlaybench_v.writing.draft import Drafter
from builders.medlaybench_v.writing.surfaces import keeps_facts
from tests.parts.places import shared_data
from tests.parts.rule_captions import lay
from tests.parts.terms import TERMS, term

DRAFTER = Drafter(TERMS)


def draft(text: str, drafter: Drafter = DRAFTER) -> str:
    caption = read(text)
    return drafter.draft(caption, drafter.match(caption)).text


@pytest.mark.parametrize(
    ("expert", "expected"),
    [
        ("Computed tomography demonstrates edema.", "CT scan shows swelling."),
        ("adrenal mass, hepatorenal pouch", "adrenal mass, hepatorenal pouch"),
        ("Two nodules and metastases", "Two small lumps and cancer spreads"),
        ("hepatic abscesses", "pockets of pus in the liver"),
        ("hepatic and renal cysts", "liver and kidney cysts"),
        ("the lesion was hepatic.", "the lesion was hepatic."),
        ("hepatic abscess drainage", "liver abscess drainage"),
        ("an aneurysm of the aorta", "an aneurysm (bulge in a blood vessel) of the aorta"),
        ("aneurysm sac", "aneurysm sac"),
        ("aneurysm (arrow)", "bulge in a blood vessel (arrow)"),
        ("renal vein thrombus", "renal vein thrombus"),
        ("cyst posterior to the liver", "cyst behind the liver"),
        ("left ventricle", "left lower heart chamber"),
        ("left lung nodule", "left lung small lump"),
        ("Lymphadenopathy. More lymphadenopathy.", "Swollen lymph nodes (lymphadenopathy). More swollen lymph nodes."),
        ("Mass (lymphadenopathy)", "Mass (swollen lymph nodes)"),
        ("Axial computed tomography", "Cross-section CT scan"),
        ("carotid-renal shunt", "carotid-renal shunt"),
        ("left renal abscess", "pocket of pus in the left kidney"),
        ("bilateral renal nodules", "small lumps in both kidneys"),
        ("left hepatic abscess", "left liver abscess (pocket of pus)"),
        ("RENAL ABSCESS", "Pocket of pus in the kidney"),
    ],
)
def test_draft(expert: str, expected: str) -> None:
    assert draft(expert) == expected


def test_inserted_text_is_never_rewritten() -> None:
    chain = Drafter([term("alpha", "beta"), term("beta", "gamma")])
    assert draft("alpha beta alpha", chain) == "beta gamma beta"


def test_longest_match_wins_wherever_shorter_ones_start() -> None:
    nested = Drafter([term("vena", "X"), term("inferior vena cava", "large vein"), term("cava", "Y")])
    assert draft("the inferior vena cava", nested) == "the large vein"


def test_offsets_survive_letters_that_grow_in_lower_case() -> None:
    assert draft("İİ edema of İ edema") == "İİ swelling of İ swelling"


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        (
            "CT OF THE ABDOMEN SHOWING A HYPODENSE LESION OF 2.3 cm IN SEGMENT VIII OF THE LIVER. NO ASCITES.",
            "A CT scan of the belly shows a darker-looking abnormal area of 2.3 cm in segment VIII of the liver. "
            "No fluid build-up in the belly.",
        ),
        (
            "US OF THE RUQ DEMONSTRATES CHOLELITHIASIS.",
            "US (ultrasound) of the RUQ shows gallstone disease (cholelithiasis).",
        ),
        ("X-RAY OF A BAKER'S FOOT.", "This is an X-ray of a Baker's foot."),
        ("DON'T MISS A FRACTURE. IT ISN'T OLD.", "The image shows don't miss a fracture. It isn't old."),
        # A letter that numbers stays.
        (
            "CHEST CT SHOWS A MASS (A) AND BRAIN MRI SHOWS A LESION (B).",
            "A chest CT scan shows a mass (A) and brain MRI scan shows an abnormal area (B).",
        ),
        ("PANEL A: CT OF A HAND. PANEL B: MRI.", "Panel A: CT scan of a hand. Panel B: MRI scan."),
        ("TYPE A TUMOR. HEPATITIS A WAS DENIED.", "Type A tumor. Hepatitis (liver inflammation) A was denied."),
        ("A CYST. A AND B SHOW A 3 CM MASS.", "The image shows a cyst. A and B show a 3 cm mass."),
        # So do short forms that are words, too, where they are not the words.
        ("PATIENT WITH HIV AND AIDS. HEARING AIDS.", "The image shows a patient with HIV and AIDS. Hearing aids."),
        ("PEG TUBE OF THE STOMACH.", "The image shows a PEG tube (for feeding) of the stomach."),
        ("FRACTURE OF THE ODONTOID PEG.", "The image shows a fracture of the odontoid peg."),
        ("TIPS OF A LIVER IS OPEN.", "TIPS (channel through the liver) of a liver is open."),
        ("CATHETER TIPS IN THE CHEST.", "The image shows tips of the thin tubes in the chest."),
        ("FRACTURE OF THE GREAT TOE.", "The image shows a fracture of the great toe."),
        ("STANFORD TYPE B TEAR.", "Stanford type B tear."),
    ],
)
def test_a_report_in_capitals_is_written_as_others_are(caption: str, said: str) -> None:
    assert lay(caption) == said


def test_a_key_is_told_at_first_use() -> None:
    assert draft("LV is large. LV, left ventricle.") == "LV (left lower heart chamber) is large."
    assert draft("CT of RV. CT, computed tomography; RV, right ventricle.") == "CT scan of RV (right ventricle)."


def test_an_entry_that_changes_a_fact_is_rejected() -> None:
    assert not keeps_facts("left lung nodule", "lung lump")
    assert not keeps_facts("no edema", "swelling")
    assert not keeps_facts("radiograph", "picture")
    assert keeps_facts("radiograph", "X-ray picture") and keeps_facts("asymptomatic", "without symptoms")
    assert DRAFTER.rejected == {"lay phrase changes a fact": 2}  # singular and plural


def test_recognised_concepts_are_substituted_in_their_own_wording() -> None:
    caption = read("purulent collections in the liver")
    abscess = next(t for t in TERMS if t.expert == "abscess")
    matches = DRAFTER.match(caption, [(0, 20, abscess)])
    assert DRAFTER.draft(caption, matches).text == "pockets of pus in the liver"


def test_a_lexicon_survives_pickling() -> None:
    copy = pickle.loads(pickle.dumps(Lexicon(TERMS)))
    caption = read("hepatic abscess")
    assert copy.drafter.draft(caption, copy.match(caption, [], [])).text == "pocket of pus in the liver"


WORDS = [
    "hepatic",
    "renal",
    "abscess",
    "nodules",
    "edema",
    "2 cm",
    "no",
    "left",
    "(arrow)",
    "aneurysm",
    "and",
    "of",
    "CT",
]


@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_facts_survive_any_draft(text: str) -> None:
    before, after = facts_of(read(text)), facts_of(read(draft(text)))
    for kind in ("number", "side", "negation", "marker"):
        assert sorted(f.value for f in before if f.kind == kind) == sorted(f.value for f in after if f.kind == kind)


def test_protected_facts_of_real_captions_survive() -> None:
    with shared_data("text/roco_test.csv").open(encoding="utf-8") as file:
        captions = [row["caption"] for row in csv.DictReader(file)]
    for text in captions:
        caption = read(text)
        told = facts_of(caption)
        kept = facts_of(read(DRAFTER.draft(caption, DRAFTER.match(caption)).text))
        for kind in ("number", "side", "marker", "modality"):
            assert {f.value for f in told if f.kind == kind} <= {f.value for f in kept if f.kind == kind}, text
        # "Non-enhanced" is said as "without contrast dye".
        assert sum(f.kind == "negation" for f in told) <= sum(f.kind == "negation" for f in kept), text
