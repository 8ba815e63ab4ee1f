"""Fragments made into sentences: "Axial CT showing a stone." -> "An axial CT shows a stone."

Captions are written as fragments. Three kinds are plain enough to be mended without understanding them: a picture that
shows something, a picture and nothing else, and a noun phrase that tells what a picture shows. A sentence that may hold
a verb of its own is left as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

from builders.medlaybench_v.words.stacks import FUNCTION_WORDS, NOUNS_IN_ING
from builders.medlaybench_v.writing.glosses import inside_brackets
from builders.medlaybench_v.writing.grammar import indefinite

_HEADS = (
    "[Ss]can|[Ii]mage|[Vv]iew|[Ss]lice|[Xx]-[Rr]ay|[Uu]ltrasound|exam|examination|test|enema|[Pp]icture|[Pp]hotograph|"
    "film|study|MRI|MRA|CT|CTA|PET/CT|KUB|IOPA|IVU|HSG|OCT|EUS|HRCT|CBCT|MDCT|DSA|SPECT|OPG|AXR|CXR|sonogram|imaging|"
    "[Pp]hoto|[Ss]ection|projection|reconstruction|sequence|(?!tomo|\\w+tomo)\\w+graphy|"
    "(?!(?:dia|pro|histo|carto|para|mono|ideo|cardio)gram)[A-Za-z]\\w+gram|meal|swallow|"
    "[Cc]ross-section(?=s?(?:[.,;]|\\Z| (?:of|at|from|through|in|on|show\\w*|confirm\\w+|demonstrat\\w+)\\b))"
)
# The title of a picture: "CT appearance of tension pneumocephalus", "Example of a cyst".
_TITLE = re.compile(
    r"(?![A-Za-z]+(?:ing|ed|ly)\b)"
    r"(?:(?:The|An?)[ ])?(?:(?!(?:after|and|as|at|before|by|case|during|following|for|from|in|of|on|or|post|the|to|"
    r"with|without|no)[ ])[\w'’/-]+[ ](?:\([^()]*\)[ ])?){0,4}?"
    r"(?:(?P<one>example|illustration|case|demonstration|representation|depiction|comparison)s?|"
    r"(?:anatomy|appearance|aspect|assessment|calculation|confirmation|course|definition|description|detection|"
    r"determination|distribution|evaluation|feature|finding|identification|insertion|locali[sz]ation|location|measurement|"
    r"origin|pattern|placement|position|removal|result|velocity|visuali[sz]ation)s?)"
    r"(?:[ ]\([^()]*\))?[ ]of[ ]",
    re.IGNORECASE,
)
# "Swelling of the lymph nodes on chest CT scan", "Bullet seen in the X-ray": the finding comes before the picture.
_ON_A_PICTURE = re.compile(
    r"(?P<what>[^:;.]+?),?"
    r"(?:[ ](?:as[ ])?(?:seen|visible|shown|noted|observed|evident|identified|detected|found|revealed))?"
    r"[ ](?:on|in|by|at)[ ]"
    r"(?P<picture>(?:(?!(?:of|in|on|at|by|from|with|and|or|after|before|during|for|to|patient|case)[ ])[\w/'’‐-]+[ ]"
    rf"(?:\([^()]*\)[ ])?){{0,6}}?(?:{_HEADS})(?:[ ](?:{_HEADS}))*(?P<many>s)?)"
    r"(?P<behind>(?:[ ]\([^()]*\))?"
    r"(?:[ ](?:of|at|in|from|after|before|taken|obtained|performed|with|without)[ ][^,:;.]*)?)\Z"
)
# "A CT blood vessel scan", "MRI T2-weighted side-view image".
_NAMED_MORE = (
    r"(?:[a-z]+-(?:view|section|weighted|dye)|T[12](?:-weighted|W)?|blood vessel|"
    r"(?:pulmonary|lung|spinal canal|bile duct|bladder and urethra|heart)(?=[ ]blood|[ ]contrast)|typical|"
    r"reconstruction)"
)
# The name of a picture at the start of a sentence, with what may stand behind it.
_PICTURE = re.compile(
    r"(?P<name>(?:(?!(?:on|in|at|by|from|during|through|after|following|[Ff]ig|[Ff]igure)[ ])"
    r"\w[\w/'’‐-]*[ ](?:\([^()]*\)[ ])?){0,7}?"
    rf"(?:{_HEADS})(?:[ ](?:\([^()]*\)[ ]|(?:{_NAMED_MORE}[ ])+|screening[ ])?(?:{_HEADS}))*"
    r"(?P<many>s)?)(?![\w-])"
)
_SHOWING = re.compile(
    r"[ ](?:(?P<how>clearly|also|again)[ ])?"
    r"(?P<verb>[Ss]howing|[Dd]emonstrating|[Rr]evealing|[Dd]epicting|[Ii]llustrating|[Dd]isplaying|identifying|"
    r"visuali[sz]ing|disclosing|highlighting|outlining|delineating|indicating|confirming|suggesting)[ ](?!that\b)"
)
# "(a) X-ray showing", "Case 1: X-ray showing".
_LABEL = re.compile(r"(?:\([A-Za-z]\)|(?:Case|Patient|Fig(?:ure)?\.?) ?(?:\d+[A-Za-z]?|[IVX]+|one|two|three):) ?(?=\w)")
_WHICH_SHOWS = re.compile(
    r",? (?:which|that) (?:shows?|showed|demonstrates?|demonstrated|reveals?|revealed) (?!that\b)"
)
_MAY_SHOW = re.compile(r" (?:show|demonstrat|reveal|depict|illustrat|confirm|suggest|indicat)")
# A later sentence.
_BEHIND = re.compile(r"(?<=\. )(?<!\bFig\. )(?<!\bDr\. )[A-Z](?:[^.]|\.(?! |\Z))*")
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
_GOES_ON = re.compile(
    rf"[ ]*(?:[,(;]|{_TIME}|(?:of|in|on|at|from|with|without|after|before|during|for|by|through|to|"
    r"taken|obtained|performed|done|made|carried|acquired|recorded|"
    r"near|around|under|following|beside|consistent|compatible|and|again)\b)"
)
# "A view of showing a tear": the caption lost a word.
_DANGLING = re.compile(r"[ ](?:of|in|on|at|with|from|for)\Z")
# "A scan and", "a scan. A view", "a scan with an arrow": what shows something is not the picture.
_NO_SUBJECT = re.compile(r"[.;]| (?:and|or)\Z|\bwith (?:[\w-]+ ){0,2}arrow(?:head)?s?\Z")
_ENDS_AS_PICTURE = re.compile(rf"\b(?:{_HEADS}|slide|section|phase|reconstruction)(?:[ ]\([^()]*\))?\Z")
_ENDS_IN_PICTURES = re.compile(rf"\b(?:{_HEADS}|cut|recording|reconstruction)s\Z")
_SHOWS = {
    "showing": "show", "demonstrating": "show", "revealing": "show", "depicting": "show", "illustrating": "show",
    "displaying": "show", "identifying": "show", "visualizing": "show", "visualising": "show", "disclosing": "show",
    "highlighting": "highlight", "outlining": "outline", "delineating": "outline",
    "indicating": "indicate", "confirming": "confirm", "suggesting": "suggest",
}  # fmt: skip
_WORD = re.compile(r"[a-z]+")
_BRACKETS = re.compile(r" ?\([^()]*\)")
_VERB = re.compile(
    r"(?:is|are|was|were|be|been|has|have|had|can|could|may|might|will|would|should|must|did|does|do|note[sd]?|see|"
    r"notice|shows?|showed|shown|demonstrat(?:es?|ed)|reveal(?:s|ed)?|indicat(?:es?|ed)|suggest(?:s|ed)?|appear(?:s|ed)?|"
    r"represent(?:s|ed)?|mark(?:s|ed)?|denote[sd]?|point(?:s|ed)?|verif(?:y|ies|ied)|arises?|arose|extend(?:s|ed)?|lies?|lay|compress(?:es|ed)|"
    r"displace[sd]?|confirm(?:s|ed)?|depict(?:s|ed)?|illustrate[sd]?|contain(?:s|ed)?|measure[sd]?|underwent|present(?:s|ed)|"
    r"develop(?:s|ed)?|became|becomes?|seem(?:s|ed)?|correspond(?:s|ed)?|allow(?:s|ed)?|provide[sd]?|cause[sd]?|occur(?:s|red)?|"
    r"remain(?:s|ed)?|lead(?:s)?|led|overlap(?:s|ped)?|surround(?:s|ed)?|include[sd]?|obtain(?:s|ed)|compare[sd]?|perform(?:s|ed)|"
    r"use[sd]?|make|makes|made|take[ns]?|took|give[ns]?|go|goes|went|come|comes|came|consist(?:s|ed)?|drain(?:s|ed)|enter(?:s|ed)?|"
    r"run|runs|ran|form|forms|formed|divide[sd]?|join(?:s|ed)?|cross(?:es|ed)|reach(?:es|ed)|touch(?:es|ed)|pass(?:es|ed)|"
    r"increase[sd]?|decrease[sd]?|improve[sd]?|resolve[sd]?|grow[sn]?|grew|heal(?:s|ed)?|move[sd]?|shift(?:s|ed)|turn(?:s|ed)|"
    r"fill(?:s|ed)?|block(?:s|ed)?|narrow(?:s|ed)|widen(?:s|ed)|push(?:es|ed)|press(?:es|ed)|involve[sd]?|affect(?:s|ed)?|"
    r"diagnose[sd]?|receive[sd]?|require[sd]?|need(?:s|ed)?|treat(?:s|ed)|place[sd]|insert(?:s|ed)?|highlight(?:s|ed)?|display(?:s|ed)|relieve[sd]?|shrinks?|remove[sd]|follow(?:s|ed)|"
    r"(?:collect|produce|reverse|continue|stain|obscure|abut|encase|efface|invade|traverse|mimic|resemble|obliterate|erode|"
    r"protrude|originate|terminate|communicate|connect|separate|distend|encircle|occupie|exert|herniate|attache|insert|replace|"
    r"exhibit|simulate|penetrate|stretche|disappear|brighten|collapse)s|originated|fell|produced|"
    r"courtesy|reprinted|reproduced|adapted|let|we|it|there|this|these|that|which|who|figure|fig)",
    re.IGNORECASE,
)
_FINITE_BEFORE = re.compile(
    r"\b(?:is|are|was|were|shows?|showed|shown|confirms?|suggests?|reveals?|that|which|who|we|can|may|has|have|had)\b",
    re.IGNORECASE,
)
# Any other verb, told by its object: "characterized a mass".
_WITH_OBJECT = re.compile(
    r"\b(?!need)\w{3,}ed (?:an?|the|no|multiple|several|many) |"
    r"\b\w{3,}[^\W_sui]s (?:an?|the) (?!day|week|month|year|same|time)",
    re.IGNORECASE,
)
_BEFORE_OBJECT = ("ed ", "s the ", "s a")
_END = re.compile(r"\.(?=\s|\Z)")
_SHORT, _LONG = 3, 40  # characters; words of what is made a sentence
_DASH = re.compile(r" [-–—] |–|—")
# "CT scan of the chest: large mass".
_COLON = re.compile(r"(?P<of>(?:[ ](?:of|in|at|after|before|on)[ ][^:;.,–—()]{3,60})?)(?::[ ]+|[ ][-–—][ ])")
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
_LATER_THING = re.compile(rf"\A{_THING % _FINDINGS}", re.IGNORECASE)
_MARKED = re.compile(
    r"=|\barrow|asterisk|\bstars?\b|\bcircles?\b|\blines?\b|\b(?:seen|visible|observed|present|identified|found|detected|"
    r"suspected|not|also)\b",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"(?![A-Z][a-z]+[ -])")  # "CV2ip (the lowest point)", "Cal, calcium"
_PLAIN = re.compile(r"(?!The |[A-Z]{2,},)[A-Z\d][^:=;]*\Z")  # no key, no label, no list
_FROM_ELSEWHERE = re.compile(
    r"permission|courtesy|archive|licen[cs]e|publish|copyright|author|journal|found|seen|hospital,|university|[ ]doi|"
    r"\A(?:scale|image[ ]by|photo)",
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
# Words of a title: "Acute Respiratory Distress Syndrome".
_TITLED = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
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
# People, places and germs keep their capital.
_NAMES = frozenset(
    "january february april june july august september october november december "
    "abrikossoff achilles alzheimer aspergillus baker barrett beckwith behcet bochdalek caroli castleman caucasian "
    "bennett bosniak charcot chiari chilaiditi cobb craig garden jones rolando "
    "colles couinaud crohn cushing dandy dieulafoy dirofilaria doppler echinococcus "
    "ewing fallot fontan freiberg galeazzi galen gaucher gorham hashimoto hirschsprung hodgkin hoffa hounsfield "
    "ilizarov jefferson kaposi kirschner klebsiella klippel krukenberg lefort leishmania leriche lisfranc madelung "
    "marfan meckel meigs mirizzi monro monteggia morgagni morison morquio mycobacterium osgood paget pancoast "
    "parkinson perthes peyronie pneumocystis pott rathke salmonella salter schatzki scheuermann schmorl "
    "scheimpflug staphylococcus streptococcus sturge taenia tarlov thornwaldt tornwaldt toxoplasma turner valsalva "
    "waldenstrom warthin weber wegener wernicke whipple wilms wilson zenker".split()
)
# What speaks of the picture itself, or hides a verb.
_OF_A_PICTURE = re.compile(
    rf"\b(?:(?!test|examination)(?:{_HEADS})|MIP|phase|sequence|window|tomography|showing|demonstrating|revealing|resulted|migrated|recovered|died|persisted|"
    r"progressed|disappeared|continued|started|began|ended|rose|fell|worked|failed|underwent|ultrasonogram|"
    r"(?!(?:(?:end)?plate|template|prostate|palate|exercise|moderate|intermediate|immediate|size|late|dentate|"
    r"infiltrate|"
    r"ultimate|rise)s?\b)\w+(?:ize|ise|ate|ify))s?\b|"
    r"\A(?:\S+ ){0,3}?(?:cross-section|front-view|side-view|T1|T2)\b",
    re.IGNORECASE,
)
_DETERMINED = re.compile(
    r"\A(?:the|an?|another|any|this|that|these|those|his|her|its|our|their|each|one|two|three|four|some)(?![\w-])", re.I
)
_ONE = re.compile(r"(?:an?|one|each)\b", re.IGNORECASE)  # "An example of the images"
_COUNTS = re.compile(r"[\d/]+ ")  # "8 months postoperative X-ray"
_PLACED = re.compile(r"(?:in|on|at|from|by|after|before|during|with|for)(?![\w-])", re.IGNORECASE)
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
        return _shows_something(sentence, _PICTURE.match(sentence)) or sentence
    if (
        _PLAIN.match(sentence)
        and (_PICTURE.match(sentence) or _PATIENT.match(sentence))
        and not (_FROM_ELSEWHERE.search(sentence) or _has_verb(sentence))
    ):
        told = _sentence(sentence)
        return told if told.startswith(("This is ", "These are ", "The patient is ")) else sentence
    if "(" not in sentence and _LATER_THING.match(sentence) is None:
        return sentence  # as most are
    outside = _BRACKETS.sub("", sentence)
    if (
        _LATER_THING.match(outside) is None
        or sentence.startswith("The ")
        or _LETTERS.match(sentence)
        or _MARKED.search(outside)
        or not _is_finding(sentence)
    ):
        return sentence
    return f"{_it_shows(before)} {with_article(_small(sentence))}"


def _it_shows(before: str) -> str:
    """What shows a finding, after the sentence that tells of the picture."""
    return "It shows" if before.startswith("This is ") else "The image shows"


def _sentence(first: str) -> str:
    if label := _LABEL.match(first):
        rest = first[label.end() :]
        rest = rest[:1].upper() + rest[1:]
        told = _sentence(rest)
        return first if told == rest else f"{label[0].rstrip()} {told}"
    picture = _PICTURE.match(first)
    if shown := _shows_something(first, picture):
        return shown
    if _PATIENT.match(first) and not _has_verb(first) and ":" not in first:
        subject = "This" if " patient" in first else "The patient"
        return f"{subject} is {first if _DETERMINED.match(first) else f'{indefinite(first)} {_small(first)}'}".replace(
            " An ", " an ", 1
        ).replace(" A ", " a ", 1)
    if named := _titled(first) or _found_on(first):
        return named
    if picture is None:
        return f"The image shows {with_article(_small(first))}" if _is_finding(first) else first
    behind = first[picture.end() :]
    if colon := _COLON.match(behind):
        found = behind[colon.end() :]
        article = _article_of(picture)
        if article is not None and _is_finding(found.capitalize() if found[:1].islower() else found):
            name = f"{article}{_small(picture['name']) if article else picture['name']}"
            return f"{name}{colon['of']} {'show' if picture['many'] else 'shows'} {with_article(_small(found))}"
        return first
    if (
        ":" in first
        or _DASH.search(first)
        or len(first.split()) > _LONG
        or _has_verb(_MADE.sub("", first))
        or (behind and not _GOES_ON.match(behind))
        or len(_TITLED.findall(first)) > 1
        or _is_name(first)
        or _PLACED.match(first)
        or first.startswith(("Patient", "Case"))  # "Patient's CT scan", "Case 3 X-ray"
        or _SHOWING.search(first)
    ):
        return first
    determined = _DETERMINED.match(first)
    many = not _ONE.match(first) and picture["many"] is not None
    name = first if determined else _small(first)
    uncounted = picture["name"].endswith(("imaging", "graphy"))
    article = "" if determined or many or uncounted else f"{indefinite(name)} "
    return f"{'These are' if many else 'This is'} {article}{_small(name) if determined else name}"


def _titled(first: str) -> str | None:
    """A sentence that is the title of a picture, as one that says so; None for others."""
    title = _TITLE.match(first)
    if title is None or _is_more_than_a_name(first):
        return None
    name = _small(first)
    if first.startswith(("The ", "A ", "An ")):
        name = first[:1].lower() + first[1:]
        return f"{'This is' if title['one'] else 'The image shows'} {name}"
    if not title["one"]:
        return f"The image shows the {name}"
    return f"This is {indefinite(name)} {name}"


def _found_on(first: str) -> str | None:
    """A finding that is told before the picture which shows it, as a sentence about the picture; None for others."""
    told = _ON_A_PICTURE.match(first)
    if told is None or _is_more_than_a_name(first) or not _is_finding(told["what"]) or told["many"]:
        return None
    picture = told["picture"]
    name = picture[:1].upper() + picture[1:]
    if not (_DETERMINED.match(picture) or picture.endswith(("imaging", "graphy"))):
        name = f"{indefinite(picture).capitalize()} {picture}"
    return f"{name}{told['behind']} shows {with_article(_small(told['what']))}"


def _is_more_than_a_name(sentence: str) -> bool:
    """Whether a sentence says more than what something is called, or may do so."""
    return (
        ":" in sentence
        or _DASH.search(sentence) is not None
        or len(sentence.split()) > _LONG
        or _has_verb(sentence)
        or len(_TITLED.findall(sentence)) > 1
    )


def _has_verb(sentence: str) -> bool:
    """Whether a sentence may hold a verb of its own; an explanation in brackets may hold one, too."""
    outside = _BRACKETS.sub("", sentence)
    lower = outside.lower()
    with_object = any(end in lower for end in _BEFORE_OBJECT) and _WITH_OBJECT.search(outside) is not None
    return with_object or any(map(_may_be_verb, _WORD.findall(lower)))


def _is_finding(sentence: str) -> bool:
    """Whether a sentence is the name of something that a picture shows, and nothing else."""
    return (
        (_NOT_AN_OBJECT.match(sentence) is None or _ONE_THING.match(sentence) is not None)
        and (_FOUND.search(sentence) is not None or _OF_SOMETHING.match(sentence) is not None)
        and " " in sentence
        and ":" not in sentence
        and _DASH.search(sentence) is None
        and len(sentence.split()) <= _LONG
        and not _has_verb(sentence)
        and _OF_A_PICTURE.search(sentence if _CAPITALS.match(sentence) else _BRACKETS.sub("", sentence)) is None
        and len(_TITLED.findall(sentence)) < 2
        and not _is_name(sentence)
        and _PERSON.match(sentence) is None
    )


@lru_cache(maxsize=16384)
def _may_be_verb(word: str) -> bool:
    return _VERB.fullmatch(word) is not None


def _shows_something(sentence: str, picture: re.Match[str] | None) -> str | None:
    """A picture, or another thing, that shows something, as a sentence; None for what is not."""
    which = _WHICH_SHOWS.search(sentence) if " which " in sentence or " that " in sentence else None
    before = sentence[: which.start()] if which else ""
    # "Two of which show" names its own subject.
    if which and not (before.endswith(" of") or inside_brackets(sentence, which.start()) or _has_verb(before)):
        sentence = f"{before} showing {sentence[which.end() :]}"
        picture = _PICTURE.match(sentence)
    shown = _shown(sentence, picture) if picture else None
    if shown is not None:
        return shown
    showing = _SHOWING.search(sentence)
    if showing is None or showing["verb"] in _MEANT:
        return None
    before, behind = sentence[: showing.start()], sentence[showing.end() :]
    subject = _BRACKETS.sub("", before).rstrip(", ")
    if (
        re.search(r"[:–—]| - ", subject)
        or _NO_SUBJECT.search(subject)
        or _PLACED.match(subject)
        or subject.endswith((" as", " by", " for", " of"))
        or _has_verb(subject)
        or _OWN_VERB.match(behind)
    ):
        return None
    named = _SUBJECT_END.split(subject, maxsplit=1)[0]
    many = _MANY.search(named) is not None or " and " in named
    stem = _SHOWS[showing["verb"].lower()]
    return f"{before.rstrip(',')} {stem if many else f'{stem}s'} {with_article(behind)}"


def _article_of(picture: re.Match[str]) -> str | None:
    """The article that the name of a picture lacks, "" where it takes none; None where that is not clear."""
    name = picture["name"]
    if picture["many"] or _DETERMINED.match(name):
        return ""
    if _PLACED.match(name) or _COUNTS.match(name) or _NOT_ONE.match(name):
        return None
    return "" if "imaging" in name or name.endswith("graphy") else f"{indefinite(_small(name)).capitalize()} "


def _shown(first: str, picture: re.Match[str]) -> str | None:
    """A picture that shows something, as a sentence; an article where its name has none."""
    name = picture["name"]
    article = _article_of(picture) or ""
    behind = first[picture.end("name") :]
    showing = _SHOWING.search(behind)
    if showing is None or _FINITE_BEFORE.search(behind[: showing.start()]):
        return article + _small(first) if article and _SHOWN_BEHIND.match(behind) else None
    before = _DANGLING.sub("", behind[: showing.start()]).rstrip(",")  # "turned on, showing" has lost no word
    if before.startswith(":") or _NO_SUBJECT.search(before):
        return None
    if before and not _GOES_ON.match(before) and not _ENDS_AS_PICTURE.search(before):
        article = ""  # "CT arterial phase shows": what the stack names is not clear
    before = before.rstrip(":")
    stem = _SHOWS[showing["verb"].lower()]
    how = f"{showing['how']} " if showing["how"] else ""
    many = picture["many"] or (not _GOES_ON.match(before) and _ENDS_IN_PICTURES.search(before))
    said = with_article(behind[showing.end() :])
    return f"{article}{_small(name) if article else name}{before} {how}{stem if many else f'{stem}s'} {said}"


def with_article(phrase: str, known: tuple[str, ...] = ()) -> str:
    """A thing that can be counted gets its article, but for those of which each body has its own (`known`).

    >>> with_article("small stone in the kidney"), with_article("air in the belly"), with_article("two stones")
    ('a small stone in the kidney', 'air in the belly', 'two stones')
    """
    if _DETERMINED.match(phrase):
        return phrase
    if _OF_ONE.match(phrase):
        return f"the {phrase}"
    counted = _COUNTED.match(phrase) or _SEEN_AS.match(phrase)
    following = counted and _NEXT.match(phrase, counted.end())
    if (
        not counted
        or counted["thing"] in known
        or (following and following[1] not in FUNCTION_WORDS and not _goes_on(following[1]))
    ):
        return phrase  # "gallbladder wall", "artery (in the neck) disease" are not counted by their first noun
    return f"{indefinite(phrase)} {phrase}"


def _goes_on(word: str) -> bool:
    """Whether a word behind a thing tells of it, as "causing" does; a "lymph node swelling" is no node."""
    return word.endswith(("ing", "ed")) and word not in NOUNS_IN_ING


# "Absence of the kidney": what there is one of, of a thing.
_OF_ONE = re.compile(
    r"(?:complete |entire |partial |exact |normal |abnormal |unusual |final |near complete |total )?"
    r"(?:absence|course|disappearance|extent|level|location|origin|position|presence|resolution|site|size|start|"
    r"tip) of\b"
)
_NEXT = re.compile(r"(?: \([^()]*\))? ([a-z-]+)")
_COUNTED = re.compile(
    r"(?!(?:multiple|several|many|both|no|some|bilateral|numerous|same|two|three|four|five|six)\b)"
    r"(?:\d[\d.]*(?:[ ]?[x×*][ ]?\d[\d.]*)*[ -]?[cm]m(?:-sized?)?[ ](?!of\b|in\b|thick|wide|long)|(?!\d\b))"
    r"(?!(?:right|left)(?:[ ][\w-]+){0,3}?[ ](?:artery|region|structure|gallbladder|spleen|tube)(?![\w-]))"
    r"(?:(?!(?:of|in|on|and|with|to|the|at|from|by|for|into|as|between|around|near|after|before|during|through|over|"
    r"along|within|without|under|behind|beside|below|above|across|toward|towards|against|inside|outside|via|"
    r"shows?|showed|showing|is|was|an?|dye(?!-))\b)[\w-]+(?:(?<!s),)?[ ](?:\([a-z-]+\)[ ])?){0,4}?"
    r"(?P<thing>area|bullet|mass|lump|cyst|tumor|clot|bulge|hole|tear|break|stone|pocket|pouch|passage|patch|stent|tube|catheter|"
    r"screw|shadow|lesion|nodule|hernia|collection|defect|gap|opening|gallbladder|spleen|device|implant|object|needle|wire|"
    r"dislocation|aneurysm|structure|artery|region|blockage|patient|fracture|abscess|pseudoaneurysm|ulcer|polyp|process|"
    r"leak|bruise|vessel(?=[ ](?:coming|arising|from|in|of|with|that|near|\(|cross)|[.,;]|\Z)|"
    r"baby|tumour|node|line|pattern|growth|appearance|component|rim|curve|infarct|spur|outgrowth|rod|clump|"
    r"malformation|bump|fragment|cavity|outline|flap|shape|pneumothorax|effusion|infiltrate|reaction|deformity|"
    r"abnormality|"
    r"pregnancy|valve|shift|increase|decrease|response|border|margin|contour|course|look|loop|injury|"
    r"(?!glauc|scot|tra|myel)\w{4,}oma)(?![\w-])"
)
# "An enlarged left kidney", "a normal bladder": how an organ looks, not which it is.
_SEEN_AS = re.compile(
    r"(?:\w+ly[ ])?(?:[a-z-]+(?<!need)(?<!transplant)ed|(?:large|small)(?! bowel)|huge|giant|normal|abnormal|absent|"
    r"empty|thin|thick|clear|pregnant|swollen|single|solitary|floating|pelvic|[a-z]+-shaped)[ ]"
    r"(?:(?:left|right|upper|portal|"
    r"lower|front|rear|uneven-looking|brighter-looking|darker-looking|thyroid|small|saliva|"
    r"tear)[ ]){0,2}(?P<thing>kidney|bladder|womb|liver|windpipe|stomach|lung|tooth|lobe|gallbladder|spleen|pancreas|"
    r"appendix|heart|food pipe|bowel|ovary|testicle|tendon|ligament|muscle|nerve|vein|artery|gland|wall|valve|duct|"
    r"disc|(?:thigh[ ]|shin[ ]|breast[ ]|heel[ ]|spine[ ])?bone|aorta|ball|kneecap|prostate|cortex|uterus|breast|"
    r"eyeball)(?![\w-])"
)


def _small(text: str) -> str:
    """Without the capital of a sentence's start; names such as "CT", "X-ray" and "Charcot" keep theirs."""
    word = text.split(" ", 1)[0]
    keeps = any(letter.isupper() or letter.isdigit() for letter in word[1:]) or word[1:2] == "-" or len(word) == 1
    keeps = (keeps and word != "A") or word.endswith(("'s", "’s", "s'", "s’")) or _is_name(text)
    return text if keeps else text[:1].lower() + text[1:]


def _is_name(text: str) -> bool:
    """Whether a sentence begins with a person's, a place's or a germ's name that is known."""
    return text.split(" ", 1)[0].lower() in _NAMES
