"""Fragments made into sentences: "Axial CT showing a stone." -> "An axial CT shows a stone."

Captions are written as fragments. Three kinds are plain enough to be mended without understanding them: a picture that
shows something, a picture and nothing else, and a noun phrase that tells what a picture shows. A sentence that may hold
a verb of its own is left as it is.
"""

from __future__ import annotations

import re

from builders.medlaybench_v.words.lists import any_of
from builders.medlaybench_v.writing.capitals import is_name, small
from builders.medlaybench_v.writing.counted import DETERMINED, with_article
from builders.medlaybench_v.writing.findings import DASH, LATER_THING, LONG, TITLED, is_finding
from builders.medlaybench_v.writing.grammar import indefinite
from builders.medlaybench_v.writing.showing import GOES_ON, HEADS, PICTURE, PLACED, SHOWING, article_of, shows_something
from builders.medlaybench_v.writing.verbs import BRACKETS, has_verb

# The title of a picture: "CT appearance of tension pneumocephalus", "Example of a cyst".
_TITLE = re.compile(
    r"(?![A-Za-z]+(?:ing|ed|ly)\b)"
    r"(?:(?:The|An?)[ ])?(?:(?!(?:after|and|as|at|before|by|case|during|following|for|from|in|of|on|or|post|the|to|"
    r"with|without|no)[ ])[\w'’/-]+[ ](?:\([^()]*\)[ ])?){0,4}?"
    r"(?:(?P<one>example|illustration|case|demonstration|representation|depiction|comparison)s?|"
    rf"(?:{any_of('titles')})s?)(?:[ ]\([^()]*\))?[ ]of[ ]",
    re.IGNORECASE,
)
# "Swelling of the lymph nodes on chest CT scan", "Bullet seen in the X-ray": the finding comes before the picture.
_ON_A_PICTURE = re.compile(
    r"(?P<what>[^:;.]+?),?"
    r"(?:[ ](?:as[ ])?(?:seen|visible|shown|noted|observed|evident|identified|detected|found|revealed))?"
    r"[ ](?:on|in|by|at)[ ]"
    r"(?P<picture>(?:(?!(?:of|in|on|at|by|from|with|and|or|after|before|during|for|to|patient|case)[ ])[\w/'’‐-]+[ ]"
    rf"(?:\([^()]*\)[ ])?){{0,6}}?(?:{HEADS})(?:[ ](?:{HEADS}))*(?P<many>s)?)"
    r"(?P<behind>(?:[ ]\([^()]*\))?"
    r"(?:[ ](?:of|at|in|from|after|before|taken|obtained|performed|with(?:out)?(?=[^,]*(?:contrast|dye|X-ray)))"
    r"[ ][^,:;.]*)?)\Z"
)
_LOOKS = re.compile(r", [\w-]+\Z|\b(?:hardly|barely)\b")
# "(a) X-ray showing", "Case 1: X-ray showing".
_LABEL = re.compile(r"(?:\([A-Za-z]\)|(?:Case|Patient|Fig(?:ure)?\.?) ?(?:\d+[A-Za-z]?|[IVX]+|one|two|three):) ?(?=\w)")
_MAY_SHOW = re.compile(r" (?:show|demonstrat|reveal|depict|illustrat|confirm|suggest|indicat)")
# A later sentence, but no item of a numbered list.
_BEHIND = re.compile(r"(?<=\. )(?<!: \d\. )(?<![a-z]{4}\. \d\. )(?<!\bFig\. )(?<!\bDr\. )[A-Z](?:[^.]|\.(?! |\Z))*")
_END = re.compile(r"\.(?=\s|\Z)")
_SHORT = 3  # characters
# "CT scan of the chest: large mass".
_COLON = re.compile(
    r"(?P<of>(?:[ ]\([^()]*\))?(?:[ ](?:of|in|at|after|before|on|with)[ ][^:;.,–—()]{3,60})?)(?::[ ]+|[ ][-–—][ ])"
)
# A picture that was made at some time is no verb's subject.
_MADE = re.compile(
    r"\b(?:taken|obtained|performed|done|made|acquired|carried out|recorded)"
    r"(?= (?:on|at|in|after|before|during|by|with|from|using|for|to|through|shortly|immediately|just|without|via|\d|"
    r"one|two|three|four|five|six|seven|eight|nine|ten)\b)"
)
_PATIENT = re.compile(
    r"(?:An? )?(?:\d{1,3}|[A-Za-z]+(?:-[a-z]+)?)[- ](?:year|month|week|day)s?[- ]old[- ](?:[\w-]+ ){0,2}?"
    r"(?:man|woman|male|female|boy|girl|patient|child)(?=,? (?:with|who|on|suffering|presenting|after|before)\b|\Z)",
    re.IGNORECASE,
)
_MARKED = re.compile(
    r"=|\barrow|asterisk|\bstars?\b|\bcircles?\b|\blines?\b|\b(?:seen|visible|observed|present|identified|found|detected|"
    r"suspected|not|also)\b",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"(?![A-Z][a-z]+[ -])")  # "CV2ip (the lowest point)", "Cal, calcium"
_PLAIN = re.compile(r"(?!The |[A-Z]{2,},)[A-Z\d][^:=;]*\Z")  # no key, no label, no list
_FROM_ELSEWHERE = re.compile(any_of("from elsewhere"), re.IGNORECASE)
_ONE = re.compile(r"(?:an?|one|each)\b", re.IGNORECASE)  # "An example of the images"


