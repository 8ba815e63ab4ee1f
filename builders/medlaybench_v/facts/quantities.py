"""Numbers as quantities: a value in the base unit of its kind, so that 15 mm, 1.5 cm and "one and a half centimetres"
are the same and 15 mm and 15 cm are not.

    >>> from builders.medlaybench_v.facts.reading import read
    >>> [(q.kind, q.value) for q in quantities(read("An aneurysm of 4.8 cm at L4/L5, grade II, 70% stenosis."))]
    [('length', 48.0), ('level L', 4.0), ('level L', 5.0), ('grade', 2.0), ('share', 70.0)]
"""

from __future__ import annotations

import re
from typing import NamedTuple

from builders.medlaybench_v.facts import words as known
from builders.medlaybench_v.facts.bounds import DECADE, bound_of
from builders.medlaybench_v.facts.codes import ISOTOPE, NUMERAL, SCALES, Code, codes_at, grade_at, stage_at
from builders.medlaybench_v.facts.markers import markers
from builders.medlaybench_v.facts.numerals import in_figures, is_dated, is_year, part_of_one, spelled, with_point
from builders.medlaybench_v.facts.reading import OfWords, Reading
from builders.medlaybench_v.facts.spine import ENDS_OF_SPINE, VERTEBRAL, end_of_spine
from builders.medlaybench_v.facts.units import SHORT, UNITS, denominator_after, thermometer, unit_after

_STOPS = frozenset(".;:)")
_SQUARES, _CUBES = frozenset(("square",)), frozenset(("cubic",))
_FRACTIONS = {
    "half": 0.5, "third": 1 / 3, "thirds": 1 / 3, "quarter": 0.25, "quarters": 0.25, "tenth": 0.1, "tenths": 0.1,
    "fourths": 0.25, "fifths": 0.2, "sixths": 1 / 6, "sevenths": 1 / 7, "eighths": 0.125, "ninths": 1 / 9,
    "hundredth": 0.01, "hundredths": 0.01, "thousandth": 0.001, "thousandths": 0.001,
}  # fmt: skip
_SIGNS = {"½": 0.5, "⅓": 1 / 3, "⅔": 2 / 3, "¼": 0.25, "¾": 0.75}
_PARTS = {"fourth": 0.25, "fifth": 0.2, "sixth": 1 / 6, "seventh": 1 / 7, "eighth": 0.125, "ninth": 1 / 9, "tenth": 0.1}
_LOOSE = {
    "both": 2, "pair": 2, "twin": 2, "twins": 2, "couple": 2, "either": 2, "double": 2, "twice": 2, "doubled": 2,
    "other": 2, "another": 2, "single": 1, "solitary": 1, "lone": 1, "triple": 3, "triplets": 3, "sole": 1, "once": 1,
    "one": 1, "second": 2, "half": 2, "trio": 3, "threesome": 3, "quartet": 4,
}  # fmt: skip
_NAMES = frozenset(
    "ventricle ventricles molar molars trimester chamber chambers nerve vessel space dimensional d window line "
    "degree look generation phase person party heart".split()
)


# What a plain sentence counts without telling a number: "two things".
_OF_ANY_NUMBER = frozenset(
    "things findings pictures images views sides parts halves signs scans xrays panels channels of together kinds "
    "times".split()
)


class Quantity(NamedTuple):
    """`value` in the base unit of its `kind` (mm, mL, g, days, per cent; a count or a code as it is).

    `step` is the unit of its last digit; `bound` is ">" or "<" where the text gives a limit, "~" where it says "about".
    `loose`: a word that may be no number at all ("both", "another"), which fulfils but is never missed. `first` and
    `last` are its words.
    """

    kind: str
    value: float
    step: float
    bound: str
    loose: bool
    first: int
    last: int
    text: str
    raw: float
    letter: str = ""


def quantities(reading: Reading) -> list[Quantity]:
    """The quantities of a caption, in their order."""
    texts = [*reading.texts, ""]
    counting = []
    for i in reading.where(_MAY_COUNT):
        behind = _ONLY_BEFORE.get(texts[i])
        if behind is None or texts[i + 1] in behind:
            counting.append(i)
    return _Reader(reading).all(counting) if counting else []


