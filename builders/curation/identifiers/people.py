"""Names of people: known ones wherever they stand, unknown ones by what stands around them.

`people.csv` holds first and last names of many languages (`first`, `last`), and those of them that are also a word, a
drug, a disease or an organ (`word`). A name of the third kind, and one that is not in the table, is taken out only where
somebody is named: after a title or kin, after "my name is", in a greeting, as a signature, beside a surname, before or
after a verb of speaking. What names a disease, a sign or an organ ("Smith fracture", "loop of Henle") stays. Names in
lower case are found after titles, kin and introductions.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

from builders.curation.identifiers.rules import CAPITAL, UPPER
from builders.curation.identifiers.words import is_medical, is_no_name, names_a_thing
from loaders.files.tables import read_table

_PARTICLE = r"(?:van|von|der|den|de|da|del|della|di|du|dos|das|la|le|bin|ibn|bint|al|el|ter|ten|ben|abu|mac|st\.)"
_INITIAL = rf"[{UPPER}]\.(?:\s?[{UPPER}]\.)?"
_MORE = rf"(?:[ \t]+(?:(?:{_PARTICLE}[ \t]+){{1,3}}{CAPITAL}|{_INITIAL}(?!\w)|{CAPITAL}|[{UPPER}](?=[.,;!?\s]|$)))"
# A title before a name is none of it: what ends before one leaves the title to the rule of titles.
_NO_TITLE = r"(?!(?:Dr|Doctor|Mr|Mrs|Ms|Miss|Prof|Professor|Nurse|Sister|Aunt|Auntie|Uncle|Grandma|Grandpa)\b)"
_SEQUENCE = rf"(?P<name>{_NO_TITLE}(?:{_INITIAL}[ \t]?)?(?:{_PARTICLE}[ \t]+(?={_PARTICLE}?\s?[{UPPER}]))?{CAPITAL}{_MORE}{{0,3}}(?![^\W\d_])(?!['’-]\w))"
_LOWER = r"(?P<name>[a-zß-öø-ÿ][a-zß-öø-ÿ'’\-]+(?:[ \t]+[a-zß-öø-ÿ'’\-]+)?)"

_TITLE = (
    r"(?:dr|dra|drs|doctor|doc|prof|professor|mr|mrs|ms|miss|mx|nurse|sister|matron|midwife|rev|reverend|pastor|rabbi|imam|father|fr|sir|dame|lady|lord|uncle|aunt|auntie|aunty"
    r"|grandma|grandpa|granny|grandad|granddad|nana|nanna|cousin|coach|officer|sergeant|sgt|captain|capt|colonel|judge|detective|constable|herr|frau|monsieur|madame|mme|mlle"
    r"|señora?|senora?|sra?|signora?|dott|dottoressa|docteur|doktor|counsell?or|consultant|surgeon|physio|physiotherapist|therapist|pa|np|headmaster|principal|president|secretary)"
)
_KIN = (
    r"(?:wife|husband|hubby|spouse|partner|boyfriend|girlfriend|bf|gf|fianc[eé]e?|ex(?:-(?:wife|husband|boyfriend|girlfriend|partner))?|sons?|daughters?|child|kids?|baby|boys?|girls?|toddler|newborn|brothers?|sisters?|sibling|twins?"
    r"|mother|mum|mom|mam|father|dad|parents|stepmother|stepfather|step-?(?:mum|mom|dad|son|daughter|brother|sister)|cousins?|niece|nephew|uncle|aunt(?:ie|y)?|grand(?:mother|father|ma|pa|dad|son|daughter|child)|gran|granny|nan|nana"
    r"|(?:mother|father|sister|brother|daughter|son)-in-law|godmother|godfather|goddaughter|godson|friends?|bestie|best\sfriend|mate|buddy|pal|roommate|flatmate|housemate|neighbou?r|boss|manager|supervisor|line\smanager|colleague|co-?worker"
    r"|teacher|coach|tutor|professor|doctor|gp|pcp|physician|surgeon|consultant|therapist|psychiatrist|psychologist|counsell?or|dentist|nurse|midwife|obgyn|ob|gyn|np|pa|physio|physiotherapist|chiropractor|osteopath|oncologist|[a-z]+ologist"
    r"|[a-z]+(?:iatrist|ician|opath)|specialist|registrar|carer|caregiver|social\sworker|case\sworker|landlord|landlady|lawyer|solicitor|pastor|priest|imam|rabbi|dog|cat|puppy|employer|trainer|instructor|babysitter|nanny|client|patient|student|late)"
)
_OWNER = r"(?:my|our|his|her|their|your|the|a|an|this|that|old|poor|dear|late|[a-z]+['’]s)"
_SPOKE = r"(?:said|says|told|tells|asked|asks|insisted|insists|explained|explains|texted|emailed|phoned|replied|answered|promised|thinks|thought|suggested|suggests|prescribed|agreed|reckons|swears|believes|laughed|cried|shouted|yelled|wants|knows|whispered|nodded|diagnosed|operated|referred|examined|assured|warned|offered|drove|held|hugged)"
_SPOKEN_TO = (
    r"(?:told|asked|married|met|marry|texted|emailed|phoned|divorced|hugged|thanked|thank|contact|ask\sfor|spoke\s(?:to|with)|talk(?:ed|ing)?\s(?:to|with)|speak\s(?:to|with)|meet|(?:seen|examined|operated\son|signed|written|prescribed|delivered|diagnosed|attended|done|performed|reviewed|raised)\sby"
    r"|under\sthe\scare\sof|referred\s(?:me\s|us\s|him\s|her\s)?(?:to|by)|appointment\swith|consult(?:ation|ed)?\swith|session\swith|follow-?up\swith|living\swith|live\swith|dating|engaged\sto|married\sto|mother\sof|father\sof|named\safter|c/o|attn:?|care\sof|regards\sto|love\sto|lost|miss|buried|adopted)"
)
_PERSON_NOUN = r"(?:someone|somebody|man|woman|guy|lady|girl|boy|doctor|nurse|surgeon|patient|friend|person|child|baby|son|daughter|dog|cat|colleague|user|fellow|bloke|therapist|physician|specialist|dentist|consultant)"


@cache
def _names() -> dict[str, frozenset[str]]:
    """Names in lower case by kind: first, last, word (those that need to be named as one)."""
    found: dict[str, set[str]] = {"first": set(), "last": set(), "word": set()}
    for _, row in read_table(Path(__file__).with_name("people.csv")).rows:
        found[row["kind"]] |= {_plain(name) for name in row["names"].split()}
    return {kind: frozenset(names) for kind, names in found.items()}




def _fold() -> dict[int, str]:
    """Letters with accents to those without."""
    bases = {code: unicodedata.normalize("NFD", chr(code)) for code in range(0xC0, 0x250)}
    plain = {code: base[0] for code, base in bases.items() if len(base) > 1 and base[0].isascii()}
    return plain | {ord("ł"): "l", ord("ø"): "o", ord("đ"): "d", ord("ı"): "i"}


_FOLD = _fold()


def _plain(word: str) -> str:
    """A word as it is compared: no accents, no possessive, lower case."""
    return re.sub(r"['’]s?$", "", word.casefold().replace("’", "'")).translate(_FOLD)


def _known(word: str, kind: str) -> bool:
    plain = _plain(word)
    return plain in _names()[kind] or (kind == "first" and plain.partition("-")[0] in _names()[kind] and "-" in plain)


def _sure(word: str) -> bool:
    """A first or last name that is nothing else."""
    first = _plain(word).partition("-")[0] if _known(word, "first") else _plain(word)
    return (_known(word, "first") or _known(word, "last")) and first not in _names()["word"] and not is_no_name(word)


def _eponym(word: str) -> bool:
    return _plain(word) in _names()["word"] and not _known(word, "first")


Judge = Callable[[str], bool]


def _named(word: str) -> bool:
    """What follows a title is a name unless everybody writes it so."""
    return not is_no_name(word) and not (is_medical(word) and not _sure(word))


def _by_position(word: str) -> bool:
    """What stands where a name does, and is no eponym or word of medicine by itself."""
    return len(word) > 1 and _named(word) and not _eponym(word)


def _beside_kin(word: str) -> bool:
    """What stands right after kin; an eponym in the possessive is a disease."""
    return len(word) > 1 and _named(word) and not (_eponym(word) and word.endswith(("'s", "’s")))


def _listed(word: str) -> bool:
    return (_known(word, "first") or _known(word, "last")) and not is_no_name(word)


def _cased(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("NAME", _SEQUENCE).replace("LOWER", _LOWER))


def _any(*parts: str) -> str:
    return "(?i:" + "|".join(parts) + ")"


_END = r"(?=\s*(?:[.,;:!?)\n]|$))"
# A pattern with NAME in it, and what its first word has to be.
_CONTEXTS: tuple[tuple[re.Pattern[str], Judge], ...] = (
    (_cased(rf"(?<![\w'’-])(?!MS\b|MR\b|PA\b|NP\b)(?i:{_TITLE})\b\.?,?[ \t]+NAME"), _named),
    (_cased(rf"\b(?i:{_OWNER})\s(?:[a-z-]+\s){{0,2}}?(?i:{_KIN})(?:,?\s(?i:(?:is|was)\s)?(?i:named|called),?|['’]s\sname\s(?i:is|was)|\s[-–—(]|\s\()?\s?NAME"), _beside_kin),
    (_cased(rf"\b(?i:{_OWNER})\s(?:[a-z-]+\s){{0,2}}?(?i:{_KIN})(?:,|\s[-–—(]|:)\s?NAME(?=\s?[,;.)–—-]|\s(?i:and)\b)"), lambda w: _by_position(w) and not is_medical(w)),
    (_cased(rf"\b(?i:{_KIN})\sNAME(?=\s|[.,;!?)'’]|$)"), _listed),
    (_cased(r"\b(?i:(?:my|his|her|their|whose|our|the|baby['’]?s?|dog['’]?s?)\s(?:\w+\s)?(?:sur|first\s|last\s|full\s|real\s|maiden\s|middle\s|family\s)?names?(?:['’]s|\sis|\swas|\sare|:)|name\s?:|names?\sis|call(?:s|ed)?\sme|i\sgo\sby|goes\sby|known\sas|née|nee|born\sas|aka|a\.k\.a\.|signed)\s(?:really\s)?NAME"), _named),
    (_cased(rf"\b(?i:{_PERSON_NOUN})\s(?:\w+\s)?(?i:named|called)\sNAME"), _named),
    (_cased(r"\b(?i:named|called)\sNAME"), _listed),
    (_cased(r"\b(?i:named|call|called|calling)\s(?i:her|him|them|the\s(?:baby|boy|girl|dog|cat|kid|child))\sNAME"), _by_position),
    (_cased(r"\b(?i:this\sis)\sNAME(?=,?\s(?:again|here|speaking|writing|posting|from)\b)"), _by_position),
    (_cased(r"\b(?i:regards|love|greetings|sent|hugs|message|note|kisses)\sfrom\sNAME"), _by_position),
    (_cased(rf"(?:^|[.!?\n]\s+)NAME(?=,?\s(?:said|says|told|asked|insisted|texted|emailed|phoned|promised|suggested|reckons|swears)\b)"), _by_position),
    (_cased(r"\b(?i:I['’]m|I\sam|im|this\sis|it['’]s|it\sis)\s(?i:called\s)?NAME"), _listed),
    (_cased(r"(?:^|[.!?\n]\s*)(?i:hi|hello|hey|dear|thanks|thank\syou|thx|cheers|bless\syou|sorry|good\sluck|congrats|hola|hallo|bonjour|greetings|good\s(?:morning|evening|afternoon))(?i:,?\s(?:so\smuch|a\slot|again|very\smuch|there|everyone|all))?,?\sNAME(?=\s?[,.!;:?\n)–-]|$)"), _by_position),
    (_cased(r"(?i:[,.!?\n]\s*|^|\s)(?i:sincerely(?:\syours)?|yours(?:\s(?:truly|sincerely|faithfully))?|(?:kind(?:est)?|best|warm(?:est)?)?\s?regards|best(?:\swishes)?|much\slove|love|cheers|thanks(?:\s(?:all|again|everyone|in\sadvance|so\smuch|a\slot))?|many\sthanks|thank\syou(?:\sall)?|warmly|respectfully|signed|tia|take\scare|xx+|gratefully|gruß|grüße|saludos|cordialement)\s?[,.!\-–—~]*\s*NAME(?=\s*(?:[.!)]?\s*$|[.!]?\s*\n|\s?\(|,\s))"), _by_position),
    (_cased(r"(?:\n|[.!?)]|\s)\s*[-–—~]+\s?NAME(?=[.!]?\s*(?:\n|$))"), _by_position),
    (_cased(r"\n\s*[-–—~*_]*\s*NAME[*_]*(?=[.!,]?\s*$)"), lambda w: _listed(w)),
    (_cased(rf"(?<=[a-zß-ÿ,;:)]\s)NAME(?=,?\s(?:(?:just|also|then|always|never|really|kindly|once|even|who)\s)?{_SPOKE}\b)"), _by_position),
    (_cased(rf"\b(?i:{_SPOKEN_TO})\s(?:a\s|my\s)?NAME"), _by_position),
    (_cased(rf"\b(?i:[a-z]+ologist|surgeon|physician|doctor|gp|nurse|therapist|psychiatrist|dentist|midwife|consultant|registrar|neighbou?r|boss|friend|colleague|teacher|lawyer|pastor),?\s(?i:is|was)\sNAME"), _by_position),
    (_cased(rf"NAME(?<=['’]s)(?=\s(?:{_KIN}|office|clinic|surgery|house|place|birthday|funeral|number|email|appointment|advice|opinion|school|wedding|notes?|prescription|voice)\b)"), _by_position),
    (_cased(rf"NAME(?=,\s(?:my|our|his|her)\s(?:\w+\s)?{_KIN}\b)"), _by_position),
    (_cased(rf"NAME(?=,?\s(?:MD|M\.D\.|DO|D\.O\.|PhD|Ph\.D\.?|RN|NP|PA-C|FRCP|MRCP|MBBS|MBChB|LCSW|DDS|DPM|BSc|MSc|Jr\.?|Sr\.?|Esq\.?)(?:\b|\s|$|,))"), _by_position),
)  # fmt: skip
_LOWERED: tuple[tuple[re.Pattern[str], Judge], ...] = (
    (_cased(r"(?<![\w'’-])(?i:dr|dra|doctor|prof|professor|mrs|mr|ms|miss|nurse|aunt|auntie|uncle|grandma|grandpa|señora?|herr|frau|pastor|rabbi|imam|sister)\b\.?[ \t]LOWER"), lambda w: _sure(w)),
    (_cased(r"(?<![\w'’-])(?i:dr|mrs|mr)\b\.?[ \t]LOWER"), lambda w: not _plain_word(w)),
    (_cased(rf"\b(?i:{_OWNER})\s(?:[a-z-]+\s){{0,1}}?(?i:{_KIN})(?:,|['’]s\sname\s(?i:is|was)|\s(?i:named|called))?\sLOWER"), lambda w: _sure(w) and _known(w, "first")),
    (_cased(r"\b(?i:(?:my|his|her|their)\s(?:\w+\s)?(?:first\s|last\s|full\s|real\s|maiden\s|sur)?name(?:['’]s|\sis|\swas|:)|name\s?:|call(?:s|ed)?\sme|i\sgo\sby|i['’]m|i\sam|this\sis)\s(?i:called\s)?LOWER"), lambda w: _known(w, "first") and _sure(w)),
    (_cased(r"(?:\n|[.!?,]\s*)[-–—~]\s?LOWER(?=[.!]?\s*$)"), lambda w: _known(w, "first") and _sure(w)),
    (_cased(r"(?:\n|[.!?,]\s+)(?i:thanks|regards|cheers|love|sincerely|best|hi|hello|hey|dear)\s?[,.!\-–—]*\s*LOWER(?=\s*[.!,]?\s*(?:$|\n))"), lambda w: _known(w, "first") and _sure(w)),
)  # fmt: skip
# What follows "dr" and is no name.
_AFTER_DR = frozenset(
    "said says told tells asked is was has had have thinks thought appointment appt visit google office and or but who that to about for in on at with did does didnt doesnt wants "
    "gave gives put ran sent will would could can cant just also never not ordered prescribed wont did visits appointments before after because if when again today yesterday tomorrow "
    "i he she they we it my the a an so since then there this what why how where which while until as of from by up out off only even still always notes letter hours says saw looked "
    "seems seemed mentioned suggested recommended believes keeps kept made makes found never ever are were do don't didn't doesn't won't can't wouldn't couldn't isn't wasn't house who oz phil "
    "time thing shopping hop advice orders help please pepper strange".split()
)


def _plain_word(word: str) -> bool:
    return word in _AFTER_DR or is_no_name(word) or word.endswith(("ed", "ing", "ly", "ment")) or is_medical(word)


def without_names(text: str, counts: Counter[str]) -> str:
    """The text without names of people."""
    for pattern, judge in (*_CONTEXTS, *_LOWERED):
        lower = any(pattern is one for one, _ in _LOWERED)
        text = pattern.sub(lambda match, judge=judge, lower=lower: _masked(match, judge, counts, lower), text)  # type: ignore[misc]
    return _KNOWN.sub(lambda match: _masked_known(match, counts), text)


def _masked(match: re.Match[str], judge: Judge, counts: Counter[str], lower: bool) -> str:
    said, start = match[0], match.start("name")
    words = list(re.finditer(r"\S+", match["name"]))
    large = [word[0].strip(".,") for word in words if not _is_small(word[0])]
    plain = next((word for word in large if len(word) > 1), large[0] if large else "")
    if not judge(plain):
        return said
    ends = [start + word.end() - 2 * word[0].endswith(("'s", "’s")) for word in words]
    if any(names_a_thing(match.string, start, at, surely=not _sure(plain)) for at in ends):
        return said
    kept = _length(words, lower)
    taken = match["name"][: words[kept - 1].end()]
    if taken.endswith(("'s", "’s")):
        taken = taken[:-2]
    counts["name"] += 1
    at = start - match.start()
    return f"{said[:at]}[name]{said[at + len(taken) :]}"


def _length(words: list[re.Match[str]], lower: bool) -> int:
    """How many of the words are the name: up to one that everybody writes, or ends with a possessive."""
    kept = 1
    while _is_small(words[kept - 1][0]) and kept < len(words):
        kept += 1
    for word in words[kept:]:
        before = words[kept - 1][0]
        if before.endswith(("'s", "’s")):
            break
        if lower and not _sure(word[0]):
            break
        if not lower and (is_no_name(word[0]) or (is_medical(word[0]) and not _listed(word[0]) and len(word[0].strip(".")) > 1)):
            break
        kept += 1
    return kept


def _is_small(word: str) -> bool:
    return bool(re.fullmatch(_PARTICLE, word, re.IGNORECASE)) and word[0].islower()


_KNOWN = re.compile(rf"(?<![\w\[@/-]){CAPITAL}(?:[ \t]+(?:{_INITIAL}(?!\w)|(?:{_PARTICLE}[ \t]+){{1,2}}{CAPITAL}|{CAPITAL}|[{UPPER}]\.?(?=[,;!?\s]|$)))*")
_SAINT = re.compile(r"\b(?:St|Saint|San|Santa|São|Sankt|Sint|Mount|Mt|Lake|Port|Fort|Cape|New|El|Los|Las)\.?\s$")


def _masked_known(match: re.Match[str], counts: Counter[str]) -> str:
    """A run of capitalised words with the names masked that nothing around them has to call one."""
    words = list(re.finditer(r"\S+", match[0]))
    said, at, parts = match[0], 0, []
    number = 0
    while number < len(words):
        word = words[number][0]
        follows = words[number + 1][0] if number + 1 < len(words) else ""
        start = match.start() + words[number].start()
        if word.isupper() and len(word) > 1 and not (_sure(word) and _known(word, "first") and len(word) > 3):
            number += 1
            continue
        sure = _sure(word)
        beside = _known(word, "first") and bool(follows) and (
            _sure(follows) or (_known(follows, "last") and not is_no_name(follows)) or bool(re.fullmatch(rf"[{UPPER}]\.", follows))
        ) and not is_no_name(word)
        ends = [match.start() + one.end() - 2 * one[0].endswith(("'s", "’s")) for one in words[number : number + 3]]
        thing = any(names_a_thing(match.string, start, end, surely=not sure) for end in ends)
        if not (sure or beside) or thing or _SAINT.search(match.string[max(0, start - 8) : start]) or _coined(word):
            number += 1
            continue
        last = number
        while last + 1 < len(words) and not words[last][0].endswith(("'s", "’s")) and _goes_on(words[last + 1][0], match.string, match.start() + words[last + 1].start(), match.start() + words[last + 1].end()):
            last += 1
        stop = words[last].end() - (2 if words[last][0].endswith(("'s", "’s")) else 0)
        parts += [said[at : words[number].start()], "[name]"]
        at = stop
        counts["name"] += 1
        number = last + 1
    return "".join([*parts, said[at:]])


def _coined(word: str) -> bool:
    """A name of several people joined, as diseases have: "Stevens-Johnson"."""
    parts = re.split(r"[-–]", word)
    return len(parts) > 1 and not _known(parts[0], "first")


def _goes_on(word: str, text: str, start: int, end: int) -> bool:
    """Whether a capitalised word after a name is the rest of it."""
    if len(word.strip(".")) == 1:
        return True
    return not is_no_name(word) and (_listed(word) or _known(word, "word") or not is_medical(word)) and not names_a_thing(text, start, end, surely=True)

