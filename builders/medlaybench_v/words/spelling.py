"""Medical words in British spelling: captions come in both, a vocabulary names most things in the American one.

>>> british("intraventricular hemorrhage"), british("esophageal tumor"), british("coil embolization")
('intraventricular haemorrhage', 'oesophageal tumour', 'coil embolisation')
>>> british("schematic, oversized oedema")
'schematic, oversized oedema'
"""

from __future__ import annotations

import re

_SPELLED = {
    "anemi": "anaemi", "anesthe": "anaesthe", "cecal": "caecal", "cecum": "caecum", "celiac": "coeliac",
    "edema": "oedema", "esophag": "oesophag", "fecal": "faecal", "fetal": "foetal", "fetus": "foetus",
    "gynec": "gynaec", "hemangio": "haemangio", "hemato": "haemato", "hemody": "haemody", "hemoperi": "haemoperi",
    "hemopt": "haemopt", "hemorrhag": "haemorrhag", "hemothora": "haemothora", "ischemi": "ischaemi",
    "ization": "isation", "ized": "ised", "leukemi": "leukaemi", "pediatric": "paediatric", "tumor": "tumour",
}  # fmt: skip
_AMERICAN = re.compile(rf"(?<![ocst])(?:{'|'.join(_SPELLED)})")


def british(text: str) -> str:
    """A text with its medical words in British spelling."""
    return _AMERICAN.sub(lambda word: _SPELLED[word[0]], text)
