"""The words that state a fact, by kind, for `facts` to look up. Lower case; singular and plural if both occur."""

from __future__ import annotations

CARDINALS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12,
}  # fmt: skip
ROMAN = {
    "i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10, "xi": 11, "xii": 12,
}  # fmt: skip
GRADED = frozenset(
    "type stage grade class segment zone level nerve case patient group phase category degree factor sector".split()
)
MONTHS_IN_ORDER = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
MONTHS = frozenset(MONTHS_IN_ORDER)

SIDES = {
    "left": "left", "leftward": "left", "leftsided": "left", "right": "right", "rightward": "right",
    "rightsided": "right", "bilateral": "both", "bilaterally": "both", "both": "both", "lt": "left", "rt": "right",
    "unilateral": "one", "unilaterally": "one", "ipsilateral": "same", "ipsilaterally": "same",
    "contralateral": "opposite", "contralaterally": "opposite",
}  # fmt: skip
# Sides in lay words, each before "side" or "sides".
LAY_SIDES = {
    "one": "one", "same": "same", "opposite": "opposite", "other": "opposite", "either": "both", "each": "both",
}  # fmt: skip
LEFT_BEHIND = frozenset("in untreated open behind as alone unrepaired intact inside to the with over".split())
BE = frozenset("was were been be has had have is are".split())

NEGATIONS = frozenset(
    "no not without absent absence never neither nor none cannot negative denies denied lack lacks lacking devoid "
    "missing nonvisualized nonvisualised non".split()
)

COLOURS = frozenset("white black red blue green yellow orange purple pink gray grey violet cyan magenta brown".split())
MARKERS = {
    "arrow": "arrow", "arrows": "arrow", "arrowed": "arrow", "arrowhead": "arrowhead", "arrowheads": "arrowhead",
    "asterisk": "asterisk", "asterisks": "asterisk", "asterix": "asterisk", "star": "asterisk", "stars": "asterisk",
    "*": "asterisk", "†": "dagger", "#": "hash", "circle": "circle", "circles": "circle", "circled": "circle",
    "triangle": "triangle", "triangles": "triangle", "box": "box", "boxes": "box", "boxed": "box",
}  # fmt: skip
# Shapes that also belong to names of structures: the circle of Willis, the triangle of Calot.
ALSO_ANATOMY = frozenset(("circle", "triangle"))

MODALITY_WORDS = {
    "ct": "CT", "cts": "CT", "mdct": "CT", "hrct": "CT", "cect": "CT", "ncct": "CT", "cbct": "CT", "cta": "CT",
    "ctpa": "CT", "cat": "CT", "mri": "MRI", "mris": "MRI", "mr": "MRI", "fmri": "MRI", "mra": "MRI", "mrv": "MRI",
    "mrcp": "MRI", "cmr": "MRI", "doppler": "ultrasound", "tte": "ultrasound", "tee": "ultrasound",
    "eus": "ultrasound", "ivus": "ultrasound", "duplex": "ultrasound", "us": "ultrasound", "cxr": "X-ray",
    "kub": "X-ray", "opg": "X-ray", "xray": "X-ray", "xrays": "X-ray", "dsa": "angiography", "pet": "PET",
    "spect": "nuclear",
}  # fmt: skip
# Words that name a modality only when written in capitals: "us", "cat", "pet", "tee", "mr" are English words or titles.
CAPITALS_ONLY = frozenset("us pet tee mr cat".split())
ALSO_ANGIOGRAPHY = frozenset("cta ctpa mra mrv".split())
# The first letters of modality words, by length of the stem, longest first.
MODALITY_STEMS = (
    ("orthopantomogra", "X-ray"), ("echocardiogra", "ultrasound"), ("ultrasono", "ultrasound"),
    ("ultrasound", "ultrasound"), ("echograph", "ultrasound"), ("sonogra", "ultrasound"), ("radiogra", "X-ray"),
    ("roentgen", "X-ray"), ("mammogra", "X-ray"), ("fluorosco", "X-ray"), ("angiogra", "angiography"),
    ("arteriogra", "angiography"), ("venogra", "angiography"), ("aortogra", "angiography"),
    ("scintigra", "nuclear"), ("scintiscan", "nuclear"),
)  # fmt: skip

# Inside a longer word these mean angiography: "lymphangiography", "portovenogram".
ANGIOGRAPHY_PARTS = ("angiogra", "venogra", "arteriogra")
BEFORE_TOMOGRAPHY = frozenset("computed computerized computerised computer axial resolution".split())
# "Spin echo" is a way of taking an MRI; "echo" alone is an ultrasound of the heart.
MRI_BEFORE_ECHO = frozenset("spin gradient field echoplanar planar".split())

BETWEEN_COLOUR_AND_MARKER = frozenset(
    "and or small large thick thin solid dashed dotted open closed long short curved straight big bold double".split()
)

PICTURE = frozenset(
    "scan scans imaging image images picture pictures study studies examination exam view views series x".split()
)

NOT_NEGATED = frozenset(("nonetheless", "nonsense", "nonagenarian", "nonagenarians"))
