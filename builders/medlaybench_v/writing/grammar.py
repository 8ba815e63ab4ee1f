"""The rule-based refiner: mends what a word-for-word draft breaks, and nothing else.

Used where no chat model is given, and as the draft that is handed to one. It works only at the seams of inserted
phrases (articles, doubled words) and on the outer form of the caption (spaces, first capital, full stop), so it
cannot lose a fact.
"""

from __future__ import annotations

import re
from functools import cache
from operator import itemgetter

from builders.medlaybench_v.words.lists import any_of, listed
from builders.medlaybench_v.words.terms import english
from builders.medlaybench_v.writing.matches import Draft, Entry, Piece
from builders.medlaybench_v.writing.seams import (
    behind_participle,
    says_again,
    with_hole,
    without_patient,
    without_place,
)

_ARTICLE_AT_END = re.compile(r"(?:\b|(?<=[a-z])(?=A))([Aa]n?)(\s+)\Z")
# What cannot be counted takes no "a": "a massive pneumothorax" is "massive air around the lung".
_MASS = re.compile(rf"(?:{any_of('uncountable')})(?=\Z| (?:of|in|around|under|inside|within|between|behind|at|from)\b)")
# "A small pleural effusion" is "a small amount of fluid around the lung".
_AMOUNT = re.compile(r"(?:free )?(?:air|fluid|blood|gas|pus) (?:in|around|under|between|behind)\b")
_SIZE = re.compile(r"(?P<start>\b(?:[Aa]n?|[Tt]h(?:e|is)) )?\b(?P<size>[Ss]mall|[Ll]arge|[Hh]uge|[Tt]iny) \Z")
# "Severe mitral regurgitation" is a "severely leaky heart valve".
_QUALIFIED = re.compile(r"(?:leaky|narrowed|collapsed|hardened|weakened|widened|swollen|inflamed|blocked|thickened) ")
_DEGREES = re.compile(r"(?i:\b(?:severe|moderate|mild|marked|slight|massive|significant|extensive|complete)(?= ))")
_DEGREE = re.compile(rf"{_DEGREES.pattern}(?: (?:to|or) {_DEGREES.pattern})? \Z")
_ARTICLE_AND_ADJECTIVE = re.compile(r"\b(?P<article>[Aa]n?) (?:(?!(?:the|of)\b)[^\W\d_]+(?:-[^\W\d_]+)*,? ){0,2}\Z")
# The adjective that the comma parted it from has gone behind: "a large, mass in the chest".
_COMMA_BEFORE_NAME = re.compile(rf"\b({any_of('sizes and shapes')}), \Z", re.IGNORECASE)
_LAST_WORD = re.compile(r"([^\W_]+(?:-[^\W_]+)*)(\s*)\Z")
_FIRST_WORD = re.compile(r"\s+([^\W_]+(?:-[^\W_]+)*)")
_PICTURES = listed("names of pictures")
_CUTS = frozenset("view views slice slices section sections cut cuts".split())  # each is a cross-section
_PLAIN_WORD = re.compile(r"[a-z]{4,}")
_OFTEN = frozenset("with that from side left right upper lower looking".split())
_DYE = " with contrast dye"
# "Pulmonary artery" + "blood vessel imaging (angiography)": an artery is one.
_VESSEL_PICTURE = "blood vessel "
_VESSEL_BEFORE = re.compile(r"\b(?:arter(?:y|ies|ial)|veins?)(?: \([^()]*\))? \Z")
_DYED = re.compile(r"bright|food-pipe")
_CONTRAST = re.compile(r"contrast|gadolin|barium", re.IGNORECASE)
_STOP = re.compile(r"[.;](?=\s|\Z)")
# For text whose words one space parts. Each begins with the mark that is looked for, which is found fastest.
_SPACE_BEFORE = re.compile(r" (?=[,.;:!?)\]](?!\d))")
_NO_SPACE_AFTER = re.compile(r"[,;](?<=[a-z)][,;])(?=[A-Za-z])")
# "Arrows.The", "Fig. 3.Source", "(front view)The"; "lesion(arrow)", but "lesion(s)".
_GLUED = re.compile(r"\.(?:(?<=[a-z)]{2}\.)(?=[A-Z])|(?<=\d\.)(?=[A-Z][a-z]))|\)(?=[A-Z][a-z]{2}|(?:CT|MRI) )")
# "After the diagnosisThere is": a sentence that lost its stop.
_GLUED_SENTENCES = re.compile(
    r"[A-Z](?<=[a-z]{4}[A-Z])(?=(?:he|here|his|hese|n|fter|xial|hest|nitial|oronal|agittal|omput(?:ed|eriz?ed)|"
    r"easurement) | (?:cross|front|side|CT|MRI|chest)[ -])|"
    r"[A-Z](?<=\b(?:CT|MR|US)[A-Z])(?=(?:he|here|his|hese) )|[A-Z](?<=\bMRI[A-Z])(?=(?:he|here|his|hese) )"
)
_GLUED_BRACKET = re.compile(r"\((?<=[a-z]{3}\()(?=[a-z]{3})")
_JOINED_TWICE = re.compile(
    r"\b([a-z]{4,}(?<!er)) and \1(?=[.,;)]|\Z)"
)  # "swelling and oedema", not "larger and larger"
_REPEATED = re.compile(r"\b(the|a|an|of|(?<!-)in|and|with|is|to|X-ray|bone|vein|scan|[a-z]{5,}) \1\b", re.IGNORECASE)
_ANY_REPEATED = re.compile(r"\b(x-ray|[a-z]++) \1\b")  # in lower case
_BRACKET = re.compile(r" \(([^()]{4,60})\)")
_LETTERS_IN_BRACKETS = re.compile(r" \(([A-Z][A-Za-z\d]{1,5})\)")
# "FLAIR (a kind of MRI picture) MRI slice": the method is named beside the bracket.
_METHOD_BESIDE = re.compile(
    r"\b(?P<method>MRI|X-ray|ultrasound) (?P<what>picture|machine)\)(?= (?:[\w-]+ ){0,2}(?P=method)\b)"
)


