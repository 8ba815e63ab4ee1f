"""What a source says about the person in a photo, in one spelling: skin type with who assessed it, age group, sex."""

from __future__ import annotations

import re
from dataclasses import dataclass

# What may stand before the number of a scale.
_NAMED = {
    "Fitzpatrick": re.compile(r"(?:fitzpatrick|fst)?\s*(?:(?:skin\s+)?(?:photo)?type)?\s*"),
    "Monk": re.compile(r"(?:monk|mst)?\s*(?:(?:skin\s+)?tone)?\s*"),
}
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6}
_AGES = ((0, "0-17"), (18, "18-29"), (30, "30-39"), (40, "40-49"), (50, "50-59"), (60, "60-69"), (70, "70-79"))
_OLDEST_FROM, _MOST = 80, 130
_OLDEST = f"{_OLDEST_FROM}+"
# "90+", "90 or older", "over 89", ">= 90".
_OPEN = re.compile(
    r"(?:over|above|older than|>=?|≥)\s*([0-9]{2,3})(?:\s*years?)?"
    r"|([0-9]{2,3})\s*(?:years?\s*)?(?:\+|(?:and|or)\s+(?:over|older|above|more))"
)
# "45", "45.0", "45 y"; "age_18_to_29".
_YEARS = re.compile(r"([0-9]{1,3}(?:\.[0-9]+)?)(?:\s*(?:y|yrs?|years?))?|age_([0-9]{1,3})_(?:to_[0-9]{1,3}|or_.*|plus)")
AGE_GROUPS = (*(name for _, name in _AGES), _OLDEST)
_SEXES = {"f": "female", "female": "female", "m": "male", "male": "male", "intersex": "intersex"}


@dataclass(frozen=True, slots=True)
class Traits:
    """Skin type ("Fitzpatrick 1" to "6", "Monk 1" to "10") and who assessed it, age group, sex; None if not stated."""

    skin_type: str | None = None
    skin_type_asserted_by: str | None = None
    age_group: str | None = None
    sex: str | None = None


UNTOLD = Traits()


def traits(*skin: tuple[str, str, str], age: str = "", sex: str = "") -> Traits:
    """What cells of a source say. `skin` are (scale, cell, who says so); the first readable one counts.

    >>> traits(("Fitzpatrick", "FST3", "the person"), age="AGE_18_TO_29", sex="FEMALE")
    Traits(skin_type='Fitzpatrick 3', skin_type_asserted_by='the person', age_group='18-29', sex='female')
    >>> traits(("Fitzpatrick", "-1", "raters"), ("Monk", "7", "raters"), age="45.0", sex="unknown")
    Traits(skin_type='Monk 7', skin_type_asserted_by='raters', age_group='40-49', sex=None)
    """
    told = [(f"{scale} {number}", by) for scale, cell, by in skin if (number := _type(scale, cell))]
    kind, said_by = told[0] if told else (None, None)
    return Traits(kind, said_by, age_group_of(age), _SEXES.get(sex.strip().casefold()))


def scale_of(cell: str) -> str:
    """The scale of a cell that may name it: Fitzpatrick unless it says Monk."""
    return "Monk" if cell.strip().casefold().startswith(("monk", "mst")) else "Fitzpatrick"


def _type(scale: str, cell: str) -> int:
    """A number on the scale; 0 for none."""
    text = _NAMED[scale].sub("", cell.strip().casefold(), count=1)
    number = _ROMAN.get(text, 0)
    if re.fullmatch(r"[0-9]{1,2}(\.0+)?", text):
        number = int(float(text))
    return number if number <= (10 if scale == "Monk" else 6) else 0


def age_group_of(cell: str) -> str | None:
    """The group of an age in years, or of the name of a group as SCIN writes it; None for neither.

    An age without an upper end ("90+", as HIPAA has all ages over 89) has a group if it begins at 80 or later.

    >>> age_group_of("90+"), age_group_of("over 89"), age_group_of("60+")
    ('80+', '80+', None)
    """
    text = cell.strip().casefold()
    if found := _OPEN.fullmatch(text):
        return _OLDEST if _OLDEST_FROM <= int(found[1] or found[2]) <= _MOST else None
    found = _YEARS.fullmatch(text)
    if found is None:
        return None
    years = float(found[1] or found[2])
    if years >= _OLDEST_FROM:
        return _OLDEST if years <= _MOST else None
    return next(name for least, name in reversed(_AGES) if years >= least)