def in_sentences(text: str) -> str:
    """The caption with its fragments as sentences, where that takes no understanding.

    >>> in_sentences("Front-view CT scans of the belly showing a stone (arrow). Side view showing its size.")
    'Front-view CT scans of the belly show a stone (arrow). A side view shows its size.'
    >>> in_sentences("Angled X-ray of the foot. Fracture of the heel bone.")
    'This is an angled X-ray of the foot. It shows a fracture of the heel bone.'
    >>> in_sentences("CT scan of the chest: large mass in the lung."), in_sentences("Swelling of the right knee.")
    ('A CT scan of the chest shows a large mass in the lung.', 'The image shows swelling of the right knee.')
    >>> in_sentences("A 7-year-old boy with a cough.")
    'The patient is a 7-year-old boy with a cough.'
    """
    end = _END.search(text)
    told = _sentence(text[: end.start()] if end else text)
    if end is None or len(text) - end.end() < _SHORT:
        return told + text[end.start() :] if end else told
    sentences, at = [told], end.start()
    for behind in _BEHIND.finditer(text, at):
        told = _later(behind[0], told)
        sentences += [text[at : behind.start()], told]
        at = behind.end()
    return "".join([*sentences, text[at:]])


def _later(sentence: str, before: str) -> str:
    """A sentence behind another: what the picture of that one shows is said of it."""
    if _MAY_SHOW.search(sentence):
        return shows_something(sentence, PICTURE.match(sentence)) or sentence
    if (
        _PLAIN.match(sentence)
        and (PICTURE.match(sentence) or _PATIENT.match(sentence))
        and not (_FROM_ELSEWHERE.search(sentence) or has_verb(sentence))
    ):
        told = _sentence(sentence)
        return told if told.startswith(("This is ", "These are ", "The patient is ")) else sentence
    if "(" not in sentence and LATER_THING.match(sentence) is None:
        return sentence  # as most are
    outside = BRACKETS.sub("", sentence)
    if (
        LATER_THING.match(outside) is None
        or sentence.startswith("The ")
        or _LETTERS.match(sentence)
        or _MARKED.search(outside)
        or not is_finding(sentence)
    ):
        return sentence
    shows = "It shows" if before.startswith("This is ") else "The image shows"
    return f"{shows} {with_article(small(sentence))}"


def _sentence(first: str) -> str:
    if label := _LABEL.match(first):
        rest = first[label.end() :]
        rest = rest[:1].upper() + rest[1:]
        told = _sentence(rest)
        return first if told == rest else f"{label[0].rstrip()} {told}"
    picture = PICTURE.match(first)
    if shown := shows_something(first, picture):
        return shown
    if _PATIENT.match(first) and not has_verb(first) and ":" not in first:
        subject = "This" if " patient" in first else "The patient"
        return f"{subject} is {first if DETERMINED.match(first) else f'{indefinite(first)} {small(first)}'}".replace(
            " An ", " an ", 1
        ).replace(" A ", " a ", 1)
    if named := _titled(first) or _found_on(first):
        return named
    if picture is None:
        return f"The image shows {with_article(small(first))}" if is_finding(first) else first
    behind = first[picture.end() :]
    if colon := _COLON.match(behind):
        found = behind[colon.end() :]
        article = article_of(picture)
        if article is not None and is_finding(found.capitalize() if found[:1].islower() else found):
            name = f"{article}{small(picture['name']) if article else picture['name']}"
            return f"{name}{colon['of']} {'show' if picture['many'] else 'shows'} {with_article(small(found))}"
        return first
    if (
        ":" in first
        or DASH.search(first)
        or len(first.split()) > LONG
        or has_verb(_MADE.sub("", first))
        or (behind and not GOES_ON.match(behind))
        or len(TITLED.findall(first)) > 1
        or is_name(first)
        or PLACED.match(first)
        or first.startswith(("Patient", "Case"))  # "Patient's CT scan", "Case 3 X-ray"
        or SHOWING.search(first)
    ):
        return first
    determined = DETERMINED.match(first)
    many = not _ONE.match(first) and picture["many"] is not None
    name = first if determined else small(first)
    uncounted = picture["name"].endswith(("imaging", "graphy"))
    article = "" if determined or many or uncounted else f"{indefinite(name)} "
    return f"{'These are' if many else 'This is'} {article}{small(name) if determined else name}"


def _titled(first: str) -> str | None:
    """A sentence that is the title of a picture, as one that says so; None for others."""
    title = _TITLE.match(first)
    if title is None or _is_more_than_a_name(first):
        return None
    name = small(first)
    if first.startswith(("The ", "A ", "An ")):
        name = first[:1].lower() + first[1:]
        return f"{'This is' if title['one'] else 'The image shows'} {name}"
    if not title["one"]:
        return f"The image shows the {name}"
    return f"This is {indefinite(name)} {name}"


def _found_on(first: str) -> str | None:
    """A finding that is told before the picture which shows it, as a sentence about the picture; None for others."""
    told = _ON_A_PICTURE.match(first)
    if told is None or _is_more_than_a_name(first) or not is_finding(told["what"]) or told["many"]:
        return None
    if _LOOKS.search(told["what"]):
        return None  # "A cyst, dark on MRI": it looks so there
    picture = told["picture"]
    name = picture[:1].upper() + picture[1:]
    if not (DETERMINED.match(picture) or picture.endswith(("imaging", "graphy"))):
        name = f"{indefinite(picture).capitalize()} {picture}"
    return f"{name}{told['behind']} shows {with_article(small(told['what']))}"


def _is_more_than_a_name(sentence: str) -> bool:
    """Whether a sentence says more than what something is called, or may do so."""
    return (
        ":" in sentence
        or DASH.search(sentence) is not None
        or len(sentence.split()) > LONG
        or has_verb(sentence)
        or len(TITLED.findall(sentence)) > 1
    )
