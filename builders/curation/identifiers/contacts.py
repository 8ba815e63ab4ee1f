"""Ways to reach somebody: e-mail and web addresses, telephone numbers, names on other platforms, also spelled out.

linkify-it finds addresses in their regular form, phonenumbers finds telephone numbers. The rules here add how people
disguise them to slip past a machine, and the forms of their countries.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache, partial
from ipaddress import ip_address, ip_network
from typing import Any

from builders.curation.identifiers.rules import UPPER, Rule, masked, part, rule, without_spans
from loaders.errors import MissingExtra

_user = partial(rule, "user")
_link = partial(rule, "link")
_email = partial(rule, "email")
_phone = partial(rule, "phone")

# --- E-mail and web addresses -----------------------------------------------------------------------------------------

_JOIN = (
    rf"(?:\s+{part('spoken sign')}\s+|\s*[(\[{{<]\s?(?:(?!{part('mark')}\b)[^\W\d_]{{2,8}}|\.|_|-)\s?[)\]}}>]\s*"
    r"|[_-]dot[_-])"
)
_LOCAL = rf"[a-z0-9][\w.+-]{{0,63}}(?:{_JOIN}[\w.+-]{{1,64}}){{0,4}}"
_DOT = part("dot in words")
_AT = (
    rf"(?: \s*[(\[{{<]\s*{part('at sign')}\s*[)\]}}>]\s* | \s*[_-]at[_-]\s* | \s+(?:@|＠)\s* | (?:@|＠)\s+ | ＠ | "
    r"\s+(?:at\s+sign|arroba|klammeraffe)\s+ )"
)
_PROVIDERS = part("mail provider")
_PATH = r"(?: (?:\s*/\s*|\s+slash\s+)[\w.~%-]{1,200} ){0,6}"
# A local part that does not occur in a sentence by chance.
_TELLING = (
    rf"(?: [a-z0-9]{{1,40}}(?:[._+-][a-z0-9]{{1,40}}){{1,5}} | [a-z]{{1,40}}\d[\w.]{{0,63}} "
    rf"| [a-z0-9]{{1,40}}(?:{_JOIN}[\w.+-]{{1,64}}){{1,4}} )"
)
_EMAILS = (
    _user(r"(?<![\w@])@[\w.=-]{1,64}:[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}"),
    _link(r"\bh(?:xx|tt)ps?(?:\s?:\s?|\[:\])/\s?/\s?(?:[^\s\[\]]|\[(?:\.|dot)\]){1,400}"),
    _email(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}(?<![.-])"),
    # The point of these is mistyped, or left out: "jo@mail,com", "jo@gmailcom", "jo@mail com".
    _email(
        rf"(?<![\w.+-])[\w.+-]{{1,64}}@"
        rf"(?: [\w-]{{1,63}}(?:(?:[,;]{part('domain')}){{1,2}}|[\s,;]{{1,2}}(?:com|net|org|edu))"
        rf"| {_PROVIDERS}{part('domain')}? )(?!\w)"
    ),
    # What follows may be a name on a platform, "me @jane_doe": hosts have no underscore, these do. What follows a blank
    # is a host or a provider: "cramps @ night" is a time.
    _email(
        rf"\b{_LOCAL}{_AT}(?:(?<!\s)|(?<=at[)\]}}>]\s)|(?={_PROVIDERS}\b|[\w-]{{1,63}}(?:{_DOT}|\s\.\s|\.)(?=\w)))"
        rf"[\w-]{{1,63}}(?:(?:{_DOT}|\s?\.\s?)[\w-]{{2,63}}){{0,4}}"
    ),
    _email(rf"\b{_LOCAL}\s+at\s+[a-z0-9-]{{1,63}}(?:{_DOT}[a-z]{{2,20}}){{1,4}}\b"),
    _email(rf"\b{_TELLING}\s+at\s+{_PROVIDERS}\b(?:\s?\.\s?[a-z]{{2,3}})?"),
    _email(rf"\b{_LOCAL}\s+at\s+(?:gmail|hotmail|googlemail|icloud|protonmail|ymail)\b(?:\s?\.?\s?com\b)?"),
    _email(
        rf"\b({part('mail')}(?:\s(?:address|account|me|us|is|at|to|on|under|user)){{0,4}}\s*(?:[:=]|\s)\s*)"
        rf"{_TELLING}(?:\s+(?:at|on)\s+{_PROVIDERS})?(?!\w)",
        r"\1[email]",
    ),
    _email(rf"\b{_TELLING}(?=[,\s]+\(?{_PROVIDERS}\b)"),
)
_PLATFORMS = part("platform")
_LINKS = (
    _link(r"\bwww\.[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,5}(?:/[\w.~%/-]{0,200})?(?<!\.)"),
    _link(r"(?<![\w@.-])[a-z][a-z0-9-]{1,63}(?:\.[a-z][a-z0-9-]{1,63}){1,4}/[\w~%-][\w.~%/-]{0,200}(?<!\.)"),
    _link(
        rf"\b(?:www(?:{_DOT}|\.))?[a-z0-9-]{{1,63}}(?:{_DOT}[a-z0-9-]{{1,63}}){{0,4}}{_DOT}{part('domain')}\b{_PATH}"
    ),
    _link(rf"\b(?:{_PLATFORMS}|reddit)(?:\.com)?(?:\s*/\s*|\s+(?:forward\s)?slash\s+)[\w.~%-]{{1,200}}{_PATH}"),
    _link(r"(?<![\w\[])[\w-]{2,80}(?:\.[\w-]{1,80}){0,4}\.(?:pdf|jpe?g|png|heic|gif|docx?|xlsx?|mp4|mov|dcm|zip)\b"),
    _link(r"(?<![\w.:])[0-9a-f:]{3,39}(?:(?:\d{1,3}\.){3}\d{1,3})?(?:%\w{1,16})?(?![\w:]|\.\d)", lambda m: _if_host(m)),
    _link(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)", lambda m: _if_host(m)),
    _link(r"\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b | \b(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}\b"),
)
# Where four numbers with points between them are the version of a program, or a place in a book.
_VERSION = re.compile(rf"\b{part('before a version')}\b", re.IGNORECASE)
_HOST = re.compile(r"\b(?:ip(?:v4)?|address|host|server|log(?:ged|ging|in|s)?|from)\b", re.IGNORECASE)
_HOSTS = [ip_network(one) for one in ("2000::/3", "fc00::/7", "fe80::/10")]


def _if_host(match: re.Match[str]) -> str:
    """The mark of a link for the address of a machine, otherwise the text itself: "::" and "1::2" are none."""
    try:
        address = ip_address(match[0])
    except ValueError:
        return match[0]
    if address.version == 6:
        return "[link]" if any(address in hosts for hosts in _HOSTS) else match[0]
    before = match.string[max(0, match.start() - 40) : match.start()]
    small = int(match[0].partition(".")[0]) <= 30
    return match[0] if small and _VERSION.search(before) and not _HOST.search(before) else "[link]"


# --- Names on other platforms -----------------------------------------------------------------------------------------

_HANDLE = r"[a-z0-9][\w.#-]{2,30}[\w]"
_ODD = r"(?=[\w.#-]{0,32}(?:\d|_|\#|\w\.\w))"  # a token that is not a word
_CALLED = part("account")
_NO_HANDLE = part("no handle")
_ON_PLATFORM = rf"\b({_PLATFORMS}(?:\s(?:{_CALLED}|page|name|id|tag|me|is|it's|at|on|as|under|there|here)){{0,4}}\s*"
_NO_VALUE = rf"(?!\w|/|%|\s?(?:kg|x|{part('unit')}))"
_USERS = (
    # A telephone number, whole: its first group looks like a name.
    _phone(
        rf"{_ON_PLATFORM}(?:[:=@]|->|[-–]\s|\s|,\s)\s*)(?>[(+]?\d(?:[\s().–-]{{0,3}}\d){{6,}}){_NO_VALUE}",
        lambda m: m[1] + _if_digits(m, 7, 15, m[0][len(m[1]) :]),
    ),
    _user(r"\blive:(?:\.cid\.)?[a-z0-9][\w.-]{2,63}\w"),
    _user(
        r"(?<![\w/])/?(?:u|user)\s?/\s?[\w-]{3,20} | (?<![\w@.])@[a-z][\w.]{0,63}\w{2} "
        r"| \bu\sslash\s[\w-]{3,20}"
    ),
    _user(r"\b[a-z]\w{1,31}\#\d{3,5}\b"),
    _user(r"\b[a-z0-9]*+(?<=[a-z0-9])(?:_++[a-z0-9]++)+_*"),
    _user(
        rf"\b({part('look me up')}\s(?:me|us)(?:\s(?:up|on|at|as|under|here|there|via|by|in"
        rf"|{_PLATFORMS})){{0,4}}(?:\s?[:=,(–-]\s?|\s)[@$]?[\"“'‘]?){_ODD}(?!\d){_HANDLE}",
        r"\1[user]",
    ),
    _user(
        rf"\b({part('look for somebody')}\s@?)(?:{_ODD}|(?=\w*(?-i:[a-z][A-Z])))(?!\d){_HANDLE}(?=,?\s(?:on"
        rf"|over\son|via)\s{_PLATFORMS}\b)",
        r"\1[user]",
    ),
    _user(
        rf"\b((?:i['’]?m|i\s\w+|me|us|we['’]re|we\s\w+)\s(?:\w+\s)?on\s{_PLATFORMS}\s(?:as|under)\s@?[\"“'‘]?)(?!{_NO_HANDLE}\b)"
        rf"[^\W\d][\w.'’-]{{2,}}(?:\s(?-i:[{UPPER}])[\w'’-]+){{0,2}}",
        r"\1[user]",
    ),
    _user(
        rf"\b((?:my|his|her|the)\s(?:\w+\s){{0,2}}{_CALLED}(?:\s(?:is|was)|\s?[:=]|,)\s+@?[\"“'‘]?){_ODD}(?!\d){_HANDLE}",
        r"\1[user]",
    ),
    _user(
        rf"{_ON_PLATFORM}(?:[:=@(]|->|[-–]\s|\s|,\s)\s*(?:@|\$(?!\d))?[\"“'‘]?){_ODD}{_HANDLE}",
        r"\1[user]",
    ),
    _user(
        rf"\b((?:{_PLATFORMS}\s|(?:my|his|her|the)\s(?!(?:log-?in|account(?!\sname)|profile)\b)){_CALLED}(?:\s(?:on|for|over)\s(?:\w+\s)?\w+)?"
        rf"(?:\s(?:is|was)|['’]s|\s?[:=]|,)\s+@?[\"“'‘]?)(?!{_NO_HANDLE}\b)[a-z][\w.#-]{{2,}}",
        r"\1[user]",
    ),
    _user(rf"\b({_PLATFORMS}\s?[:=@$]\s?@?)(?!https?)[a-z][\w.#-]{{2,}}", r"\1[user]"),
    _user(
        rf"\b((?:user|username|log-?in|redditor|poster|handle|i'm|i\sam)\s@?[\"“'‘]?){_ODD}(?!\d){_HANDLE}(?<!"
        rf"\dm)(?<!\df)",
        r"\1[user]",
    ),
    # A word with a number at its end that is not a dose: "throwaway8812".
    _user(
        r"\b(?!covid|vitamin|omega|sars|type|stage|grade|level)[a-z]{6,}(?!(?:\d{1,2}|[1-9][05]0|1000"
        r"|[1-9]25|[1-9]75|81|325)\b)\d{2,6}\b"
    ),
    _user(r"\b(?:throwaway|throw_?away|quiet|anon|user|xx)[a-z]*\d{2,6}\b"),
)

# --- Telephone numbers ------------------------------------------------------------------------------------------------

_PHONES = (
    _phone(r"(?<![\w.,/-])(?:\(?\+|00)\s?\d{1,3}\)?(?:[\s.\-/()–]{0,3}\d){6,13}(?!\w)"),
    _phone(r"(?<![\w.,/-])\(?0\d{1,5}\)?(?:[\s.\-/–]{1,3}\d{2,8}){1,5}(?!\w)", lambda m: _if_digits(m, 9, 13)),
    _phone(
        r"(?<![\w.,/-])\(\d{2,5}\)[\s.-]{0,2}\d{3,5}(?:[\s.-]{0,2}\d{3,5}){0,2}(?!\w)", lambda m: _if_digits(m, 7, 12)
    ),
    _phone(r"(?<![\w.,/-])555[\s.-]\d{4}(?!\w)"),
    _phone(
        rf"\b({part('telephone')}\b[^\d\n.!?]{{0,30}})\(?\d[\d\s().\-/–]{{4,}}\d(?!\w|/|%|\s?(?:mg|ml|kg|mcg|x))",
        lambda m: m[1] + _if_digits(m, 6, 15, m[0][len(m[1]) :]),
    ),
    _phone(r"\b((?:pager|bleep|beeper)(?:\s(?:number|no\.?|is))*[\s:]*)\d{3,7}\b", r"\1[phone]"),
    # "x" only behind a number, "2 x 500 mg" is a dose; and a knee has an extension of so many degrees.
    _phone(r"\[phone\][\s,;(]{0,2}(?:ext|extension|x)\.?[\s:]{0,2}\d{1,6}\b"),
    _phone(r"\b(?:ext|extension)\.?\s?\d{3,6}\b(?!\s?(?:°|º|deg))"),
)
_DIGITS = part("spoken digit")
_SPOKEN = re.compile(
    rf"\b(?:(?:(?:double|triple)[\s-]+)?{_DIGITS}|\d{{1,5}})"
    rf"(?:[\s,.\-–]+(?:(?:(?:double|triple)[\s-]+)?{_DIGITS}|\d{{1,5}})){{3,20}}\b",
    re.IGNORECASE,
)
_ONE_SPOKEN = re.compile(rf"(double|triple)?[\s-]*\b({_DIGITS})\b", re.IGNORECASE)


def _if_digits(match: re.Match[str], least: int, most: int, written: str | None = None) -> str:
    """The mark of a telephone number if the number of digits fits, otherwise the text itself."""
    written = match[0] if written is None else written
    return "[phone]" if least <= sum(map(str.isdigit, written)) <= most else written


def _spoken(match: re.Match[str]) -> str:
    """The mark of a telephone number that is spelled out digit by digit, wholly or in part."""
    words = _ONE_SPOKEN.findall(match[0])
    spoken = sum({"double": 2, "triple": 3}.get(times.casefold(), 1) for times, _ in words)
    written = sum(map(str.isdigit, match[0]))
    return "[phone]" if spoken >= 3 and spoken + written >= 7 else match[0]


def without_contacts(text: str, counts: Counter[str]) -> str:
    """The text without addresses and names on platforms.

    Raises: MissingExtra.
    """
    text = masked(text, _EMAILS, counts)
    matches = _linkify().match(text) or ()
    spans = [(m.index, m.last_index, "email" if m.schema == "mailto:" else "link") for m in matches]
    text = without_spans(text, spans, counts)
    return masked(text, (*_LINKS, *_USERS), counts)


def without_phones(text: str, counts: Counter[str]) -> str:
    """The text without telephone numbers. Raises: MissingExtra."""
    with MissingExtra.needed("threads", purpose="finding telephone numbers"):
        import phonenumbers
    spans = {
        (match.start, match.end, "phone")
        for region in ("US", "GB")
        for match in phonenumbers.PhoneNumberMatcher(text, region, leniency=phonenumbers.Leniency.POSSIBLE)
        if sum(c.isdigit() for c in match.raw_string) >= 9
    }
    text = without_spans(text, sorted(spans), counts)
    return masked(text, (*_PHONES, Rule("phone", _SPOKEN, _spoken)), counts)


@cache
def _linkify() -> Any:
    with MissingExtra.needed("threads", purpose="finding e-mail and web addresses"):
        from linkify_it import LinkifyIt
    return LinkifyIt(options={"fuzzy_link": True, "fuzzy_email": True, "fuzzy_ip": False})
