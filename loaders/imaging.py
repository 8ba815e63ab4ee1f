"""Which imaging method a record names: by its CUIs and their ancestors, else by its text, else none.

    >>> method_of(["C0202823"], "Axial image."), method_of([], "Contrast-enhanced MDCT of the chest.")
    (Method(code='DRCT', source='cui'), Method(code='DRCT', source='text'))
    >>> method_of([], "PET/CT of the liver."), method_of([], "A mass in the liver.")
    (Method(code='DRCO', source='text'), Method(code='DRCO', source='none'))

ROCOv2 gives each image one of seven methods (Rückert et al. 2024): an angiogram made by a CT or MRI scanner belongs
to the scanner, any other is a method of its own although X-rays make it, fluoroscopy and mammography are X-ray, and a
picture of two methods, such as PET/CT, is combined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

from loaders.files.bundled import bundled

CT, XRAY, MRI, ULTRASOUND, ANGIOGRAPHY, PET = "DRCT", "DRXR", "DRMR", "DRUS", "DRAN", "DRPE"
COMBINED = "DRCO"
BY_CUI, BY_TEXT, BY_NOTHING = "cui", "text", "none"


class Method(NamedTuple):
    """The code of Table A1, and what determined it: "cui", "text", or "none" if neither names a method."""

    code: str
    source: str


# UMLS concepts of the methods (the first of each is ROCOv2's), of narrower ones that descend from the method, and their
# duplicates from other vocabularies.
_CONCEPTS = {
    CT: "C0040405 C4300092 C1441526 C0202823 C0202691 C0412620 C1536105",
    XRAY: "C1306645 C0043299 C1962945 C1548003 C0034571 C0039985 C0024671 C0016356",
    MRI: "C0024485 C0243032 C0994163 C0412675",
    ULTRASOUND: "C0041618 C0013516 C0183129 C0203378 C0203379 C0554756 C0013524",
    ANGIOGRAPHY: "C0002978 C0085532 C0003844 C0003515 C0031545",
    PET: "C0032743",
}
_CODE_OF_CUI = {cui: code for code, cuis in _CONCEPTS.items() for cui in cuis.split()}
_PET_CT = "C1699633"

# imaging.csv says which words name which method (columns code, method, use, wordings). `use` is `names` (any case),
# `capitals` ("US", "TEE" and "PET" are English words or names in lower case), `implied` and `implied capitals` (what
# only this method shows or is given: "hypoechoic", "HU"; a caption in plain words need not keep them), `alone` (the
# same where no other method is named: of a CT, "hyperintense" is loose for bright), or `plain` (what a lay caption may
# call it: "sound waves"). A wording is a word or a phrase; a hyphen counts as a space, and "radiogra*" matches any word
# that begins so.


def wordings(*uses: str) -> Iterator[tuple[str, str, str]]:
    """(code, method, wording) of the table's rows with these uses."""
    for row in bundled("loaders", "imaging.csv"):
        if row["use"] in uses:
            for wording in row["wordings"].split("|"):
                yield row["code"], row["method"], wording


class _Wordings(NamedTuple):
    """For the first word of a wording, the patterns of all wordings that begin so, with the codes of their methods."""

    first_words: AhoCorasick
    patterns: list[list[tuple[str, re.Pattern[str]]]]

    def codes_in(self, text: str) -> set[str]:
        """Tries a pattern only where a first word occurs: most words of a text begin none."""
        codes: set[str] = set()
        lower = text.replace("İ", "I").lower()  # the only letter that grows longer in lower case
        for number, start, _ in self.first_words.find_matches_as_indexes(lower, overlapping=True):
            for code, pattern in self.patterns[number]:
                if code not in codes and pattern.match(text, start):
                    codes.add(code)
        return codes


@cache
def _wordings(alone: bool = False) -> _Wordings:
    patterns: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for code in _CONCEPTS:
        for uses in (("alone",),) if alone else (("names", "implied"), ("capitals", "implied capitals")):
            listed = _listed(code, uses)
            if not listed:
                continue
            capitals = "capitals" in uses
            said = "|".join(sorted(map(_as_pattern, listed), key=len, reverse=True))
            pattern = re.compile(rf"(?<!\w)(?:{said})", 0 if capitals else re.IGNORECASE)
            for first in sorted({wording.lower().rstrip("*").split()[0] for wording in listed}):
                patterns.setdefault(first, []).append((code, pattern))
    return _Wordings(AhoCorasick(list(patterns), store_patterns=False), list(patterns.values()))


def _listed(code: str, uses: Sequence[str]) -> set[str]:
    """The wordings of a method with these uses, as they count."""
    capitals = "capitals" in uses
    return {
        wording.upper() if capitals and wording.islower() else wording for c, _, wording in wordings(*uses) if c == code
    }


def _as_pattern(wording: str) -> str:
    """ "x ray*" as a pattern: a plural is the same word, and a star allows more letters."""
    words = [re.escape(word) for word in wording.rstrip("*").split()]
    return r"[\s‐‑-]+".join(words) + (r"\w*" if wording.endswith("*") else r"(?:'?s)?(?!\w)")


