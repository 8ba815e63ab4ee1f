"""From what an assessor extracted to diagnoses, and from diagnoses to F1, the authors' way and strictly.

    score([Extracted("c1", "stye", "hordeolum"), Extracted("c2", "acne", "none")]).strict.value

Two readings of the same answers. The authors' (their notebook `count_metrics.ipynb`, specification S5): names are
corrected by substring, a case whose answer is exactly "none" is dropped, and each name of an answer is a sample of its
own with the case's diagnosis as truth. It takes the answer as the assessor wrote it: "None", "none." and "'acne'" are
three names that no list holds. So the same rules are also applied to what we read in the answer. They can be gamed: a
doctor that names nothing whenever it is unsure is measured on the easy cases alone, and one that names several gets
several tries. The strict one: exact names and the synonyms of `loaders/threemdbench_diagnoses.csv`, only the first
diagnosis, and no diagnosis is a wrong one. Neither is shown without the other, nor without the rates that tell them
apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from baselines.statistics import classification
from baselines.statistics.classification import Answers, bootstrap_classification, occurring
from baselines.statistics.resampling import Draws, Interval
from baselines.threemdbench.consultation.protocol import Unfinished
from baselines.threemdbench.consultation.record import Consultation
from loaders.errors import how_many
from loaders.files.bundled import bundled
from loaders.models.asking import without_thoughts
from loaders.threemdbench import NAMES, mentions, straightened

NONE = "none"
"""What an extractor answers if the doctor settled on no diagnosis."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The answer of the extractor about one consultation; repetitions of a case share its cluster.

    `text` is what we read in it, `raw` the answer as it was given, None if that is the same.
    """

    cluster: str
    gold: str
    text: str
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A score from 0 to 1 with its interval over cases; value None, with no interval, if no sample is left."""

    value: float | None
    ci95: Interval | None
    n: int


@dataclass(frozen=True, slots=True)
class Scores:
    """Weighted F1 as the authors count it, from raw answers and from what we read in them, and strict; macro F1 and
    accuracy, both strict."""

    authors: Estimate
    cleaned: Estimate
    strict: Estimate
    macro: Estimate
    accuracy: Estimate


# The authors' corrections, in their order: the first whose pattern the name holds wins. Case counts, as it does there,
# where the extractor only ever reads lower-case text.
_CORRECTIONS = tuple(
    (re.compile(row["pattern"]), row["diagnosis"])
    for row in bundled("baselines.threemdbench.consultation", "corrections.csv")
)


def names_as_authors(text: str) -> list[str]:
    """The corrected names of an answer by the authors' rules, whether or not they are among the 34.

    >>> names_as_authors("herpes zoster, ringworm"), names_as_authors("`none`\\n"), names_as_authors("melanoma")
    (['herpes', 'mycosis'], ['none'], ['melanoma'])
    """
    names = text.replace("\n", "").replace("`", "").split(",")
    return [
        next((known for pattern, known in _CORRECTIONS if pattern.search(name)), name) for name in map(str.strip, names)
    ]


def extracted(consultation: Consultation, unfinished: Unfinished = "paper") -> Extracted:
    """The answer that counts for a consultation: "none" if the assessor's could not be read.

    For an unfinished dialogue it is "none" too in mode `paper`, the assessor's in mode `authors` (3M-G14). What we read
    is in lower case, since their extractor reads nothing else; the raw answer is unchanged, except that a reasoning
    model's thoughts in front of it are removed.
    """
    extraction = consultation.extraction
    if not consultation.finished and unfinished == "paper":
        return Extracted(consultation.cluster, consultation.gold, NONE)
    text = ", ".join(extraction.names).lower()  # none where it could not be read
    raw, _ = without_thoughts(extraction.raw)
    return Extracted(consultation.cluster, consultation.gold, text or NONE, raw)


def taken_for_none(consultations: Iterable[Consultation]) -> str:
    """A note on the answers that count as "none" because nobody could read them: that is no word of the doctor. Empty
    if there are none."""
    count = sum(one.extraction.failure is not None for one in consultations)
    return f"{how_many(count, 'answer')} that could not be read taken for none" if count else ""


# Names that people also use for something more exact, which they then say.
_VAGUE = frozenset(
    "eczema|herpes|contact dermatitis|fungal infection|fungal skin infection|fungus|mycosis|gum disease"
    "|gum inflammation|inflamed gums|wart|warts|mouth ulcer|mouth ulcers|oral ulcer|oral ulcers|dystrophic nail"
    "|dystrophic nails|nail dystrophy".split("|")
)
# How it is said: "gum disease (periodontitis)", "fungal infection i.e. onychomycosis", "herpes - shingles".
_EXACTLY = re.compile(
    r"\A(?=.*\S)[\s(\[–—:=-]*(?:(?:i\.?e\.?|namely|specifically|called|known as|an?)\s+)*\Z", re.IGNORECASE
)
_DENIED_BEFORE = re.compile(
    r"(?:n['’]t|\b(?:(?:no|not)(?!\s+(?:only|just|longer|doubt)\b)|never|without|neither|nor|absence of|absent"
    r"|free (?:of|from)|negative for|den(?:y|ies|ied)|rul(?:e|ed|es|ing) out|exclud\w+))\b[^.!?;()]*\Z",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"\A[\s)]*(?:(?:is|was|are|were|has been|have been|can be)\s+)?(?:excluded|ruled out|absent|denied|unlikely|"
    r"not\b(?!\s*(?:(?:an?|the)\s+)?\Z|\s+(?:\w+\s+)?(?:excluded|ruled out|unlikely|absent)\b))",
    re.IGNORECASE,
)


