"""The imaging method with its family, its plane, its sequence and its contrast.

A caption may name a method by its family ("CT angiogram" is a CT scan of vessels, a mammogram is an X-ray) but not by
another one; a plane may be described by where one looks from.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from builders.medlaybench_v.facts.binding import Placed, exchanged
from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.spine import OF_A_SEQUENCE, by_vertebra
from builders.medlaybench_v.facts.wordings import IMAGING

CT, MRI, ULTRASOUND, XRAY, ANGIOGRAPHY, PET, NUCLEAR = "CT MRI ultrasound X-ray angiography PET nuclear".split()


class Imaging(NamedTuple):
    """What a caption says of how it was made; each set is empty where it says nothing."""

    methods: frozenset[str]
    kinds: frozenset[str]
    planes: frozenset[str]
    sequences: frozenset[str]
    contrast: frozenset[str]
    phases: frozenset[str]
    routes: frozenset[str]  # by which way the body is looked into: "transvaginal"
    given: frozenset[str]  # where contrast went


_NOTHING = Imaging(*[frozenset[str]()] * len(Imaging._fields))
_CAPITALS = frozenset("us pet tee mr cat ap pa echo cc toe pd tte trus".split())


def imaging(reading: Reading) -> Imaging:
    """What a caption says of how its picture was made."""
    found: dict[str, set[str]] = {}
    for _, says, value in reading.get(named):
        found.setdefault(says, set()).add(value)
    if "contrast" not in found and _given_dye(reading):
        found["contrast"] = {"with"}
    if found.get("contrast") == {"with"} and _denied_dye(reading):
        found["contrast"] = {"without"}
    return Imaging(*[frozenset(found.get(kind, ())) for kind in Imaging._fields]) if found else _NOTHING


def named(reading: Reading) -> list[tuple[int, str, str]]:
    """Each word at which a caption says something of how its picture was made, with what and the value."""
    texts = reading.texts
    return [
        (i, says, value)
        for i, matches in IMAGING.matches(reading)
        for size, wordings in matches
        for says, value in wordings
        if not (size == 1 and texts[i] in _CAPITALS and not _capital(reading, i))
        and not _not_meant(reading, i, texts[i], says, value)
    ]


def _placed(reading: Reading) -> list[list[Placed]]:
    """The methods and the sequences of a caption that have names of their own, each at its word."""
    found = reading.get(named)
    if len(found) < 2:
        return [[], []]
    return [[Placed(value, i, i) for i, _, value in found if value in kind] for kind in _NAMED]


_NAMED = (frozenset((CT, MRI, ULTRASOUND, PET, "mammogram")), frozenset(("T1", "T2", "FLAIR", "STIR")))


def _given_dye(reading: Reading) -> bool:
    """Whether a caption speaks of a dye that was given, in whatever words, and denies none."""
    if _DYES.isdisjoint(reading.bag):
        return False
    texts = reading.texts
    at = [
        i for i, word in enumerate(texts) if word in ("dye", "gadolinium") or texts[i : i + 2] == ["contrast", "medium"]
    ]
    return any(
        _GIVEN & set(texts[max(0, i - 5) : i + 6]) and not _DENIED & set(texts[max(0, i - 6) : i + 6]) for i in at
    )


def _denied_dye(reading: Reading) -> bool:
    """Whether the one dye that a caption speaks of was not given: "gadolinium was not used"."""
    if _NOT.isdisjoint(reading.bag):
        return False
    texts = reading.texts
    at = [i for i, word in enumerate(texts) if word in ("dye", "gadolinium") or texts[i : i + 2] in _MEDIA]
    if not at or at[-1] - at[0] >= len(at):
        return False  # "gadolinium dye" is one; elsewhere it may have been given
    behind = texts[at[-1] + 1 : at[-1] + 5]
    return not _NOT.isdisjoint(behind) and not _GIVEN_AWAY.isdisjoint(texts[at[-1] + 2 : at[-1] + 7])


_NOT = frozenset(("not", "wasn", "weren", "isn"))
_MEDIA = (["contrast", "material"], ["contrast", "medium"], ["contrast", "agent"], ["contrast", "media"])
_GIVEN_AWAY = frozenset("given used injected needed part employed administered required applied".split())
_DYES = frozenset(("dye", "gadolinium", "contrast"))
_BY_MOUTH = frozenset(("oral", "orally", "ingestion", "ingested"))
_GIVEN = frozenset("injection injected inject injecting given after received infusion using help put".split())
_DENIED = frozenset("no not without none never before prior t non".split())


def _capital(reading: Reading, i: int) -> bool:
    raw = reading.raw(i)
    if raw.lower() == "echo":
        before, after = reading.word(i - 1), reading.word(i + 1)
        return before not in ("spin", "gradient", "field", "planar", "acoustic") and after not in ("time", "pattern")
    return raw.isupper()


def _not_meant(reading: Reading, i: int, text: str, kind: str, value: str) -> bool:
    before, after = reading.word(i - 1), reading.word(i + 1)
    if kind == "sequences" and value in ("T1", "T2"):
        if text not in ("t1", "t2"):
            return False
        if by_vertebra(reading.texts, reading.gaps, i) or re.fullmatch(r"n\d[a-c]?", after):  # the stage T2 N0 M0
            return True
        return before in ("at", "level", "vertebra", "vertebral", "of") and after not in OF_A_SEQUENCE
    if kind == "methods" and text == "duplex" and after in ("collecting", "kidney", "system", "ureter", "renal"):
        return True
    if kind == "methods" and value == XRAY and text in ("film", "films"):
        return before in ("thin", "a") or not _MOVING.isdisjoint(reading.bag)  # of a moving picture
    if kind == "planes" and after in _NO_PLANE:
        return True
    if kind == "contrast" and text in ("enhancing", "enhancement", "enhances", "enhance"):
        return True
    if kind == "contrast" and after in ("enhancing", "enhancement") and text in ("non", "contrast", "post"):
        return True
    if kind == "contrast" and value == "with" and before in ("non", "no", "without", "un"):
        return True
    if kind == "contrast" and text == "enhanced":
        return before not in ("contrast", "gadolinium", "dye", "")
    return kind == "methods" and value == NUCLEAR and text == "radioactive" and after in ("beads", "seeds", "spheres")


_MOVING = frozenset("mri mr ultrasound cine".split())
_NO_PLANE = frozenset(
    "sinus sinuses vein suture sutures band diameter diameters colon process processes fracture fractures dimension "
    "dimensions plane abdominis ligament ligaments arch foramen lie presentation mesocolon incision cleft length "
    "extent craniosynostosis synostosis meningioma meningiomas tumor tumour lesion lesions region location falx".split()
)


# What each method may be called by its family, and what a method brings along.
_MAY_BE_CALLED: dict[str, frozenset[str]] = {
    ANGIOGRAPHY: frozenset((ANGIOGRAPHY, XRAY)),
    XRAY: frozenset((XRAY, ANGIOGRAPHY)),
    PET: frozenset((PET,)),
    NUCLEAR: frozenset((NUCLEAR,)),
}
_BRINGS: dict[str, frozenset[str]] = {PET: frozenset((NUCLEAR,)), ANGIOGRAPHY: frozenset((XRAY,)), NUCLEAR: frozenset()}
# Kinds of which a picture is one or the other.
_EXCLUDING = tuple(
    frozenset(pair.split(", "))
    for pair in (
        "panoramic, periapical|swallow, enema|MR angiography, catheter angiography|MRCP, ERCP|"
        "CT angiography, MR angiography|bone window, soft tissue window, lung window|barium, water-soluble|"
        "gradient echo, spin echo"
    ).split("|")
)
_VESSELS = frozenset("vessel vessels artery arteries vein veins vascular aorta".split())
_FRONT, _SIDE = frozenset(("frontal view", "coronal")), frozenset(("lateral view", "sagittal"))
_PLANE_WORDS = {plane: same - {plane} for same in (_FRONT, _SIDE) for plane in same}


def compare(expert: Reading, lay: Reading, allowed: Reading, named: frozenset[str] = frozenset()) -> Outcome:
    """The method is named and no other one; plane, sequence and contrast are kept. `named` are the record's methods."""
    here, there = expert.get(imaging), lay.get(imaging)
    outcome = Outcome()
    for at_here, at_there in zip(expert.get(_placed), lay.get(_placed), strict=True):
        swap = exchanged(expert, at_here, lay, at_there)
        if swap:
            outcome.moved(f"{swap.one} and {swap.other}", sure=False)
    if here == there and "myelogram" not in here.kinds:
        return outcome
    _methods(expert, lay, named, allowed, outcome)
    for pair in _EXCLUDING:
        one, other = here.kinds & pair, there.kinds & pair
        if len(one) == len(other) == 1 and one != other:
            outcome.add("changed", f"{min(one)} became {min(other)}")
    _views(here, there, expert, lay, outcome)
    _sequences(here.sequences, there.sequences, outcome)
    if len(here.contrast) == 1 and len(there.contrast) == 1 and here.contrast != there.contrast:
        outcome.add("changed", f"{', '.join(here.contrast)} contrast became {', '.join(there.contrast)}")
    elif here.contrast and not there.contrast and not ({"dye", "contrast", "gadolinium", "enhanced"} & set(lay.texts)):
        outcome.add("lost", f"{', '.join(sorted(here.contrast))} contrast", Basis.UNMET)
    elif there.contrast == {"without"} and not here.contrast:
        dyed = "myelogram" if "myelogram" in here.kinds else ANGIOGRAPHY
        if dyed in here.kinds or (dyed in here.methods and MRI not in here.methods):
            outcome.add("changed", f"{dyed} became without contrast")
    for ours, theirs in ((here.routes, there.routes), (here.given, there.given)):
        drunk = theirs == {"by mouth"} and not _BY_MOUTH.isdisjoint(expert.bag)  # "oral, but no intravenous contrast"
        if ours and theirs and not ours & theirs and not drunk:
            outcome.add("changed", f"{', '.join(sorted(ours))} became {', '.join(sorted(theirs))}")
    if len(here.phases) == 1 and len(there.phases) == 1 and here.phases != there.phases:
        outcome.add("changed", f"{', '.join(here.phases)} phase became {', '.join(there.phases)} phase")
    return outcome