def polish(draft: Draft) -> str:
    """Turn a draft into a caption: articles, doubled words, spaces, sentence case, full stop.

    Length and order of the facts stay as they are.
    """
    pieces = [piece for piece in draft.pieces if piece.text]
    texts = [piece.text for piece in pieces]
    _take_back_repeats(pieces, texts)
    _mend_seams(pieces, texts)
    for i, piece in enumerate(pieces):
        if piece.match is None:
            continue
        if i > 1 and texts[i - 1] == " " and texts[i - 2].endswith("-looking") and texts[i].endswith("-looking"):
            texts[i - 1] = " and "  # "an uneven-looking and brighter-looking mass"
        if texts[i].startswith(_VESSEL_PICTURE) and _VESSEL_BEFORE.search("".join(texts[max(0, i - 3) : i])):
            texts[i] = texts[i].removeprefix(_VESSEL_PICTURE)
        if i and pieces[i - 1].match is None:
            texts[i - 1], texts[i] = _join_before(texts[i - 1], texts[i], piece.match.entry)
        if i + 1 < len(pieces):
            texts[i], texts[i + 1] = _join_after(texts[i], texts[i + 1], pieces[i + 1])
            if texts[i].endswith(")") and pieces[i + 1].match is None:
                texts[i], texts[i + 1] = _behind_quote(texts[i], texts[i + 1])
                told = pieces[i + 2 : i + 3] if texts[i + 1] == " (" else []
                if texts[i + 1].startswith(" (") and not any(_found_there(piece, found) for found in told):
                    texts[i], texts[i + 1] = _in_one_bracket(texts[i], texts[i + 1])
    if _DYE in "".join(texts):
        _say_contrast_once(pieces, texts)
    return tidy("".join(texts))


def _found_there(place: Piece, told: Piece) -> bool:
    """Whether the caption's bracket tells what is found in a place: behind what explains the place it would be read as
    the same, "basal ganglia (nerve centers deep in the brain; area of dead tissue)"."""
    kinds = [piece.match.entry.term.kind for piece in (place, told) if piece.match]
    return kinds in (["anatomy", "finding"], ["anatomy", "disease"])


def _mend_seams(pieces: list[Piece], texts: list[str]) -> None:
    """What `seams` finds where a lay phrase meets the words of the caption."""
    for i, piece in enumerate(pieces):
        if (match := piece.match) is None or not texts[i]:
            continue
        before, behind = texts[i - 1] if i else "", texts[i + 1] if i + 1 < len(texts) else ""
        said = texts[i]
        if match.entry.term.pos == "phrase":
            said = without_patient(before, said)
        if match.entry.term.pos != "noun":
            said, behind = behind_participle(before, said, behind) or (said, behind)
        if match.entry.term.pos != "adjective":
            if not match.entry.stays and says_again("".join(texts[max(0, i - 3) : i]), said):
                said = f"{match.entry.surface.partition(' (')[0]} ({said.partition(' (')[0]})"
            before = with_hole(before, said)
            said = without_place(said, behind + "".join(texts[i + 2 : i + 4]))
        texts[i] = said
        if i:
            texts[i - 1] = before
        if i + 1 < len(texts):
            texts[i + 1] = behind