# Names of other things that contain the words of a method.
_ELSEWHERE_SAID = (
    r"\b(?:optical coherence tomogra\w*(?: angiogra\w*)?|oct[- ]?(?:angiogra\w*|a\b)|single[- ]photon emission[\w ,-]*"
    r"tomogra\w*|spect(?:[-/ ]?ct)?\b|(?:fundus )?fluorescein angiogra\w*|indocyanine[\w -]*angiogra\w*|"
    r"(?:spin|gradient|field|planar|turbo|fast|recalled)[- ]echos?\b|echo[- ](?:planar|time|train|sequence)\b|"
    r"x-?ray diffraction|x-?ray (?:crystal|photoelectron|fluorescence)\w*|"
    r"echo(?:ed|ing)\b|mr\.? [a-z]\.|radiograph(?:er|ic contrast|ic technique)\w*|"
    r"x-ray (?:computed|ct)\b|(?:mr|magnetic resonance)[- ]elastogra\w*|positron[- ]emission[- ]tomogra\w*|"
    r"electron tomogra\w*)"
)
_ELSEWHERE = re.compile(_ELSEWHERE_SAID, re.IGNORECASE)
# Most texts name none: that is found out in lower case, as letters of either case take three times as long.
_ELSEWHERE_IN_LOWER = re.compile(_ELSEWHERE_SAID)
_PART_OF_SCAN = re.compile(
    r"\b(?:(?:ct|mr|computed tomogra\w*|tomogra\w*|magnetic resonance)[\s-]*(?:\(\w+\)\s*)?(?:\w+[\s-]){0,2}?"
    r"(?:angio|arterio|veno|aorto|porto|phlebo|cholangio|uro|myelo|arthro|entero|cysto|fistulo|kub\b)\w*|"
    r"time[- ]of[- ]flight|(?:cta|ctpa|ccta|mra|mrv|mrcp)\b|angio[- ]?(?:graphic )?(?:ct|mri?|computed|magnetic)\b|"
    r"(?:angio|myelo|arthro|uro)gra\w* (?:ct|mri?|computed|magnetic|tomogra)\w*)"
)


def method_of(cuis: Sequence[str], text: str) -> Method:
    """The method of a record (ML-G2): its CUIs' if they name one, else the one that its text names, else combined.

    `source` is what named it; a text or a record that names several is combined, with the same source.
    """
    named = methods_of_cuis(cuis)
    if len(named) == 1 and named != {ANGIOGRAPHY}:
        return Method(next(iter(named)), BY_CUI)
    said = methods_in(text)
    if named == {ANGIOGRAPHY}:
        # It is an ancestor of the angiograms made by a scanner; the text may name one of those.
        narrower = len(said) == 1 and _PART_OF_SCAN.search(text.lower()) is not None
        return Method(next(iter(said)), BY_TEXT) if narrower else Method(ANGIOGRAPHY, BY_CUI)
    if len(said) == 1 and (not named or said <= named):
        return Method(next(iter(said)), BY_TEXT)
    if named:
        return Method(COMBINED, BY_CUI)
    return Method(COMBINED, BY_TEXT if said else BY_NOTHING)


def methods_of_cuis(cuis: Iterable[str]) -> frozenset[str]:
    """Codes of the methods that CUIs or their ancestors stand for; one of a scanner counts as the scanner's."""
    codes: set[str] = set()
    for cui in cuis:
        if cui == _PET_CT:
            codes |= {CT, PET}
        elif cui in _CODE_OF_CUI:
            codes.add(_CODE_OF_CUI[cui])
    return frozenset(codes - {ANGIOGRAPHY} if codes & {CT, MRI} else codes)


def methods_in(text: str) -> frozenset[str]:
    """Codes of the methods that a text names.

    >>> sorted(methods_in("CT angiogram")), sorted(methods_in("Coronary angiogram, then CT and MRI of the US patient"))
    (['DRCT'], ['DRAN', 'DRCT', 'DRMR', 'DRUS'])
    """
    plain = _ELSEWHERE.sub(_methods_left, text) if _ELSEWHERE_IN_LOWER.search(text.lower()) else text
    codes = _wordings().codes_in(plain)
    if codes & {CT, MRI} and _PART_OF_SCAN.search(plain.lower()):
        codes -= {ANGIOGRAPHY, XRAY}  # the purpose of the scan: "CT urography"
    if not codes:
        codes = _wordings(alone=True).codes_in(plain)
    return frozenset(codes - {XRAY} if ANGIOGRAPHY in codes else codes)


def _methods_left(found: re.Match[str]) -> str:
    """What remains of a name that contains the words of a method."""
    text = found[0].lower()
    if text.startswith("positron"):
        return " PET "
    if text.startswith(("mr e", "mr-e", "magnetic")) or ("echo" in text and not text.startswith(("echoed", "echoing"))):
        return " MRI "  # MR elastography, spin echo, echo planar, echo time
    return " CT " if text.startswith("x-ray c") else " "
