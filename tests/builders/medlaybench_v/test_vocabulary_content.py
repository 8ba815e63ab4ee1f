"""What every entry of the bundled word list must hold to, whatever code reads it."""

from __future__ import annotations

import csv
import re

import pytest

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.gates import GATES, STYLE, Context, verdict_of
from tests.parts.places import ROOT, shared_data

HERE = ROOT / "builders" / "medlaybench_v" / "vocabulary"
COLUMNS = ["expert", "lay", "cui", "kind", "pos", "expert_plural", "lay_plural", "site", "gloss"]
KINDS = set("modality view anatomy finding disease procedure device agent laterality direction time other".split())
NUMBER_WORDS = set(
    "one two three four five six seven eight nine ten twice double triple single first second third fourth".split()
)
NEGATIONS = {"no", "not", "non", "without", "never", "none", "absent", "absence", "lack", "lacking", "missing"}
COLOURS = {"white", "black", "red", "blue", "green", "yellow", "orange", "grey", "gray", "purple", "pink"}
# Frequent words of captions that are plain enough, or have too many meanings, to be an entry of their own.
UNTOUCHED = set(
    """
    mass patient image scan arrow case figure lead plate cell line head neck body tail wall lobe lower upper left
    right both no not without with normal white black matter nerve root canal joint muscle tendon tissue fluid air
    gas blood bone lung liver kidney spleen heart brain breast chest skull rib tumor tumour cyst cancer hernia stone
    mri ct xray ultrasound ventricle ventricular cervical frontal temporal parietal occipital iliac radial ulnar
    hilar apical alveolar condyle sinus sclerosis dissection emphysema sequence window phase contrast enhanced
    pelvis pelvic dislocation collapse fusion erosion seen noted shown showing shows consistent due after before
    initial male female woman man year old
    """.split()
)
NAMED_STRUCTURES = (
    "superior mesenteric artery|inferior vena cava|superior vena cava|posterior cruciate ligament|portal vein|"
    "anterior cruciate ligament|common bile duct|internal carotid artery|left anterior descending artery|distal radius|"
    "medial malleolus|lateral ventricle|corpus callosum|pulmonary embolism|pleural effusion|pericardial effusion|"
    "aortic stenosis|cardiac arrest|cerebral palsy|renal failure|hepatic artery"
).split("|")


def rows() -> list[dict[str, str]]:
    with (HERE / "vocabulary.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        assert reader.fieldnames == COLUMNS
        return list(reader)


ROWS = rows()
BY_EXPERT = {row["expert"].casefold(): row for row in ROWS}
CHANGED = [row for row in ROWS if row["lay"].casefold() != row["expert"].casefold()]


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def failing(rows: list[dict[str, str]]) -> list[str]:
    return [f"{row['expert']} -> {row['lay']}" for row in rows]


def test_the_file_is_sorted_unique_and_tidy() -> None:
    raw = (HERE / "vocabulary.csv").read_bytes()
    assert not raw.startswith(b"\xef\xbb\xbf") and b"\r" not in raw and raw.endswith(b"\n")
    keys = [row["expert"].casefold() for row in ROWS]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys) >= 600
    cells = [cell for row in ROWS for cell in row.values()]
    assert [cell for cell in cells if cell != " ".join(cell.split())] == []


def test_cells_hold_allowed_values_only() -> None:
    assert {row["kind"] for row in ROWS} == KINDS
    assert {row["pos"] for row in ROWS} == {"noun", "adjective", "phrase"}
    assert {row["gloss"] for row in ROWS} == {"", "yes"}
    assert failing([row for row in ROWS if not re.fullmatch(r"(C\d{7})?", row["cui"])]) == []
    assert failing([row for row in ROWS if not row["expert"] or not row["lay"]]) == []


