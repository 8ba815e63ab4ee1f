"""Words that mean something else beside certain others: an acute angle is not sudden, a bone that consolidates heals.

>>> another_sense("acute", "Acute angle of the graft", 0, 5), another_sense("acute", "Acute cholecystitis", 0, 5)
(True, False)
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Sense(NamedTuple):
    """Where a word has another sense than in the vocabulary: by what stands right before or right behind it, or by what
    the caption speaks of (`about`) when it does not also speak of the usual thing (`unless`).
    """

    before: re.Pattern[str]
    behind: re.Pattern[str]
    about: re.Pattern[str]
    unless: re.Pattern[str]


_NEVER = r"(?!)"


def _sense(before: str = _NEVER, behind: str = _NEVER, about: str = _NEVER, unless: str = _NEVER) -> Sense:
    return Sense(*(re.compile(part, re.IGNORECASE) for part in (before, behind, about, unless)))


_BONE = (
    r"bon[ey]|osseous|fracture|osteotom|arthrodesis|callus|nonunion|distraction|graft|nail|screw|plate|femur|femoral|tibia|"
    r"humer|radius|ulna|fusion"
)
# Blood is fresh or old, not sudden or long-term.
_OF_BLOOD = r"ha?emorrhag|ha?ematom|thromb|bleed|blood|clot|infarct|isch|stroke|embol"
_TOOL = (
    r"screw|wire|needle|catheter|stent|lead|pin|tube|electrode|device|filter|nail|implant|coil|plate|balloon|clip|mesh"
)
_SENSES = {
    "acute": _sense(
        behind=r"[ ](?:on|over|or|and|to)\b|[ ]?[/,]|-|[ ](?:[\w-]+[ ])?(?:angle[ds]?|angular\w*|angulat\w+|bend\w*|"
        rf"kink\w*|turns?|curv\w+|margin\w*|flexion|phase|rejection|{_OF_BLOOD})",
    ),
    "chronic": _sense(
        before=r"\bacute(?:[ -]on[ -]|[ ](?:and|or|to|over)[ ]|[/,][ ]?)\Z", behind=rf"[ ](?:[\w-]+[ ])?(?:{_OF_BLOOD})"
    ),
    "subacute": _sense(behind=rf"[ ](?:[\w-]+[ ])?(?:{_OF_BLOOD})"),
    "consolidation": _sense(
        behind=r"[ ](?:chemo\w*|therapy|treatment|radio\w*)", about=_BONE,
        unless=r"lung|pulmo|lob[ea]|chest|thora|pneumon|airspace|air-space|bronch|pleur|hilar|zone|opaci|ground",
    ),
    "enhancement": _sense(
        before=r"(?:acoustic|posterior|distal|through|transmission|sound|edge|image|signal|digital)[ ]\Z",
        about=r"ultraso|sonogra|echogen|echoic|\busg?\b",
        unless=r"contrast|gadolin|ceus|microbubble|\bc[ae]?c?t\b|phase|tomogra|\bmri?\b",
    ),
    # An echo that weakens is no density; neither is a sequence of MRI.
    "attenuation": _sense(about=r"ultraso|sonogra|echo|\busg?\b|\bmri?\b|flair", unless=r"\bc[ae]?c?t\b|tomogra"),
    # A vessel or sac that is closed by treatment is not blocked by disease; closed teeth are no blockage.
    "occlusion": _sense(
        before=r"(?:aneurysm\w*|fistula|malformation|defect|shunt|balloon|coil|test|appendage|asd|vsd|pda|pfo|ductus|"
        r"successful|therapeutic|trial|temporary|endovascular|transcatheter|percutaneous|device|"
        r"dental|centric|normal|class\s\w+)[ ]\Z",
        behind=r"[ ](?:device|balloon|test|coil|of (?:the |an? )?(?:[\w-]+[ ]){0,2}(?:aneurysm|fistula|malformation|"
        r"defect|shunt|appendage|sac|feed\w+))",
        about=r"tooth|teeth|molar|incisor|dental|overjet|orthodont",
    ),
    "occluded": _sense(before=r"(?:successfully|completely|coil|balloon)[ ]\Z", behind=r"[ ](?:with|by|using)\b"),
    # "A screw makes a hole", no hole is in the screw.
    **dict.fromkeys(
        ("perforation", "perforations", "perforation of", "perforations of"),
        _sense(behind=rf"(?:[ ]of)?[ ](?:the |an? )?(?:[\w-]+[ ]){{0,2}}(?:{_TOOL})"),
    ),
    "malignant": _sense(
        behind=r"[ ](?:\w+[ ])?(?:glaucoma|hypertens\w+|otitis|hypertherm\w+|infarct\w*|migrat\w+|course|"
        r"arrhythm\w+|edema|oedema|syndrome)"
    ),
    "benign": _sense(behind=r"[ ](?:\w+[ ])?(?:course|hypertens\w+|positional|clinical)"),
    "posterior": _sense(before=r"\b(?:lower|upper|inferior|superior)[ ]\Z"),
    "infiltrate": _sense(about=r"", unless=r"lung|pulmo|chest|thora|lobe|pneumon|airspace|bronch|pleur|zone"),
    "infiltrates": _sense(about=r"", unless=r"lung|pulmo|chest|thora|lobe|pneumon|airspace|bronch|pleur|zone"),
    "pulmonary": _sense(
        behind=r"[ ](?:and aortic|valv\w+|outflow|root|annul\w+|atresia|autograft|conduit|regurg\w+|insuff\w+)"
    ),
    "peripheral": _sense(
        behind=r"[ ](?:nerve|neurop|arter|vascul|vein|venous|blood|arthr|line|catheter|access|iv\b|intraven)"
    ),
    "cranial": _sense(behind=r"[ ](?:nerve|ct\b|mri\b|cavity|fossa|vault|computed|magnetic)"),
    "impacted": _sense(
        about=r"tooth|teeth|molar|canine|incisor|panoram|dental|\bopg\b|orthopantomo|mandib|maxill|dentig"
    ),
}  # fmt: skip
# What counts or judges an organ when the organ is named: "solitary renal cyst" has one cyst, not one kidney.
_COUNTING = re.compile(
    r"\b(?:solitary|single|isolated|lone|sole|unique|accessory|ectopic|supernumerary|duplicated?|double|absent)[ ]\Z",
    re.IGNORECASE,
)
# Parts that share the first word of a name: "the femoral head, neck and shaft".
_PARTS = r"head|neck|shaft|body|tail|apex|base|arch|root|condyles?|trochanter\w*|bulb|antrum|fundus"
_PART_AT_END = re.compile(rf"\b(?:{_PARTS})\Z", re.IGNORECASE)
_PART_BEHIND = re.compile(
    rf"(?:[ ]?[,/&]|[ ](?:and|or|to)\b)[ ]?(?:(?:and|or|the|proximal|distal)[ ])*(?:{_PARTS})\b", re.IGNORECASE
)
_NEARBY = 40  # characters before a word that are looked at


def another_sense(surface: str, text: str, start: int, end: int) -> bool:
    """Whether the word at [start, end) does not mean here what the vocabulary says of it."""
    sense = _SENSES.get(surface)
    if sense is None:
        return False
    return bool(
        sense.before.search(text, max(0, start - _NEARBY), start)
        or sense.behind.match(text, end)
        or (sense.about.search(text) and not sense.unless.search(text))
    )


def has_other_sense(surface: str) -> bool:
    """Whether a word has another sense anywhere."""
    return surface in _SENSES


def ends_in_part(surface: str) -> bool:
    """Whether a name ends in a part that others may share its first word with: "femoral head"."""
    return _PART_AT_END.search(surface) is not None


def counted_elsewhere(text: str, start: int) -> bool:
    """Whether the word before an anatomical adjective would be read as said of the organ itself."""
    return _COUNTING.search(text, max(0, start - _NEARBY), start) is not None


def shares_its_name(text: str, start: int, end: int) -> bool:
    """Whether another part follows that lives on the first word of the name at [start, end)."""
    return _PART_AT_END.search(text, start, end) is not None and _PART_BEHIND.match(text, end) is not None