class _Reader:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.starts, self.ends = reading.starts, reading.ends
        self.texts = reading.texts
        self.word, self.raw = reading.word, reading.raw
        self.found: list[Quantity] = []

    def all(self, counting: list[int]) -> list[Quantity]:
        """The quantities that begin at some of the words `counting`."""
        i = 0
        for at in counting:
            if at >= i:
                i = max(at + 1, self._at(at))
        return self._joined()

    def _joined(self) -> list[Quantity]:
        """A year and four months are one time."""
        if [quantity.kind for quantity in self.found].count("time") < 2:
            return self.found
        joined: list[Quantity] = []
        for quantity in self.found:
            one = joined[-1] if joined else None
            both = one is not None and one.kind == quantity.kind == "time" and self._ends_in_unit(one)
            if one is not None and both and one.raw and quantity.raw:
                between = self.reading.lower[self.ends[one.last] : self.starts[quantity.first]].strip()
                larger = one.value / one.raw > 2 * quantity.value / quantity.raw > 0
                if (
                    larger
                    and between in ("", "and", "+", ",", ", and", "plus")
                    and quantity.value < one.value / one.raw
                ):
                    whole = one.value + quantity.value
                    text = self.reading.between(one.first, quantity.last)
                    joined[-1] = one._replace(
                        value=whole, step=quantity.step, loose=False, last=quantity.last, text=text, raw=whole
                    )
                    continue
            joined.append(quantity)
        return joined

    def _ends_in_unit(self, quantity: Quantity) -> bool:
        """Whether an amount has its unit: "a woman of 30, 33 weeks pregnant" tells two times."""
        word = self.texts[quantity.last]
        return not in_figures(word) and word not in known.CARDINALS

    # ------------------------------------------------------------------------------------------------ what stands where

    def gap(self, i: int) -> str:
        """What stands between word i and the one before it."""
        return self.reading.gaps[i] if 0 < i < len(self.texts) else "\n"

    def _at(self, i: int) -> int:
        """Read what begins at word i; the index of the first word behind it."""
        word = self.texts[i]
        if in_figures(word):
            return self._digits(i)
        if word in known.CARDINALS or word in ("hundred", "thousand", "dozen", "one", "zero", "million"):
            return self._spelled(i)
        if word in ("a", "an", "half", "quarter", "twice", "couple", "fortnight") or word in _LOOSE:
            return self._loose(i)
        if word in _SIGNS:
            return self._fraction(i, i, _SIGNS[word])
        if word in _FOLD:
            return self._add("fold", float(_FOLD[word]), 1.0, i, i)
        if word in _DECADES and (word.endswith("arian") or _OWN & {self.word(i - 1), self.word(i - 2)}):
            years = _DECADES[word] + 5.0
            end = self._add("time", years * 365.25, 0.0, i, i, raw=years, letter=self.word(i - 1))
            self.found[-1] = self.found[-1]._replace(bound=DECADE)
            return end
        if word in ENDS_OF_SPINE and (level := end_of_spine(self.texts, i)):
            return self._add(f"level {level.letter}", float(level.number), 1.0, i, level.last, loose=True)
        if word in ("first", "second", "third", "last", "final", "middle", "early", "late", "mid") and (
            trimester := self._trimester(i)
        ):
            return trimester
        if word in _ORDINALS:
            return self._ordinal(i, _ORDINALS[word], i + 1)
        if (
            word == "day"
            and self.word(i - 1) in ("the", "next", "following")
            and self.word(i + 1) in ("after", "before", "following", "of")
        ):
            return self._add("time", 1.0, 0.0, i, i, loose=True)
        if word in ("next", "following") and self.word(i + 1) == "day":
            days = [q.raw for q in self.found if q.kind == "time" and q.raw == q.value]
            # the one behind the last that was told; alone it is a day later
            return self._add("time", (days[-1] if days else 0.0) + 1.0, 0.0, i, i + 1, loose=True)
        if word == "right":  # one of _ONLY_BEFORE
            return self._add("angle", 90.0, 0.0, i, i + 1, loose=True)
        if any(char.isdigit() for char in word):
            return self._coded(*codes_at(self.reading, i))
        if grade := grade_at(self.reading, i):
            return self._coded([grade], i + 1)
        dated = self.word(i + 1)[:1].isdigit() or self.word(i - 1) in ("of", "in", "since", "last") or i == 0
        if word in known.MONTHS and self.raw(i)[0].isupper() and (dated or word not in ("may", "march")):
            self._add("date", float(known.MONTHS_IN_ORDER.index(word) + 1), 0.0, i, i)
        return i + 1

    def _add(
        self,
        kind: str,
        value: float,
        step: float,
        first: int,
        last: int,
        *,
        loose: bool = False,
        raw: float | None = None,
        letter: str = "",
    ) -> int:
        text = self.reading.between(first, last)
        bound = bound_of(self.reading, first, last)
        own = value if raw is None else raw
        self.found.append(Quantity(kind, value, step, bound, loose, first, last, text, own, letter))
        return last + 1

    def _coded(self, codes: list[Code], behind: int) -> int:
        for code in codes:
            self._add(code.kind, code.value, 1.0, code.first, code.last, letter=code.letter)
        return behind

    # ------------------------------------------------------------------------------------------------------- the shapes

    def _digits(self, i: int) -> int:
        word = self.texts[i]
        if word[-1].isalpha():  # 33rd
            return self._ordinal(i, int(_number(word[:-2])[0]), i + 1)
        dated = _DATE.fullmatch(word)
        if dated:
            for part in word.split("."):
                self._add("date", float(part), 0.0, i, i)
            return i + 1
        if len(word) == 1 and any(marker.first == i for marker in self.reading.get(markers)):
            return i + 1  # of a key
        if self.word(i - 1).endswith("t") and not self.gap(i):
            stage = stage_at(self.reading, i - 1)
            if stage:
                return self._coded(*stage)
        value, step = _number(word)
        following = self.word(i + 1)
        if following in _POWERS and self.gap(i + 1) == " ":
            return self._with_unit(i, i + 1, value * _POWERS[following], step * _POWERS[following])
        if following and not self.gap(i + 1) and ISOTOPE.match(word + following):
            return i + 2
        if following and not self.gap(i + 1) and following not in UNITS and len(following) <= 3 and following.isalpha():
            return self._add("count", value, step, i, i + 1, letter=following)
        if following in ("d", "dimensional") and value in (2, 3, 4):
            return i + 2
        if self.word(i - 1) in ("fig", "figure") or (self.word(i - 1) in _ELEMENTS and self.gap(i) == "-"):
            return i + 1
        if self.word(i - 1) in ("technetium", "fluor", "fluorine", "iodine", "gallium", "tc", "covid"):
            return i + 1
        if self.word(i - 1) in ("disease", "virus") and value == 2019:
            return i + 1
        start = self.starts[i]
        sign = self.reading.text[max(0, start - 1) : start]
        if sign in ("−", "–", "-") and self.reading.text[max(0, start - 2) : start - 1] in ("", " ", "("):
            value = -value
        if self.word(i - 1) in ("minus", "negative"):
            value = -value
        if self.gap(i + 1) == "/" and following in _DENOMINATORS and value < int(following):  # 1/2 cm
            return self._with_unit(i, i + 1, value / int(following), 0.0)
        below = self.word(i + 2) if self.gap(i + 1) == " " and self.gap(i + 2) == "/" else ""
        if below in _DENOMINATORS and following.isdecimal() and int(following) < int(below):  # 1 1/2 cm
            return self._with_unit(i, i + 2, value + int(following) / int(below), 0.0)
        days = self.word(i + 2)
        if following == "+" and len(days) == 1 and days.isdigit() and self.word(i + 3) in ("week", "weeks"):
            return self._add("time", value * 7 + float(days), 1.0, i, i + 3, raw=value)  # 28+4 weeks
        if following == "and" and self.word(i + 2) == "a" and self.word(i + 3) in _FRACTIONS:
            return self._with_unit(i, i + 3, value + _FRACTIONS[self.word(i + 3)], 0.5)
        if following in _SIGNS:
            return self._with_unit(i, i + 1, value + _SIGNS[following], 0.5)
        return self._with_unit(i, i, value, step)

    def _with_unit(self, first: int, last: int, value: float, step: float) -> int:
        """A number with the unit that follows it, across "x 3 cm" and "to 5 mm"."""
        unit_at = unit_after(self.reading, last + 1)
        aged = self.word(first - 1) in ("of", "is", "was") and self.word(first - 2) in _PEOPLE
        dated = is_dated(self.word(first - 1), value) and unit_at is not None and unit_at[0] > last + 1
        if (
            unit_at is not None and not dated and not (aged and "," in self.gap(last + 1))
        ):  # "a woman of 30, 33 weeks pregnant"
            j, (kind, factor) = unit_at
            adjacent = j == last + 1
            power = self.word(j + 1) if self.reading.behind(j) == "^" else ""  # cm^3
            if self.word(j - 1) in _SQUARES or self.word(j).endswith("²") or power == "2":
                kind, factor = "area", factor * factor
            elif self.word(j - 1) in _CUBES or self.word(j).endswith("³") or power == "3":
                kind, factor = "volume", factor**3 / 1000.0
            j += bool(power)
            if kind == "angle" and (degrees := thermometer(self.reading, j + 1)):
                kind = "temperature"
                if degrees == "f":
                    value, step = (value - 32.0) / 1.8, step / 1.8
            if self.word(j) in _MILLIMETRES and "hg" in (self.word(j + 1), self.word(j + 2).replace("mercury", "hg")):
                kind = "pressure"
            if kind == "mass" and self.word(j) == "g" and self.raw(j) == "G" and 8 <= value <= 34:
                kind = "gauge"
            if kind == "fold" and self.word(j) in ("time", "times") and self.word(j + 1) in ("a", "per", "each"):
                kind = "rate"
            if kind not in ("rate", "fold") and (divided := denominator_after(self.reading, j)):
                j, (per, size) = divided
                kind, factor = f"{kind} per {per}", factor / size
            return self._add(kind, value * factor, step * factor, first, j if adjacent else last, raw=value)
        if self.word(last + 1) == "on" and thermometer(self.reading, last + 1) == "f":  # 140 on the Fahrenheit scale
            return self._add("temperature", (value - 32.0) / 1.8, step / 1.8, first, last, raw=value)
        if self.word(first - 1) in ("day", "days"):
            return self._add("time", value, 0.0, first - 1, last, raw=value)
        if self.word(first - 1) in ("week", "month", "year") and self.word(first - 2) != "per":
            kind, factor = UNITS[self.word(first - 1)]
            return self._add(kind, value * factor, 0.0, first - 1, last, raw=value)
        # "The patient, 45, is a man"
        apposed = self.word(first - 1) in _PEOPLE and "," in self.gap(first) and "," in self.gap(last + 1)
        if self.word(first - 1) in ("aged", "age") or aged or apposed:
            return self._add("time", value * 365.25, 0.0, first, last, raw=value)
        if self.word(first - 1) == "french":
            return self._add("French", value, step, first, last)
        if step == 1 and is_year(value):
            return self._add("date", value, 0.0, first, last)
        kind = "grade" if self.word(first - 1) in SCALES else "count"
        return self._add(kind, value, step, first, last, letter=self._letter(last))

    def _letter(self, i: int) -> str:
        following = self.word(i + 1)
        return following if len(following) == 1 and following in "abcdf" and not self.gap(i + 1) else ""

    def _spelled(self, i: int) -> int:
        """Twenty-five, two hundred, two and a half, a dozen, one third."""
        word = self.texts[i]
        value, last = spelled(self.texts, self.reading.gaps, i)
        if part := part_of_one(self.texts, self.reading.gaps, last + 1):
            return self._fraction(i, part[1], value * part[0])
        if self.word(last + 1) == "point" and self.word(last + 2) in known.CARDINALS:
            value, last = value + known.CARDINALS[self.word(last + 2)] / 10, last + 2
        fraction = self.word(last + 1)
        if value == 1 and fraction in _PARTS and self._is_part(last + 2):
            return self._fraction(i, last + 1, _PARTS[fraction])
        if fraction in _FRACTIONS and (fraction != "third" or value == 1):  # "two third molars"
            return self._fraction(i, last + 1, value * _FRACTIONS[fraction])
        if self.word(last + 1) == "and" and self.word(last + 2) == "a" and self.word(last + 3) in ("half", "quarter"):
            return self._with_unit(i, last + 3, value + _FRACTIONS[self.word(last + 3)], 0.0)
        unit = unit_after(self.reading, last + 1)
        nobody = word == "one" and self.word(i - 1) in ("no", "any", "every") and self.gap(i) == " "
        if unit is None and word == "one" and (nobody or self.word(last + 1) in ("of", "in")):
            return last + 1
        if unit is None and value <= 2 and self.word(i - 1) not in SCALES:
            if self.word(i - 1) == "aged" or (self.word(i - 1) == "of" and self._stands_last(i - 2, last)):
                return self._with_unit(i, last, value, 1.0)
            return self._add("count", value, 1.0, i, last, loose=value < 2 or self._is_generic(last))
        if unit and word == "one" and self.word(unit[0]) in ("side", "time", "day"):
            return self._with_unit(i, last, value, 1.0)
        if self.word(last + 1) in ("dimensional", "d"):
            return last + 2
        end = self._with_unit(i, last, value, 1.0)
        if self.found[-1].kind == "count" and self._is_generic(last):
            self.found[-1] = self.found[-1]._replace(loose=True)
        return end

    def _stands_last(self, person: int, last: int) -> bool:
        """Whether no noun follows: "a girl of one, who", and not "scans of one child"."""
        return (
            self.word(person) in _PEOPLE | {"age"}
            or self.word(last + 1) in ("", "who", "and", "with", "has", "had", "is", "was")
            or bool(self.gap(last + 1).strip())
        )

    def _is_generic(self, last: int) -> bool:
        if self.word(last + 1) == "of" and (
            self.word(last + 3) in known.CARDINALS or self.word(last + 3)[:1].isdigit()
        ):
            return False  # seven of the twelve
        following = {self.word(last + 1), self.word(last + 2)}
        return bool(following & _NAMES) or self.word(last + 1) in _OF_ANY_NUMBER

    def _fraction(self, first: int, last: int, share: float) -> int:
        """A fraction of something, or of a unit: "half an inch", "three quarters of a litre"."""
        j = last + 1
        if self.word(j) == "of" and self.word(j + 1) in ("a", "an"):
            j += 2
        elif self.word(j) in ("a", "an"):
            j += 1
        elif self.gap(j) not in ("-", " "):
            j = -1
        word = self.word(j)
        name = word[:-1] if word.endswith("s") and word not in UNITS else word
        if word and name in UNITS and word not in SHORT and name not in ("second",):
            kind, factor = UNITS[name]
            return self._add(kind, share * factor, 0.0, first, j, raw=share)
        # "More than half" is an amount, "the other half" none.
        loose = share == 0.5 and not bound_of(self.reading, first, last)
        return self._add("share", share * 100.0, 0.0, first, last, loose=loose, raw=share)

    def _is_part(self, j: int) -> bool:
        """Whether "a fourth" before word j is a part, and not the fourth of some things: "a fourth of it"."""
        return self.word(j) == "of" or j >= len(self.texts) or not _STOPS.isdisjoint(self.gap(j))

    def _loose(self, i: int) -> int:
        """A day, half an hour, the other: words that may state a quantity."""
        word = self.texts[i]
        if word == "fortnight":
            return self._add("time", 14.0, 0.0, i, i, raw=2.0)
        if word == "half" and "again" in (self.word(i + 1), self.word(i + 3)) and "as" in self.texts[i + 1 : i + 3]:
            return self._add("fold", 1.5, 0.0, i, i + 3)  # "half as wide again", "half again as wide"
        if word in ("half", "quarter"):
            for last in (i + 1, i + 2):
                if self.word(last) == "dozen" and (last == i + 1 or self.word(i + 1) == "a"):
                    return self._add("count", 6.0, 1.0, i, last)
            return self._fraction(i, i, _FRACTIONS[word])
        if word in ("a", "an") and self.word(i + 1) in ("full", "whole", "single") and self.word(i + 2) in UNITS:
            kind, factor = UNITS[self.word(i + 2)]
            return self._add(kind, factor, 0.0, i, i + 2, loose=True, raw=1.0)
        if word in ("a", "an"):
            if self.word(i + 1) in _PARTS and self._is_part(i + 2):
                return self._fraction(i, i + 1, _PARTS[self.word(i + 1)])
            if self.word(i + 1) in ("half", "quarter", "third", "dozen", "hundred", "thousand"):
                if self.word(i + 1) in _FRACTIONS:
                    return self._fraction(i, i + 1, _FRACTIONS[self.word(i + 1)])
                return self._spelled(i + 1)
            if self.word(i + 1) == "score" and self.word(i + 2) == "or":  # "a score or so"
                return self._add("count", 20.0, 10.0, i, i + 1)
            unit = self.word(i + 1)
            if (
                unit in UNITS
                and len(unit) > 2
                and unit not in ("time", "second", "degree", "french", "foot", "night", "beat", "fold", "gray", "day")
            ):
                more = self._and_a_part(i + 2)
                value, last = 1.0 + more, i + 1 + 3 * bool(more)
                kind, factor = UNITS[unit]
                return self._add(kind, value * factor, 0.0, i, last, loose=value == 1, raw=value)
            if unit == "day":
                more = self._and_a_part(i + 2)
                return self._add("time", 1.0 + more, 0.0, i, i + 1 + 3 * bool(more), loose=not more)
            return i + 1
        if word in ("twice", "doubled", "double"):
            return self._add("fold", 2.0, 1.0, i, i, loose=True)
        return self._add("count", float(_LOOSE[word]), 1.0, i, i, loose=True)

    def _and_a_part(self, i: int) -> float:
        """The part told by "and a half"; 0 where none is."""
        told = self.word(i) == "and" and self.word(i + 1) == "a"
        return _FRACTIONS.get(self.word(i + 2), 0.0) if told else 0.0

    def _trimester(self, i: int) -> int:
        """The third trimester, the last three months of the pregnancy; 0 where it is none."""
        word, following = self.word(i), self.word(i + 1)
        last = i + 1
        if following in ("three", "3") and self.word(i + 2).startswith("month"):
            last = i + 2
        elif following not in ("trimester", "third") and not (
            word in ("early", "late", "mid") and following == "pregnancy"
        ):
            return 0
        if following == "third" and self.word(i + 2) != "of":
            return 0
        value = {"first": 1, "early": 1, "second": 2, "middle": 2, "mid": 2}.get(word, 3)
        return self._add("trimester", float(value), 1.0, i, last, loose=following == "pregnancy")

    def _ordinal(self, i: int, value: int, end: int) -> int:
        if self.word(i - 1) in ("per", "at"):
            return end
        if self.word(end) in ("day", "week", "month", "year"):
            kind, factor = UNITS[self.word(end)]
            return self._add(kind, value * factor, 0.0, i, end, raw=float(value), loose=value == 1)
        if self.word(end) == "of" and self.word(i - 1) in ("upper", "lower", "middle", "distal", "proximal"):
            return end
        loose = value == 1 or bool({self.word(end), self.word(end + 1)} & _NAMES)
        if value == 1 and self.word(end) in VERTEBRAL:
            loose = False
        return self._add("ordinal", float(value), 1.0, i, i, loose=loose)


