"""Terms that do not stand alone are explained or left: each way in which plain words could be read with a neighbour."""

from __future__ import annotations

import pytest

from builders.medlaybench_v.writing.company import binds
from tests.parts.rule_captions import lay


@pytest.mark.parametrize(
    ("caption", "said", "never"),
    [
        # A noun that another word is joined to stays and is explained.
        ("Uterovaginal agenesis.", "uterovaginal agenesis (failure to form)", "uterovaginal failure"),
        ("A port-site metastasis is seen.", "port-site metastasis (spread of cancer)", "port-site spread"),
        ("A large metastasis is seen.", "large spread of cancer", "metastasis ("),
        ("A splenic infarction.", "spleen infarction (tissue death", "spleen tissue death"),
        ("A 3 cm abscess in the liver.", "a 3 cm pocket of pus in the liver", "abscess"),
        # What its plain words end in would take the "of" behind it.
        ("Infarction of the thalamus is seen.", "infarction (tissue death from lost blood supply) of the", "supply of"),
        # A place that the word before it contradicts.
        ("Cyst in the upper mandible.", "the upper mandible.", "lower jaw"),
        ("Atrophy of the bilateral cerebral hemisphere.", "cerebral hemisphere", "half of"),
        ("A septic aorta.", "septic aorta (body's main artery)", "septic body"),
        # A direction is one side of a thing, or part of a name.
        ("The posterior wall of the bladder.", "rear wall", "posterior"),
        ("The medial orbital wall and posterior ribs.", "inner eye-socket wall and rear ribs", "medial"),
        ("It presses on adjacent bowel loops.", "nearby", "adjacent"),
        ("A fracture of the lateral mass.", "lateral mass", "side"),
        ("Posterior sternoclavicular joint dislocation.", "posterior sternoclavicular", "rear"),
        ("Just proximal to the medial epicondyle.", "proximal to", "near"),
        # Which vessel is meant, and which half of two.
        ("Left vertebral angiograms show a clot.", "vertebral blood vessel scans", "spine"),
        ("Intra and extrahepatic biliary widening.", "extrahepatic", "outside"),
        ("A hydatid cyst head of pancreas.", "cyst", "parasite)"),
        # Salt water is no dye, and the chest no spine.
        ("View without saline contrast injection.", "saline contrast", "dye"),
        ("T2 thoracic MRI shows swelling of the disc at T11-T12.", "chest-level spine MRI", "chest MRI"),
        ("Tracts in the chronic brain.", "chronic brain", "long-term"),
        # The name of a method that goes on.
        ("MRI brain T2 image shows a stone.", "MRI brain", "MRI scan brain"),
        ("An axial image of CT shows a stone.", "image of CT shows", "of CT scan"),
        # A prefix written apart, a name of several words, a word that is no evidence for itself.
        ("Non calcified plaques are seen.", "calcified", "with calcium"),
        ("MRI of the brain shows an intraventricular lesion.", "brain", "heart"),
        # A side belongs to the place that is named, a verb to who does it, letters of a house to its name.
        ("A right femoral neck fracture is seen.", "right femoral neck fracture (of", "right fracture"),
        ("We administered a drug.", "We administered", "given"),
        ("X-ray on admission to the hospital.", "on admission to", "arrival"),
        ("Tumor of the external oblique, internal oblique and psoas.", "internal oblique", "angled"),
        ("Multi lobulated cyst.", "lobulated", "lumpy"),
        ("MRI of the eye: areas of the MR and LR near the globe.", "MR and LR", "the MRI"),
        ("CT of the transverse and sigmoid sinus.", "transverse and sigmoid", "crosswise"),
        ("A valgus osteotomy is seen.", "valgus bone-cutting surgery", "bent"),
        # Behind letters a bracket would be read as what they stand for.
        ("Advanced subglottic SCC is seen.", "subglottic SCC is", "(below"),
        # No bracket parts a word from a noun that has one of its own.
        ("A delayed portal venogram is shown.", "portal vein scan (venogram)", "supply"),
        # Behind another thing, an explanation says that it tells of an organ, not of the thing.
        ("A pineal germinoma is seen.", "germinoma (germ-cell cancer) of a deep brain gland", "pineal ("),
        ("The gastric pouch empties.", "gastric pouch (of the stomach) empties", "gastric ("),
        (
            "Retinal folds, aortic branches and cysts are seen.",
            "Retinal folds (of the back of the eye), aortic",
            "inal (",
        ),
        (
            "Though subretinal fluid persists, it is less.",
            "fluid under the light-sensing layer of the eye persists",
            "persists (",
        ),
        ("The mucosal folds are thick.", "mucosal folds (of the moist lining) are", "mucosal ("),
        # Nor does one part a name from the noun that goes on behind it.
        ("Filling of the right internal carotid artery branches.", "carotid artery", "neck) branches"),
        # An explanation does not say the word again that it explains.
        ("A left hilar mass is seen.", "hilar mass (at the lung root)", "(mass"),
        # One noun of two adjectives, a branch of the vessel that an adjective tells, and what was looked for in vain.
        ("Bone scan, anterior and posterior views.", "anterior and posterior views", "behind"),
        ("Anterior and posterior views of the knee.", "anterior and posterior views", "behind"),
        ("Medial and lateral malleoli fractures.", "medial and lateral malleoli", "bump"),
        ("Gastric and esophageal varices.", "stomach and food-pipe swollen veins", "swollen food"),
        ("No flow in the superior sagittal and right transverse sinuses.", "right transverse sinuses.", "vein"),
        ("Anomalous origin of a left atrial branch.", "left atrial branch (of", "branch of"),
        ("There is no visualization of left inguinal nodes.", "no sign of left", "viewing"),
        ("Slow fill-in in the late phase.", "fill-in in the", "fill-in the"),
        # What is found in a place is no explanation of the place.
        ("CT of the left basal ganglia (infarct).", "(nerve centers deep in the brain) (area of dead", "; area"),
        # A word's own head stands beside it.
        ("The epithelial layer is thick.", "epithelial layer (surface layer) is", ") layer"),
        ("The tibialis anterior muscle.", "tibialis anterior muscle (shin muscle)", ") muscle"),
    ],
)
def test_plain_words_stand_alone(caption: str, said: str, never: str) -> None:
    found = lay(caption)
    assert said in found or said.capitalize() in found, found
    assert never not in found, found


def test_what_is_joined() -> None:
    text = "The large tumor thrombus"
    assert binds(text, text.index("thrombus")) and not binds(text, text.index("tumor")) and not binds(text, 0)
