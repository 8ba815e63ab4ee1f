"""Words that mean something else beside certain others: an acute angle is not sudden, a bone that consolidates heals.

>>> another_sense("acute", "acute angle of the graft", 0, 5), another_sense("acute", "acute cholecystitis", 0, 5)
(True, False)

Captions are looked at in lower case: a pattern that has to try letters of either case takes three times as long.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from builders.medlaybench_v.abbreviations import resolve


class Sense(NamedTuple):
    """Where a word has another sense than in the vocabulary: by what stands right before or right behind it, or by what
    the caption speaks of (`about`) when it does not also speak of the usual thing (`unless`).
    """

    before: re.Pattern[str] | None
    behind: re.Pattern[str] | None
    about: re.Pattern[str] | None
    unless: re.Pattern[str] | None


def _sense(
    before: str | None = None, behind: str | None = None, about: str | None = None, unless: str | None = None
) -> Sense:
    return Sense(*(part if part is None else re.compile(part) for part in (before, behind, about, unless)))


def _only(needs: str, before: str | None = None, behind: str | None = None) -> Sense:
    """A sense that a caption decides by what it speaks of: where it speaks of nothing of the kind, the word is left."""
    return _sense(before, behind, about="", unless=needs)


_BONE = (
    r"bon[ey]|osseous|fracture|osteotom|arthrodesis|callus|nonunion|distraction|graft|nail|screw|plate|femur|"
    r"femoral|tibia|"
    r"humer|radius|ulna|fusion"
)
# Blood is fresh or old, not sudden or long-term.
_OF_BLOOD = r"ha?emorrhag|ha?ematom|thromb|bleed|blood|clot|infarct|isch|stroke|embol"
# An illness lasts long or begins at once; a picture, a place or a change is of another kind ("the chronic brain").
_OF_ILLNESS = (
    r"[ ](?:[\w-]+[ ]){0,2}?(?:\w+itis|failure|pain|attack|onset|distress|symptoms?|decompensation|dyspn\w+|"
    r"deterioration|collapse|loss|change|obstruction|ileus|illness|headache|weakness|swelling|torsion|disease|infection|"
    r"inflammation|cough|osteomyelitis|smoker|injury|insufficiency)\b"
)
_TOOL = (
    r"screw|wire|needle|catheter|stent|lead|pin|tube|electrode|device|filter|nail|implant|coil|plate|balloon|clip|mesh"
)
_HEART = r"heart|cardi|ventric|atri(?:um|al|a\b)|valv|coronar|aort|mitral|tricuspid|septal|endocard"
_TEETH = r"tooth|teeth|molar|canine|incisor|panoram|dental|\bopg\b|orthopantomo|mandib|maxill|periapical|root canal"
_WITH_CHILD = r"pregnan|gestation|hydatid|placent|trimester|uter(?:us|ine)|fo?etal|fo?etus"
_TRACER = (
    r"\bpet\b|pet[-/]|spect|scinti|fdg|fluorodeoxy|tracer|radio(?:nucl|act|phar|lig|iod)|bone scan|nuclear|"
    r"techne|isotope|suv"
)
_EYE = r"\beyes?\b|retin|ocul|macul|ophthal|\boct\b|vitre|uve|scler|orbit|fundus"
_SMALL_LIMB = (
    r"\bfoot|\bfeet|\btoe|metatars|hallux|\bhand|wrist|finger|metacarp|penis|penile|carp(?:al|us)|navicul|"
    r"tarsal|tongue"
)
_ANIMAL = (
    r"\b(?:dogs?|cats?|mouse|mice|rats?|rabbits?|horses?|canine|feline|equine|bovine|veterinar\w*|turtles?|fish|"
    r"birds?)\b"
)
_OF_HAND = r"\bhands?\b|\bfingers?\b|thumb|metacarp|wrist|index|\bulna|radius|carpal"
_OF_FOOT = r"\bfoot|\bfeet|\btoes?\b|hallux|metatars|ankle|tarsal"
_OF_BRAIN = (
    r"brain|cerebr|cerebell|intracran|skull|head\b|hemispher|subdural|stroke|frontal|parietal|occipital|cranio|"
    r"lateral ventricle|temporal|sella|pituit|falx|tentori|optic"
)
# T1 and T2 name pictures of MRI more often than levels.
_LEVEL = r"\b(?:[cls]\d|t(?:[3-9]|1[0-2]))\b"
_OF_SPINE = rf"spin(?:e|al)|vertebr|lumbar|thoracic|sacral|{_LEVEL}|epidural steroid|dis[ck]\b"
_PICTURED = (
    r"[ ](?:[\w-]+[ ]){0,4}?(?:images?|imaging|scans?|ct\b|mri?\b|c[ae]ct\b|mdct|tomogra\w*|magnetic|ultraso\w*|"
    r"t[12]\b|"
    r"t[12]-?w\w*|sequences?|views?|stud(?:y|ies)|series|slices?|sections?|phase|radiogra\w*|x-?rays?|angio\w*|"
    r"examination)"
)
# Not behind a verb: "a visualized fragment" is the part of it that is seen.
_NO_PREDICATE = (
    r"(?![ ]?[.,;:()]|\Z|[ ](?:in|on|at|within|with|from|by|as|to|after|during|between|along|around|near|and|here)\b)"
)
_SENSES = {
    # Of an attack or an inflammation alone: an acute lesion or fracture is a fresh one, an acute angle a narrow one.
    "acute": _sense(behind=rf"(?!{_OF_ILLNESS})|[ ](?:on|over|or|and|to)\b|[ ](?:[\w-]+[ ])?(?:{_OF_BLOOD})"),
    "chronic": _sense(
        before=r"\bacute(?:[ -]on[ -]|[ ](?:and|or|to|over)[ ]|[/,][ ]?)\Z",
        behind=rf"(?!{_OF_ILLNESS})|[ ](?:on|over|or|and|to)\b|[ ](?:[\w-]+[ ])?(?:{_OF_BLOOD})",
    ),
    "subacute": _only(_OF_BLOOD, before=r"\b(?:late|early|or|to|and)[ -]\Z"),
    **dict.fromkeys(
        (
            "subacute hemorrhage", "subacute haemorrhage", "subacute hematoma", "subacute haematoma",
            "subacute infarct", "subacute infarction", "subacute bleeding", "subacute bleed", "subacute thrombus",
            "subacute thrombosis", "subacute clot",
        ),
        _sense(before=r"\b(?:late|early|or|to|and)[ -]\Z"),
    ),
    "consolidation": _sense(
        behind=r"[ ](?:chemo\w*|therapy|treatment|radio\w*)", about=_BONE,
        unless=r"lung|pulmo|lob[ea]|chest|thora|pneumon|airspace|air-space|bronch|pleur|hilar|zone|opaci|ground",
    ),
    "enhancement": _sense(
        before=r"(?:acoustic|posterior|distal|through|transmission|sound|edge|image|signal|digital)[ ]\Z",
        about=r"ultraso|sonogra|echogen|echoic|\busg?\b",
        unless=r"contrast|gadolin|ceus|microbubble|\bc[ae]?c?t\b|phase|tomogra|\bmri?\b",
    ),
    # An echo that weakens is no density; neither is a sequence of MRI.
    "attenuation": _only(
        r"\bc[ae]?c?t\b|tomogra|hounsfield|\bhu\b",
        before=r"(?:vascular|vessel|flow|beam|photon|sound|acoustic|x-ray|diaphragm\w*|posterior)[ ]\Z",
        behind=r"[ ](?:of (?:the |an? )?(?:[\w-]+[ ])?(?:flow|contrast|blood|signal|beam|sound|vessels?|arter\w+|"
        r"veins?|lumen|caliber|photons?|markings)|correct\w*|coeffic\w*|map)",
    ),
    # A vessel or sac that is closed by treatment is not blocked by disease; closed teeth are no blockage.
    "occlusion": _sense(
        before=r"(?:aneurysm\w*|fistula|malformation|defect|shunt|balloon|coil|test|appendage|asd|vsd|pda|pfo|ductus|"
        r"successful|therapeutic|trial|temporary|endovascular|transcatheter|percutaneous|device|"
        r"dental|centric|normal|class\s\w+)[ ]\Z",
        behind=r"[ ](?:device|balloon|test|coil|of (?:the |an? )?(?:[\w-]+[ ]){0,2}(?:aneurysm|fistula|malformation|"
        r"defect|shunt|appendage|sac|feed\w+))",
        about=r"tooth|teeth|molar|incisor|dental|overjet|orthodont",
    ),
    "occluded": _sense(before=r"(?:successfully|completely|coil|balloon)[ ]\Z", behind=r"[ ](?:with|by|using)\b"),
    # "A screw makes a hole", no hole is in the screw.
    **dict.fromkeys(
        ("perforation", "perforations", "perforation of", "perforations of"),
        _sense(behind=rf"(?:[ ]of)?[ ](?:the |an? )?(?:[\w-]+[ ]){{0,2}}(?:{_TOOL})"),
    ),
    "malignant": _sense(
        behind=r"[ ](?:\w+[ ])?(?:glaucoma|hypertens\w+|otitis|hypertherm\w+|infarct\w*|migrat\w+|course|"
        r"arrhythm\w+|edema|oedema|syndrome)"
    ),
    "benign": _sense(behind=r"[ ](?:\w+[ ])?(?:course|hypertens\w+|positional|clinical)"),
    # Half of a direction, and what another sound makes behind it: "antero posterior", "posterior shadowing".
    **dict.fromkeys(
        ("anterior", "posterior", "superior", "inferior", "medial", "lateral"),
        _sense(
            before=r"\b(?:(?:antero|postero|medio|latero|supero|infero|cranio|dorso)[ -]{1,3}|(?:lower|upper|inferior|"
            r"superior)[ ])\Z",
            behind=r"[ ](?:acoustic|shadow\w*|enhancement|attenuation|sound|posterior|anterior|medial|lateral)\b|"
            r"[ ]branch(?:es)?[ ](?:block\w*|nerves?|of (?:the )?(?:[lc]\d|dorsal))",
        ),
    ),
    **dict.fromkeys(
        ("postoperative", "post-operative", "posttreatment", "post-treatment", "preoperative", "pre-operative"),
        _sense(before=r"\b(?:hours?|days?|weeks?|months?|years?)[ ]\Z"),  # "two weeks post-treatment"
    ),
    # Of a mass that does not take up dye; of a picture it says that none was given.
    "unenhanced": _sense(before=r"\b(?:is|are|was|were|remain(?:s|ed)?|stayed|appear(?:s|ed)?)[ ]\Z", behind=
        rf"(?!{_PICTURED})"),
    **dict.fromkeys(
        ("left ventricle", "right ventricle"),
        _sense(about=_OF_BRAIN, unless=r"heart|cardi|atri(?:um|al|a\b)|valv|coronar|aort|mitral|echo|ejection|septal"),
    ),
    **dict.fromkeys(("radiologically", "radiographically"), _sense(behind=r"[ ]\w+(?:ed|ing|al|ic|ent)\b")),
    "numerous": _sense(before=r"\b(?:most|more|as|so|too|less)[ ]\Z"),
    "bilaterally": _sense(
        behind=r"(?![ ](?:in|on|at|with|without|and|or|to|from|but|for|of|by|within|as|which|that|is|are|was|were|"
        r"after|before|due|more|consistent|compatible|suggest\w*|show\w*|\()\b)[ ]\w"
    ),
    # "With anterior to the left" says which way a picture lies; of an animal, the head is before and not above.
    **dict.fromkeys(
        ("anterior to", "posterior to", "superior to", "inferior to"),
        _sense(
            behind=r"[ ](?:the )?(?:left|right|top|bottom)[ ]?(?:[.,;:)]|\Z)|"
            r"[ ](?:posterior|anterior|superior|inferior)\b", before=r"\bwith[ ]\Z", about=_ANIMAL
        ),
    ),
    **dict.fromkeys(
        ("caudal to", "cranial to", "cranially", "caudally"),
        _sense(about=rf"{_ANIMAL}|snout|vertebrate|larva|embryo|specimen|dorsal view"),
    ),
    "varicose": _sense(behind=r"(?![ ](?:vein|dilat|collater|vessel))"),
    "meniscus": _sense(before=r"(?:air|fluid|pleural|contrast|barium)[ ]\Z", behind=r"[ ](?:sign|shape)"),
    **dict.fromkeys(("calyx", "calyces"), _only(r"kidney|renal|ureter|urogra|uro|pyel|nephr")),
    "carina": _only(r"trache|bronch|airway|lung|chest|endotr|thora|mediast"),
    **dict.fromkeys(("bulla", "bullae"), _only(r"lung|pulmo|emphys|chest|lobe|thora|pneum", before=
        r"(?:ethmoid\w*|tympanic)[ ]\Z")),
    "ampullary": _only(r"bile|biliary|duoden|pancrea|vater|papill|duct", behind=r"[ ](?:pregnan|ectopic|portion "
                                                                                r"of the (?:tube|fallop))"),
    "sigmoid": _only(r"colo|bowel|divertic|rect|volvul|intestin", behind=r"[ ](?:sinus|notch|shape|curv|kink|process)"),
    **dict.fromkeys(("ventral", "ventral to"), _sense(about=rf"{_SMALL_LIMB}|{_ANIMAL}")),
    "nasal": _sense(about=_EYE, unless=r"sinus|nose|nasal (?:cavity|bone|sept)|turbin|nasopharyn|paranasal"),
    "scaphoid": _sense(behind=r"[ ](?:abdomen|fossa|megal|shape)", about=_OF_FOOT, unless=_OF_HAND),
    "navicular": _sense(behind=r"[ ](?:abdomen|fossa)", about=_OF_HAND, unless=_OF_FOOT),
    "cuboid": _sense(behind=r"[ ](?:shape|volume|cell|region of interest)|-shape"),
    "visceral": _sense(behind=r"[ ](?:layer|pleura\w*|pericard\w*|periton\w*|surface|fascia)"),
    "prior": _sense(behind=r"[ ](?:to|the|her|his|its)\b"),
    **dict.fromkeys(("infiltrate", "infiltrates"), _only(r"lung|pulmo|chest|thora|lobe|pneumon|airspace|bronch|pleur")),
    "pulmonary": _sense(
        behind=r"[ ](?:and aortic|valv\w+|outflow|root|annul\w+|atresia|autograft|conduit|regurg\w+|insuff\w+)"
    ),
    # Words of several places or deeds: said only where the caption decides which one it means, else left.
    "uptake": _only(_TRACER, before=r"(?:contrast|gadolin\w*|dye|agent|oxygen|lipiodol)[ ]\Z"),
    **dict.fromkeys(
        ("embolization", "embolisation"),
        _sense(
            before=r"(?:distal|downstream|septic|systemic|paradoxical|cerebral|pulmonary|air|cement|fat|tumou?r|stent|"
            r"device|valve|thromb\w+|clot|coil|catheter|risk of|"
            r"prevent\w*|source of|peripheral)[ ]\Z",
            behind=r"[ ](?:to|into|of (?:the |a )?(?:\w+[ ])?(?:coil|device|stent|clot|thromb\w+|plaque|cement|"
            r"debris))\b",
        ),
    ),
    **dict.fromkeys(
        ("opacification", "opacified"),  # with what was injected, a vessel or sac is filled
        _sense(
            before=r"(?:contrast|dye)[ ]\Z",
            behind=r"[ ](?:by|with (?:contrast|dye)|of (?:the |both |all )?(?:[\w-]+[ ]){0,3}?(?:arter\w+|veins?|"
            r"aort\w*|"
            r"bladder|ducts?|ventric\w+|atri\w+|root|sac|cavit\w+|lumen|vena|vessels?|ureters?|fistula|shunt|bowel))",
            about=r"(?:angio|arterio|veno|uro|cysto|aorto|ventriculo|fistulo)gra[mp]|cholangio|fluorosc|injection",
        ),
    ),
    **dict.fromkeys(
        ("choroid", "choroidal"), _only(_EYE, behind=r"[ ](?:arter\w+|fissure|plexus\w*|point|vein|segment)")
    ),
    "portal": _sense(
        behind=r"(?![ ](?:and|v\w+|hypert\w+|hil\w+|system|tract|flow|circul\w+|pressure|triad|confl\w+|branch\w*|"
        r"trunk))"
    ),
    "papillary": _sense(
        about=r"ercp|ampulla|\bvater|sphincter|bile|biliary",
        behind=r"[ ](?:muscle\w*|balloon|stenosis|necrosis|tips?|blush|dermis)",
    ),
    **dict.fromkeys(
        ("molar", "molars"),
        _sense(about=_WITH_CHILD, behind=r"[ ](?:pregnan\w*|changes|ratio|tissue|tooth|teeth)|[ ]?/"),
    ),
    "bursa": _only(
        r"joint|shoulder|knee|hip\b|elbow|acromi|trochant|patell|achill|calcan|olecran|iliopsoas|bursitis|tendon|"
        r"heel|menisc"
    ),
    "ramus": _sense(about=r"coronar|intermedi|arter|\blad\b"),
    "fovea": _only(_EYE),
    "obturator": _sense(
        behind=r"(?![ ](?:hernia\w*|muscle\w*|intern\w+|extern\w+|nerve\w*|arter\w+|foram\w+|lymph|node\w*|vein|"
        r"canal|ring))"
    ),
    "interstitial": _sense(behind=r"[ ](?:brachy\w*|laser|implant\w*|needle\w*|cystitis|nephritis)", about=_WITH_CHILD),
    "tricuspid": _sense(behind=r"[ ](?:aortic|pulmon\w+|truncal|tooth)|[ ]?/"),
    "glenoid": _sense(about=r"temporomandib|\btmj\b|condyl|mandib"),
    "rectus muscle": _sense(about=_EYE),
    "pedicle": _only(rf"vertebr|spin(?:e|al)|lumbar|thoracic|{_LEVEL}|sacr|screw"),
    **dict.fromkeys(
        ("calculus", "calculi"),
        _sense(about=rf"{_TEETH}|gingiv|periodont", unless=r"saliva|sialo|submandib|parotid|duct|kidney|renal|bladder"),
    ),
    # A bone only where a caption speaks of the arm, never a measure: "the maximal radius of the stomach".
    **dict.fromkeys(
        ("radius", "radii"),
        _only(
            r"\bulna|forearm|wrist|elbow|\bhands?\b|\barms?\b|colles|carp(?:al|us)|humer|galeazzi|styloid|radial|"
            r"fractur|metaphys|diaphys|osteo|bone",
            before=r"(?:cm|mm|bend|turning|inner|outer|a|of|maximal|maximum|minimal|minimum|mean|average|in|"
                   r"whose|its)[ ]\Z",
            behind=r"[ ](?:of|[=<>\d])",
        ),
    ),
    # Latin of two words: "capitulum humeri".
    "humeri": _sense(before=r"\b(?:caput|capitulum|trochlea|tuberculum|condylus|epicondylus|\w+um|\w+us)[ ]\Z"),
    **dict.fromkeys(("apex", "apices"), _sense(about=r"lung|pulmon|thora|chest|orbit|scolio|curve|kypho|petrous")),
    **dict.fromkeys(("distal", "proximal", "distally"), _sense(about=rf"mesial|{_TEETH}")),
    **dict.fromkeys(
        ("dorsal", "dorsal side", "dorsal to"),
        _sense(about=_SMALL_LIMB, behind=r"[ ](?:[\w-]+[ ]){0,2}?(?:images?|planes?|views?|sections?|scans?)\b"),
    ),
    **dict.fromkeys(
        ("axial", "axial view", "axial views", "axial image", "axial images"),  # a flat picture has no cross-section
        _sense(
            about=r"patell|calcan|shoulder|axillary|skyline|merchant|acromio|humer|glenoid|antero-?posterior view|"
            r"\bap view|x-?ray|radiogra",
            unless=r"\bc[ae]?c?t\b|tomogra|\bmri?\b|magnetic|t[12]\b|weighted|ultraso|sonogra|\bpet\b",
        ),
    ),
    **dict.fromkeys(
        ("fistula", "fistulas", "fistulae", "arteriovenous fistula", "arteriovenous fistulas"),
        _sense(about=r"dialy|(?:radio|brachio)-?cephalic|vascular access|av access"),
    ),
    "lingual": _sense(behind=r"[ ](?:arter\w+|nerve\w*|tonsil\w*|thyroid\w*|vein\w*|gyr\w+|fren\w+|flap)"),
    "buccal": _sense(behind=r"[ ](?:arter\w+|nerve\w*|mucosa\w*|fat|vein\w*|space|pad)"),
    "cystic": _sense(behind=r"[ ](?:fibrosis|arter\w+|ducts?|vein\w*|medial|echinoc\w+|kidney|plate|renal)|[ ]?/"),
    "umbilical": _sense(behind=r"[ ](?:cord|arter\w+|vein\w*|vessel\w*|catheter|coil\w*|line|cannul\w*)"),
    "epigastric": _sense(behind=r"[ ](?:arter\w+|vein\w*|vessel\w*|pedicle|perfor\w+)"),
    "instrumentation": _only(r"spin(?:e|al)|vertebr|lumbar|thorac|scolio|screw|\brods?\b|fusion"),
    "obturation": _only(_TEETH),
    **dict.fromkeys(("leaflet", "vegetation", "vegetations"), _only(_HEART)),
    "degenerative": _only(r"joint|spin|dis[ck]|vertebr|knee|hip\b|arthr|facet|lumbar|cervic|osteophyt|bone|"
    r"shoulder|valv"),
    "tubal": _only(rf"ectopic|fallop|ovar|pelvi|{_WITH_CHILD}"),
    "diffuse": _sense(
        behind=r"[ ](?:large|axonal|idiopathic|alveolar|panbron\w+|tensor|optical|type|b-cell|scleros\w+|"
        r"intrinsic|midline)"
    ),
    **dict.fromkeys(("systolic", "diastolic"), _sense(behind=r"[ ](?:blood|pressure|bp\b|arterial|function|murmur)")),
    "aneurysmal": _sense(
        behind=r"[ ](?:\w+[ ])?(?:ha?emor\w+|sah\b|subarach\w+|bleed\w*|clip\w*|coil\w*|neck|sac\w*|rupture|bone|"
        r"wall|remnant)"
    ),
    "aneurysm": _sense(before=r"(?:cirsoid|racemose)[ ]\Z", behind=r"[ ](?:clip\w*|coil\w*|neck|needle|repair)"),
    **dict.fromkeys(("valgus", "varus"), _sense(behind=r"[ ](?:osteotom|stress|test|thrust|correct|align)")),
    "administered": _sense(before=r"\b(?:we|they|he|she|i|who|and|physicians?|doctors?|clinicians?)[ ]\Z"),
    **dict.fromkeys(("on admission", "at admission"), _sense(behind=r"[ ]to\b")),
    "evident": _sense(before=r"\b(?:an?|more|most|less|the|no)[ ]\Z", behind=_NO_PREDICATE),
    **dict.fromkeys(
        ("visualized", "visualised"), _sense(before=r"\b(?:the|an?|all|of)[ ]\Z", behind=_NO_PREDICATE)
    ),
    **dict.fromkeys(("contrast-enhanced", "contrast enhanced"), _sense(behind=rf"(?!{_PICTURED})")),
    **dict.fromkeys(
        ("lesion", "lesions"),  # a narrowing of a vessel, a tear: no area that looks abnormal
        _sense(
            before=r"(?:coronary|culprit|target|stenotic|osteochondral|(?<!sub)chondral|ligament\w*|menisc\w+|labral|"
            r"tendon|nerve|tear|cuff|hill-sachs|bankart|slap|rc|acl|"
            r"traumatic|axonal|cord|bifurcation|ostial|obstructive|plexus|muscle|carious)[ ]\Z",
            behind=r"[ ](?:of|to|in) (?:the |an? )?(?:[\w-]+[ ]){0,3}?(?:ligament|tendon|menisc\w+|nerve|lad\b|rca\b|"
            r"coronary|labrum|cuff)",
            about=r"coronary angio|culprit|guide ?wire|buddy wire|pre-?dilat|microcatheter|\bpci\b|stenosis|"
            r"(?<!sub)chondral|cartilage",
            unless=r"mass|tumou?r|cyst|metasta|nodul|\bmri?\b|bone",
        ),
    ),
    # Letters that stand for more than one thing.
    **dict.fromkeys(("asd", "vsd", "pfo", "lvot", "rvot"), _only(rf"{_HEART}|\btee\b|shunt|occluder|amplatz")),
    **dict.fromkeys(("lad", "lcx", "rca"), _only(rf"{_HEART}|stenos|stent|occlu|angio|infarct|arter")),
    "sma": _only(r"mesenter|bowel|aort|intestin|celiac|coeliac|arter|duoden|pancrea|jejun"),
    "cbd": _only(r"duct|bil(?:e|ia)|gall|pancrea|ercp|mrcp|liver|hepat|choled"),
    "bleb": _sense(about=_EYE),
    "ap": _only(r"x-?ray|radiogra|film|view|diameter|fluoro", behind=r"[ ](?:window|shunt)|[ ]?[=:]"),
    "pa": _only(
        r"\A(?!.*(?:arter|pulmonary|aort|\brpa\b|\blpa\b)).*(?:x-?ray|radiogra|film|cxr|chest)",
        behind=r"[ ]?[,=:;)]|[ ](?:catheter|pressure|band|interval)",
    ),
    "sem": _sense(about=r"±|\bmeans?\b|standard error"),
    "posterior enhancement": _only(r"ultraso|sonogra|echogra|echogenic|echoic|\bus\b"),
    "opg": _sense(about=r"glioma|optic"),
    **dict.fromkeys(("circumscribed",), _sense(behind=r"[ ](?:to|by)\b")),
    "peripheral": _sense(
        behind=r"[ ](?:nerve|neurop|arter|vascul|vein|venous|blood|arthr|line|catheter|access|iv\b|intraven)"
    ),
    "cranial": _sense(
        about=_ANIMAL,
        behind=r"[ ](?:[\w-]+[ ]){0,2}?(?:images?|imaging|scan\w*|mri?\b|tomogra\w*|radiogra\w*|x-?ray|ultraso\w*|"
        r"sonogra\w*)|[ ](?:nerve|ct\b|cavity|fossa|vault|computed|magnetic|views?|angulat\w+)",
    ),
    "impacted": _sense(
        about=r"tooth|teeth|molar|canine|incisor|panoram|dental|\bopg\b|orthopantomo|mandib|maxill|dentig"
    ),
    # Of another word, no place of a thing: "posteriorly directed", "with centrally necrotic areas".
    **dict.fromkeys(
        (
            "anteriorly", "posteriorly", "superiorly", "inferiorly", "laterally", "medially", "ventrally", "dorsally",
            "peripherally", "centrally", "cranially", "caudally", "circumferentially",
        ),
        _sense(before=r"\b(?:with|an?)[ ]\Z", behind=r"[ ](?:non-?)?\w+(?:ed|ing|ic|ive|al|ular)\b"),
    ),
    # Words with another sense in radiology, surgery, dentistry, engineering or a laboratory.
    **dict.fromkeys(("abutment", "abutting", "abuts"), _sense(about=rf"implant|crown|prosth|screw-retained|{_TEETH}")),
    **dict.fromkeys(
        ("angulation", "angulations"),
        _sense(
            before=r"(?:cranial|caudal|beam|tube|gantry|probe|c-arm|lao|rao|screw)[ ]\Z",
            behind=r"[ ](?:along|parallel|perpendicular|of (?:the |an? )?(?:\w+[ ])?(?:beam|tube|gantry|image|slice|"
            r"view|plane|probe|x-ray|implant|screw|needle|stem|cup|component|tooth|molar|canine))",
            about=_TEETH,
        ),
    ),
    "concentric": _sense(behind=r"[ ](?:reduction|reduced|circles?|rings?|contraction\w*|position\w*|joint|hip)"),
    **dict.fromkeys(("mass effect", "mass effects"), _sense(behind=r"[ ](?:of|from|by|due)\b")),
    **dict.fromkeys(
        ("septum", "septa"), _sense(about=r"rubber|silicone|\bvials?\b|syringe|pheromone|\bport\b|reservoir|\btrap\b")
    ),
    # Of the thigh, of its bone, or of what covers the bone: the joint decides for none of the thigh's own.
    "femoral": _sense(
        behind=r"[ ](?:defects?|lesions?|cartilage|component|side|implant|tunnel|attachment|insertion|origin|footprint|"
        r"cortex|loosening|osteolysis|stem|canal|offset|rotation|version|torsion|anteversion|erosions?|edema|oedema)\b",
        about=r"cartilag|chondral|menisc|cruciate|patell|acetabul|arthroplast|prosthe",
        unless=r"arter|vein|vessel|hernia|nerve",
    ),
    **dict.fromkeys(("adnexa", "adnexal"), _sense(about=r"\bskin|ocul|orbit|eyelid", unless=r"ovar|pelvi|uter|tub")),
    "ampulla": _sense(before=r"rectal[ ]\Z", behind=r"[ ](?:recti|of the rect)", about=r"semicircular|vestibul"),
    **dict.fromkeys(("arterial", "venous"), _sense(behind=r"[ ]switch")),
    "atrial": _sense(about=_OF_BRAIN, unless=_HEART),
    # The lower end of a lung, but the upper of a heart chamber, and other parts of the brain and skull.
    "basal": _only(
        r"\A(?!.*(?:ventric|myocard|cardiac|echocard|septum|akines|hypokines|cardiomyo)).*(?:lung|pulmo|chest|pleur|"
        r"lobe|atelect|pneumon|thora|basal segment)",
        behind=r"[ ](?:gangli\w+|cell\w*|cistern\w*|vein|nucle\w+|forebrain|metabol\w+|layer|plate|diet)",
    ),
    # Of the chest, or of the spine and cord at its level.
    "thoracic": _sense(
        behind=r"[ ](?:[\w-]+[ ])?(?:duct|inlet|outlet|nerves?|arter\w+|veins?|curves?|kyphosis|scoliosis|lordosis|"
        r"spin\w+|vertebra\w*|hemivertebra\w*|levels?|cord|roots?|pedicles?|laminae?|dis[ck]s?|segments?|myelo\w+|"
        r"epidural|intramedull\w+|extradural|intradural|syrin\w*|meningio\w*|endoprosthesis)\b|"
        r"(?:,?[ ](?:and|or)|,|/)[ ]?(?:lumbar|cervical|sacral)",
        about=r"spinal cord|\bcord\b|myel|syrin|intramedull|epidural|extradural|intradural|lamin|vertebr|scolio|"
        r"\bth?\d{1,2}\b|spinal",
        unless=r"\blungs?\b|chest|pulmon|pleur|thoracic (?:ct|cavity|wall|computed|surg)|medias|aort|heart|trache",
    ),
    "focal": _sense(
        behind=r"[ ](?:spots?|lengths?|planes?|zones?|points?|depth|therap\w+|nodular|cortical|seizures?|epilep\w+|"
        r"neurolog\w+|deficits?|segmental|dystonia|laser|osteoporotic|spot)\b|[ ]?[,/]|[ ](?:and|or|to)\b",
        before=r"(?:multi|bi|para)[ -]?\Z",
    ),
    "resolution of": _sense(
        before=r"(?:high|spatial|temporal|contrast|image|axial|lateral|low|higher|better|poor|pixel|with an?|plane|"
        r"matrix|voxel|a|in|the)[ -]\Z",
        behind=r"[ ](?:the )?(?:images?|scan\w*|pictures?|system|detector|ct\b|mri?\b|\d|about|approx)",
    ),
    # Of a broken or slipped bone; a size or a dose grows less.
    "reduction": _sense(
        before=r"(?:dose|size|weight|volume|noise|significant|marked|further|pressure|artifact|breast|height|a|mild|in|"
        r"signal|slight|considerable|pain|lung|space|tumou?r|width|metal|percent|%|the|fat|wall|and|flow|any|no)[ ]\Z",
        behind=r"(?![ ]of (?:the |an? )?(?:[\w-]+[ ]){0,3}(?:fractures?|dislocat\w+|fragments?|subluxat\w+|joint|"
        r"hip|shoulder|elbow|femur|tibia|radius)\b|[ ](?:screws?|forceps|clamps?|maneuver|manoeuvre|with (?:[\w-]+[ ])?"
        r"(?:plates?|screws?|wires?|nails?|k-wires?))\b)",
    ),
    "fundus": _sense(
        about=rf"{_EYE}|photogra|angiogra|autofluor", unless=r"stomach|gastr|gallbladder|\buter(?:us|ine)"
    ),
    "solitary": _sense(behind=r"[ ](?:fibrous|bone|rectal|plasm\w+|kidney|tract|functioning|pancreas|testis|ovary)"),
    "carotid": _sense(
        before=r"(?:internal|external|common|extra-?cranial|intra-?cranial)[ ]\Z",
        behind=r"[ ](?:spaces?|bod(?:y|ies)|cave|canal|sheath|siphon|triangle|cavernous|paragangl\w+|tumou?r|sinus|"
        r"plexus|arter\w+)\b",
    ),
    "antral": _only(_TEETH, behind=r"[ ]follic\w+"),
    "sequestration": _only(r"lung|pulmo|lobe|bronch|chest"),
    "confluence": _sense(behind=r"[ ]of (?:the )?(?:sinus\w*|lesion\w*|opaci\w+|nodul\w+)"),
    "collecting system": _sense(before=r"(?:left|right|duplicated|double|duplex|bifid|complete|renal)[ ]\Z"),
    "incidental": _sense(behind=r"[ ]?[,/]"),
    "cine": _sense(behind=r"[ -](?:phase|loop)"),
    **dict.fromkeys(("thalamic", "meningeal"), _only(_OF_BRAIN, before=r"(?:lepto|spinal|middle)[ ]?\Z", behind=
        r"[ ](?:arter\w+|vessels?|nerves?)")),
    **dict.fromkeys(
        ("distension", "distention"), _sense(before=r"(?:abdominal|venous|jugular|bladder|gallbladder)[ ]\Z")
    ),
    **dict.fromkeys(("plantar", "palmar"), _sense(behind=r"[ ](?:fasci\w+|plate|flexion|flexed|wart)|-?flex")),
    "recanalization": _sense(about=r"umbilical|paraumbilical"),
    "baseplate": _only(r"prosth|arthroplast|glenoid|tibia|implant|glenosph"),
    "callus": _only(_BONE),
    "cavitation": _sense(about=r"bubble|histotrips|focused ultrasound|hifu"),
    "axillary": _sense(behind=r"[ ](?:lateral|views?|radiogra\w*|x-?rays?|projection|films?)\b"),
    "caudal": _sense(
        about=_ANIMAL,
        behind=r"[ ](?:block|epidural|an[ae]+sth\w+|injection|regression|vein|artery|angulat\w+|views?)",
    ),
    "cistern": _only(_OF_BRAIN, behind=r"a[ ]chyli"),
    "compressive": _sense(behind=r"[ ](?:strength|stress|load\w*|forces?|test\w*|modulus|bandage|strain)"),
    "coronary": _sense(behind=r"[ ](?:ligament|vein|plexus)", about=r"varic|portal hypertension"),
    "decubitus": _sense(behind=r"[ ](?:ulcer\w*|sore|wound)"),
    **dict.fromkeys(("dens",), _sense(behind=r"[ ](?:invag\w+|evag\w+|in[ ]dente)", about=_TEETH)),
    "dehiscence": _sense(about=r"semicircular|jugular|carotid canal|tegmen"),
    "deviation": _sense(before=r"(?:standard|mean|squared|quadrature|axis|percent|absolute)[ ]\Z", about=r"std|\bsd\b"),
    "duplication": _sense(behind=r"[ ](?:cyst|of chromo|artefact|artifact)"),
    "ectasia": _sense(about=r"cornea|kerato"),
    "endplate": _only(_OF_SPINE),
    "evidences": _sense(before=r"\b(?:no|the|these|clear|any|strong|some|other)[ ]\Z", behind=r"[ ](?:of|for)\b"),
    "facet": _sense(before=r"wear[ ]\Z", about=_TEETH),
    "foveal": _sense(about=r"femoral head|acetab|\bhip\b", unless=_EYE),
    "fusiform": _sense(behind=r"[ ](?:gyr\w+|face|area)"),
    "hardware": _only(rf"{_BONE}|spin|surg|implant|orthop|fixation|metal|hip|knee", behind=r"[ ]and software"),
    # Of a lung it is a hazy patch, of a needle an injection.
    "infiltration": _sense(before=r"(?:fatty?|local)[ ]\Z", about=r"\blungs?\b|pulmo|pneumon|an[ae]+sthe|lidocaine"),
    "ileus": _sense(before=r"(?:gallstone|meconium|biliary|mechanical|obstructive)[ ]\Z"),
    **dict.fromkeys(("interlobular", "centrilobular"), _only(r"lung|pulmo|chest|thora|emphysem|\bhrct|lobe|bronch")),
    "lacunar": _sense(behind=r"(?![ ](?:infarct\w*|strokes?|isch\w+|lesions?|foci|dementia))"),
    "apical segment": _only(r"lung|pulmo|lobe|chest"),
    "lytic": _sense(behind=r"[ ](?:therap\w+|treatment|agents?|drugs?|infusion|enzyme\w*)", about=r"\btpa\b|urokinase"),
    "mesial": _only(_TEETH, behind=r"[ ](?:temporal|frontal|occipital|parietal)"),
    "malrotation": _only(r"bowel|intestin|midgut|duoden|jejun|volvul|\bgut\b|ladd|c[ae]+c"),
    "neural": _sense(behind=r"[ ](?:net\w*|foram\w+|arch\w*|tube|crest|tissue|axis|canal|elements?)"),
    "nodal": _sense(
        before=r"(?:av|atrio-?ventricular|sinus|sino-?atrial)[ ]\Z",
        behind=r"[ ](?:arter\w+|rhythm|re-?entr\w+|points?|positions?|displacement\w*|osteo\w+|marker)",
    ),
    "patent": _sense(behind=r"[ ](?:blue|applic\w+|number|pending)"),
    "pigtail": _sense(about=r"angiogra|aortogra|ventriculogra|coronary|guide ?wire", unless=r"drain|nephro|abscess"),
    "protrusion": _sense(behind=r"[ ]of (?:the |an? )?(?:[\w-]+[ ])?(?:screw|nail|teeth|incisor|pin)", about=_TEETH),
    "reconstitution": _only(r"arter|vessel|collater|flow|occlu|vein"),
    "regurgitation": _sense(about=r"vomit|food|dysphag|achalas", unless=r"valv|mitral|aort|tricus|pulmon"),
    "reticular": _sense(behind=r"[ ](?:formation|dermis|fib\w+|cell\w*|activating)"),
    **dict.fromkeys(("stent", "stents"), _sense(about=_TEETH, unless=r"arter|vessel|bil|ureter|airway|carotid")),
    "trabecular": _sense(
            behind=r"[ ]mesh\w*",
            about=rf"{_HEART}|bladder|non-?compaction|{_EYE}",
            unless=r"bon[ey]|osseous|osteo|fractur|implant|femor|vertebr|mandib|calcan",
    ),
    **dict.fromkeys(("tubercle", "tubercles"), _sense(about=r"tubercul|miliary|granulom|caudate")),
}  # fmt: skip
# What counts or judges an organ when the organ is named: "solitary renal cyst" has one cyst, not one kidney.
_COUNTING = re.compile(
    r"\b(?:solitary|single|isolated|lone|sole|unique|accessory|ectopic|supernumerary|duplicated?|double|absent)[ ]\Z"
)
# Parts that share the first word of a name: "the femoral head, neck and shaft".
_PARTS = r"head|neck|shaft|body|tail|apex|base|arch|root|condyles?|trochanter\w*|bulb|antrum|fundus"
_PART_AT_END = re.compile(rf"\b(?:{_PARTS})\Z")
_PART_BEHIND = re.compile(rf"(?:[ ]?[,/&]|[ ](?:and|or|to)\b)[ ]?(?:(?:and|or|the|proximal|distal)[ ])*(?:{_PARTS})\b")
# Salt water, bubbles and air are no dye; neither is what makes a picture rich in contrast.
_NO_DYE = re.compile(
    r"\b(?:saline|agitated|bubble|air|negative|image|tissue|high|low|good|poor|strong|spontaneous|echo|phase|"
    r"double)[ -](?:with[ ])?\Z"
)
# Phrases that leave open which of two places is meant, and what decides it.
_EITHER = tuple(
    (re.compile(rf"\b{either}\b"), one, re.compile(for_one), other, re.compile(for_other))
    for either, one, for_one, other, for_other in (
        ("finger or toe", "finger", _OF_HAND, "toe", _OF_FOOT),
        ("fingers or toes", "fingers", _OF_HAND, "toes", _OF_FOOT),
        ("ovary or testicle", "ovary", r"ovar|uter|pelvic congest|woman|female", "testicle", r"scrot|testi|varicocele"),
        (
            "marrow or cord",
            "spinal cord",
            r"spinal cord|\bcord\b|ependym|syrin",
            "marrow",
            r"nail|femor|tibi|"
            r"humer|fractur",
        ),
        (
            "fluid or heart chamber",
            "fluid chambers of the brain",
            rf"{_OF_BRAIN}|hydrocephal|shunt|\bcsf\b",
            # "Intraventricular" itself is no word of the heart.
            "heart chamber",
            r"\bheart|cardi|\batri(?:um|al|a\b)|valv|coronar|aort|mitral|tricuspid",
        ),
        (
            "tiny ear bone or small piece of bone",
            "tiny ear bone",
            r"\bears?\b|tympan|mastoid|malle(?:us|ar)|incus|stapes|stapedi|cholestea|cochlea|otitis|hearing|incud",
            "small piece of bone",
            r"knee|tibia|patell|ankle|foot|fibul|elbow|wrist|hand|finger|thumb|toe|hip|femor|shoulder|talus|malleolus|"
            r"odont|spin|vertebr|nonunion|ununited",
        ),
        ("brain or spine covering", "brain covering", _OF_BRAIN, "spine covering", _OF_SPINE),
        ("covering of brain or spine", "covering of the brain", _OF_BRAIN, "covering of the spine", _OF_SPINE),
    )
)
_OUTER = " (outer layer of bone, brain or kidney)"
_WITH_CORTEX = tuple(
    (organ, re.compile(told))
    for organ, told in (
        (
            "bone",
            rf"{_BONE}|mandib|maxill|{_TEETH}|implant|periost|marrow|lytic|osteo|metaphys|diaphys|petrous|vertebr|scapul|"
            r"clavic|fibul|acetab|metac|metat|phalan|calcan|talus|\brib|sternum",
        ),
        (
            "brain",
            r"brain|cerebr|cerebell|intracran|hemispher|subdural|stroke|gyr(?:us|i|al)\b|sulc|white matter|prefrontal|"
            r"motor cortex|hippoc|seizure|epilep|(?:frontal|parietal|occipital|temporal) (?:lobe|cort)|dysplasia|"
            r"corpus callosum|glio|astrocyt|venous sinus|visual|\bdti\b|mening",
        ),
        ("kidney", r"kidney|renal|nephr"),
        ("other organ", r"adrenal|lymph|ovar|thym|lens\b|cataract"),
    )
)
_SIDED = re.compile(r"\A(?:left|right|bilateral) ")
_NEARBY = 40  # characters before a word that are looked at


def another_sense(surface: str, lower: str, start: int, end: int, singular: str = "") -> bool:
    """Whether the word at [start, end) does not mean here what the vocabulary says of it; where the table does not name
    a plural, its `singular` decides. `lower` is the caption in lower case."""
    sense = _SENSES.get(surface) or _SENSES.get(singular)
    if sense is None:
        return False
    before, behind, about, unless = sense
    if behind is not None and behind.match(lower, end):
        return True
    if before is not None and before.search(lower, max(0, start - _NEARBY), start):
        return True
    return about is not None and _speaks_of(about, lower) and not (unless is not None and _speaks_of(unless, lower))


@lru_cache(maxsize=16384)
def composed_of(surface: str) -> str:
    """The adjective of place that a composed name begins with, behind its side."""
    return _SIDED.sub("", surface).partition(" ")[0]


@lru_cache(maxsize=512)
def _speaks_of(what: re.Pattern[str], lower: str) -> bool:
    """Remembered, as several words of a caption ask for the same."""
    return what.search(lower) is not None


def no_dye(lower: str, start: int) -> bool:
    """Whether the contrast that is spoken of at `start` is no dye: "saline contrast", "double contrast"."""
    return _NO_DYE.search(lower, max(0, start - _NEARBY), start) is not None


def narrowed(lay: str, text: str) -> str:
    """A phrase that leaves open which of two places is meant, as the caption decides it; of an outer layer nothing is
    said where that is not one organ's.

    >>> narrowed("finger or toe bones", "Fractures of two phalanges of the left hand.")
    'finger bones'
    """
    if " or " not in lay:
        return lay
    lower = text.lower()
    if _OUTER in lay:
        organs = [organ for organ, told in _WITH_CORTEX if told.search(lower)]
        return lay.replace(_OUTER, f" (outer layer of the {organs[0]})" if len(organs) == 1 else "")
    for either, one, for_one, other, for_other in _EITHER:
        if either.search(lay):
            here, there = _speaks_of(for_one, lower), _speaks_of(for_other, lower)
            if here is not there:
                lay = either.sub(one if here else other, lay)
    return lay


def defined_otherwise(short: str, text: str, expected: str) -> bool:
    """Whether a caption tells itself what some capitals stand for, and none of the words of `expected` is told."""
    if _beside_a_mark(short).search(text) is None:
        return False
    return any(told.short == short and not re.match(expected, told.long, re.IGNORECASE) for told in resolve(text))


@lru_cache(maxsize=1024)
def _beside_a_mark(short: str) -> re.Pattern[str]:
    """Some capitals beside what every definition has there (`abbreviations`): most captions define nothing."""
    short = re.escape(short)
    return re.compile(rf"[(\[]\s?{short}|{short}(?:\s?[(\[]|\.?\s*[:=]|\s*(?:[–—]|-\s)|,\s|\s+(?:indicates|denotes)\s)")


def has_other_sense(surface: str) -> bool:
    """Whether a word has another sense anywhere."""
    return surface in _SENSES


def ends_in_part(surface: str) -> bool:
    """Whether a name ends in a part that others may share its first word with: "femoral head"."""
    return _PART_AT_END.search(surface) is not None


def counted_elsewhere(lower: str, start: int) -> bool:
    """Whether the word before an anatomical adjective would be read as said of the organ itself."""
    return _COUNTING.search(lower, max(0, start - _NEARBY), start) is not None


def shares_its_name(lower: str, start: int, end: int) -> bool:
    """Whether another part follows that lives on the first word of the name at [start, end)."""
    return _PART_BEHIND.match(lower, end) is not None and _PART_AT_END.search(lower, start, end) is not None