def parts(text: str) -> list[str]:
    """The single answers in an answer, as they were written, separated by commas, semicolons or line breaks.

    The comma of an inverted name ("Dermatitis, contact") separates nothing.
    """
    written = straightened(text).replace(";", ",").replace("\n", ",").split(",")
    return [answer for part in written if (answer := part.strip(" \t.`'\""))]


def first_name(text: str) -> str | None:
    """The first diagnosis of an answer, in any case; None if that is none of the 34.

    Only the first part of a list counts: what follows a wrong first answer is a second try. In it, a diagnosis that is
    denied does not count, and the exact name that explains a vague one stands for both.

    >>> first_name("Hordeolum"), first_name("melanoma, acne"), first_name("none"), first_name("It is tinea, not acne")
    ('stye', None, None, 'mycosis')
    >>> first_name("Psoriasis not eczema"), first_name("Not psoriasis but eczema"), first_name("Psoriasis not seen")
    ('psoriasis', 'eczema', None)
    >>> first_name("Gum disease (periodontitis)"), first_name("Shingles (herpes)"), first_name("Free of caries")
    ('periodontitis', 'shingles', None)
    """
    part = next(iter(parts(text)), "")
    found = [(match.span(), match[0], diagnosis.name) for match, diagnosis in mentions(part)]
    ends = [0, *(end for (_, end), *_ in found)]
    begins = [*(start for (start, _), *_ in found[1:]), None]
    held = [
        (span, words, name)
        for (span, words, name), before, behind in zip(found, ends, begins, strict=False)
        if not _DENIED_BEFORE.search(part[before : span[0]]) and not _DENIED_AFTER.match(part[span[1] : behind])
    ]
    if not held:
        return None
    (_, end), words, first = held[0]
    for span, _, name in held[1:2]:
        if words.casefold() in _VAGUE and _EXACTLY.match(part[end : span[0]]):
            return name
    return first


def is_none(text: str) -> bool:
    """Whether an answer says that there is no diagnosis: "none" or nothing, in any
    case, with any punctuation around it."""
    return [part.casefold() for part in parts(text)] in ([], [NONE])


def authors_samples(answers: Sequence[Extracted]) -> Answers:
    """Samples by the authors' rules, from raw answers: cases of exactly "none" dropped, one for each name in others."""
    named = [(answer, names_as_authors(answer.text if answer.raw is None else answer.raw)) for answer in answers]
    return _samples([(answer, name) for answer, names in named if names != [NONE] for name in names])


def strict_samples(answers: Sequence[Extracted]) -> Answers:
    """One sample per consultation: its first diagnosis, None (wrong) if there is none."""
    return _samples([(answer, first_name(answer.text)) for answer in answers])


def _samples(named: Sequence[tuple[Extracted, str | None]]) -> Answers:
    return Answers(
        tuple(answer.gold for answer, _ in named),
        tuple(name for _, name in named),
        tuple(answer.cluster for answer, _ in named),
    )


def score(answers: Sequence[Extracted], **draws: Unpack[Draws]) -> Scores:
    """The scores with 95 % bootstrap intervals over cases.

    Raises InputError on a gold diagnosis that is none of the 34.
    """
    accuracy, macro, strict = _scored(strict_samples(answers), NAMES, draws)
    read = [replace(answer, raw=None) for answer in answers]
    authors, cleaned = (weighted_f1(authors_samples(given), **draws) for given in (answers, read))
    return Scores(authors, cleaned, strict, macro, accuracy)


def weighted_f1(samples: Answers, names: Sequence[str] = NAMES, **draws: Unpack[Draws]) -> Estimate:
    """Weighted F1 over `names`: all 34, or those of a domain for samples of that domain only (3M-G33)."""
    return _scored(samples, names, draws)[-1]


def confusion(answers: Sequence[Extracted], names: Sequence[str]) -> tuple[list[str], list[list[int]]]:
    """Columns and counts of the strict reading: a row for each of `names`, a column for each and for everything else.

    The last two columns are another diagnosis of the 34, and none or a name outside the list.
    """
    samples = strict_samples(answers)
    counts = classification.confusion(samples.truth, samples.predicted, names)
    return [*names, "another of the 34", "none of the 34"], counts.tolist()


def _scored(samples: Answers, names: Sequence[str], draws: Draws) -> list[Estimate]:
    """Accuracy, macro F1 and weighted F1."""
    truth, predicted, clusters = samples
    if not truth:
        return [Estimate(None, None, 0)] * 3
    there, _ = occurring(truth, names)
    spread = bootstrap_classification(truth, predicted, there, **draws | {"clusters": clusters})
    return [Estimate(*spread.estimate(at), len(truth)) for at in range(3)]
