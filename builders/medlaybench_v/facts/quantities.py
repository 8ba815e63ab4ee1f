"""Numbers as quantities: a value in the base unit of its kind, so that 15 mm, 1.5 cm and "one and a half centimetres"
are the same and 15 mm and 15 cm are not.

    >>> from builders.medlaybench_v.facts.scan import read
    >>> [(q.kind, q.value) for q in quantities(read("An aneurysm of 4.8 cm at L4/L5, grade II, 70% stenosis."))]
    [('length', 48.0), ('level L', 4.0), ('level L', 5.0), ('grade', 2.0), ('share', 70.0)]

A library of units would bring the conversions, which are the few lines of `UNITS`, and none of the reading of
captions (levels of the spine, scores in Roman figures, sizes of catheters), which is all the rest.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import compress, pairwise
from typing import NamedTuple

from builders.medlaybench_v.facts import words as known
from builders.medlaybench_v.facts.binding import Placed, exchanged
from builders.medlaybench_v.facts.markers import markers
from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.phrases import moved, phrase_of
from builders.medlaybench_v.facts.scan import Reading

# unit: (kind, factor to the base unit of the kind)
_DAY = 1.0
UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("mm", "millimeter", "millimetre"), ("length", 1.0)),
    **dict.fromkeys(("cm", "centimeter", "centimetre"), ("length", 10.0)),
    **dict.fromkeys(("m", "meter", "metre"), ("length", 1000.0)),
    **dict.fromkeys(("µm", "μm", "um", "micron", "micrometer", "micrometre"), ("length", 0.001)),
    **dict.fromkeys(("inch", "inche"), ("length", 25.4)),
    **dict.fromkeys(("foot", "feet"), ("length", 304.8)),
    **dict.fromkeys(("ml", "milliliter", "millilitre", "cc"), ("volume", 1.0)),
    **dict.fromkeys(("l", "liter", "litre"), ("volume", 1000.0)),
    **dict.fromkeys(("dl", "cl"), ("volume", 100.0)),
    **dict.fromkeys(("ounce", "oz"), ("volume", 29.6)),
    **dict.fromkeys(("pint",), ("volume", 500.0)),
    **dict.fromkeys(("teaspoon", "teaspoonful"), ("volume", 5.0)),
    **dict.fromkeys(("tablespoon", "tablespoonful"), ("volume", 15.0)),
    **dict.fromkeys(("cup", "cupful"), ("volume", 240.0)),
    **dict.fromkeys(("kg", "kilogram", "kilo"), ("mass", 1000.0)),
    **dict.fromkeys(("g", "gram", "gramme"), ("mass", 1.0)),
    **dict.fromkeys(("mg", "milligram"), ("mass", 0.001)),
    **dict.fromkeys(("pound", "lb"), ("mass", 453.6)),
    **dict.fromkeys(("%", "percent", "cent"), ("share", 1.0)),
    **dict.fromkeys(("°", "degree", "deg"), ("angle", 1.0)),
    **dict.fromkeys(("hu", "hounsfield"), ("HU", 1.0)),
    **dict.fromkeys(("f", "fr", "french"), ("French", 1.0)),
    **dict.fromkeys(("g", "gauge"), ("gauge", 1.0)),
    **dict.fromkeys(("t", "tesla"), ("tesla", 1.0)),
    **dict.fromkeys(("mmhg",), ("pressure", 1.0)),
    **dict.fromkeys(("hz",), ("frequency", 1.0)),
    **dict.fromkeys(("khz",), ("frequency", 1e3)),
    **dict.fromkeys(("mhz",), ("frequency", 1e6)),
    **dict.fromkeys(("gy", "gray"), ("dose", 1.0)),
    **dict.fromkeys(("cgy",), ("dose", 0.01)),
    **dict.fromkeys(("mgy",), ("dose", 0.001)),
    **dict.fromkeys(("msv",), ("effective dose", 1.0)),
    **dict.fromkeys(("mbq",), ("activity", 1.0)),
    **dict.fromkeys(("mci",), ("activity", 37.0)),
    **dict.fromkeys(("kv", "kvp"), ("kV", 1.0)),
    **dict.fromkeys(("ma",), ("mA", 1.0)),
    **dict.fromkeys(("bpm", "beat"), ("rate", 1.0)),
    **dict.fromkeys(("fold", "time"), ("fold", 1.0)),
    **dict.fromkeys(("year", "yr", "y", "yo", "birthday"), ("time", 365.25 * _DAY)),
    **dict.fromkeys(("decade",), ("time", 3652.5 * _DAY)),
    **dict.fromkeys(("month", "mo", "mth"), ("time", 30.4375 * _DAY)),
    **dict.fromkeys(("week", "wk"), ("time", 7 * _DAY)),
    **dict.fromkeys(("fortnight",), ("time", 14 * _DAY)),
    **dict.fromkeys(("day", "night"), ("time", _DAY)),
    **dict.fromkeys(("hour", "hr", "h"), ("time", _DAY / 24)),
    **dict.fromkeys(("minute", "min"), ("time", _DAY / 1440)),
    **dict.fromkeys(("second", "sec", "s"), ("time", _DAY / 86400)),
    **dict.fromkeys(("ms", "msec", "millisecond"), ("time", _DAY / 86400e3)),
}
del UNITS["g"]
UNITS["g"] = ("mass", 1.0)
_SHORT = frozenset("m l g t h s y f fr ma min".split())  # units only right behind their number
_SQUARES, _CUBES = frozenset(("square",)), frozenset(("cubic",))
_FRACTIONS = {
    "half": 0.5,
    "third": 1 / 3,
    "thirds": 1 / 3,
    "quarter": 0.25,
    "quarters": 0.25,
    "tenth": 0.1,
    "tenths": 0.1,
    "fifths": 0.2,
    "sixths": 1 / 6,
    "sevenths": 1 / 7,
    "eighths": 0.125,
    "ninths": 1 / 9,
    "fifth": 0.2,
}
_PARTS = {"fifth": 0.2, "sixth": 1 / 6, "seventh": 1 / 7, "eighth": 0.125, "ninth": 1 / 9, "tenth": 0.1}
_BETWEEN = frozenset("x by to and or × through".split())
_LOOSE = {
    "both": 2, "pair": 2, "twin": 2, "twins": 2, "couple": 2, "either": 2, "double": 2, "twice": 2, "doubled": 2,
    "other": 2,
    "another": 2, "single": 1, "solitary": 1, "lone": 1, "triple": 3, "triplets": 3, "sole": 1, "once": 1, "one": 1,
    "second": 2, "half": 2,
}  # fmt: skip
_SCALES = frozenset(
    "bosniak rads birads pirads lirads tirads fielding harris garden score stanford fontaine rutherford hinchey iia "
    "lawrence grade type stage class category group zone segment level degree fisher hess modic schatzker weber "
    "gustilo "
    "pfirrmann kellgren aspects nihss gcs asia graf crowe salter debakey crawford forrest child pugh couinaud "
    "number no tooth position part case patient phase nerve factor sector panel figure fig day week".split()
)
_NAMES = frozenset(
    "ventricle ventricles molar molars trimester chamber chambers nerve vessel space dimensional d window line "
    "degree look "
    "generation phase person party heart".split()
)
_ABOUT = frozenset(
    "about around roughly approximately nearly almost some approx circa ca close good bare barely".split()
)
_MORE = frozenset(
    "over above exceed exceeds exceeding exceeded more greater larger bigger beyond > ≥ least hotter".split()
)
_LESS = frozenset("under below less smaller fewer < ≤ most within cooler up".split())
_ISOTOPES = re.compile(r"(?:18f|f18|99m|99mtc|99|tc99m|68ga|ga68|131|131i|123i|i123|i131|fdg18|11c|2d|3d|4d|3|2|4)\Z")


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
    return _Reader(reading).all()


class _Reader:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.words = reading.words
        self.texts = reading.texts
        self.found: list[Quantity] = []

    def all(self) -> list[Quantity]:
        i = 0
        for at in compress(range(len(self.texts)), map(_may_count, self.texts)):
            behind = _ONLY_BEFORE.get(self.texts[at])
            if at >= i and (behind is None or self.word(at + 1) in behind):
                i = max(at + 1, self._at(at))
        return self._joined()

    def _joined(self) -> list[Quantity]:
        """A year and four months are one time."""
        joined: list[Quantity] = []
        for quantity in self.found:
            one = joined[-1] if joined else None
            if one is not None and one.kind == quantity.kind == "time" and one.raw and quantity.raw:
                between = self.reading.lower[self.words[one.last].end : self.words[quantity.first].start].strip()
                larger = one.value / one.raw > 2 * quantity.value / quantity.raw > 0
                if (
                    larger
                    and between in ("", "and", "+", ",", ", and", "plus")
                    and quantity.value < one.value / one.raw
                ):
                    whole = one.value + quantity.value
                    text = self.reading.text[self.words[one.first].start : self.words[quantity.last].end]
                    joined[-1] = one._replace(
                        value=whole, step=quantity.step, loose=False, last=quantity.last, text=text, raw=whole
                    )
                    continue
            joined.append(quantity)
        return joined

    # ------------------------------------------------------------------------------------------------ what stands where

    def word(self, i: int) -> str:
        return self.texts[i] if 0 <= i < len(self.texts) else ""

    def gap(self, i: int) -> str:
        """What stands between word i and the one before it."""
        return self.reading.text[self.words[i - 1].end : self.words[i].start] if 0 < i < len(self.words) else "\n"

    def raw(self, i: int) -> str:
        word = self.words[i]
        return self.reading.text[word.start : word.end]

    def _at(self, i: int) -> int:
        """Read what begins at word i; the index of the first word behind it."""
        word = self.texts[i]
        if word[0] in _DIGITS:
            return self._digits(i)
        if word in known.CARDINALS or word in ("hundred", "thousand", "dozen", "one", "zero", "million"):
            return self._spelled(i)
        if word in ("a", "an", "half", "quarter", "twice", "couple", "fortnight") or word in _LOOSE:
            return self._loose(i)
        if word in _DECADES and _OWN & {self.word(i - 1), self.word(i - 2)}:
            years = _DECADES[word] + 5.0
            end = self._add("time", years * 365.25, 0.0, i, i, raw=years)
            self.found[-1] = self.found[-1]._replace(bound=_DECADE)
            return end
        if word in _ENDS_OF_SPINE and (level := self._end_of_spine(i)):
            return level
        if word in ("first", "second", "third", "last", "final", "middle", "early", "late", "mid") and (
            trimester := self._trimester(i)
        ):
            return trimester
        if word in known.ORDINALS and word != "second":
            return self._ordinal(i, known.ORDINALS[word], i + 1)
        if word in _FAR_ORDINALS:
            return self._ordinal(i, _FAR_ORDINALS[word], i + 1)
        if word == "second":
            return self._second(i)
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
        if word == "right" and self.word(i + 1) in ("angle", "angles", "angled"):
            return self._add("angle", 90.0, 0.0, i, i + 1, loose=True)
        if any(char.isdigit() for char in word):
            return self._code(i)
        if _ROMAN.match(word) and self.raw(i)[:1].isupper():
            return self._roman(i)
        if word in known.MONTHS and self.raw(i)[0].isupper() and (word not in ("may", "march") or self._dated(i)):
            self._add("date", float(list(_MONTHS).index(word) + 1), 0.0, i, i)
        return i + 1

    def _dated(self, i: int) -> bool:
        return self.word(i + 1)[:1].isdigit() or self.word(i - 1) in ("of", "in", "since", "last") or i == 0

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
        text = self.reading.text[self.words[first].start : self.words[last].end]
        bound = self._bound(first, last)
        own = value if raw is None else raw
        self.found.append(Quantity(kind, value, step, bound, loose, first, last, text, own, letter))
        return last + 1

    def _bound(self, first: int, last: int) -> str:
        before = [self.word(j) for j in range(max(0, first - 4), first)]
        for j in range(len(before) - 1, -1, -1):
            word = before[j]
            if word in _ABOUT:
                return _BELOW if word in ("nearly", "almost") else "~"
            if word == "short" and before[j + 1 : j + 2] == ["of"]:
                return _BELOW
            if word in _MORE or word in _LESS:
                if (
                    word in ("over", "under")
                    and before[max(0, j - 1) : j]
                    and before[j - 1] in ("just", "little", "slightly", "bit")
                ):
                    return _ABOVE if word == "over" else _BELOW
                if word in ("more", "less") and before[max(0, j - 1) : j] and before[j - 1] in _SLIGHTLY:
                    return _ABOVE if word == "more" else _BELOW
                if word == "up" and before[j + 1 : j + 2] != ["to"]:
                    continue
                more = word in _MORE
                if {"no", "not", "none", "never", "nor"} & set(before[max(0, j - 2) : j]) or before[j - 1 : j] == [
                    "none"
                ]:
                    more = not more
                return ">" if more else "<"
            if word not in _BOUND_BETWEEN:
                break
        if self.word(last + 1) == "or":
            if self.word(last + 2) in ("so", "thereabouts"):
                return "~"
            if self.word(last + 2) in _MORE | {"longer"}:
                return ">"
            if self.word(last + 2) in _LESS | {"shorter"}:
                return "<"
        return ""

    # ------------------------------------------------------------------------------------------------------- the shapes

    def _digits(self, i: int) -> int:
        word = self.texts[i]
        if word[-1].isalpha():  # 33rd
            return self._ordinal(i, int(re.sub(r"\D", "", word)), i + 1)
        dated = _DATE.fullmatch(word)
        if dated:
            for part in word.split("."):
                self._add("date", float(part), 0.0, i, i)
            return i + 1
        if len(word) == 1 and any(m.first == i and m.shape.startswith("letter") for m in self.reading.get(markers)):
            return i + 1
        if self.word(i - 1).endswith("t") and not self.gap(i):
            stage = _TNM.match(self.reading.lower, self.words[i].start)
            if stage:
                return self._stage(i, stage)
        value, step = _number(word)
        following = self.word(i + 1)
        if following and not self.gap(i + 1) and _ISOTOPES.match(word + following):
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
        start = self.words[i].start
        sign = self.reading.text[max(0, start - 1) : start]
        if sign in ("−", "–", "-") and self.reading.text[max(0, start - 2) : start - 1] in ("", " ", "("):
            value = -value
        if self.word(i - 1) in ("minus", "negative"):
            value = -value
        days = self.word(i + 2)
        if following == "+" and len(days) == 1 and days.isdigit() and self.word(i + 3) in ("week", "weeks"):
            return self._add("time", value * 7 + float(days), 1.0, i, i + 3, raw=value)  # 28+4 weeks
        if following == "and" and self.word(i + 2) in ("a",) and self.word(i + 3) in _FRACTIONS:
            return self._with_unit(i, i + 3, value + _FRACTIONS[self.word(i + 3)], 0.5)
        if following == "½":
            value += 0.5
        return self._with_unit(i, i, value, step)

    def _stage(self, i: int, stage: re.Match[str]) -> int:
        """T2N1M0: three grades, each with its letter."""
        end = i
        while end + 1 < len(self.words) and self.words[end + 1].end <= stage.end():
            end += 1
        for letter, number in zip("tnm", stage.groups(), strict=True):
            if number is not None:
                self._add("stage", float(number), 1.0, i, end, letter=letter)
        return end + 1

    def _with_unit(self, first: int, last: int, value: float, step: float) -> int:
        """A number with the unit that follows it, across "x 3 cm" and "to 5 mm"."""
        unit_at = self._unit_after(last + 1)
        if unit_at is not None:
            j, (kind, factor) = unit_at
            if self.word(j - 1) in _SQUARES or self.word(j).endswith("²"):
                kind, factor = "area", factor * factor
            elif self.word(j - 1) in _CUBES or self.word(j).endswith("³"):
                kind, factor = "volume", factor**3 / 1000.0
            if kind == "length" and self.word(j) in ("foot", "feet") and value > 10:
                kind, factor = "count", 1.0
            if kind == "angle" and (self.word(j + 1), self.word(j + 2)) == ("below", "zero"):
                kind, value = "temperature", -value
            if kind == "angle" and self.word(j + 1) in ("c", "celsius"):
                kind = "temperature"
            if kind == "angle" and self.word(j + 1) in ("f", "fahrenheit"):
                kind, value, step = "temperature", (value - 32.0) / 1.8, step / 1.8
            if kind == "fold" and self.word(j) in ("time", "times") and self.word(j + 1) in ("a", "per", "each"):
                kind = "rate"
            adjacent = j == last + 1
            return self._add(kind, value * factor, step * factor, first, j if adjacent else last, raw=value)
        if self.word(first - 1) in ("day", "days"):
            return self._add("time", value, 0.0, first - 1, last, raw=value)
        if self.word(first - 1) in ("week", "month", "year") and self.word(first - 2) != "per":
            kind, factor = UNITS[self.word(first - 1)]
            return self._add(kind, value * factor, 0.0, first - 1, last, raw=value)
        if self.word(first - 1) in ("aged", "age") or (
            self.word(first - 1) in ("of", "is", "was") and self._of_a_person(first)
        ):
            return self._add("time", value * 365.25, 0.0, first, last, raw=value)
        if self.word(first - 1) in ("french",) or self.word(last + 1) == "french":
            return self._add("French", value, step, first, last)
        if 1900 <= value <= 2099 and step == 1 and float(value).is_integer():
            return self._add("date", value, 0.0, first, last)
        scale = self.word(first - 1) in _SCALES or self.word(first - 2) in ("rads", "lawrence")
        return self._add("grade" if scale else "count", value, step, first, last, letter=self._letter(last))

    def _of_a_person(self, i: int) -> bool:
        before = self.word(i - 2)
        return before in _PEOPLE or (self.word(i - 1) in ("is", "was") and before in ("he", "she", "patient"))

    def _letter(self, i: int) -> str:
        following = self.word(i + 1)
        return following if len(following) == 1 and following in "abcdf" and not self.gap(i + 1) else ""

    def _unit_after(self, j: int) -> tuple[int, tuple[str, float]] | None:
        for step in range(9):
            word = self.word(j)
            gap = self.gap(j)
            if not word or len(gap) > 3 or any(char in ".;:?" for char in gap.strip()):
                return None
            word = word.rstrip("²³")
            if not word:
                return None
            name = word if word in UNITS else word[:-1] if word.endswith("s") and len(word) > 2 else word
            if word == "inches":
                name = "inch"
            if name in UNITS and (word not in _SHORT or (gap in ("", " ", "-") and step == 0) or step > 1):
                if name == "second" and step == 0 and "-" not in gap and not word.endswith("s"):
                    return None
                if name == "time" and not word.endswith("s"):
                    return None
                if name == "french" and step > 0:
                    return None
                if name == "cent" and self.word(j - 1) != "per":
                    return None
                return j, UNITS[name]
            if word == "per" and self.word(j + 1) == "cent":
                return j + 1, UNITS["%"]
            if step == 0 and word in (
                "bare",
                "whole",
                "full",
                "square",
                "cubic",
                "more",
                "further",
                "further,",
                "good",
                "gestational",
                "completed",
                "long",
            ):
                j += 1
                continue
            if word in _BETWEEN or word[0].isdigit() or word in known.CARDINALS or word in ("+", "−"):
                number = word[0].isdigit() or word in known.CARDINALS
                if step == 0 and number and gap.strip() == "":  # "the later one five days on"
                    return None
                if word in ("and", "or", "to") and not (
                    self.word(j + 1)[:1].isdigit() or self.word(j + 1) in known.CARDINALS
                ):
                    return None
                j += 1
                continue
            return None
        return None

    def _spelled(self, i: int) -> int:
        """Twenty-five, two hundred, two and a half, a dozen, one third."""
        word = self.texts[i]
        last = i
        value = float(
            {"hundred": 100, "thousand": 1000, "dozen": 12, "one": 1, "zero": 0, "million": 1e6}.get(word)
            or known.CARDINALS.get(word, 0)
        )
        ones = known.CARDINALS.get(self.word(i + 1), 1 if self.word(i + 1) == "one" else 10)
        if value in range(20, 100, 10) and ones < 10 and self.gap(i + 1) in ("-", " ") and word in known.CARDINALS:
            value, last = value + ones, i + 1
        if self.word(last + 1) in ("hundred", "thousand", "dozen"):
            value *= {"hundred": 100.0, "thousand": 1000.0, "dozen": 12.0}[self.word(last + 1)]
            last += 1
        if self.word(last + 1) == "point" and self.word(last + 2) in known.CARDINALS:
            value, last = value + known.CARDINALS[self.word(last + 2)] / 10, last + 2
        fraction = self.word(last + 1)
        if (
            fraction in _FRACTIONS
            and fraction not in ("fifth",)
            and (value > 1 or fraction in ("third", "quarter", "half"))
        ):
            share = value * _FRACTIONS[fraction]
            if fraction != "third" or value == 1:
                return self._fraction(i, last + 1, share)
        if self.word(last + 1) == "and" and self.word(last + 2) == "a" and self.word(last + 3) in ("half", "quarter"):
            return self._with_unit(i, last + 3, value + _FRACTIONS[self.word(last + 3)], 0.0)
        unit = self._unit_after(last + 1)
        if unit is None and self.word(last + 1) in ("of", "in") and word == "one":
            return last + 1
        if unit is None and value <= 2 and self.word(i - 1) not in _SCALES:
            if self.word(i - 1) == "aged" or (self.word(i - 1) == "of" and self._stands_last(i - 2, last)):
                return self._with_unit(i, last, value, 1.0)
            return self._add("count", value, 1.0, i, last, loose=value < 2 or self._is_generic(last))
        if unit and word == "one" and self.word(unit[0]) in ("side", "time", "day"):
            return self._with_unit(i, last, value, 1.0)
        if self.word(last + 1) in ("dimensional", "d"):
            return last + 2
        at = len(self.found)
        end = self._with_unit(i, last, value, 1.0)
        if len(self.found) > at and self.found[-1].kind == "count" and self._is_generic(last):
            self.found[-1] = _loosened(self.found[-1])
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
        return bool(following & _NAMES) or self.word(last + 1) in (
            "things",
            "findings",
            "pictures",
            "images",
            "views",
            "sides",
            "parts",
            "halves",
            "signs",
            "scans",
            "xrays",
            "panels",
            "channels",
            "of",
            "together",
            "kinds",
            "times",
        )

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
        if word and name in UNITS and word not in _SHORT and name not in ("second",):
            kind, factor = UNITS[name]
            return self._add(kind, share * factor, 0.0, first, j, raw=share)
        loose = share == 0.5
        return self._add("share", share * 100.0, 0.0, first, last, loose=loose, raw=share)

    def _loose(self, i: int) -> int:
        """A day, half an hour, the other: words that may state a quantity."""
        word = self.texts[i]
        if word == "fortnight":
            return self._add("time", 14.0, 0.0, i, i, raw=2.0)
        if word == "couple":
            return self._add("count", 2.0, 1.0, i, i, loose=True)
        if word in ("half", "quarter"):
            for last in (i + 1, i + 2):
                if self.word(last) == "dozen" and (last == i + 1 or self.word(i + 1) == "a"):
                    return self._add("count", 6.0, 1.0, i, last)
            return self._fraction(i, i, _FRACTIONS[word])
        if word in ("a", "an") and self.word(i + 1) in ("full", "whole", "single") and self.word(i + 2) in UNITS:
            kind, factor = UNITS[self.word(i + 2)]
            return self._add(kind, factor, 0.0, i, i + 2, loose=True, raw=1.0)
        if word in ("a", "an"):
            if self.word(i + 1) in _PARTS and self.word(i + 2) == "of":
                return self._fraction(i, i + 1, _PARTS[self.word(i + 1)])
            if self.word(i + 1) in ("half", "quarter", "third", "dozen", "hundred", "thousand"):
                if self.word(i + 1) in _FRACTIONS:
                    return self._fraction(i, i + 1, _FRACTIONS[self.word(i + 1)])
                return self._spelled(i + 1)
            unit = self.word(i + 1)
            if (
                unit in UNITS
                and len(unit) > 2
                and unit not in ("time", "second", "degree", "french", "foot", "night", "beat", "fold", "gray", "day")
            ):
                value, last = 1.0, i + 1
                if self.word(i + 2) == "and" and self.word(i + 3) == "a" and self.word(i + 4) in _FRACTIONS:
                    value, last = 1.0 + _FRACTIONS[self.word(i + 4)], i + 4
                kind, factor = UNITS[unit]
                return self._add(kind, value * factor, 0.0, i, last, loose=value == 1, raw=value)
            if unit == "day":
                return self._add("time", 1.0, 0.0, i, i + 1, loose=True)
            return i + 1
        if word in ("twice", "doubled", "double"):
            return self._add("fold", 2.0, 1.0, i, i, loose=True)
        return self._add("count", float(_LOOSE[word]), 1.0, i, i, loose=True)

    def _second(self, i: int) -> int:
        if self.word(i - 1)[:1].isdigit() or self.word(i - 1) in known.CARDINALS:
            return i + 1
        return self._add("ordinal", 2.0, 1.0, i, i, loose=self.word(i + 1) not in _VERTEBRAL)

    def _end_of_spine(self, i: int) -> int:
        """The lowest lumbar bone is L5, the top one of the sacrum S1; 0 where no part of the spine follows."""
        regions = [j for j in range(i + 1, i + 6) if self.word(j) in _LAST_OF]
        between = [self.word(j) for j in range(i + 1, regions[0])] if regions else []
        if not regions or not set(between) <= _BONES or not (set(between) | {self.word(regions[0] + 1)}) & _BONES_ONLY:
            return 0
        letter, last = _LAST_OF[self.word(regions[0])]
        value = last if self.texts[i] in ("lowest", "last", "bottom", "lowermost") else 1
        end = regions[0] + (self.word(regions[0] + 1) in _BONES_ONLY)
        return self._add(f"level {letter}", float(value), 1.0, i, end, loose=True)

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
        if self.word(i - 1) in ("per", "at") or (value == 3 and self.word(i - 1) in ("one", "a", "two")):
            return end
        if self.word(end) in ("day", "week", "month", "year"):
            kind, factor = UNITS[self.word(end)]
            return self._add(kind, value * factor, 0.0, i, end, raw=float(value), loose=value == 1)
        if self.word(end) == "of" and self.word(i - 1) in ("upper", "lower", "middle", "distal", "proximal"):
            return end
        loose = value == 1 or bool({self.word(end), self.word(end + 1)} & _NAMES)
        if value == 1 and self.word(end) in _VERTEBRAL:
            loose = False
        return self._add("ordinal", float(value), 1.0, i, i, loose=loose)

    def _code(self, i: int) -> int:
        """L4, C5-6, T10, S1, T2: a level of the spine, a sequence, a code."""
        word = self.texts[i]
        if _ISOTOPES.match(word) or word in ("covid19", "t1wi", "t2wi", "t1w", "t2w"):
            return i + 1
        level = re.fullmatch(r"([cltdsv])(\d{1,2})([a-z]?)", word)
        if level:
            letter, number = level[1].upper(), float(level[2])
            if letter == "T" and number <= 2 and not self._by_vertebra(i):
                return i + 1
            if letter == "V":
                return self._add("count", number, 1.0, i, i, letter="v")
            letter = "T" if letter == "D" else letter
            self._add(f"level {letter}", number, 1.0, i, i)
            if self.gap(i + 1).strip() in ("-", "/", "–") and re.fullmatch(r"\d{1,2}", self.word(i + 1)):
                return self._add(f"level {letter}", float(self.word(i + 1)), 1.0, i + 1, i + 1)
            return i + 1
        digits = re.search(r"\d+", word)
        return self._add("count", float(digits[0]) if digits else 0.0, 1.0, i, i, letter=re.sub(r"\d", "", word))

    def _by_vertebra(self, i: int) -> bool:
        if self.word(i + 1) in (
            "type",
            "weighted",
            "image",
            "images",
            "mri",
            "picture",
            "pictures",
            "sequence",
            "signal",
        ):
            return False
        return (
            self.word(i + 1) in _VERTEBRAL
            or self.word(i - 1) in _VERTEBRAL
            or bool(re.fullmatch(r"[cltd]\d{1,2}", self.word(i + 1)) and self.word(i + 1) not in ("t1", "t2"))
        )

    def _roman(self, i: int) -> int:
        numeral = _ROMAN.match(self.texts[i])
        assert numeral is not None
        graded = self.word(i - 1) in _SCALES or self.word(i - 1) in known.GRADED
        raw = self.raw(i)
        if raw in ("IVF", "IVC", "XI", "IVA", "VIA"):
            return i + 1
        alone = (
            len(numeral[1]) > 1
            and raw[: len(numeral[1])].isupper()
            and self.word(i + 1) not in ("contrast", "line", "access", "drug")
        )
        if not (graded or alone) or self.reading.lower[self.words[i].end :][:4] in ("-ray", " ray"):
            return i + 1
        if raw[:1] in "IVX" and len(numeral[1]) == 1 and not graded:
            return i + 1
        return self._add("grade", float(known.ROMAN[numeral[1]]), 1.0, i, i, letter=numeral[2])


@lru_cache(maxsize=65536)
def _may_count(word: str) -> bool:
    """Whether a quantity may begin with a word; most words begin none."""
    return (
        word in known.CARDINALS
        or word in known.ORDINALS
        or word in known.MONTHS
        or word in _BEGINNINGS
        or word in _LOOSE
        or word in _FAR_ORDINALS
        or word in _DECADES
        or any(char.isdigit() for char in word)
        or _ROMAN.match(word) is not None
    )


_BEHIND_ARTICLE = frozenset("full whole single half quarter third dozen hundred thousand day".split())
_BEHIND_ARTICLE |= _PARTS.keys() | UNITS.keys()
# Frequent words that state an amount only before these.
_ONLY_BEFORE = {
    "a": _BEHIND_ARTICLE, "an": _BEHIND_ARTICLE, "right": frozenset(("angle", "angles", "angled")),
}  # fmt: skip


def _loosened(quantity: Quantity) -> Quantity:
    return quantity._replace(loose=True)


def _number(text: str) -> tuple[float, float]:
    """The value and the unit of the last digit."""
    if "," in text:
        groups = text.split(",")
        thousands = len(groups[0]) <= 3 and all(len(group.split(".")[0]) == 3 for group in groups[1:])
        text = text.replace(",", "") if thousands else text.replace(",", ".")
    try:
        value = float(text)
    except ValueError:
        return float(re.sub(r"[^0-9]", "", text)), 1.0
    return value, 10.0 ** -len(text.partition(".")[2])


_MONTHS = dict.fromkeys(known.MONTHS_IN_ORDER)
_DIGITS = frozenset("0123456789")
_BEGINNINGS = frozenset(
    "hundred thousand dozen one zero million a an half quarter twice couple fortnight day next following right first "
    "last final middle early late mid lowest bottom lowermost top uppermost topmost highest".split()
)
_ROMAN = re.compile(rf"({'|'.join(sorted(known.ROMAN, key=len, reverse=True))})([abcf]?)\Z")
_ELEMENTS = frozenset("ga gallium tc technetium f fluorine i iodine in indium lu lutetium c".split())
_TNM = re.compile(r"(\d)[a-d]?n(\d)[a-c]?(?:m(\d)[a-c]?)?")
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{2,4}")
_VERTEBRAL = frozenset(
    "vertebra vertebrae vertebral level spinous rib ribs lumbar thoracic cervical sacral bone disc root nerve "
    "pedicle body "
    "neck chest screw spine foramen neural segment".split()
)
_OWN = frozenset("his her their the early mid late middle".split())
_ENDS_OF_SPINE = frozenset("lowest last bottom lowermost top uppermost topmost highest first".split())
_LAST_OF = {
    "lumbar": ("L", 5), "neck": ("C", 7), "cervical": ("C", 7), "thoracic": ("T", 12), "sacrum": ("S", 5),
    "sacral": ("S", 5),
}  # fmt: skip
_BONES_ONLY = frozenset("bone bones vertebra vertebrae segment segments block blocks".split())
_BONES = _BONES_ONLY | frozenset("of the".split())
_PEOPLE = frozenset(
    "man woman boy girl child baby patient person infant footballer lady lad cyclist toddler he she teenager".split()
)
_BOUND_BETWEEN = frozenset(
    "than to of a an the just little slightly bit only as was is at no not by - than held".split()
)
_FAR_ORDINALS = {
    "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18,
    "nineteenth": 19,
    "twentieth": 20, "thirtieth": 30,
}  # fmt: skip


# --------------------------------------------------------------------------------------------------------- the same?


def same(expert: Quantity, lay: Quantity) -> bool:
    """Whether a lay quantity states an expert one: equal after conversion, or rounded as its digits or words say."""
    if not _kinds_meet(expert, lay):
        return False
    if {expert.bound, lay.bound} == {">", "<"}:
        return False
    if "stage" in (expert.kind, lay.kind) and (expert.kind, expert.letter) != (lay.kind, lay.letter):
        return False
    if expert.letter and lay.letter and expert.letter[:1] != lay.letter[:1]:
        return False
    if (expert.kind, lay.kind) == ("count", "share") and 0 < expert.value < 1:
        return abs(expert.value * 100 - lay.value) < 0.5
    if expert.kind != lay.kind and {expert.kind, lay.kind} != {"French", "length"}:
        return expert.raw == lay.raw
    value = expert.value / 3.0 if (expert.kind, lay.kind) == ("French", "length") else expert.value
    other = lay.value / 3.0 if (lay.kind, expert.kind) == ("French", "length") else lay.value
    if (value < 0) != (other < 0):
        return False
    if value == other:
        return True
    if expert.kind in _NAMES_ONE or expert.kind.startswith("level"):
        return False
    if lay.bound == _DECADE:  # "in her sixties"
        return int(expert.raw // 10) == int(lay.raw // 10) and abs(expert.value / expert.raw - 365.25) < 0.01
    gap = abs(value - other)
    if lay.bound in (_ABOVE, _BELOW) and not expert.bound:  # "a little over an inch"
        return 0 <= (value - other if lay.bound == _ABOVE else other - value) <= 0.2 * abs(value)
    if gap <= 1e-6 * max(abs(value), 1.0):
        return True
    if expert.kind == "time":  # eight weeks are two months; nine months, told so, are no ten
        return gap <= (0.035 if _same_unit(expert, lay) else 0.15 if lay.bound == "~" else 0.09) * abs(value)
    size = max(abs(value), 1e-9)
    if lay.step and lay.step > expert.step and gap <= lay.step / 2 * 1.02:
        return gap <= 0.12 * size
    if lay.bound:
        return gap <= 0.13 * size and lay.step != expert.step
    if not lay.step:  # told in words: "half an inch"
        return gap <= 0.06 * size
    imperial = abs(lay.value / lay.raw - 25.4) < 0.01 if lay.raw else False
    return imperial and gap <= 0.07 * size


_ABOVE, _BELOW, _DECADE = "a little more", "a little less", "decade"
_SLIGHTLY = frozenset("bit little slightly just".split())
_DECADES = {
    "twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70, "eighties": 80,
    "nineties": 90,
}  # fmt: skip


def _same_unit(one: Quantity, other: Quantity) -> bool:
    return abs(one.value * other.raw - other.value * one.raw) < 1e-6 * abs(one.value * other.raw)


_NAMES_ONE = frozenset(
    ("date", "stage", "grade", "ordinal", "trimester")
)  # no amounts: a number near it is another one
_COUNTS = frozenset(("count", "grade", "ordinal", "fold", "date", "rate"))


def _kinds_meet(expert: Quantity, lay: Quantity) -> bool:
    if expert.kind == lay.kind:
        return True
    if {expert.kind, lay.kind} == {"French", "length"}:
        return True
    if expert.kind.startswith("level"):
        return lay.kind in ("ordinal", "count") and not lay.letter
    if lay.kind.startswith("level"):
        return expert.kind in ("ordinal", "count")
    if {expert.kind, lay.kind} == {"angle", "temperature"}:
        return True
    if expert.kind in _COUNTS:
        return lay.kind in _COUNTS or (
            expert.kind in ("ordinal", "grade", "count") and lay.kind in ("time", "share", "French", "rate")
        )
    return lay.kind in ("count", "date") and expert.kind != "trimester"


# ------------------------------------------------------------------------------------------------------------ compare


def compare(expert: Reading, lay: Reading, allowed: Reading) -> Outcome:
    """Every quantity is kept, none is new, and none changed places with another."""
    here, there = expert.get(quantities), lay.get(quantities)
    outcome = Outcome()
    if not here and not there:
        return outcome
    if [q[:5] + q[8:] for q in here] != [q[:5] + q[8:] for q in there]:  # the same amounts in the same order are kept
        _kept(expert, here, lay, there, allowed, outcome)
    if not outcome.failed:
        outcome.swapped += _intervals_moved(expert, here, lay, there)
    if not outcome.failed:
        _amounts_moved(expert, here, lay, there, outcome)
    return outcome


def _kept(
    expert: Reading, here: list[Quantity], lay: Reading, there: list[Quantity], allowed: Reading, outcome: Outcome
) -> None:
    """Which quantities are lost, changed and new."""
    unmet = [q for q in there if not any(same(e, q) for e in here)]
    taken = {other for other in there if any(q.kind == other.kind and same(q, other) for q in here)}
    lost = [q for q in here if not q.loose and not any(same(q, o) for o in there if q.kind == o.kind or o not in taken)]
    lost = [q for q in lost if not (_named_otherwise(q, lay) or _told_by_another(q, there, lay))]
    new = [q for q in unmet if not q.loose and not _derived(q, here) and not _is_ratio(q, here)]
    if new:
        keys = {m.shape for m in expert.get(markers) if m.shape.startswith("letter")}
        new = [q for q in new if q.kind != "count" or f"letter {q.text}" not in keys]
        known_there = allowed.get(quantities)
        new = [q for q in new if not any(same(k, q) for k in known_there) and not _within(q, expert, here)]
        new = [q for q in new if not _is_difference(q, here, lay) and not _is_added(q, here, there)]
    for quantity in lost:
        other = next((q for q in new if _kinds_meet(quantity, q)), None)
        if other is not None:
            new.remove(other)
            basis = Basis.UNMET if _nearly_one_time(quantity, other) else Basis.CONTRADICTED
            outcome.add("changed", f"{quantity.text} became {other.text}", basis)
        elif quantity.kind == "ordinal" and not _is_digit(quantity):
            if not _DIGITS_OF_THE_BODY & set(lay.texts):
                outcome.doubts.append(f"lost: {quantity.text}")
        else:
            outcome.add("lost", quantity.text, _basis(expert, quantity, unmet, lay.bag))
    for quantity in new:
        if not _small(quantity):
            outcome.add("new", quantity.text, Basis.MISSING if _is_digit(quantity) else Basis.UNMET)


def _amounts_moved(
    expert: Reading, here: list[Quantity], lay: Reading, there: list[Quantity], outcome: Outcome
) -> None:
    """Two amounts of a kind that changed places."""
    several = sorted(kind for kind, count in Counter(q.kind for q in here).items() if count > 1)
    written = _as_written(here, there) if several else []
    for kind in several:
        ours, theirs = ([q for q in found if q.kind == kind] for found in (here, written))
        earlier = _earlier(expert, ours), _earlier(lay, theirs)
        if all(earlier):
            if earlier[0].isdisjoint(earlier[1]):
                outcome.swapped.append(" and ".join(q.text for q in ours if q.value in earlier[0] | earlier[1]))
            if earlier[0].isdisjoint(earlier[1]) or earlier[0] == earlier[1]:
                continue
        apart = ours[-1].first - ours[0].last > 3  # "24 weeks + 3 days" is one time
        swap = exchanged(expert, _placed(expert, ours), lay, _placed(lay, theirs)) if apart else None
        if swap:
            outcome.moved(f"{swap.one.partition(' ')[2]} and {swap.other.partition(' ')[2]}", sure=swap.sure)


def _earlier(reading: Reading, found: list[Quantity]) -> frozenset[float]:
    """Of two amounts the one told as that of an earlier time: "5.6 cm a year ago", "up from 5.6", "which was 5.6"."""
    if len({q.value for q in found}) != 2 or found[0].kind in ("time", "date", "ordinal", "trimester"):
        return frozenset()
    past = set()
    for quantity in found:
        start, end = _statement(reading, quantity)
        ahead = reading.texts[max(start, quantity.first - 3) : quantity.first]
        told = not _AGO.isdisjoint(reading.texts[start:end])
        if "to" not in ahead[-1:] and ("from" in ahead[-1:] or told):
            past.add(quantity.value)
    return frozenset(past) if len(past) == 1 else frozenset()


def _statement(reading: Reading, quantity: Quantity) -> tuple[int, int]:
    """The words around a quantity, up to a stop, and to another amount of its kind."""
    words, text = reading.words, reading.text
    start, end = quantity.first, quantity.last + 1
    others = {
        i
        for q in reading.get(quantities)
        if q.kind == quantity.kind and q is not quantity
        for i in range(q.first, q.last + 1)
    }
    while start and start - 1 not in others and not _parted(text[words[start - 1].end : words[start].start]):
        start -= 1
    while end < len(words) and end not in others and not _parted(text[words[end - 1].end : words[end].start]):
        end += 1
    return start, end


def _parted(gap: str) -> bool:
    return any(char in gap for char in ".;:?")


_AGO = frozenset("ago earlier previously before formerly".split())


def _intervals_moved(expert: Reading, here: list[Quantity], lay: Reading, there: list[Quantity]) -> list[str]:
    """Intervals that are counted from another event: "ruptured two weeks earlier", "two weeks after the coils"."""
    found = []
    for quantity in here:
        others = [q for q in there if same(quantity, q)]
        if quantity.loose or len(others) != 1 or not (_counts(expert, quantity) and _counts(lay, others[0])):
            continue
        ours = phrase_of(expert, quantity.first, quantity.last)
        if moved(expert, ours, lay, phrase_of(lay, others[0].first, others[0].last)):
            found.append(quantity.text)
    return found


def _counts(reading: Reading, quantity: Quantity) -> bool:
    """Whether a time is an interval from an event."""
    return quantity.kind == "time" and not _FROM_AN_EVENT.isdisjoint(
        reading.texts[quantity.last + 1 : quantity.last + 3]
    )


_FROM_AN_EVENT = frozenset("after before earlier following post prior since ago previously".split())


def _basis(expert: Reading, quantity: Quantity, unmet: list[Quantity], told: frozenset[str]) -> Basis:
    """A ratio may be told as "twice", a time as "the next day", a share as "most of it", a level by what lies there."""
    if quantity.kind == "time" or (quantity.kind == "share" and not _SHARES.isdisjoint(told)):
        return Basis.UNMET
    ratio = expert.text[expert.words[quantity.first].start - 1 : expert.words[quantity.first].start] == ":"
    other = any(q.kind.startswith("level") or q.text in known.ORDINALS for q in unmet)
    level = quantity.kind.startswith("level") and not other and not _BY_PLACE.isdisjoint(told)
    return Basis.UNMET if ratio or level else Basis.MISSING


_BY_PLACE = frozenset(
    "above below next neighbour neighbouring under between lowest last bottom lowermost top uppermost topmost highest "
    "sacrum tailbone".split()
)
_SHARES = frozenset(
    "half third thirds quarter quarters fifth fifths tenth tenths most majority nearly almost all every out".split()
)


def _nearly_one_time(quantity: Quantity, other: Quantity) -> bool:
    """Whether two times in different units may be one, roundly told: "eight weeks", "two months"."""
    if not quantity.kind == other.kind == "time" or _same_unit(quantity, other):
        return False
    return 0.7 <= other.value / quantity.value <= 1.4 if quantity.value else False


def _told_by_another(quantity: Quantity, there: list[Quantity], lay: Reading) -> bool:
    """A quantity told by others: "half as wide", "five more than that", "six weeks later and six more weeks on"."""
    if quantity.value == 0 and {"start", "beginning", "first", "once", "immediately"} & set(lay.texts):
        return True
    alike = [q for q in there if q.kind == quantity.kind and not (q.loose and q.kind == "count")]
    if quantity.kind == "length" and re.search(r"\bhalf (?:as|the|that|of that|its)\b", lay.lower):
        return any(abs(q.value - 2 * quantity.value) < 0.05 * q.value for q in alike)
    if quantity.kind not in ("time", "length", "count") or not _FURTHER & set(lay.texts):
        return False
    return any(
        abs(a.value + b.value - quantity.value) < 1e-6 or abs(abs(a.value - b.value) - quantity.value) < 1e-6
        for i, a in enumerate(alike)
        for b in alike[:i]
    )


_FURTHER = frozenset("more further another additional fewer less later earlier extra".split())


def _is_difference(quantity: Quantity, here: list[Quantity], lay: Reading) -> bool:
    """ "Five more" where the expert caption has nine and fourteen."""
    values = [q.value for q in here if q.kind == quantity.kind == "count"]
    return bool(_FURTHER & set(lay.texts[quantity.last + 1 : quantity.last + 3])) and any(
        abs(a - b) == quantity.value for i, a in enumerate(values) for b in values[:i]
    )


def _is_added(quantity: Quantity, here: list[Quantity], there: list[Quantity]) -> bool:
    """ "Three days past the 28-week mark" of 28 weeks and 3 days."""
    wanted = {round(q.value - quantity.value, 6) for q in here if q.kind == quantity.kind == "time"}
    return any(round(q.value, 6) in wanted for q in there if q is not quantity and q.kind == "time")


def _within(quantity: Quantity, expert: Reading, here: list[Quantity]) -> bool:
    """Whether a count lies within a range: "ribs 6-8" are six, seven and eight."""
    return quantity.kind in ("count", "ordinal") and any(
        a.value < quantity.value < b.value
        and a.kind == b.kind
        and expert.text[expert.words[a.last].end : expert.words[b.first].start].strip() in ("-", "–", "to")
        for a, b in pairwise(here)
    )


def _is_digit(quantity: Quantity) -> bool:
    return quantity.text[:1].isdigit()


_DIGITS_OF_THE_BODY = frozenset("little big thumb pinky ring index forefinger great".split())


def _small(quantity: Quantity) -> bool:
    """A count in words that a plain sentence may need: "three things", "the fourth"."""
    return quantity.kind in ("count", "ordinal") and quantity.value <= 4 and not _is_digit(quantity)


def _named_otherwise(quantity: Quantity, lay: Reading) -> bool:
    """A count told by listing or by a word: two by "both", one by the singular."""
    return quantity.kind in ("count", "ordinal") and quantity.value <= 2 and not _is_digit(quantity)


def _derived(quantity: Quantity, known_here: list[Quantity]) -> bool:
    """The difference or the sum of two known ones: "four weeks earlier"."""
    values = [q.value for q in known_here if q.kind == quantity.kind]
    return quantity.kind in ("time", "length") and any(
        abs(abs(a - b) - quantity.value) < 1e-6 * max(a, 1.0) for i, a in enumerate(values) for b in values[:i]
    )


def _is_ratio(quantity: Quantity, here: list[Quantity]) -> bool:
    """What one of two known numbers is of the other, or by how much they differ: 12.4 and 3.1, "a quarter"."""
    if quantity.kind not in ("share", "fold"):
        return False
    share = quantity.value * (1.0 if quantity.kind == "share" else 100.0)
    amounts = [q for q in here if q.kind not in _NAMES_ONE and q.kind[:5] != "level" and q.value > 0]
    pairs = ((a.value, b.value) for a in amounts for b in amounts if a.kind == b.kind and a.value != b.value)
    return any(abs(told - share) <= 0.03 * share for a, b in pairs for told in (100.0 * a / b, 100.0 * abs(a - b) / b))


def _as_written(here: list[Quantity], there: list[Quantity]) -> list[Quantity]:
    """The lay quantities under the values of the expert ones that they state."""
    written = []
    for quantity in there:
        match = next((e for e in here if not e.loose and same(e, quantity)), None)
        if match is not None:
            written.append(match._replace(first=quantity.first, last=quantity.last))
    return written


def _placed(reading: Reading, found: list[Quantity]) -> list[Placed]:
    return [
        Placed(
            f"{q.kind}:{q.value:.6g}{q.letter[:1]} {q.text}",
            q.first,
            q.last,
            0.0 if _heads(reading, q) else 1.0,
            0.2 if _closes(reading, q) else 1.0,
        )
        for q in found
        if not q.loose
    ]


def _closes(reading: Reading, quantity: Quantity) -> bool:
    """Whether a day ends what is told of it: "an effusion on day 1, tamponade on day 2"."""
    behind = reading.text[reading.words[quantity.last].end :][:1]
    return quantity.kind == "time" and reading.texts[max(0, quantity.first - 1)] == "on" and behind in (",", ";", ".")


def _heads(reading: Reading, quantity: Quantity) -> bool:
    """Whether a quantity opens what is told of it: "Third day: the fluid is drained"."""
    return reading.text[reading.words[quantity.last].end :][:1] == ":"
