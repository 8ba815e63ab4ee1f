"""Whether a fragment is the name of something that a picture shows, and nothing else."""

from __future__ import annotations

import re

from builders.medlaybench_v.writing.capitals import is_name
from builders.medlaybench_v.writing.showing import HEADS
from builders.medlaybench_v.writing.verbs import BRACKETS, has_verb

LONG = 40  # words of what is made a sentence
DASH = re.compile(r" [-–—] |–|—")
# A thing that a picture shows, with nothing behind it that could be its verb: "Left lung mass in", "Free air due to".
_FINDINGS = (
    r"mass(?:es)?|tumou?rs?|cancers?|cysts?|lumps?|breaks?|fractures?|dislocations?|clots?|bleeding|swelling|narrowing|"
    r"widening|blockages?|bulges?|abscess(?:es)?|hernias?|stones?|tears?|holes?|nodules?|polyps?|aneurysms?|areas?|"
    r"enlargement|scarring|thickening|infections?|inflammation|injury|injuries|effusions?|fluid|air|gas|pus|blood|collapse|"
    r"shrinkage|calcium build-up|collections?|pockets?|lesions?|spots?|patch(?:es)?|shadows?|passages?|"
    r"pseudoaneurysms?|spread of cancer|build-up|ulcers?|ruptures?|destruction|erosions?|metastas[ei]s|loops|presence|"
    r"absence|loss|defects?|deformity|wedging|bowing|disappearance|improvement|progression|overgrowth|"
    r"displacement|compression|invasion|infiltrat\w+|involvement|uptake|brightening|detachment|obstruction|leak(?:age)?s?|"
    r"extravasation|atrophy|hardening|platybasia|bone infection"
)
# Parts of the body and what is put into it: the first sentence may name one, a later one may be a key.
_PARTS = (
    r"kidneys?|arter(?:y|ies)|veins?|nerves?|muscles?|gallbladder|bladder|appendix|pancreas|womb|tooth|teeth|nodes?|"
    r"walls?|glands?|bones?|tendons?|ligaments?|chambers?|lobes?|liver|urethra|ureter|aorta|liver|spleen|bowel|"
    r"windpipe|tubes?|catheters?|stents?|wires?|screws?|plates?|devices?|implants?|needles?|grafts?|unborn baby|"
    r"leaks?|growths?|joints?|shoulder|knee|hip|foot|hand|ankle|elbow|wrist|patients?(?=[ ]with)|telescoping|twisting|"
    r"clotting"
)
_THING = (
    r"(?:(?!(?:of|in|on|with|as|to|by|into|from|at|for|is|was)\b)[\w-]+,? ){0,5}?"
    r"(?:%s)"
    r"(?=\Z|[ ]?[,(]|[ ](?:of|in|at|on|with|without|from|near|under|behind|between|after|before|due|caused|connected|"
    r"around|along|within|and|\w+ing)\b)"
)
_ONE_THING = re.compile(
    r"\A(?:An?|The|Left|Right|Both|All|Two|Three|Four|Normal|Grade [\dIV]+|Type [\dIV]+|(?i:clearly|poorly|heavily|"
    r"severely|greatly|partially|completely|slightly|mildly|highly)) "
    + _THING % f"{_FINDINGS}|{_PARTS}"
    + r"|\APatients? with\b"
)
LATER_THING = re.compile(rf"\A{_THING % _FINDINGS}", re.IGNORECASE)
# Words of a title: "Acute Respiratory Distress Syndrome".
TITLED = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
# "Matthew Hopkins, witch-finder": no thing that a picture shows.
_PERSON = re.compile(r"[A-Z][a-z]+ [A-Z][a-z]{3,}\b(?! (?:disease|syndrome|sign|cell|type|tumou?r|fracture|cyst)\b)")
_NOT_AN_OBJECT = re.compile(
    r"\A(?:after|before|at|in|on|by|with|without|from|during|note|arrow|white|black|schematic|photo|diagram|sem|tem|"
    r"representative|comparison|example|results?|plot|graph|map|same|legend|legends|case|figure|patient|left|right|"
    r"post|the|an?|final|initial|follow|normal|view|one|two|three|four|five|six|seven|eight|nine|ten|day|type|grade|stage|group|step|table|no|dr|axial|"
    r"reformatted|reconstruct\w*|measurement\w*|location|position|placement|anatomy|definition|design|technique|"
    r"method|model|identification|attempt|evaluation|visualization|viewing|removal|insertion|reduction|impaction|"
    r"mimicker|comparison|quantification|analysis|principle|distribution|detection|calculation|assessment|determination|\w+ly|"
    r"(?!swell|narrow|widen|thicken|bleed|scarr|open|whiten|telescop|twist|clott|brighten|harden|shorten|loosen|beak|"
    r"bulg|"
    r"filling of)\w+ing|"
    r"\w+ed(?= (?:by|with|in|at|on|to|after|before|from|for|as|of|and|using|during|the|an?|his|her)\b)|"
    r"to|how|for|of|and|as|both|all)(?![\w-])|\A[^A-Za-z]|\A\w+[:(]",
    re.IGNORECASE,
)
# What speaks of the picture itself, hides a verb, or is not there: "a break not seen".
_OF_A_PICTURE = re.compile(
    rf"\b(?:(?!test|examination)(?:{HEADS})|MIP|phase|sequence|window|tomography|showing|demonstrating|revealing|resulted|migrated|recovered|died|persisted|"
    r"progressed|disappeared|continued|started|began|ended|rose|fell|worked|failed|underwent|ultrasonogram|"
    r"not|never|no longer|missed|hidden|non-visuali[sz]ed|ruled out|excluded|overlooked|undetected|unseen|invisible|"
    r"(?!(?:(?:end)?plate|template|prostate|palate|exercise|moderate|intermediate|immediate|size|late|dentate|"
    r"infiltrate|ultimate|rise)s?\b)\w+(?:ize|ise|ate|ify))s?\b|"
    r"\A(?:\S+ ){0,3}?(?:cross-section|front-view|side-view|T1|T2)\b",
    re.IGNORECASE,
)
_FOUND = re.compile(
    r"\b(?:\w+s|tear|hole|lump|mass|fracture|rupture|nodule|effusion|aneurysm|polyp|ulcer|shrinkage|calcification|bruise|leak|narrowing|widening|swelling|bleeding|blockage|tumor|cancer|cyst|break|clot|area|"
    r"stone|enlargement|build-up|inflammation|scarring|thickening|bulge|opening|infection|spread|lesion|fluid|air|gas|"
    r"tube|catheter|stent|screw|plate|joint|dislocation|collapse|pus|growth|damage|injury|shift|patch|hernia|abscess|"
    r"absence|wall|womb|bone|pregnancy|kidney|artery|vein|muscle|ligament|tendon|telescoping|evidence|wire|bullet|"
    r"appearance|underdevelopment|consolidation|opacity|fistula|isch(?:a)?emia|clotting|collection|infarction|gap|bleed|scar|reversal|pregnancy|brightening|compression|"
    r"malformation|tumour|node|object)\b",
    re.IGNORECASE,
)
_CAPITALS = re.compile(r"[A-Z\d-]{2,}s? \(")  # "US (ultrasound) of a node": the bracket says whether it is a picture
# "Acute denervation in the arm": more than a heading, or the name of a picture in capitals.
_OF_SOMETHING = re.compile(
    r"(?![A-Z\d-]{2,}\b|P(?:re|ost)-|(?:Standard|Mean|Average|Data|Dos|Sample|Experiment|Treatment)\w*\b)(?:(?!(?:of|"
    r"with|in|at|scanning)[ ])[\w-]+[ ](?:\([^()]*\)[ ])?){1,5}(?:of|with|in)[ ](?:the|an?|[a-z]{4,})\b"
)


def is_finding(sentence: str) -> bool:
    """Whether a sentence is the name of something that a picture shows, and nothing else."""
    return (
        (_NOT_AN_OBJECT.match(sentence) is None or _ONE_THING.match(sentence) is not None)
        and (_FOUND.search(sentence) is not None or _OF_SOMETHING.match(sentence) is not None)
        and " " in sentence
        and ":" not in sentence
        and DASH.search(sentence) is None
        and len(sentence.split()) <= LONG
        and not has_verb(sentence)
        and _OF_A_PICTURE.search(sentence if _CAPITALS.match(sentence) else BRACKETS.sub("", sentence)) is None
        and len(TITLED.findall(sentence)) < 2
        and not is_name(sentence)
        and _PERSON.match(sentence) is None
    )
