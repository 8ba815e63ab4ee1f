"""Fragments made into sentences: "Axial CT showing a stone." -> "An axial CT shows a stone."

Captions are written as fragments. Three kinds are plain enough to be mended without understanding them: a picture that
shows something, a picture and nothing else, and a noun phrase that tells what a picture shows. A sentence that may hold
a verb of its own is left as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

from builders.medlaybench_v.words.stacks import FUNCTION_WORDS
from builders.medlaybench_v.writing.grammar import indefinite

_HEADS = (
    "[Ss]can|[Ii]mage|[Vv]iew|[Ss]lice|[Xx]-[Rr]ay|[Uu]ltrasound|exam|examination|test|enema|[Pp]icture|[Pp]hotograph|"
    "film|study|MRI|MRA|CT|CTA|PET/CT|KUB|IOPA|IVU|HSG|sonogram|imaging|"
    "[Pp]hoto|[Ss]ection|projection|reconstruction|sequence|[Vv]enogram|[Aa]ngiogram|[Mm]ammogram|(?!tomo|\\w+tomo)\\w+graphy"
)
# The name of a picture at the start of a sentence, with what may stand behind it.
_PICTURE = re.compile(
    r"(?P<name>(?:(?!(?:on|in|at|by|from|during|through|after|following|[Ff]ig|[Ff]igure)[ ])"
    r"\w[\w/'’‐-]*[ ](?:\([^()]*\)[ ])?){0,7}?"
    rf"(?:{_HEADS})(?:[ ](?:\([^()]*\)[ ])?(?:{_HEADS}))*"
    r"(?P<many>s)?)(?![\w-])"
)
_SHOWING = re.compile(
    r"[ ](?:(?P<how>clearly|also|again)[ ])?"
    r"(?P<verb>showing|demonstrating|revealing|depicting|illustrating|indicating|confirming|suggesting)[ ](?!that\b)"
)
# A later sentence that may be of a picture that shows something.
_PICTURE_BEHIND = re.compile(
    r"(?<=\. )[A-Z](?:[^.]|\.(?! |\Z))*? (?:show|demonstrat|reveal|depict|illustrat|confirm|suggest|indicat)"
    r"(?:[^.]|\.(?! |\Z))*"
)
_SHOWN_BEHIND = re.compile(
    r"(?:[ ](?:of|on|at|in|from|with|without|after|before|during|for)[ ][^.;:,]*?)?(?:[ ]\([^()]*\))?[ ]"
    r"(?:shows?|showed|reveals?|confirms?|confirmed|suggests?|suggested)\b"
)
# What may follow the name of a picture; another noun would make it a part of its own name.
_GOES_ON = re.compile(
    r"[ ]*(?:[,(;]|(?:of|in|on|at|from|with|without|after|before|during|for|by|through|to|taken|obtained|performed|"
    r"near|around|under|following|and|again)\b)"
)
# "A view of showing a tear": the caption lost a word.
_DANGLING = re.compile(r"[ ](?:of|in|on|at|with|from|for)\Z")
_ENDS_AS_PICTURE = re.compile(rf"\b(?:{_HEADS}|slide|section|phase|reconstruction)(?:[ ]\([^()]*\))?\Z")
_SEVERAL = re.compile(r"\b(?:image|view|section|slice|cut|film|scan)s of\b", re.IGNORECASE)
_ENDS_IN_PICTURES = re.compile(rf"\b(?:{_HEADS}|cut|recording|reconstruction)s\Z")
# "A kidney X-ray: white arrowheads showing the stone".
_SEVERAL_BEHIND_COLON = re.compile(r":.*s(?:[ ]\([^()]*\))?\Z")
# "X-ray right upper arm bone showing a break".
_SIDED = re.compile(r"[ ](?:right|left|both)[ ]\w")
_SHOWS = {
    "showing": "show", "demonstrating": "show", "revealing": "show", "depicting": "show", "illustrating": "show",
    "indicating": "indicate", "confirming": "confirm", "suggesting": "suggest",
}  # fmt: skip
_WORD = re.compile(r"[a-z]+")
_BRACKETS = re.compile(r"\([^()]*\)")
_VERB = re.compile(
    r"(?:is|are|was|were|be|been|has|have|had|can|could|may|might|will|would|should|must|did|does|do|note[sd]?|see|"
    r"notice|shows?|showed|shown|demonstrat(?:es?|ed)|reveal(?:s|ed)?|indicat(?:es?|ed)|suggest(?:s|ed)?|appear(?:s|ed)?|"
    r"represent(?:s|ed)?|mark(?:s|ed)?|denote[sd]?|point(?:s|ed)?|arises?|arose|extend(?:s|ed)?|lies?|lay|compress(?:es|ed)|"
    r"displace[sd]?|confirm(?:s|ed)?|depict(?:s|ed)?|illustrate[sd]?|contain(?:s|ed)?|measure[sd]?|underwent|present(?:s|ed)|"
    r"develop(?:s|ed)?|became|becomes?|seem(?:s|ed)?|correspond(?:s|ed)?|allow(?:s|ed)?|provide[sd]?|cause[sd]?|occur(?:s|red)?|"
    r"remain(?:s|ed)?|lead(?:s)?|led|overlap(?:s|ped)?|surround(?:s|ed)?|include[sd]?|obtain(?:s|ed)|compare[sd]?|perform(?:s|ed)|"
    r"use[sd]?|make|makes|made|take[ns]?|took|give[ns]?|go|goes|went|come|comes|came|consist(?:s|ed)?|drain(?:s|ed)|enter(?:s|ed)?|"
    r"run|runs|ran|form|forms|formed|divide[sd]?|join(?:s|ed)?|cross(?:es|ed)|reach(?:es|ed)|touch(?:es|ed)|pass(?:es|ed)|"
    r"increase[sd]?|decrease[sd]?|improve[sd]?|resolve[sd]?|grow[sn]?|grew|heal(?:s|ed)?|move[sd]?|shift(?:s|ed)|turn(?:s|ed)|"
    r"fill(?:s|ed)?|block(?:s|ed)?|narrow(?:s|ed)|widen(?:s|ed)|push(?:es|ed)|press(?:es|ed)|involve[sd]?|affect(?:s|ed)?|"
    r"diagnose[sd]?|receive[sd]?|require[sd]?|need(?:s|ed)?|treat(?:s|ed)|place[sd]|insert(?:s|ed)?|highlight(?:s|ed)?|display(?:s|ed)|relieve[sd]?|shrinks?|remove[sd]|follow(?:s|ed)|"
    r"courtesy|reprinted|reproduced|adapted|let|we|it|there|this|these|that|which|who|case|patient|figure|fig)",
    re.IGNORECASE,
)
_FINITE_BEFORE = re.compile(
    r"\b(?:is|are|was|were|shows?|showed|shown|confirms?|suggests?|reveals?|that|which|who|we|can|may|has|have|had)\b",
    re.IGNORECASE,
)
_MAIN_VERB_AFTER = re.compile(r"\A[^,;.()]*\b(?:is|are|was|were) (?:shown|presented|given|provided|used|displayed)\b")
# Any other verb, told by its object: "characterized a mass".
_WITH_OBJECT = re.compile(r"\b(?!need)\w{3,}ed (?:an?|the|no|multiple|several|many) ", re.IGNORECASE)
_END = re.compile(r"\.(?=\s|\Z)")
# Words of a title: "Acute Respiratory Distress Syndrome".
_TITLED = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
# "Matthew Hopkins, witch-finder": no thing that a picture shows.
_PERSON = re.compile(r"[A-Z][a-z]+ [A-Z][a-z]{3,}\b(?! (?:disease|syndrome|sign|cell|type|tumou?r|fracture|cyst)\b)")
_NOT_AN_OBJECT = re.compile(
    r"\A(?:after|before|at|in|on|by|with|without|from|during|note|arrow|white|black|schematic|photo|diagram|sem|tem|"
    r"representative|comparison|example|results?|plot|graph|map|same|legend|legends|case|figure|patient|left|right|"
    r"post|the|an?|final|initial|follow|normal|view|one|two|three|four|five|six|seven|eight|nine|ten|day|type|grade|stage|group|step|table|no|dr|axial|"
    r"reformatted|reconstruct\w*|measurement\w*|location|position|placement|anatomy|definition|design|technique|"
    r"method|model|identification|attempt|evaluation|visualization|viewing|removal|insertion|reduction|impaction|"
    r"mimicker|comparison|distribution|detection|calculation|assessment|determination|\w+ly|(?!swell|narrow|widen|thicken|bleed|scarr|open|whiten)\w+ing|\w+ed|to|how|for|of|and|as|both|all)\b|\A[^A-Za-z]|\A\w+[:(]",
    re.IGNORECASE,
)
# People, places and germs keep their capital; "Pneumocystis carinii" is told by its second word as well.
_NAMES = frozenset(
    "january february april june july august september october november december "
    "abrikossoff achilles alzheimer aspergillus baker barrett beckwith behcet bochdalek caroli castleman caucasian "
    "charcot chiari chilaiditi cobb colles couinaud crohn cushing dandy dieulafoy dirofilaria doppler echinococcus "
    "ewing fallot fontan freiberg galeazzi galen gaucher gorham hashimoto hirschsprung hodgkin hoffa hounsfield "
    "ilizarov jefferson kaposi kirschner klebsiella klippel krukenberg lefort leishmania leriche lisfranc madelung "
    "marfan meckel meigs mirizzi monro monteggia morgagni morison morquio mycobacterium osgood paget pancoast "
    "parkinson perthes peyronie pneumocystis pott rathke salmonella salter schatzki scheuermann schmorl "
    "scheimpflug staphylococcus streptococcus sturge taenia tarlov thornwaldt tornwaldt toxoplasma turner valsalva "
    "waldenstrom warthin weber wegener wernicke whipple wilms wilson zenker".split()
)
_GERM = re.compile(
    r"[A-Z][a-z]+ (?:[a-z]+(?:ii|ae|ensis)|coli|repens|immitis|aureus|granulosus|fumigatus|solium|saginata)\b"
)
# What speaks of the picture itself, or hides a verb.
_OF_A_PICTURE = re.compile(
    rf"\b(?:(?!test|examination)(?:{_HEADS})|MIP|phase|sequence|tomography|showing|demonstrating|revealing|resulted|migrated|recovered|died|persisted|"
    r"progressed|disappeared|continued|started|began|ended|rose|fell|worked|failed|underwent|ultrasonogram|\w+(?:ize|ise|ate|ify))s?\b|"
    r"\A(?:\S+ ){0,3}?(?:cross-section|front-view|side-view|T1|T2)\b",
    re.IGNORECASE,
)
_DETERMINED = re.compile(
    r"\A(?:the|an?|another|this|that|these|those|his|her|its|our|their|each|one|two|three|four|some)(?![\w-])", re.I
)
_ONE = re.compile(r"(?:an?|one|each)\b", re.IGNORECASE)  # "An example of the images"
_SEVERAL_OF_ONE = re.compile(r"\A\w+s of\b")  # "Findings of the X-ray"
_COUNTS = re.compile(r"[\d/]+ ")  # "8 months postoperative X-ray"
_PLACED = re.compile(r"(?:in|on|at|from|by|after|before|during|with|for)(?![\w-])", re.IGNORECASE)
_FOUND = re.compile(
    r"\b(?:\w+s|tear|hole|lump|mass|narrowing|widening|swelling|bleeding|blockage|tumor|cancer|cyst|break|clot|area|"
    r"stone|enlargement|build-up|inflammation|scarring|thickening|bulge|opening|infection|spread|lesion|fluid|air|gas|"
    r"tube|catheter|stent|screw|plate|joint|dislocation|collapse|pus|growth|damage|injury|shift|patch|hernia|abscess)\b",
    re.IGNORECASE,
)


def in_sentences(text: str) -> str:
    """The caption with its fragments as sentences, where that takes no understanding: of those behind the first, the
    pictures that show something.

    >>> in_sentences("Front-view CT scans of the belly showing a stone (arrow). Side view showing its size.")
    'Front-view CT scans of the belly show a stone (arrow). A side view shows its size.'
    >>> in_sentences("Angled X-ray of the foot."), in_sentences("Swelling of the right knee.")
    ('This is an angled X-ray of the foot.', 'The image shows swelling of the right knee.')
    """
    end = _END.search(text)
    stop = end.start() if end else len(text)
    return _sentence(text[:stop]) + _PICTURE_BEHIND.sub(_shown_behind, text[stop:])


def _shown_behind(sentence: re.Match[str]) -> str:
    picture = _PICTURE.match(sentence[0])
    shown = _shown(sentence[0], picture) if picture else None
    return shown or sentence[0]


def _sentence(first: str) -> str:
    picture = _PICTURE.match(first)
    if picture:
        shown = _shown(first, picture)
        if shown is not None:
            return shown
    outside = _BRACKETS.sub("", first)  # an explanation may hold a verb
    if (
        _WITH_OBJECT.search(outside)
        or any(map(_may_be_verb, _WORD.findall(outside.lower())))
        or ":" in first
        or " - " in first
        or "–" in first
        or len(first.split()) > 40
    ):
        return first
    if picture and first[picture.end() :] and not _GOES_ON.match(first, picture.end()):
        return first
    if len(_TITLED.findall(first)) > 1 or _is_name(first) or (not picture and _PERSON.match(first)):
        return first
    if (
        picture
        and not _PLACED.match(first)
        and not _SHOWING.search(first)
        and not _SEVERAL_OF_ONE.search(picture["name"])
    ):
        determined = _DETERMINED.match(first)
        many = not _ONE.match(first) and bool(picture["many"] or _SEVERAL.search(picture["name"]))
        name = first if determined else _small(first)
        uncounted = picture["name"].endswith(("imaging", "graphy"))
        article = "" if determined or many or uncounted else f"{indefinite(name)} "
        return f"{'These are' if many else 'This is'} {article}{_small(name) if determined else name}"
    if not picture and len(first.split()) > 1 and not _NOT_AN_OBJECT.match(first) and _FOUND.search(first):
        return first if _OF_A_PICTURE.search(first) else f"The image shows {with_article(_small(first))}"
    return first


@lru_cache(maxsize=16384)
def _may_be_verb(word: str) -> bool:
    return _VERB.fullmatch(word) is not None


def _shown(first: str, picture: re.Match[str]) -> str | None:
    """A picture that shows something, as a sentence; an article where its name has none."""
    name = picture["name"]
    article = ""
    several = picture["many"] or _SEVERAL.search(name)
    if (
        not several
        and not _DETERMINED.match(name)
        and not _PLACED.match(name)
        and "imaging" not in name
        and not name.endswith("graphy")
        and not _COUNTS.match(name)
    ):
        article = f"{indefinite(_small(name)).capitalize()} "
    behind = first[picture.end("name") :]
    showing = _SHOWING.search(behind)
    if showing is None or _FINITE_BEFORE.search(behind[: showing.start()]):
        return article + _small(first) if article and _SHOWN_BEHIND.match(behind) else None
    before = _DANGLING.sub("", behind[: showing.start()].rstrip(","))
    if before.startswith(":") or _SEVERAL_BEHIND_COLON.search(before):
        return None
    if _SIDED.match(before):
        before = f" of the{before}" if not re.search(rf"\b(?:{_HEADS})\b", before) else before
    elif before and not _GOES_ON.match(before) and (not _ENDS_AS_PICTURE.search(before) or "imaging" in before):
        article = ""  # "CT arterial phase shows": what the stack names is not clear
    if before.endswith((" and", " or")) or re.search(r"[.;]", before):
        return None
    if _MAIN_VERB_AFTER.search(behind[showing.end() :]):
        return None
    stem = _SHOWS[showing["verb"]]
    how = f"{showing['how']} " if showing["how"] else ""
    many = several or (not _GOES_ON.match(before) and _ENDS_IN_PICTURES.search(before))
    verb_said = stem if many else f"{stem}s"
    said = with_article(behind[showing.end() :])
    return f"{article}{_small(name) if article else name}{before} {how}{verb_said} {said}"


def with_article(phrase: str) -> str:
    """A thing that can be counted gets its article.

    >>> with_article("small stone in the kidney"), with_article("air in the belly"), with_article("two stones")
    ('a small stone in the kidney', 'air in the belly', 'two stones')
    """
    if _DETERMINED.match(phrase):
        return phrase
    counted = _COUNTED.match(phrase)
    following = counted and _NEXT.match(phrase, counted.end())
    if not counted or (following and following[1] not in FUNCTION_WORDS and not following[1].endswith(("ing", "ed"))):
        return phrase  # "gallbladder wall", "artery (neck artery) disease" are not counted by their first noun
    return f"{indefinite(phrase)} {phrase}"


_NEXT = re.compile(r"(?: \([^()]*\))? ([a-z-]+)")
_COUNTED = re.compile(
    r"(?!(?:right|left|multiple|several|many|both|no|some|bilateral|numerous|two|three|four|five|six|\d)\b)"
    r"(?:(?!of|in|on|and|with|to|the|at|from|by|for)[\w-]+,?[ ]){0,4}?(?:area|mass|lump|cyst|tumor|clot|bulge|hole|"
    r"tear|break|stone|pocket|pouch|passage|patch|stent|tube|catheter|screw|shadow|lesion|nodule|hernia|collection|defect|gap|"
    r"opening|gallbladder|spleen|device|implant|object|needle|wire|dislocation|aneurysm|structure|artery|region|blockage|pouch|patient)(?![\w-])"
)


def _small(text: str) -> str:
    """Without the capital of a sentence's start; names such as "CT", "X-ray" and "Charcot" keep theirs."""
    word = text.split(" ", 1)[0]
    keeps = any(letter.isupper() or letter.isdigit() for letter in word[1:]) or word[1:2] == "-" or len(word) == 1
    keeps = (keeps and word != "A") or word.endswith(("'s", "’s", "s'", "s’")) or _is_name(text)
    return text if keeps else text[:1].lower() + text[1:]


def _is_name(text: str) -> bool:
    """Whether a sentence begins with a person's, a place's or a germ's name."""
    return text.split(" ", 1)[0].lower() in _NAMES or _GERM.match(text) is not None