def _take_back_repeats(pieces: list[Piece], texts: list[str]) -> None:
    """ "blood-starved" + "tissue death from lost blood supply": of two neighbours that say one word, the first keeps
    its own wording."""
    for i in range(len(pieces) - 2):
        if texts[i + 1] != " " or texts[i].startswith(" "):
            continue  # what stands behind its noun already is not taken back
        first, second = pieces[i].match, pieces[i + 2].match
        if first and second and first.entry.term.pos == "adjective" and "(" not in texts[i]:
            said = _said(texts[i])
            if said & _said(texts[i + 2].partition(" (")[0]):
                texts[i] = first.entry.surface


def _said(text: str) -> set[str]:
    """Words that a reader would hear twice."""
    return {word for word in _PLAIN_WORD.findall(text.lower()) if word not in _OFTEN}


def _say_contrast_once(pieces: list[Piece], texts: list[str]) -> None:
    """ "Post-contrast brightening with contrast dye": what a sentence says of contrast it says once."""
    for i, text in enumerate(texts):
        match = pieces[i].match
        if text.endswith((_DYE, f"{_DYE})")) and match is not None and _DYED.search(match.entry.lay):
            before = _STOP.split("".join(texts[:i]))[-1]
            behind = _STOP.split("".join(texts[i + 1 :]), maxsplit=1)[0]
            if _CONTRAST.search(before) or _CONTRAST.search(behind):
                texts[i] = text.replace(_DYE, "")


_LABEL = re.compile(r"[a-z][:,.)]")  # "a: axial T1": the figure says "a"
# What a key of abbreviations says of a method: "MRI, magnetic resonance imaging".
_SCAN_TWICE = re.compile(r"\b((?:CT|MRI|PET|PET/CT) scan)(?:,|:|[ ]?=)[ ]\1\b(?! of)")
_SCAN_BEHIND_BRACKET = re.compile(r"( scan(?: of the \w+)? \([^()]*\)) scan\b")
# "CT scan with contrast dye scanning", "CT scan without contrast dye scan-axial view".
_SCAN_SAID_AGAIN = re.compile(
    r"\b((?:CT|MRI|PET) scan(?: (?:with|without)(?: [a-z-]+){0,2} (?:dye|liquid))?) (?:scan|scanning|imaging)\b"
    r"(?:-(?=\w))?"
)


def tidy(text: str) -> str:
    """Spaces, first capital, full stop."""
    text = " ".join(text.split())
    text = _SPACE_BEFORE.sub("", text)
    text = text.replace("( ", "(").replace("[ ", "[")
    text = _NO_SPACE_AFTER.sub(_and_space, text)
    text = _GLUED.sub(_and_space, text)
    text = _GLUED_SENTENCES.sub(r". \g<0>", text)
    text = _GLUED_BRACKET.sub(" (", text) if "(" in text else text
    if _ANY_REPEATED.search(text.lower()):
        text = _REPEATED.sub(r"\1", text)
    text = _JOINED_TWICE.sub(itemgetter(1), text) if " and " in text else text
    text = _without_said_twice(text)
    if not text:
        return text
    first = text.split(" ", 1)[0]
    if first[:1].islower() and not _LABEL.match(first) and not any(c.isupper() or c.isdigit() for c in first):
        text = text[0].upper() + text[1:]
    if text[-1].isalnum() or text[-1] in ')]"”’%°':
        text += "."
    elif text[-1] in ",;:":
        text = text[:-1] + "."
    return text


def _and_space(found: re.Match[str]) -> str:
    """What was found, and a space; a template would be parsed for each caption."""
    return f"{found[0]} "


def _without_said_twice(text: str) -> str:
    """ "CT scan (CT scan) scan": a bracket that says what stands before it says nothing."""
    text = _METHOD_BESIDE.sub(r"\g<what>)", text) if ") " in text else text
    if text.count(" scan") > 1:
        text = _SCAN_BEHIND_BRACKET.sub(r"\1", _SCAN_TWICE.sub(r"\1", text))
    if " scan" in text:
        text = _SCAN_SAID_AGAIN.sub(lambda said: said[1] + (", " if said[0].endswith("-") else ""), text)
    for bracket in reversed(list(_BRACKET.finditer(text))) if " (" in text else ():
        if text[: bracket.start()].lower().endswith(bracket[1].lower()):
            text = text[: bracket.start()] + text[bracket.end() :]
    return text


