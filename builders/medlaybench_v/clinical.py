"""Families of disease and procedure words: which of them a text mentions.

A lay caption may say "cancer" where the expert wrote "carcinoma", and must not say it where nothing of the kind stood.
The families are deliberately broad: the gate is about inventions, not about synonyms.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

# family: beginnings of words. A trailing "$" asks for the whole word.
_FAMILIES = {
    "cancer": "cancer$ cancers$ cancerous carcino adenocarcino malignan metasta lymphoma sarcoma osteosarcoma "
    "liposarcoma leiomyosarcoma rhabdomyosarcoma chondrosarcoma angiosarcoma melanoma leuk tumor tumour "
    "neoplas myeloma blastoma glioblastoma neuroblastoma hepatoblastoma retinoblastoma nephroblastoma "
    "medulloblastoma seminoma mesothelioma teratoma thymoma glioma astrocytoma meningioma schwannoma adenoma "
    "cystadenoma fibroma lipoma angioma hemangioma haemangioma oncolog chordoma insulinoma carcinoid gist$ "
    "nsclc$ hcc$ rcc$ ependymoma neurofibroma ameloblastoma osteoma chondroma enchondroma papilloma "
    "paraganglioma pheochromocytoma craniopharyngioma hepatocellular cholangiocarcin lymphoproliferative "
    "hamartoma odontoma plasmacytoma myxoma pseudotumor",
    "stroke": "stroke infarct ischemi ischaemi cva$ apoplex lacunar occlu thrombo",
    "heart attack": "infarct mi$ stemi$ nstemi$",
    "pneumonia": "pneumoni consolidat pneumonitis bronchopneumoni covid",
    "infection": "infect sepsis septic abscess tubercul osteomyelitis mening enceph empyema cellulitis fung bacter "
    "viral virus aspergill sinusit candid pneumon endocardit pyelonephrit cholecystit appendicit diverticulit "
    "discitis spondylodiscitis tb$ hydatid echinococc neurocysticerc cysticerc toxoplasm pus$ purulent "
    "mycobacter nocardia mucor",
    "fracture": "fractur broken$ break$ breaks$ crack",
    "dislocation": "disloc sublux luxat",
    "bleeding": "bleed bled$ hemorrh haemorrh hematom haematom blood$ hemo haemo sah$ ich$ extravas microbleed",
    "clot": "clot thromb embol dvt$ pe$ cvt$",
    "aneurysm": "aneurysm pseudoaneurysm bulg dilat aneurismal",
    "pneumothorax": "pneumothora collaps",
    "diabetes": "diabet",
    "arthritis": "arthrit arthros osteoarthr",
    "cirrhosis": "cirrho",
    "hernia": "hernia protru",
    "asthma": "asthma",
    "emphysema": "emphysem copd$",
    "epilepsy": "epilep seizure",
    "dementia": "dementia alzheimer",
    "hydrocephalus": "hydroceph ventriculomegal",
    "appendicitis": "append",
    "pregnancy": "pregnan gestat fetal foetal fetus foetus intrauterine gravid trimester ectopic embryo placenta",
    "surgery": "surger surgic operat postop preop intraop resect excis ectomy graft transplant implant fixat repair "
    "bypass stent replac anastomos suture laparo thoracotom craniotom nephrectom hysterectom mastectom "
    "cholecystectom gastrectom lobectom colectom arthroplast amputat ablat embolisation embolization drain "
    "cathet ligat decompress debrid reconstruct osteotom prosthe screw plate$ plates$ fusion arthrodes "
    "pinning instrument endarterectom angioplast pci$ cabg$ sems$ tavi$ tavr$ evar$ remov",
    "biopsy": "biops aspirat fna$ fnac$ needle",
    "transplant": "transplant allograft graft",
    "chemotherapy": "chemo antineoplas",
    "radiotherapy": "radiother radiation radiosurg irradiat brachyther",
    "vaccine": "vaccin",
}


def _compile() -> tuple[dict[str, set[str]], dict[str, list[tuple[str, str]]]]:
    whole: dict[str, set[str]] = {}
    beginnings: dict[str, list[tuple[str, str]]] = {}
    for family, entries in _FAMILIES.items():
        for entry in entries.split():
            if entry.endswith("$"):
                whole.setdefault(entry[:-1], set()).add(family)
            else:
                beginnings.setdefault(entry[:2], []).append((entry, family))
    return whole, beginnings


_WHOLE, _BEGINNINGS = _compile()

# Words that show, in an expert caption, that a family is spoken of ("ischemia" makes "stroke" no invention) but that
# claim nothing when a lay caption uses them.
_NO_CLAIM = frozenset(
    "blood bulge bulging bulges bulged dilated dilatation widening collapse collapsed collapsing needle removed "
    "removal remove drain drained drainage drains draining catheter catheters plate plates screw screws "
    "protruding protrusion protrudes repair repaired instrument instruments occluded occlusion crack cracked "
    "fixation replaced replacement radiation fusion virus viral append appendix suture sutures operator operators "
    "broken break breaks implant implants graft grafts operation operations instrumentation instrumented "
    "implanted implantation".split()
)


@lru_cache(maxsize=65536)
def _families_of(word: str) -> frozenset[str]:
    begun = {family for beginning, family in _BEGINNINGS.get(word[:2], ()) if word.startswith(beginning)}
    return frozenset(begun | _WHOLE.get(word, set()))


def families(words: Iterable[str]) -> frozenset[str]:
    """The families that a text speaks of."""
    return frozenset().union(*map(_families_of, words))


def claims(words: Iterable[str]) -> dict[str, frozenset[str]]:
    """Each word that claims a disease or procedure, with the families it may belong to."""
    return {word: named for word in words if (named := _families_of(word)) and word not in _NO_CLAIM}