def _sequences(ours: frozenset[str], theirs: frozenset[str], outcome: Outcome) -> None:
    fat = frozenset(("fat suppressed",))
    lost, new = ours - theirs - fat, theirs - ours - fat
    lost -= {"STIR"} if fat <= theirs else frozenset()
    named = _NAMED[1]
    if lost & named and new:
        outcome.add("changed", f"{', '.join(sorted(lost & named))} became {', '.join(sorted(new))}")
        return
    for sequence in sorted(lost & named):
        outcome.add("lost", sequence, Basis.MISSING if sequence in ("T1", "T2") else Basis.UNMET)
    for sequence in sorted(new & named):
        outcome.add("new", sequence, Basis.MISSING)
    if lost and named.isdisjoint(lost | new):
        outcome.add("lost", ", ".join(sorted(lost)), Basis.UNMET)


# Words that tell how a picture cuts or faces the body, in whatever words; and names of an examination that are none of
# a method.
_SEEN_FROM = re.compile(
    r"(?:cross|cut|slic|section|view|fac(?:ed|es|ing)|front|side|see[ns]?\Z|look|top\Z|above|below|behind|across|through|"
    r"length|profile|head\Z|middle|model|3d|layer|slant|tilt|angle)"
).match
_EXAMINES = re.compile(r"scan|views?\Z|series|metry|gra[mp]|scop|imag|exam|study|studies|films?\Z")


