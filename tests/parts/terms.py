"""A handful of vocabulary terms for tests of the draft and what comes after it."""

from __future__ import annotations

from builders.medlaybench_v.words.terms import Term


def term(expert: str, lay: str, kind: str = "finding", pos: str = "noun", **more: object) -> Term:
    values: dict[str, object] = {"cui": None, "expert_plural": "", "lay_plural": "", "site": "", "gloss": False}
    values |= more
    return Term(expert=expert, lay=lay, kind=kind, pos=pos, source="test", licence="CC0-1.0", **values)  # type: ignore[arg-type]


TERMS = (
    term("computed tomography", "CT scan", "modality", cui="C0040405", expert_plural="-"),
    term("radiograph", "X-ray picture", "modality"),
    term("angiogram", "blood vessel scan", "modality"),
    term("hepatic", "liver", "anatomy", "adjective", site="the liver"),
    term("renal", "kidney", "anatomy", "adjective", site="the kidney"),
    term("renal vein", "renal vein", "anatomy"),
    term("left ventricle", "left lower heart chamber", "anatomy"),
    term("thoracic", "chest", "anatomy", "adjective", site="the chest"),
    term("axial", "cross-section", "view", "adjective"),
    term("abscess", "pocket of pus", site="in", cui="C0000833"),
    term("nodule", "small lump", site="in"),
    term("metastasis", "cancer spread", expert_plural="metastases", lay_plural="cancer spreads", site="in"),
    term("aneurysm", "bulge in a blood vessel"),
    term("edema", "swelling", expert_plural="-", site="in"),
    term("lymphadenopathy", "swollen lymph nodes", "disease", expert_plural="-", gloss=True),
    term("posterior to", "behind", "direction", "phrase"),
    term("demonstrates", "shows", "other", "phrase"),
    term("left lung nodule", "lung lump"),  # loses its side: never used
)
