"""Answers of an extractor as models write them: the authors' notebook takes them as they are, we read them.

The first column of the table is the answer, the second what the notebook makes of it (None where it drops the case),
the third what we read (None where it is asked for again).
"""

from __future__ import annotations

import random

import pytest

from baselines.threemdbench.consultation.diagnosis import NONE, Extracted, authors_samples, extracted, score
from baselines.threemdbench.consultation.naming import read_names
from baselines.threemdbench.consultation.record import Extraction
from loaders.models.asking import Unfit
from loaders.threemdbench import NAMES
from tests.parts.consultations import consultation

Names = list[str] | None

MESSY: list[tuple[str, Names, Names]] = [
    ("eczema", ["eczema"], ["eczema"]),
    ("Eczema", ["Eczema"], ["Eczema"]),
    ("eczema.", ["eczema."], ["eczema"]),
    (" eczema\n", ["eczema"], ["eczema"]),
    ("`eczema`", ["eczema"], ["eczema"]),
    ("'eczema'", ["'eczema'"], ["eczema"]),
    ('"eczema"', ['"eczema"'], ["eczema"]),
    ("**eczema**", ["**eczema**"], ["eczema"]),
    ("none", None, []),
    ("`none`\n", None, []),
    ("None", ["None"], []),
    ("none.", ["none."], []),
    ("'none'", ["'none'"], []),
    ("", [""], None),
    ("No final diagnosis", ["No final diagnosis"], []),
    ("none, eczema", ["none", "eczema"], None),
    ("eczema, hives", ["eczema", "hives"], ["eczema", "hives"]),
    ("eczema,", ["eczema", ""], ["eczema"]),
    ("eczema,\nhives", ["eczema", "hives"], ["eczema", "hives"]),
    ("eczema\nhives", ["hives"], ["eczema", "hives"]),  # without its line break it is eczemahives
    ("eczema or hives", ["hives"], ["eczema", "hives"]),
    ("eczema; acne", ["eczema; acne"], ["eczema", "acne"]),
    ("herpes zoster", ["herpes"], ["herpes zoster"]),
    ("Herpes zoster", ["Herpes zoster"], ["Herpes zoster"]),
    ("cold sores", ["herpes"], ["cold sores"]),
    ("an ingrown toenail", ["ingrown nail"], ["an ingrown toenail"]),
    ("fungal nail infection", ["onychomycosis"], ["fungal nail infection"]),
    ("fungal infection", ["mycosis"], ["fungal infection"]),
    ("urticaria", ["hives"], ["urticaria"]),
    ("dental caries (cavities)", ["caries"], ["dental caries (cavities)"]),
    ("plantar wart.", ["warts"], ["plantar wart"]),
    ("atopic dermatitis", ["eczema"], ["atopic dermatitis"]),
    ("gum disease", ["gingivitis"], ["gum disease"]),
    ("hordeolum, chalazion", ["stye", "chalazion"], ["hordeolum", "chalazion"]),
    ("['acne']", ["['acne']"], ["acne"]),
    ('{"diagnosis": "acne"}', ['{"diagnosis": "acne"}'], ["acne"]),
    ("Final diagnosis: acne", ["Final diagnosis: acne"], ["acne"]),
    ("The final diagnosis is acne.", ["The final diagnosis is acne."], ["acne"]),
    ("```\nacne\n```", ["acne"], ["acne"]),
    ("acne\n\nThe doctor said so in the last message.", ["acneThe doctor said so in the last message."], ["acne"]),
]


