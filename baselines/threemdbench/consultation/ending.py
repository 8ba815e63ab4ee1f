"""How a patient ends a dialogue: by BREAK, as its instructions say, in whatever way a model puts it.

`authors_ending` is the rule of the authors' code: the text contains these letters. `natural_ending` asks whether BREAK
is said or only mentioned. It is said if it stands by itself: as a message, a line or a sentence, at the end of one
(`Thank you BREAK.`) or in front of one (`BREAK, thanks`), between marks, quoted, repeated, after a speaker's name. It
is mentioned in a question, where somebody is reported to have said it, and where it is a verb or a noun in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from baselines.threemdbench.consultation.cleaning import own_end

_MARK = r"[^\w\s]"  # punctuation, quotation marks, brackets, emoji
# Underscores around it are emphasis; between it and a letter they make it part of a name.
_WORD = r"(?<![^\W_])(?<![^\W_]_)(?<!\w[-'’])BREAK(?![^\W_])(?!_[^\W_])(?![-'’]\w)"
# One BREAK, or several with only punctuation between them: a run counts once.
_RUN = re.compile(rf"(?:{_WORD}|(?<!\w)(?:BREAK){{2,}}(?!\w))(?:(?:{_MARK}|\s){{0,20}}{_WORD})*")
_END = re.compile(r"[.!?…]+[\"'”’»)\]*_`]*(?=\s)|\n")
_EDGE = rf"(?:{_MARK}|_|\s)"
_TRIM = re.compile(rf"\A{_EDGE}+|{_EDGE}+\Z")
_SET_OFF = re.compile(rf"{_MARK}{_EDGE}*\Z")  # punctuation separates it from what precedes it
# Punctuation around it that belongs to it, and the full stop after it.
_OPENS = re.compile(r"(?:[*_`~\"'“‘„«‹(\[{<#]|[/|=-][ \t]?)+\Z")
_CLOSES = re.compile(r"\A[*_`~\"'”“’»›)\]}>#/|=-]*[.!…]*[*_`~\"'”“’»›)\]}>]*")
_LABEL = re.compile(
    r"(?:\A|(?<=\n))(?!.*\b(?i:you|words?|wrote|said|says?|told|commands?|instructions?|doctor)\b)"
    r"[\s*_#>\[(]*[^\W\d_][\w .'’-]{0,30}[\])*_]*\s*[:：]\s*[*_]*\s*\Z"
)

# Somebody said, or should say, the word; in the first person, announcing it counts as saying it.
_SAID = re.compile(
    r"\b(?:sa(?:y|ys|id|ying)|wr(?:ite|ites|ote|itten|iting)|typ(?:e|es|ed|ing)|repl(?:y|ied)|respond(?:ed)?|answer(?:ed)?"
    r"|mean(?:s|t)?|call(?:s|ed)?|words?|commands?|instruct\w*|told|asked|prompt\w*|mention\w*|us(?:e|ed|ing)|enter|send)"
    r"(?:\s+(?:me|us|you|to|with|by|the|a|word|just|only|simply|single|message|it|is|was|here))*\s*[:：,]?\s*\Z",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:I|I['’]ll|I['’]d|I['’]m|let me|we['’]ll)\b[^.?!]*\Z", re.IGNORECASE)
_HYPOTHETIC = re.compile(
    r"\b(?:if|when(?:ever)?|why|what|how|should|shall|until|unless|before|whether|not|never|without|don['’]t|didn['’]t"
    r"|won['’]t|can['’]t|told|asked|supposed|instructed|you|doctor)\b",
    re.IGNORECASE,
)
_ASKING = re.compile(r"\A\W*(?:why|what|when|how|who|where|which|should|does|do|did|is|are|can|could|would)\b", re.I)
# Before it, these make it a noun or a verb.
_IN_SENTENCE = frozenset(
    """a an the my your his her our their its no any some another one every each this quick short long little brief
    small big good nice proper real lunch coffee tea smoke work study school summer spring winter holiday bathroom
    toilet tax lucky clean fire prison to will would can could may might must should shall cannot can't won't don't
    doesn't didn't not never i we they he she who or and nor than nails nail skin teeth tooth bones bone hair hairs
    blisters blister spots pimples lips cuticles wounds stitches scabs it'll they'll i'll even easily often always
    sometimes voice waters""".split()
)
# After it, these begin what the patient goes on to say; anything else that is not set off continues a sentence.
_CLOSERS = frozenset(
    """thank thanks thx bye goodbye cheers ok okay have take see end ends done finished over good great doctor doc
    dr sorry i i'm i'll i've that's that my we it's everything all no yes farewell conversation dialogue""".split()
)
_FAREWELL = re.compile(
    r"\W*(?:and |then |so )?(?:bye|goodbye|thanks?|take care|have a|see you|good (?:night|day))\b", re.I
)
_FAR = 300  # characters around it that are considered
_MOST = 64  # occurrences in one text that are considered, the last ones

Span = tuple[int, int]