@pytest.mark.parametrize(
    ("expert", "cui"),
    [
        ("computed tomography", "C0040405"),
        ("plain radiograph", "C1306645"),
        ("magnetic resonance imaging", "C0024485"),
        ("ultrasonography", "C0041618"),
        ("angiography", "C0002978"),
        ("positron emission tomography", "C0032743"),
        ("PA projection", "C1996865"),
        ("AP projection", "C1999039"),
        ("lymphadenomegaly", "C0024265"),
        ("thorax", "C0817096"),
    ],
)
def test_concept_identifiers_of_the_corpus(expert: str, cui: str) -> None:
    assert BY_EXPERT[expert.casefold()]["cui"] == cui


def test_lay_sides_are_short_and_speak_of_no_number_and_no_reader() -> None:
    assert failing([row for row in CHANGED if any(len(part.split()) > 8 for part in row["lay"].split(" ("))]) == []
    figures = {
        row["expert"]: set(re.findall(r"\d", row["lay"])) - set(re.findall(r"\d", row["expert"])) for row in CHANGED
    }
    assert {expert for expert, new in figures.items() if new} == set()
    assert failing([row for row in CHANGED if NUMBER_WORDS & set(words(row["lay"])) - set(words(row["expert"]))]) == []
    assert failing([row for row in ROWS if {"you", "your", "yours"} & set(words(row["lay"]))]) == []


def test_sides_are_kept() -> None:
    lay_of = {"left": {"left"}, "right": {"right"}, "bilateral": {"both"}, "bilaterally": {"both"}, "both": {"both"}}
    lay_of |= {"ipsilateral": {"same"}, "contralateral": {"opposite"}}
    wrong = []
    for row in ROWS:
        expected = set().union(*(lay_of.get(word, set()) for word in words(row["expert"])))
        found = {"left", "right", "both"} & set(words(row["lay"]))
        if not expected <= set(words(row["lay"])) or found - expected:
            wrong.append(row)
    assert failing(wrong) == []
    assert BY_EXPERT["left ventricle"]["lay"] == "left lower heart chamber"


def test_negation_is_neither_lost_nor_added() -> None:
    wrong = []
    for row in CHANGED:
        expert, lay = set(words(row["expert"])), set(words(row["lay"]))
        negated = bool(expert & NEGATIONS) or row["expert"].casefold().startswith(("non", "unenhanced", "ncct", "nect"))
        if lay & NEGATIONS and not negated:
            wrong.append(row)
        if expert & NEGATIONS and not lay & NEGATIONS:
            wrong.append(row)
    assert failing(wrong) == []


def test_no_lay_side_brings_in_the_colour_of_an_arrow() -> None:
    assert failing([row for row in CHANGED if COLOURS & set(words(row["lay"])) - set(words(row["expert"]))]) == []


def test_the_imaging_method_stays_recognisable() -> None:
    says = [
        (r"computed tomogra|computer(?:ized|ised)? tomogra|\bCT\b|HRCT|CECT|CBCT", "CT"),
        (r"magnetic resonance|\bMRI?\b|MRCP", "MRI"),
        (r"ultrason|\bsonogra|echograph|echocardiogra|endosono|\bUSG\b", "ultrasound"),
        (r"radiogra|roentgen|plain film|fluorosc|mammogra|pantomogra|\bCXR\b|\bOPG\b|skiagram", "X-ray"),
        (r"(?<!chol)angiogra|aortogra", "blood vessel"),
        (r"(?<!coronary )arteriogra", "artery"),
        (r"venogra", "vein"),
        (r"positron|\bPET\b", "PET"),
    ]
    wrong = [
        row
        for row in ROWS
        for pattern, said in says
        if re.search(pattern, row["expert"]) and said.casefold() not in row["lay"].casefold()
    ]
    # The combined method is written PET/CT, the single-photon one SPECT.
    assert failing([row for row in wrong if "emission" not in row["expert"]]) == []