# Other forms of an answer that can be read in only one way, and what we read.
READABLE: dict[str, list[str]] = {
    '{"diagnosis": "none"}': [],
    '{"diagnosis": "None"}': [],
    '{"answer": "none"}': [],
    '```json\n{"diagnosis": "none"}\n```': [],
    '{"diagnosis": "none", "reason": "The doctor only suspected eczema."}': [],
    '{"diagnosis": "unknown"}': [],
    '["none"]': [],
    "# Eczema": ["Eczema"],
    "> eczema": ["eczema"],
    "Eczema!": ["Eczema"],
    "«eczema»": ["eczema"],
    "Eczema (L20.9)": ["Eczema"],
    "eczema (90%)": ["eczema"],
    "eczema (confidence: high), acne [ICD-10: L70]": ["eczema", "acne"],
    "Eczema – atopic dermatitis": ["Eczema"],
    "<answer>eczema</answer>": ["eczema"],
    "<answer>none</answer>": [],
    '[{"diagnosis": "eczema"}]': ["eczema"],
    '[{"diagnosis": "eczema"}, {"diagnosis": "acne"}]': ["eczema", "acne"],
    'Output: ["eczema"]': ["eczema"],
    "Output: []": [],
    '{"diagnosis": "eczema", "confidence": "high"}': ["eczema"],
    '{"diagnosis": "eczema", "icd10": "L20.9"}': ["eczema"],
    "Diagnosis: Eczema\nConfidence: high": ["Eczema"],
    "Diagnosis: Eczema\nReason: the doctor says eczema.": ["Eczema"],
    "none (the doctor only suspected eczema)": [],
    "none\n\nThe doctor only suspected eczema.": [],
    "Diagnosis: none\nReason: The doctor suspects eczema.": [],
    "The doctor said:\n```\neczema\n```": ["eczema"],
    "Dermatitis, contact": ["contact dermatitis"],
} | {
    none: []
    for none in (
        "Cannot determine", "Cannot be determined.", "It can't be determined", "Insufficient information",
        "Not enough information", "Undiagnosed", "Unspecified", "To be determined", "TBD", "Pending", "Pending biopsy",
        "Refer to a dermatologist", "Further tests needed", "keine", "aucun", "inconclusive", "unclear", "N/A",
    )
}  # fmt: skip


def of_the_notebook(answer: str) -> list[str]:
    """What `count_metrics.ipynb` of the authors' repository (MIT) makes of a stored answer, told anew."""
    names = [name.strip() for name in answer.replace("\n", "").replace("`", "").split(",")]
    for place, name in enumerate(names):
        if "herpes" in name or "cold sore" in name or "hsv" in name:
            names[place] = "herpes"
        elif "grown" in name and "nail" in name:
            names[place] = "ingrown nail"
        elif "hives" in name or "urticaria" in name:
            names[place] = "hives"
        elif "cavities" in name or "caries" in name:
            names[place] = "caries"
        elif "solar keratosis" in name:
            names[place] = "actinic keratosis"
        elif "wart" in name:
            names[place] = "warts"
        elif "atopic dermatitis" in name:
            names[place] = "eczema"
        elif "gum disease" in name:
            names[place] = "gingivitis"
        elif "nail" in name and "fun" in name:
            names[place] = "onychomycosis"
        elif "subungual hematoma" in name or "onychodystrophy" in name:
            names[place] = "nail dystrophy"
        elif "dandruff" in name:
            names[place] = "seborrheic dermatitis"
        elif "varicella" in name:
            names[place] = "chickenpox"
        elif "hordeolum" in name:
            names[place] = "stye"
        elif "tinea versicolor" in name or "ringworm" in name or "fungal infection" in name:
            names[place] = "mycosis"
        elif "tartar buildup" in name or "plaque buildup" in name:
            names[place] = "dental calculus"
        elif "aphthous ulcers" in name:
            names[place] = "stomatitis"
    return names


def given(number: int, gold: str, raw: str) -> Extracted:
    """What counts of a consultation whose assessor answered so."""
    try:
        extraction = Extraction(read_names(raw), raw, 1)
    except Unfit as unfit:
        extraction = Extraction((), raw, 1, str(unfit))
    return extracted(consultation(number, gold=gold, extraction=extraction))


@pytest.mark.parametrize(("answer", "notebook", "ours"), MESSY)
def test_the_notebooks_reading_and_ours(answer: str, notebook: Names, ours: Names) -> None:
    samples = authors_samples([given(0, "acne", answer)])
    assert (list(samples.predicted) or None) == notebook
    assert of_the_notebook(answer) == (notebook or [NONE])
    try:
        assert list(read_names(answer)) == ours
    except Unfit:
        assert ours is None