def _methods(expert: Reading, lay: Reading, named: frozenset[str], allowed: Reading, outcome: Outcome) -> None:
    """The methods of the expert caption that the lay one does not name, and those that it names anew."""
    here, there = expert.get(imaging), lay.get(imaging)
    ours, theirs = set(here.methods), set(there.methods)
    if CT in ours or MRI in ours:
        ours -= {ANGIOGRAPHY, XRAY}
    if PET in ours:
        ours.discard(NUCLEAR)
    if XRAY in theirs and _NO_RAYS.search(lay.lower):
        theirs.discard(XRAY)
    lost = {method for method in ours if not _is_told(method, here, there, lay)}
    for method in sorted(lost & _TOLD_BY.keys()):
        if not _TOLD_BY[method].isdisjoint(lay.bag):
            outcome.add("lost", method, Basis.UNMET)
            lost.discard(method)
            theirs.discard(XRAY)
    brought = set().union(*(_MAY_BE_CALLED.get(m, frozenset((m,))) | _BRINGS.get(m, frozenset()) for m in here.methods))
    new = theirs - brought - named - set(here.methods)
    if not new and not lost:
        return
    if new:
        new -= _implied(here, ours, theirs, expert) | allowed.get(imaging).methods
    if lost and new:
        rays = new == {XRAY} and _RAYS.search(lay.lower)
        became = f"{', '.join(sorted(lost))} became {', '.join(sorted(new))}"
        scanned = rays and "scanner" in lay.bag  # X-rays in a scanner make a CT
        outcome.add("changed", became, Basis.UNMET if scanned else Basis.READ if rays else Basis.CONTRADICTED)
    else:
        for method in sorted(lost):
            told = method not in _SLICED or here.sequences & there.sequences  # a T1 picture is one of MRI
            outcome.add("lost", method, Basis.UNMET if told else Basis.MISSING)
        for method in sorted(new):  # a name that stands for no method here may still mean it: "bone densitometry"
            unnamed = not here.methods and any(map(_EXAMINES.search, expert.texts))
            outcome.add("new", method, Basis.MISSING if method in _SLICED and not unnamed else Basis.UNMET)