def _join_before(before: str, inserted: str, entry: Entry) -> tuple[str, str]:
    """Mend "an" + "bulge", and "chest" + "chest X-ray"."""
    if before.endswith(", ") and (" " in inserted or entry.behind or entry.term.pos == "noun"):
        before = _COMMA_BEFORE_NAME.sub(r"\1 ", before)
    end = _last_stretch(before)
    article = _ARTICLE_AT_END.search(before, end)
    if _QUALIFIED.match(inserted) and (degree := _DEGREE.search(before)):
        return before[: degree.start()] + _DEGREES.sub(r"\g<0>ly", degree[0]), inserted
    if _AMOUNT.match(inserted) and (size := _SIZE.search(before)):
        start, said = size["start"] or ("A " if size["size"][0].isupper() else "a "), size["size"].lower()
        if before[: size.start()].endswith(("are ", "were ")):
            return f"{before[: size.start()]}{said} amounts of ", inserted
        return f"{before[: size.start()]}{start}{said} amount of ", inserted
    if _MASS.match(inserted) and (some := _ARTICLE_AND_ADJECTIVE.search(before)):
        return before[: some.start()] + before[some.end("article") :].lstrip(), inserted
    if article:
        right = indefinite(inserted)
        shown = right.capitalize() if article.group(1)[0].isupper() else right
        return before[: article.start()] + shown + article.group(2), inserted
    last = _LAST_WORD.search(before, end)
    if last is None:
        return before, inserted
    first, _, rest = inserted.partition(" ")
    word, parted = last.groups()
    if parted and word.lower() == first.lower():
        return before, rest
    return before, inserted


def _last_stretch(text: str) -> int:
    """Where the last stretch without a space begins, spaces at the end aside."""
    return text.rfind(" ", 0, len(text.rstrip())) + 1


def _join_after(inserted: str, after: str, piece: Piece) -> tuple[str, str]:
    """Mend "CT scan" + "scan", "X-ray picture" + "images"."""
    head, _, last = inserted.rpartition(" ")
    first = _FIRST_WORD.match(after)
    if first is None or not (head or inserted.endswith(("-view", "-section"))):
        return inserted, after
    following = first.group(1).lower()
    if last.lower() == "cross-section" and following in _CUTS:
        return inserted + ("s" if following.endswith("s") else ""), after[first.end() :]
    if last.lower() in _PICTURES and following in _PICTURES:
        return head, after
    return inserted, after


def _behind_quote(inserted: str, after: str) -> tuple[str, str]:
    """What explains a quoted word stands behind the quotation mark."""
    if not after.startswith(('"', "”")) or after[1:2].isalnum():
        return inserted, after
    named, _, told = inserted.rpartition(" (")
    return f"{named}{after[0]} ({told}", after[1:]


def _in_one_bracket(inserted: str, after: str) -> tuple[str, str]:
    """Of two brackets in a row one: "(bulging weak spot) (arrow)" says both; what letters of a name stand for follows.

    >>> _in_one_bracket("jugular vein (large neck vein)", " (IJV) is wide"), _in_one_bracket("mass (lump)", " (arrow)")
    (('jugular vein (IJV, large neck vein)', ' is wide'), ('mass (lump; ', 'arrow)'))
    """
    named, _, told = inserted.rpartition(" (")
    letters, initials = _LETTERS_IN_BRACKETS.match(after), {word[0] for word in f"{named} {told}".lower().split()}
    if letters and not initials.isdisjoint(letters[1].lower()):
        return f"{named} ({letters[1]}, {told}", after[letters.end() :]
    return f"{inserted[:-1]}; ", after[2:]


_AN_NUMBER = re.compile(r"8|1[18](?!\d)")


@cache
def _article_of(word: str) -> str:
    if (word[:1] == "E" and word.isupper()) or _AN_NUMBER.match(word):
        return "an"  # "EUS", "18-year-old"
    return str(english().a(word)).split(" ", 1)[0]


def indefinite(phrase: str) -> str:
    """ "a" or "an" before a phrase, by the sound of its first word.

    >>> indefinite("X-ray"), indefinite("unusual bulge"), indefinite("ultrasound"), indefinite("MRI scan")
    ('an', 'an', 'an', 'an')
    """
    return _article_of(phrase.split(" ", 1)[0].strip('(“"'))
