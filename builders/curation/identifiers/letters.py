"""The same text in the letters and digits that the rules are written in.

A telephone number in Arabic digits, and an address with a Cyrillic "а", an invisible character or "%40" for its "@",
are read by people as what they stand for.
"""

from __future__ import annotations

import re
import unicodedata

# Full-width and mathematical letters, which phones offer as fonts, by what they stand for.
_STYLED = {
    code: unicodedata.normalize("NFKC", chr(code)) for code in (*range(0xFF01, 0xFF5F), *range(0x1D400, 0x1D800))
}
# No width, soft hyphen, direction of writing. Joiners stay: emoji and Persian are written with them.
_UNSEEN = dict.fromkeys((0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, *range(0x2066, 0x206A), 0xFEFF))
_ALIKE = str.maketrans("аеорсухіѕјһԁԛԝАВЕЅІЈКМНОРСТУХΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "aeopcyxisjhdqwABESIJKMHOPCTYXABEZHIKMNOPTYXo")
_MIXED = re.compile(r"\w*[a-zA-Z]\w*")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_KEYCAP = re.compile("(?<=[0-9])\ufe0f?\u20e3")


def in_plain_letters(text: str) -> str:
    """The text with digits of any script as 0 to 9, styled letters as plain ones, letters that only look Latin inside a
    word of Latin ones as Latin, nothing invisible, and "@" for "%40".

    >>> in_plain_letters("ｊｏ@mаil.example, jo%40mail.example, ٠٥٠ ١٢٣; мама, β-blocker, 10²")
    'jo@mail.example, jo@mail.example, 050 123; мама, β-blocker, 10²'
    """
    if not text.isascii():
        text = _KEYCAP.sub("", text.translate(_STYLED | _UNSEEN))
        text = _OTHER_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text)
        text = _MIXED.sub(lambda match: match[0].translate(_ALIKE), text)
    return text.replace("%40", "@")