def test_plurals() -> None:
    nouns = [row for row in ROWS if row["pos"] == "noun"]
    others = [row for row in ROWS if row["pos"] != "noun"]
    assert failing([row for row in others if row["expert_plural"] or row["lay_plural"]]) == []
    # A word in -is or -itis makes no regular plural: it says which, or that it has none.
    assert failing([r for r in nouns if r["expert"].endswith("sis") and not r["expert_plural"]]) == []
    # A term without a plural has no lay plural either.
    assert failing([r for r in nouns if (r["expert_plural"] == "-") != (r["lay_plural"] == "-")]) == []
    # A spelled-out plural differs from its singular.
    for side in ("expert", "lay"):
        spelled = [row for row in nouns if row[f"{side}_plural"] not in ("", "-")]
        same = [row["expert"] for row in spelled if row[f"{side}_plural"] == row[side]]
        assert set(same) <= {"contrast medium", "hydropneumothorax"}
        assert failing([row for row in spelled if len(row[f"{side}_plural"].split()) > 9]) == []
    # A lay phrase whose head stands before a preposition is not left to the last word's plural.
    assert BY_EXPERT["metastasis"]["lay_plural"] == "areas of cancer spread"
    assert BY_EXPERT["thrombus"]["expert_plural"] == "thrombi"
    assert BY_EXPERT["vertebra"]["expert_plural"] == "vertebrae"


def test_places_and_joining_words() -> None:
    for row in ROWS:
        if not row["site"]:
            continue
        if row["kind"] == "anatomy":
            assert row["pos"] == "adjective" and row["site"].startswith("the "), row
        else:
            assert row["kind"] in ("finding", "disease") and row["pos"] == "noun" and row["site"] in ("in", "of"), row
    places = [row for row in ROWS if row["kind"] == "anatomy" and row["site"]]
    findings = [row for row in ROWS if row["kind"] != "anatomy" and row["site"]]
    assert len(places) >= 60 and len(findings) >= 8
    assert (BY_EXPERT["hepatic"]["site"], BY_EXPERT["abscess"]["site"]) == ("the liver", "in")


def test_only_names_that_would_be_broken_are_left_as_they_are() -> None:
    for row in ROWS:
        if row in CHANGED:
            continue
        assert not row["gloss"], row
        inside = words(row["expert"])
        parts = {" ".join(inside[i:j]) for i in range(len(inside)) for j in range(i + 1, len(inside) + 1)}
        parts -= {" ".join(inside)}
        broken = any(part in BY_EXPERT and BY_EXPERT[part] in CHANGED for part in parts)
        # "melanoma" shields against lists that call every melanoma a skin cancer; the others hold a shorter entry,
        # a number that a lay phrase may not state, or a word that means something else here.
        assert broken or row["expert"] in {
            "melanoma",
            "fourth ventricle",
            "third ventricle",
            "four-chamber view",
            "umbilical cord",
            "multiple sclerosis",
        }, row["expert"]


@pytest.mark.parametrize("name", NAMED_STRUCTURES)
def test_named_structures_have_an_entry_of_their_own(name: str) -> None:
    assert name in BY_EXPERT


def test_words_with_many_meanings_are_not_touched() -> None:
    assert sorted(UNTOUCHED & set(BY_EXPERT)) == []


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("haemorrhage", "hemorrhage"),
        ("oedema", "edema"),
        ("haematoma", "hematoma"),
        ("ischaemia", "ischemia"),
        ("oesophagus", "esophagus"),
        ("dyspnoea", "dyspnea"),
        ("foetus", "fetus"),
        ("haemangioma", "hemangioma"),
        ("paediatric", "pediatric"),
        ("computerised tomography", "computerized tomography"),
    ],
)
def test_both_spellings_say_the_same(british: str, american: str) -> None:
    first, second = BY_EXPERT[british], BY_EXPERT[american]
    assert [first[c] for c in COLUMNS[1:] if c != "expert_plural"] == [
        second[c] for c in COLUMNS[1:] if c != "expert_plural"
    ]


def test_glosses_stand_where_precision_matters() -> None:
    glossed = [row for row in ROWS if row["gloss"]]
    assert 60 <= len(glossed) <= 160
    assert {row["kind"] for row in glossed} <= {"disease", "procedure", "device", "finding"}
    assert failing([row for row in glossed if row["pos"] != "noun"]) == []