@pytest.mark.parametrize(("answer", "names"), READABLE.items())
def test_what_can_be_read_in_one_way_is_read(answer: str, names: list[str]) -> None:
    assert list(read_names(answer)) == names


def test_what_a_name_begins_with_denies_nothing() -> None:
    assert read_names("Unspecified dermatitis") == ("Unspecified dermatitis",)


@pytest.mark.parametrize(
    "answer",
    [
        "It might be acne",
        "not eczema",
        "No diagnosis, but acne is likely",
        "eczema\n\nBut it could be hives as well.",
        "eczema\n\nNo diagnosis was given.",
        "Yes",
        "one two three four five six seven eight nine ten eleven",
        "```acne```x",
        "42",
        '{"diagnosis": "acne", "reason": "It could be rosacea."}',
        '{"diagnosis": "acne", "certainty": "only suspected"}',
        '{"first": "acne", "second": "rosacea"}',
        '{"diagnosis": "acne", "diagnosis": "rosacea"}',
        "{'diagnosis': 'acne', 'diagnosis': 'rosacea'}",
        " . ",
        '{"diagnosis": "none", "reason": "The doctor settled on eczema."}',
        '[{"diagnosis": "eczema"}, {"diagnosis": {"name": "acne"}}]',
        "none (eczema)",
        "```\n" * 5_000,
        '[{"a": ' * 200 + '"eczema"' + "}]" * 200,
        "none of these but eczema",
        "none\n\nThe final diagnosis is eczema.",
        "Eczema – psoriasis",
        "Diagnosis: Eczema\nConfidence: only suspected",
        "Diagnosis: Eczema\nReason: it could be psoriasis",
        "It might be:\n```\neczema\n```",
        "The doctor gave no diagnosis.\n```\neczema\n```",
        "Absence of caries",
        "doesn't look like acne",
        "Eczema excluded",
        ", ".join(["acne"] * 40),
    ],
)
def test_what_names_nothing_for_sure_is_asked_for_again(answer: str) -> None:
    with pytest.raises(Unfit):
        read_names(answer)


def test_an_object_may_give_a_reason_and_how_sure_it_is() -> None:
    assert read_names('{"diagnosis": "acne", "confidence": 0.9}') == ("acne",)
    assert read_names("{'diagnoses': ['acne', 'stye'], 'reasoning': 'The doctor names acne and stye.'}") == (
        "acne",
        "stye",
    )
    assert read_names('{"diagnosis": null, "explanation": "The doctor asks for tests."}') == ()
    assert read_names("Final diagnosis – chalazion") == ("chalazion",)


def test_the_authors_f1_is_the_notebooks_to_the_last_digit() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    draw = random.Random(11)
    names = [*NAMES, "hordeolum", "ringworm", "atopic dermatitis", "melanoma", "Herpes", "none", "None"]
    shapes = ["{}", "{}.", "'{}'", "`{}`", "{}, {}", "{} or {}", "{},\n{}", "\n{}", "{} ", "Diagnosis: {}", "**{}**"]
    answers = [draw.choice(shapes).format(draw.choice(names), draw.choice(names)) for _ in range(200)]
    rows = [(draw.choice(NAMES), raw) for raw in [*answers, *(raw for raw, _, _ in MESSY)]]
    truth, predicted = [], []
    for gold, raw in rows:
        if (said := of_the_notebook(raw)) != ["none"]:
            truth += [gold] * len(said)
            predicted += said
    labels = sorted({gold for gold, _ in rows})
    expected = metrics.f1_score(truth, predicted, average="weighted", labels=labels, zero_division=0)
    found = score([given(number, *row) for number, row in enumerate(rows)], resamples=5)
    assert (found.authors.value, found.authors.n) == (pytest.approx(expected, abs=1e-15), len(truth))
    assert (found.cleaned.value or 0) > (found.authors.value or 0), "the messy forms cost the raw reading"