def _may_count(word: str) -> bool:
    return (
        word in known.CARDINALS
        or word in known.MONTHS
        or word in _BEGINNINGS
        or word in _LOOSE
        or word in _ORDINALS
        or word in _DECADES
        or word in _FOLD
        or word in _SIGNS
        or any(char.isdigit() for char in word)
        or NUMERAL.match(word) is not None
    )


_MAY_COUNT = OfWords(_may_count)
_BEHIND_ARTICLE = frozenset("full whole single half quarter third dozen hundred thousand day score".split())
_BEHIND_ARTICLE |= _PARTS.keys() | UNITS.keys()
# Frequent words that state an amount only before these.
_ONLY_BEFORE = {
    "a": _BEHIND_ARTICLE, "an": _BEHIND_ARTICLE, "right": frozenset(("angle", "angles", "angled")),
}  # fmt: skip


def _number(text: str) -> tuple[float, float]:
    """The value and the unit of the last digit."""
    text = with_point(text) if "," in text else text
    try:
        value = float(text)
    except ValueError:
        value, text = float(re.sub(r"[^0-9]", "", text)), ""
    return min(value, _LARGEST), 10.0 ** -len(text.partition(".")[2])


_LARGEST = 1e99  # of digits without end, so that none is infinite


_FOLD = {f"{word}fold": value for word, value in known.CARDINALS.items()}
_DENOMINATORS = frozenset(("2", "3", "4", "8"))
_POWERS = {"thousand": 1e3, "million": 1e6}
_MILLIMETRES = frozenset("mm millimetre millimetres millimeter millimeters".split())
_BEGINNINGS = frozenset(
    "hundred thousand dozen one zero million a an half quarter twice couple fortnight day next following right first "
    "last final middle early late mid lowest bottom lowermost top uppermost topmost highest".split()
)
_ELEMENTS = frozenset("ga gallium tc technetium f fluorine i iodine in indium lu lutetium c".split())
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{2,4}")
_OWN = frozenset("his her their the early mid late middle".split())
_PEOPLE = frozenset(
    "man woman boy girl child baby patient person infant footballer lady lad cyclist toddler he she teenager".split()
)
_ORDINALS = known.ORDINALS | {
    "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18,
    "nineteenth": 19, "twentieth": 20, "thirtieth": 30,
}  # fmt: skip
_DECADES = {
    "twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70, "eighties": 80,
    "nineties": 90, "sexagenarian": 60, "septuagenarian": 70, "octogenarian": 80, "nonagenarian": 90,
}  # fmt: skip
