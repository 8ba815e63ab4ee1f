"""The person whom a lay caption names by a noun: a sex or an age that the expert caption does not let one know."""

from __future__ import annotations

import re

from builders.medlaybench_v.facts.quantities import quantities
from builders.medlaybench_v.facts.reading import Reading


def persons(expert: Reading, lay: Reading) -> list[str]:
    """A sex or an age that the lay caption names by a noun, and nothing in the expert caption lets one know."""
    if SEX.keys().isdisjoint(lay.bag) and _YOUNG.isdisjoint(lay.bag):
        return []
    told = expert.bag
    here = {person for person, words in _PERSONS.items() if words & told}
    found = []
    for text in dict.fromkeys(lay.texts):
        sex = SEX.get(text)
        if (
            sex
            and "-made" not in lay.lower
            and not _SEXED & told
            and not here & {sex, _CHILD_OF[sex]}
            and not any(map(_IN_SEXED, told))
            and (told.isdisjoint(_CERVICAL) or not told.isdisjoint(_NECK))
        ):
            found.append(text)
    if _SEXES.isdisjoint(told):
        born = zip(lay.texts, lay.texts[1:], strict=False)
        found += [f"{one} {other}" for one, other in born if one == "unborn" and other in SEX]
    young = dict.fromkeys(text for text in lay.texts if text in _YOUNG)
    if young and not told & (_AGED | _YOUNG) and not any(q.kind == "time" for q in expert.get(quantities)):
        found += [text for text in young if text not in found]
    return found


_MALE, _FEMALE = "male", "female"
_PERSONS = {
    _MALE: frozenset("man men male males boy boys he his him gentleman father husband son mr m".split()),
    _FEMALE: frozenset("woman women female females girl girls she her hers lady mother wife daughter f".split()),
}
_CHILD_OF = {_MALE: _MALE, _FEMALE: _FEMALE}
SEX = {
    **dict.fromkeys("man boy gentleman schoolboy".split(), _MALE),
    **dict.fromkeys("woman girl lady schoolgirl".split(), _FEMALE),
}
_SEXES = frozenset().union(*_PERSONS.values()) | frozenset("scrotum scrotal penis penile labia xx xy sex".split())
# Words that only one sex has to do with.
_SEXED = frozenset(
    "pregnant pregnancy gestation gestational uterus uterine ovary ovarian ovaries vagina vaginal transvaginal cervix "
    "prostate prostatic testis testicular testes scrotum scrotal penis penile breast mammogram mammography "
    "mammographic endometrial endometrium fetal foetal fetus foetus trimester obstetric postpartum placenta placental "
    "caesarean cesarean hysterectomy hysterosalpingogram hysterosalpingography maternal gravid parous lactiferous "
    "fibroid amniotic".split()
)
_IN_SEXED = re.compile(r"uter|ovar|vagin|prostat|test[ei]|scrot|gesta|pregn|metri|gravida").search
_CERVICAL = frozenset(("cervical", "cervicitis"))  # of the womb, where no neck is spoken of
_NECK = frozenset("spine spinal rib ribs vertebra vertebrae vertebral disc lymph neck cord node nodes".split())
_YOUNG = frozenset(
    "child children baby babies infant infants newborn newborns neonate neonates toddler toddlers boy boys girl girls "
    "teenager teenage adolescent adolescents schoolboy schoolgirl".split()
)
_AGED = frozenset(
    "fontanelle fontanel fontanelles antenatal prenatal postnatal perinatal pediatric paediatric neonatal infantile "
    "congenital juvenile premature preterm fetal foetal fetus foetus birth born gestation gestational weeks aged old "
    "age pregnancy pregnant trimester twin twins deciduous postpartum".split()
)
