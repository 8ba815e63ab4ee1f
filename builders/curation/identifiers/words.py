"""Which words are names, which are nobody's, and which are of medicine, by a table and by their endings.

`names.csv` holds first and last names of many languages, those of them that are also a word, a drug, a disease or an
organ (`word`), and words that people write with a capital and that are nobody's name (`none`).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

from loaders.files.tables import read_table

_ENDINGS = re.compile(
    r"(?:itis|osis|oses|oma|omas|omata|emia|aemia|pathy|algia|ectomy|otomy|ostomy|oscopy|plasty"
    r"|ology|ologist|ologists|iatry|iatrist|iatric|statin|pril|sartan|olol|azole"
    r"|cillin|mycin|micin|oxacin|cycline|mab|nib|ciclib|gliptin|gliflozin|glutide|parin|xaban"
    r"|gatran|setron|triptan|dipine|zosin|zepam|zolam|barbital|caine"
    r"|profen|oxetine|triptyline|pramine|codone|morphone|apine|idone|prazole|phylline|terol|sone"
    r"|solone|onide|asone|lukast|tadine|dryl|fenac|coxib|vir|vudine"
    r"|quine|thiazide|semide|lactone|cept|kinra|poetin|feron|leukin|taxel|platin|rubicin|trexate"
    r"|toin|gabalin|racetam|lepsy|plegia|paresis|trophy|plasia"
    r"|penia|cytosis|uria|rrhea|rrhoea|pnea|pnoea|phagia|phasia|praxia|esthesia|sclerosis|stenosis"
    r"|virus|coccus|bacter|bacterium|monas|amide|azine|azide|oxin"
    r"|formin|urea|afil|dronate|estrel|estradiol|gestone|testosterone|tropin|relin|relix|tide|ium"
    r"|ase|cyte|blast|gram|graphy|meter|scope|tomy|nitis|phobia|mania"
    r"|amine|idine|etine|oside|mustine|tinib|zumab|ximab|umab|barb|thyroxine|cort|derm|stim|zyme|vax)$",
    re.IGNORECASE,
)
# What a proper name before it makes the name of a disease, a sign, a part of the body or a thing of medicine.
_HEADS = (
    r"(?:diseases?|syndromes?|disorder|signs?|test|palsy|paralysis|phenomenon|reflex|thyroiditis"
    r"|lymphomas?|sarcomas?|tumou?rs?|cancer|carcinoma|anaemia|anemia|fever|chorea|ataxia|dystrophy"
    r"|dementia"
    r"|contracture|fractures?|dislocation|hernia|cysts?|ulcers?|nodules?|nodes?|spots?|lines?"
    r"|bodies|body|cells?|fib(?:er|re)s?|glands?|ducts?|tubes?|canals?|tendon|ligaments?|muscle"
    r"|fascia|fossa|pouch"
    r"|space|triangle|angle|circle|loop|islets?|patch(?:es)?|capsule|area|gyrus|sulcus|ganglion"
    r"|plexus|nerve|artery|vein|valve|ring|membrane|layer|corpuscles?|oesophagus|esophagus"
    r"|diverticul\w+|stone|rash"
    r"|erythema|purpura|arthritis|arteritis|vasculitis|disease's|malformation|anomaly|tetralogy"
    r"|triad|criteria|score|scale|index|stain|smear|method|man(?:o|oe)uvre|maneuver|procedure"
    r"|operation|technique|incision"
    r"|repair|resection|bypass|shunt|catheter|drain|tube|tray|monitor|surgery|exercises?|diet"
    r"|position|wort|solution|infection|hepatitis|encephalopathy|neuropathy|neuroma|psychosis"
    r"|amaurosis|angina|oedema|edema"
    r"|metaplasia|mole|naevus|nevus|toe|foot|hand|finger|elbow|knee|hip|shoulder|joint|apple|horse"
    r"|legs?|lymphadenitis|goit(?:er|re)|ophthalmopathy|gangrene|macula|cataract|chart"
    r"|classification|grading|stage"
    r"|coma\s(?:scale|score)|transform|virus|bacillus|agent|factor|protein|reaction|law|murmur"
    r"|breathing|respiration|pulse|gait|crisis|tremor|migraine|seizures?|epilepsy|amyotrophy"
    r"|myopathy|osteodystrophy"
    r"|nephropathy|nephritis|tubule|sphincter|folds?|crypts?|plate|papillae?|prominence|process"
    r"|foramen|tubercle|tuberosity|notch|band|raphe|organ|apparatus|ratings?|rods?|contractions"
    r"|stool|salts?|pins?|nails?|plasters?|bandage|splint|brace|frame|implant|prosthesis|forceps"
    r"|needle|regimen|protocol|cocktail|ratio|equation|formula|curve|staging|questionnaire"
    r"|inventory|scales|rules?|points?|warts?|freckles|corns?|zones?|pits|haploid|mosaicism"
    r"|deletion|mutation|score's|patient)"
)
_KIND = (
    r"(?:muscular|lymph|sweat|salivary|bone|facial|cell|nerve|optic|hereditary|motor|type|aortic"
    r"|septal|atrial|lymphatic|tarsal|spinal|heart|ear|eye|skin|foot|coma)"
)
_SO_ENDING = r"[a-z]+(?:itis|osis|oma|pathy|algia|emia|aemia|uria|plasia|trophy|plegia)"
_JOINED = r"['’]?s?(?:[-–][^\W\d_]+['’]?s?){0,2}\s+"
_AFTER = re.compile(rf"{_JOINED}(?:{_KIND}\s)?(?:{_HEADS}|{_SO_ENDING})\b")
_SURELY_AFTER = re.compile(
    rf"{_JOINED}(?:{_KIND}\s)?(?:diseases?|syndromes?|disorder|palsy|sign|nodules?|phenomenon"
    rf"|lymphoma|sarcoma|tumou?r|fracture|contracture|{_SO_ENDING})\b"
)
_PARTS = re.compile(
    r"\b(?:islets?|loop|circle|pouch|canal|sphincter|ligament|crypts?|bundle|foramen|ducts?|angle"
    r"|tubercle|fossa|sulcus|fissure|organ|node|artery|vein|tetralogy|triad|valves?|glands?|antrum"
    r"|ampulla|aqueduct"
    r"|isle|island|cells?|fib(?:er|re)s|layer|space|line|spots?|area|triangle|trigone|plexus"
    r"|ganglion|membrane|capsule|corpuscles?|body|bodies|apparatus|disease|syndrome|sign|signs"
    r"|facies)\sof\s(?:the\s)?$",
    re.IGNORECASE,
)


@cache
def listed(kind: str) -> frozenset[str]:
    """The words of `names.csv` of a kind: first, last, word (names that are words, too), none (nobody's name)."""
    rows = read_table(Path(__file__).with_name("names.csv")).rows
    return frozenset(plain(word) for _, row in rows if row["kind"] == kind for word in row["names"].split())


def plain(word: str) -> str:
    """A word as it is compared: no accents, no possessive, lower case."""
    return re.sub(r"['’]s?$", "", word.casefold().replace("’", "'")).translate(_fold())


@cache
def _fold() -> dict[int, str]:
    """Letters with accents to those without."""
    bases = {code: unicodedata.normalize("NFD", chr(code)) for code in range(0xC0, 0x250)}
    found = {code: base[0] for code, base in bases.items() if len(base) > 1 and base[0].isascii()}
    return found | {ord("ł"): "l", ord("ø"): "o", ord("đ"): "d", ord("ı"): "i"}


def is_no_name(word: str) -> bool:
    """Whether a word, whatever its case, is one that everybody writes, and nobody's name.

    >>> is_no_name("Google"), is_no_name("Said"), is_no_name("Okonkwo")
    (True, True, False)
    """
    said = word.casefold().replace("’", "'").strip(".,;:!?()")
    return said in listed("none") or plain(said) in listed("none")


@cache
def is_medical(word: str) -> bool:
    """Whether a word is one of medicine by its ending, or by being written in capitals alone.

    >>> is_medical("Hepatitis"), is_medical("Apixaban"), is_medical("TSH"), is_medical("Kowalczyk")
    (True, True, True, False)
    """
    said = word.removesuffix("'s").removesuffix("’s")
    return bool(len(said) > 5 and _ENDINGS.search(said)) or (said.isupper() and 1 < len(said) < 6)


def names_a_thing(text: str, start: int, end: int, *, surely: bool = True) -> bool:
    """Whether the name at `start` to `end` is part of the name of a disease, a sign or an organ.

    With `surely` False, for what is nearly always somebody's name, only where nothing else can be meant.

    >>> names_a_thing("Smith fracture", 0, 5), names_a_thing("Smith called", 0, 5)
    (True, False)
    """
    after = _AFTER if surely else _SURELY_AFTER
    return bool(after.match(text, end) or _PARTS.search(text[max(0, start - 30) : start]))
