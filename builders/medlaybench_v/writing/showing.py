"""A picture, or another thing, that shows something, as a sentence: "CT showing a stone" -> "A CT shows a stone"."""

from __future__ import annotations

import re

from builders.medlaybench_v.words.lists import any_of
from builders.medlaybench_v.writing.capitals import small
from builders.medlaybench_v.writing.counted import DETERMINED, with_article
from builders.medlaybench_v.writing.glosses import inside_brackets
from builders.medlaybench_v.writing.grammar import indefinite
from builders.medlaybench_v.writing.verbs import BRACKETS, has_verb

HEADS = any_of("pictures")
# "A CT blood vessel scan", "MRI T2-weighted side-view image".
_NAMED_MORE = (
    r"(?:[a-z]+-(?:view|section|weighted|dye)|T[12](?:-weighted|W)?|blood vessel|artery|vein|typical|"
    r"(?:pulmonary|lung|spinal canal|bile duct|bladder and urethra|heart)(?=[ ]blood|[ ]contrast)|reconstruction)"
)
# The name of a picture at the start of a sentence, with what may stand behind it.
PICTURE = re.compile(
    r"(?P<name>(?:(?!(?:on|in|at|by|from|during|through|after|following|[Ff]ig|[Ff]igure)[ ])"
    r"\w[\w/'’‐-]*[ ](?:\([^()]*\)[ ])?){0,7}?"
    rf"(?:{HEADS})(?:[ ](?:\([^()]*\)[ ]|(?:{_NAMED_MORE}[ ])+|screening[ ])?(?:{HEADS}))*"
    r"(?P<many>s)?)(?![\w-])"
)
SHOWING = re.compile(
    r"[ ](?:(?P<how>clearly|also|again)[ ])?"
    r"(?P<verb>[Ss]howing|[Dd]emonstrating|[Rr]evealing|[Dd]epicting|[Ii]llustrating|[Dd]isplaying|identifying|"
    r"visuali[sz]ing|disclosing|highlighting|outlining|delineating|indicating|confirming|suggesting)[ ](?!but\b)"
)
_WHICH_SHOWS = re.compile(
    r",? (?:which|that) (?:shows?|showed|demonstrates?|demonstrated|reveals?|revealed) (?!that\b)"
)
_TIME = (
    r"(?:(?:about |some |just |shortly |immediately |only |approximately )?(?:\d+|an?|one|two|three|four|five|six|"
    r"seven|eight|nine|ten|twelve|several|few)[ -](?:minute|hour|day|week|month|year|h\b)|"
    r"day \d|immediately |shortly |just )"
)
_RELATIVE = r"\b(?:which|that|who|whose|where)\b"
_SHOWN_BEHIND = re.compile(
    rf"(?:[ ](?:(?:of|on|at|in|from|with|without|after|before|during|for|through|taken|obtained|performed|made|done|"
    rf"acquired|recorded)[ ]|{_TIME})"
    rf"(?:(?!{_RELATIVE})[^.;:,])*?)?"
    r"(?:,[ ](?:(?!(?:which|that|who|and)\b)[\w-]+[ ]){0,4}"
    r"(?:view|section|image|slice|plane|sequence|window|phase)s?\b[^.;:,]*?,?)?"
    r"(?:[ ]\([^()]*\))?[ ](?:shows?|showed|reveals?|confirms?|confirmed|suggests?|suggested)\b|"
    rf"(?:[ ]of[ ](?:(?!{_RELATIVE}|\b(?:after|before|when)\b)[^.;:,]){{3,40}}?)?[ ](?:is|was)\b(?! shown\b)"
)
# What may follow the name of a picture; another noun would make it a part of its own name.
GOES_ON = re.compile(
    rf"[ ]*(?:[,(;]|{_TIME}|(?:of|in|on|at|from|with|without|after|before|during|for|by|through|to|"
    r"taken|obtained|performed|done|made|carried|acquired|recorded|"
    r"near|around|under|following|beside|consistent|compatible|and|again)\b)"
)
# "A view of showing a tear": the caption lost a word.
_DANGLING = re.compile(r"[ ](?:of|in|on|at|with|from|for)\Z")
# A comma that closes what another opens: "CT scan, front view,", but "CT scan of the chest, belly and pelvis,".
_APPOSITION = re.compile(r",(?![^,]* (?:and|or) )[^,]+,\Z")
# "A scan and", "a scan. A view", "a scan with an arrow": what shows something is not the picture.
_NO_SUBJECT = re.compile(r"[.;]| (?:and|or|not|never|without)\Z|\bwith (?:[\w-]+ ){0,2}arrow(?:head)?s?\Z")
_ENDS_AS_PICTURE = re.compile(rf"\b(?:{HEADS}|slide|section|phase|reconstruction)(?:[ ]\([^()]*\))?\Z")
_JOINED = re.compile(rf"(?:,[^,]*)*? and (?:[\w-]+ ){{0,4}}(?:{HEADS})\Z")  # "X-ray, CT scan, and bone scan"
_ENDS_IN_PICTURES = re.compile(rf"\b(?:{HEADS}|cut|recording|reconstruction)s\Z")
_SHOWS = {
    "showing": "show", "demonstrating": "show", "revealing": "show", "depicting": "show", "illustrating": "show",
    "displaying": "show", "identifying": "show", "visualizing": "show", "visualising": "show", "disclosing": "show",
    "highlighting": "highlight", "outlining": "outline", "delineating": "outline",
    "indicating": "indicate", "confirming": "confirm", "suggesting": "suggest",
}  # fmt: skip
_FINITE_BEFORE = re.compile(
    r"\b(?:is|are|was|were|shows?|showed|shown|confirms?|suggests?|reveals?|that|which|who|we|can|may|has|have|had)\b",
    re.IGNORECASE,
)
# "Obtaining an image is"; "a third" would be a fraction.
_NOT_ONE = re.compile(
    r"[A-Z]\w+ing (?:an?|the|\d)\b|"
    r"(?:Third|Fourth|Fifth|Sixth|Seventh|Eighth) "
)
_MEANT = frozenset(("indicating", "confirming", "suggesting"))
_SUBJECT_END = re.compile(
    r" (?:of|in|on|at|with|from|for|after|before|during|by|through|to|without|under|using|"
    r"taken|performed|obtained|\d+|one|two|three|four|six)\b|,"
)
_MANY = re.compile(r"(?:[^sui\W]s|[aeiou]ies|phs)(?<!series)\Z")
_OWN_VERB = re.compile(r"(?:(?!which|that|who|where|when|as|it|there|this)[^,;.() ]+ )*?(?:is|are|was|were)\b")
_COUNTS = re.compile(r"[\d/]+ ")  # "8 months postoperative X-ray"
PLACED = re.compile(r"(?:in|on|at|from|by|after|before|during|with|for)(?![\w-])", re.IGNORECASE)
# "Ten weeks after surgery, X-ray showing": the weeks show nothing.
_CLAUSE = re.compile(rf"(?:(?:{_TIME}s? )?(?:{PLACED.pattern})[^,;.()]*|{_TIME}s? later), ", re.IGNORECASE)