def authors_ending(text: str) -> tuple[str, bool]:
    """A patient's text without its BREAKs, and whether it contained one, as a word or within another.

    >>> authors_ending("My OUTBREAK is back."), authors_ending("Thank you BREAK.")
    (('My OUTBREAK is back.', True), ('Thank you', True))
    """
    if "BREAK" not in text:
        return text, False
    return _without(text, [_marked(text, *run.span()) for run in _RUN.finditer(text)]), True


def natural_ending(text: str) -> tuple[str, bool]:
    """A patient's scrubbed text without its BREAK, and whether there was one that ends the dialogue: in its own words,
    not behind what it says for the doctor.

    >>> natural_ending("Thank you BREAK."), natural_ending('Patient: "BREAK"'), natural_ending("Bye!\\n**BREAK** BREAK")
    (('Thank you', True), ('', True), ('Bye!', True))
    >>> natural_ending("I need a BREAK.")[1], natural_ending("Why do you write BREAK?")[1]
    (False, False)
    """
    if "BREAK" not in text:
        return text, False
    runs = [run.span() for run in _RUN.finditer(text, 0, own_end("patient", text))][-_MOST:]
    said = [_marked(text, *run) for run in runs if _is_said(text, *run)]
    return (_without(text, said), True) if said else (text, False)


def _is_said(text: str, start: int, end: int) -> bool:
    """Whether the BREAK there is said rather than mentioned."""
    before, after = _sentence(text, start, end)
    asks = "?" in _until_word(after) or (after.rstrip(" \t\"'”’»)]*_`").endswith("?"))
    left, right = _TRIM.sub("", before), _TRIM.sub("", after)
    if not left and not right:
        return not asks
    labelled = _LABEL.search(before) is not None
    if asks or (right and not _breaks_off(after, right)) or (not labelled and _mentioned(before)):
        return False
    if not left or labelled or _SET_OFF.search(before):
        return True
    return _last_word(left) not in _IN_SENTENCE and (not right or _FAREWELL.match(after) is not None)


def _sentence(text: str, start: int, end: int) -> tuple[str, str]:
    """What precedes and follows it in its own sentence or line."""
    before, after, begins = text[max(0, start - _FAR) : start], text[end : end + _FAR], 0
    for stop in _END.finditer(before):
        begins = stop.end()
    stop_behind = _END.search(after)
    return before[begins:], after[: stop_behind.end() if stop_behind else None]


def _until_word(after: str) -> str:
    match = re.match(rf"{_EDGE}*", after)
    return match[0] if match else ""


def _mentioned(before: str) -> bool:
    """Whether the sentence is about the word."""
    if _ASKING.search(before):
        return True
    if not _SAID.search(re.sub(r"[\"'“”‘’„«»*_`(\[]+\s*\Z", "", before)):
        return False
    first = _FIRST_PERSON.search(before)
    return first is None or _HYPOTHETIC.search(first[0]) is not None or re.search(r"\bwords?\b", before) is not None


def _breaks_off(after: str, right: str) -> bool:
    """Whether what follows it is a new start: after a mark that ends, or with words that close a conversation."""
    marks = _until_word(after)
    if _FAREWELL.match(after):
        return True
    if re.search(r"[.,;:!…)\]}>\-–—]", marks.replace('"', "")) or re.search(r"[^\x00-\x7f“”‘’„«»]", marks):
        return not re.search(r"\A['’]s?\b", after)
    word = re.split(r"[^\w'’]+", right, maxsplit=1)[0]
    if word.casefold().replace("’", "'") in _CLOSERS:
        return True
    return word[:1].isupper() and not (word.isupper() and len(word) > 1) and not re.search(r"[\"'”’»]", marks)


def _last_word(left: str) -> str:
    return re.split(r"\s+", left)[-1].strip("*_\"'“”‘’").casefold().replace("’", "'")


def _marked(text: str, start: int, end: int) -> Span:
    """Its span, including the punctuation that belongs to it."""
    near = text[max(0, start - 20) : start]
    opens, closes = _OPENS.search(near), _CLOSES.match(text[end : end + 20])
    return start - (len(near) - opens.start() if opens else 0), end + (closes.end() if closes else 0)


def _without(text: str, said: Sequence[Span]) -> str:
    """The text without these parts; empty if only a speaker's name or punctuation is left."""
    kept, at = [], 0
    for start, end in said:
        kept.append(text[at:start])
        at = end
    lines = "".join([*kept, text[at:]]).split("\n")
    lines = [re.sub(r"(?<=\S)[ \t]{2,}(?=\S)", " ", line).rstrip() for line in lines]
    rest = re.sub(r"\n{3,}", "\n\n", "\n".join(line for line in lines if not _LABEL.fullmatch(line)))
    rest = re.sub(r"\A[\s,;:.!-]+(?=\w)", "", rest).strip()
    return rest if re.search(r"\w|[^\x00-\x7f“”‘’„«»‹›…–—]", rest) else ""
