"""Amounts as good writers tell them: rounded, in another unit, as a range or a limit; and those that are others."""

from __future__ import annotations

import pytest

from builders.medlaybench_v.facts import amounts, read
from builders.medlaybench_v.facts.outcome import Outcome

KEPT = [
    ("11 to 13 nodules.", "About a dozen round spots."),
    ("4 to 6 loose bodies.", "Around five loose pieces."),
    ("Stenosis of 50–69%.", "Narrowed by at least half but less than 70 percent."),
    ("Stenosis of 70-99%.", "A narrowing of at least 70 but less than 100 percent."),
    ("38% of the lung.", "Between a third and a half of the lung."),
    ("30-40% of the lung.", "About a third of the lung."),
    ("Three to four weeks after injury.", "Nearly a month after the injury."),
    ("The tip reached 60 °C.", "The tip was sixty degrees Celsius warm, which is 140 on the Fahrenheit scale."),
    ("A fever of 39 °C.", "A fever of 102 °F."),
    ("Injected at 3 mL/s.", "Injected at 180 millilitres per minute."),
    ("Prednisolone, 20 mg/day.", "20 mg of prednisolone."),
    ("A density of 0.742 g/cm2.", "Each square centimetre holds 742 milligrams."),
    ("A T3N1M0 carcinoma.", "A cancer whose stage is written T3, N1, M0."),
    ("A carcinoma, cT4bN2M1.", "A cancer of the stage cT4b, N2 and M1."),
    ("80% emptying.", "Four in five parts have left."),
    ("95% occlusion.", "A nearly complete blockage, about 95 out of 100."),
    ("An 8 mm nodule.", "A spot close to a centimetre wide."),
    ("A cyst of 29 mm.", "A cyst about 30 mm wide."),
    ("A prostate of 60 g.", "A prostate of about two ounces."),
    ("An 18G needle.", "A needle of 18 gauge."),
    ("A gradient of 40 mmHg.", "A difference of 40 millimetres of mercury."),
    ("Fivefold thickening.", "Five times as thick as it should be."),
    ("36 hours after surgery.", "A day and a half after surgery."),
    ("Category 4.", "Category 4 on the scale, which runs from 0 to 6."),
    ("A woman of 61 years.", "A woman in her early sixties."),
    ("A lesion of 11 x 8 mm.", "A spot of roughly one centimetre."),
    ("A mass of 7 cm in the sigmoid, 25 cm from the anal verge.", "About seven centimetres wide. It lies 25 cm up."),
    ("Spots of 8 and 14 mm.", "One is just under a centimetre, the other about a centimetre and a half."),
    ("Seen in 2015, doubled by 2018.", "Seen in 2015, twice as big three years on, in 2018."),
    ("Shrunk from 14 mm to 9 mm.", "It went from 14 down to 9 millimetres."),
]
OTHERS = [
    ("A stone of .5 cm.", "A stone of 5 cm."),
    ("Stenosis of less than 50%.", "A narrowing of more than half."),
    ("26% of the lung.", "About half of the lung."),
    ("The tip reached 60 °C.", "The tip was 60 degrees Fahrenheit warm."),
    ("Injected at 3 mL/s.", "Injected at 3 millilitres per minute."),
    ("A creatinine of 1.2 mg/dL.", "A creatinine of 1.2 mg/L."),
    ("An area of 1.2 cm2.", "An area of 1.2 square millimetres."),
    ("At 70 keV.", "At 70 MeV."),
    ("A T3N1M0 carcinoma.", "A cancer of the stage T3, N2, M0."),
    ("Nodules up to 8 mm.", "Spots of at least 8 mm."),
    ("Nodules of 3-8 mm.", "Spots from 8 up to 13 mm."),
    ("Ribs 3–5 are broken.", "Ribs 3 to 6 are broken."),
    ("Fivefold thickening.", "Eight times as thick as it should be."),
    ("A woman of 61 years.", "A woman in her late sixties."),
]
UNSURE = [
    ("Stenosis of 50–69%.", "Narrowed by less than half."),
    ("The tip reached 60 °C.", "The tip was 60 degrees Celsius (180 degrees Fahrenheit) warm."),
    ("The lung shrank from 8 cm to 3 cm.", "The lung is about 5 cm long."),
    ("11-13 nodules.", "About two dozen spots."),
    ("A stenosis of 70-99%.", "A narrowing of 70 percent or more, though no full blockage."),
    ("A cyst of 29 mm.", "A cyst of roughly 22 mm."),
    ("Seven nodules of the liver.", "Several spots of the liver."),
    ("A T2N0M0 carcinoma.", "A cancer that has not spread."),
]


def compared(expert: str, lay: str) -> Outcome:
    return amounts.compare(read(expert), read(lay), read(""))


@pytest.mark.parametrize(("expert", "lay"), KEPT)
def test_an_amount_told_in_everyday_words_is_kept(expert: str, lay: str) -> None:
    outcome = compared(expert, lay)
    assert not outcome.reason


@pytest.mark.parametrize(("expert", "lay"), OTHERS)
def test_another_amount_fails(expert: str, lay: str) -> None:
    assert compared(expert, lay).failed


@pytest.mark.parametrize(("expert", "lay"), UNSURE)
def test_an_amount_that_may_be_meant_is_left_to_a_reader(expert: str, lay: str) -> None:
    outcome = compared(expert, lay)
    assert outcome.doubts and not outcome.failed, outcome.reason