def shows_something(sentence: str, picture: re.Match[str] | None) -> str | None:
    """A picture, or another thing, that shows something, as a sentence; None for what is not."""
    if (clause := _CLAUSE.match(sentence)) and (later := PICTURE.match(behind := sentence[clause.end() :])):
        shown = _shown(behind, later)
        return None if shown is None else f"{clause[0]}{small(shown)}"
    which = _WHICH_SHOWS.search(sentence) if " which " in sentence or " that " in sentence else None
    before = sentence[: which.start()] if which else ""
    # "Two of which show" names its own subject.
    if which and not (before.endswith(" of") or inside_brackets(sentence, which.start()) or has_verb(before)):
        sentence = f"{before} showing {sentence[which.end() :]}"
        picture = PICTURE.match(sentence)
    shown = _shown(sentence, picture) if picture else None
    if shown is not None:
        return shown
    showing = SHOWING.search(sentence)
    if showing is None or showing["verb"] in _MEANT:
        return None
    before, behind = sentence[: showing.start()], sentence[showing.end() :]
    subject = BRACKETS.sub("", before).rstrip(", ")
    if (
        re.search(r"[:–—]| - ", subject)
        or _NO_SUBJECT.search(subject)
        or PLACED.match(subject)
        or subject.endswith((" as", " by", " for", " of"))
        or has_verb(subject)
        or _OWN_VERB.match(behind)
    ):
        return None
    named = _SUBJECT_END.split(subject, maxsplit=1)[0]
    many = _MANY.search(named) is not None or " and " in named
    stem = _SHOWS[showing["verb"].lower()]
    return f"{before.rstrip(',')} {stem if many else f'{stem}s'} {with_article(behind)}"


def article_of(picture: re.Match[str]) -> str | None:
    """The article that the name of a picture lacks, "" where it takes none; None where that is not clear."""
    name = picture["name"]
    if picture["many"] or DETERMINED.match(name):
        return ""
    if PLACED.match(name) or _COUNTS.match(name) or _NOT_ONE.match(name):
        return None
    return "" if "imaging" in name or name.endswith("graphy") else f"{indefinite(small(name)).capitalize()} "


def _shown(first: str, picture: re.Match[str]) -> str | None:
    """A picture that shows something, as a sentence; an article where its name has none."""
    name = picture["name"]
    article = article_of(picture) or ""
    behind = first[picture.end("name") :]
    showing = SHOWING.search(behind)
    if showing is None or _FINITE_BEFORE.search(behind[: showing.start()]):
        return article + small(first) if article and _SHOWN_BEHIND.match(behind) else None
    before = _DANGLING.sub("", behind[: showing.start()])  # "turned on, showing" has lost no word
    closes = "," if _APPOSITION.search(BRACKETS.sub("", before)) else ""
    before = before.rstrip(",")
    if (
        PLACED.match(name)
        or before.startswith(":")
        or _NO_SUBJECT.search(before)
        or (": " in before and showing["verb"] in _MEANT)
    ):
        return None  # "CT scan with contrast dye: nodes suggesting cancer": the nodes do, and they may be many
    if before and not GOES_ON.match(before) and not _ENDS_AS_PICTURE.search(before):
        article = ""  # "CT arterial phase shows": what the stack names is not clear
    before = before.rstrip(":")
    stem = _SHOWS[showing["verb"].lower()]
    how = f"{showing['how']} " if showing["how"] else ""
    joined = _JOINED.match(BRACKETS.sub("", before))
    many = picture["many"] or joined or (not GOES_ON.match(before) and _ENDS_IN_PICTURES.search(before))
    said = with_article(behind[showing.end() :])
    return f"{article}{small(name) if article else name}{before}{closes} {how}{stem if many else f'{stem}s'} {said}"