_NO_RAYS = re.compile(r"\b(?:without|not|no)\s+(?:any )?x[- ]?rays?\b")


def _is_told(method: str, here: Imaging, there: Imaging, lay: Reading) -> bool:
    """Whether a lay caption names a method, its family, or what it alone is made with: dye, tracers, magnets, sound."""
    if not there.methods.isdisjoint(_MAY_BE_CALLED.get(method, frozenset((method,)))):
        return True
    dyed = not lay.bag.isdisjoint(("dye", "contrast"))
    if method == ANGIOGRAPHY:
        return dyed or bool(there.methods and _VESSELS & lay.bag)
    if method == XRAY:
        return (dyed and not there.methods) or "panoramic" in here.kinds & there.kinds
    return not _MADE_WITH.get(method, frozenset()).isdisjoint(lay.bag)


def _implied(here: Imaging, ours: set[str], theirs: set[str], expert: Reading) -> set[str]:
    """The methods that a lay caption may name although the expert one does not: its other words tell of them."""
    implied = {method for method, said in _SEEN_ONLY_BY if any(map(said, expert.texts))}
    if not here.methods and here.planes & {"frontal view", "lateral view"}:
        implied.add(XRAY)  # an "AP pelvis" is an X-ray
    if not here.methods & _SLICED and any(map(_FILMED, expert.texts)):
        implied.add(XRAY)
    if ({CT} & ours and CT in theirs) or "tomosynthesis" in expert.texts:
        implied.add(XRAY)
    if not ours and here.sequences:
        implied.add(MRI)
    return implied


# By these a plain caption may tell how a method works: "an X-ray scanner that builds slices".
_TOLD_BY = {CT: frozenset("slices slicing sliced builds".split())}
# What one method alone works with.
_MADE_WITH = {
    MRI: frozenset("magnet magnets magnetic".split()),
    ULTRASOUND: frozenset("sound soundwaves".split()),
    NUCLEAR: frozenset("tracer radioactive".split()),
}
_RAYS = re.compile(r"\b(?:with|by|using) x-?rays\b")  # by which a CT is made too
# Methods that plain captions call by their names too; others are told by what is done: "a scan with a tracer".
_SLICED = frozenset((CT, MRI, PET))
# Terms that belong to one method: who reads "hyperechoic" knows of an ultrasound.
_SEEN_ONLY_BY = (
    (ULTRASOUND, re.compile(r"(?:hyper|hypo|an|iso)echo|echogen|sonolucen").match),
    (CT, re.compile(r"(?:hyper|hypo|iso)(?:dens|attenuat)|hounsfield").match),
    (MRI, re.compile(r"(?:hyper|hypo|iso)intens|gado|precession|tractogr|diffusion|spin\Z").match),
    (XRAY, re.compile(r"radio(?:lucen|opa)").match),
)


# Examinations that are made with X-rays, and what only an X-ray is called.
_FILMED = re.compile(
    r"(?:cholangio|cysto|urethro|pyelo|uro|salpingo|esophago|fistulo|sialo|dacryo|sino|defeco)\w*gra|follow\Z|enema|"
    r"magnification|craniocaudal|mediolateral|panoramic"
).match


def _views(here: Imaging, there: Imaging, expert: Reading, lay: Reading, outcome: Outcome) -> None:
    """Planes: the three of a sliced picture, and the views of a flat one."""
    strict = {"axial", "sagittal", "coronal"}
    ours, theirs = here.planes & strict, set(there.planes)
    if here.methods == {XRAY}:
        ours = frozenset()  # a flat picture has no slices: "transverse" is said of a fracture
        for one, other in ((_FRONT, _SIDE), (_SIDE, _FRONT)):
            shown, seen = here.planes & one, there.planes & other
            either = here.planes & other or there.planes & one
            # "anteroposterior and lateral plain films"
            if shown and seen and not either and not (one == _FRONT and "lateral" in expert.texts):
                outcome.add("changed", f"{', '.join(sorted(shown))} became {', '.join(sorted(seen))}")
    for plane in sorted(ours):
        if plane in theirs or plane in lay.bag or _PLANE_WORDS.get(plane, frozenset()) & theirs:
            continue
        others = (
            (theirs & strict) - set(here.planes) - set().union(*(_PLANE_WORDS.get(p, frozenset()) for p in here.planes))
        )
        if others:
            outcome.add("changed", f"{plane} became {', '.join(sorted(others))}")
        elif plane == "axial" and {"slice", "slices", "section", "sections", "across"} & set(lay.texts):
            continue
        else:
            told = any(map(_SEEN_FROM, lay.bag))
            outcome.add("lost", plane, Basis.UNMET if told else Basis.MISSING)
