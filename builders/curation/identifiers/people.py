"""Names of people: known ones wherever they stand, unknown ones by their context.

A name that is also a word, a drug, a disease or an organ, and one that no table holds, is removed only in a context
where somebody is named (`naming.py`): after a title or kin, after "my name is", in a greeting, as a signature, beside a
surname, before or after a verb of speaking. What names a disease, a sign or an organ ("Smith fracture", "loop of
Henle") stays. Names in lower case are found after titles, kin and introductions.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial

from builders.curation.identifiers.naming import (
    CONTEXTS,
    INITIAL,
    LOWER_WHOLE,
    LOWERED,
    PARTICLE,
    Judge,
    by_position,
    is_listed,
    known,
    sure,
)
from builders.curation.identifiers.rules import CAPITAL, UPPER, part
from builders.curation.identifiers.words import is_medical, is_no_name, is_possessive, names_a_thing


def without_names(text: str, counts: Counter[str]) -> str:
    """The text without names of people."""
    for patterns, lower in ((CONTEXTS, False), (LOWERED, True)):
        for pattern, judge in patterns:
            whole = lower and LOWER_WHOLE in pattern.pattern
            text = pattern.sub(partial(_masked, judge=judge, counts=counts, lower=lower, whole=whole), text)
    text = _FOREIGN.sub(partial(_masked, judge=by_position, counts=counts, lower=False, whole=False), text)
    return _KNOWN.sub(lambda match: _masked_known(match, counts), text)


def _masked(match: re.Match[str], judge: Judge, counts: Counter[str], lower: bool, whole: bool) -> str:
    said, start = match[0], match.start("name")
    words = list(re.finditer(r"\S+", match["name"]))
    large = [word[0].strip(".,") for word in words if not _is_small(word[0])]
    plain = next((word for word in large if len(word) > 1), large[0] if large else "")
    if not judge(plain):
        return said
    ends = [start + word.end() - 2 * is_possessive(word[0]) for word in words]
    if any(names_a_thing(match.string, start, at, surely=not sure(plain)) for at in ends):
        return said
    kept = _length(words, lower, whole)
    taken = match["name"][: words[kept - 1].end()]
    if is_possessive(taken):
        taken = taken[:-2]
    counts["name"] += 1
    at = start - match.start()
    return f"{said[:at]}[name]{said[at + len(taken) :]}"


def _length(words: list[re.Match[str]], lower: bool, whole: bool) -> int:
    """How many of the words are the name: up to an ordinary word, or one that ends with a possessive."""
    kept = 1
    while _is_small(words[kept - 1][0]) and kept < len(words):
        kept += 1
    for word in words[kept:]:
        if is_possessive(words[kept - 1][0]):
            break
        if not lower and known(words[kept - 1][0], "first") and known(word[0], "last"):
            kept += 1
            continue
        if lower and not sure(word[0]) and not whole:
            break
        if not lower and (
            is_no_name(word[0]) or (is_medical(word[0]) and not is_listed(word[0]) and len(word[0].strip(".")) > 1)
        ):
            break
        kept += 1
    return kept


def _is_small(word: str) -> bool:
    return bool(re.fullmatch(PARTICLE, word, re.IGNORECASE)) and word[0].islower()


_KNOWN = re.compile(
    rf"(?<![\w\[@/-]){CAPITAL}(?:[ \t]+(?:{INITIAL}(?!\w)|(?:{PARTICLE}[ \t]+){{1,2}}{CAPITAL}"
    rf"|{CAPITAL}|[{UPPER}]\.?(?=[,;!?\s]|$)))*"
)
# Two capitalised words within a sentence, one of them with a letter that English does not have.
_FOREIGN = re.compile(
    rf"(?<=[a-zß-ÿ,;:.] )(?=[^\W\d_ ]*(?: [{UPPER}])?[^\W\d_ ]*[à-öø-ɏ])(?P<name>{CAPITAL} {CAPITAL})(?! [{UPPER}])"
)
_SAINT = re.compile(rf"\b{part('before a saint')}\.?\s$")


def _masked_known(match: re.Match[str], counts: Counter[str]) -> str:
    """A run of capitalised words with those names masked that need no context to be recognised."""
    words = list(re.finditer(r"\S+", match[0]))
    said, at, parts = match[0], 0, []
    number = 0
    while number < len(words):
        word = words[number][0]
        follows = words[number + 1][0] if number + 1 < len(words) else ""
        start = match.start() + words[number].start()
        if word.isupper() and len(word) > 1 and not (sure(word) and known(word, "first") and len(word) > 3):
            number += 1
            continue
        certain = sure(word)
        beside = (
            known(word, "first")
            and bool(follows)
            and (
                sure(follows)
                or (known(follows, "last") and not is_no_name(follows))
                or bool(re.fullmatch(rf"[{UPPER}]\.", follows))
            )
            and not is_no_name(word)
        )
        ends = [match.start() + one.end() - 2 * is_possessive(one[0]) for one in words[number : number + 3]]
        personal = certain and known(word, "first")
        thing = any(
            names_a_thing(match.string, start, end, surely=at > 0 or not personal) for at, end in enumerate(ends)
        )
        if not (certain or beside) or thing or _SAINT.search(match.string[max(0, start - 8) : start]) or _coined(word):
            number += 1
            continue
        last = number
        while last + 1 < len(words) and not is_possessive(words[last][0]) and _goes_on(words[last + 1], match):
            last += 1
        parts += [said[at : words[number].start()], "[name]"]
        at = words[last].end() - 2 * is_possessive(words[last][0])
        counts["name"] += 1
        number = last + 1
    return "".join([*parts, said[at:]])


def _coined(word: str) -> bool:
    """Whether it is several people's names joined, as in diseases: "Stevens-Johnson"."""
    parts = re.split(r"[-–]", word)
    return len(parts) > 1 and not known(parts[0], "first")


def _goes_on(found: re.Match[str], run: re.Match[str]) -> bool:
    """Whether a capitalised word after a name, found in a run of such words, belongs to it."""
    word, start = found[0], run.start() + found.start()
    if len(word.strip(".")) == 1:
        return True
    return known(word, "last") or (
        not is_no_name(word)
        and (is_listed(word) or known(word, "word") or not is_medical(word))
        and not names_a_thing(run.string, start, start + len(word))
    )