def test_lay_sides_pass_the_gates_alone() -> None:
    """A lay side that a gate fails, or doubts, is taken back wherever it stands: it would explain nothing."""
    # Their gates read another thing out of the expert's word: a picture, a contrast, a place.
    known = (
        "catheterization|cessation|computed axial tomography|computed axial tomography scan|gestational age|"
        "hydrops fetalis|lateral decubitus position|left lateral decubitus position|right lateral decubitus position|"
        "necrotising enterocolitis|necrotizing enterocolitis|oral cavity|proximal interphalangeal joint|"
        "proximal phalanx|sagittal alignment|sagittal balance|urography"
    )
    facts = [gate for gate in GATES if gate not in STYLE]
    taken_back = set()
    for row in CHANGED:
        expert, lay = (read(f"Image with {row[side]} (arrow).") for side in ("expert", "lay"))
        context = Context(((row["expert"], row["lay"]),))
        if row["pos"] == "noun" and any(verdict_of(gate, expert, lay, context).reason for gate in facts):
            taken_back.add(row["expert"])
    assert taken_back == set(known.split("|"))


def test_captions_of_a_real_corpus_are_covered() -> None:
    path = shared_data("text/roco_test.csv")
    forms = {row["expert"].casefold() for row in CHANGED}
    forms |= {
        row["expert_plural"].casefold() or row["expert"].casefold() + "s" for row in CHANGED if row["pos"] == "noun"
    }
    token = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
    with path.open(encoding="utf-8", newline="") as file:
        captions = [token.findall(row["caption"].casefold()) for row in csv.DictReader(file)]
    covered = sum(
        any(" ".join(said[i:j]) in forms for i in range(len(said)) for j in range(i + 1, min(i + 6, len(said)) + 1))
        for said in captions
    )
    assert covered / len(captions) >= 0.85


# ---------------------------------------------------------------------------------------- the review of a public list


def review() -> list[dict[str, str]]:
    with (HERE / "vocabulary_review.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        assert reader.fieldnames == ["expert", "lay", "verdict", "reason"]
        return list(reader)


def test_review_is_well_formed_and_leaves_the_bundled_list_alone() -> None:
    found = review()
    pairs = [(row["expert"].casefold(), row["lay"].casefold()) for row in found]
    assert pairs == sorted(pairs) and len(set(pairs)) == len(pairs)
    assert {row["verdict"] for row in found} == {"reject"}
    starts = ("wrong-site", "narrower", "broader", "other-meaning", "not-easier", "grammar", "definition", "jargon")
    assert [row for row in found if not row["reason"].startswith(starts)] == []
    assert {(row["expert"].casefold(), row["lay"].casefold()) for row in ROWS} & set(pairs) == set()
    assert ("foreign body", "particle in the eye") in pairs
    assert ("retinal", "vitamin a") in pairs


def test_every_reviewed_pair_is_in_the_public_list() -> None:
    with shared_data("text/lay_vocabulary.csv").open(encoding="utf-8", newline="") as file:
        public = {
            (row["expert_term"].strip().casefold(), row["lay_term"].strip().casefold())
            for row in csv.DictReader(file)
            if row["substitute"] == "yes"
        }
    missing = [row for row in review() if (row["expert"].casefold(), row["lay"].casefold()) not in public]
    assert missing == []


def test_the_review_says_what_the_list_holds() -> None:
    """Each verdict on the most frequent terms is carried out: kept and mended ones stand there, dropped ones do not."""
    with (HERE / "vocabulary_verdicts.csv").open(encoding="utf-8", newline="") as file:
        verdicts = list(csv.DictReader(file))
    assert len(verdicts) >= 1_500 and {row["verdict"] for row in verdicts} == {"keep", "mend", "drop", "add"}
    for row in verdicts:
        entry = BY_EXPERT.get(row["expert"].casefold())
        assert row["reason"], row
        if row["verdict"] == "drop":
            assert entry is None or entry["lay"].casefold() == row["expert"].casefold(), row
        else:
            assert entry is not None and entry["lay"] == row["lay"], row
        if row["verdict"] == "keep":
            assert row["lay"] == row["lay_before"], row
