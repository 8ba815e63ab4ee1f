"""Words with another sense beside certain words, shared names, and what two substitutions say together."""

from __future__ import annotations

import re

import pytest

from builders.medlaybench_v.writing import narrowing, neighbours, senses, topics
from tests.parts.rule_captions import bundled, lay


def test_patterns_are_in_lower_case_as_the_captions_are() -> None:
    told = [part for sense in senses.read_senses().values() for part in sense]
    told += [senses._NO_DYE, neighbours._COUNTING, neighbours._PART_AT_END, neighbours._PART_BEHIND]
    told += [pattern for row in narrowing.read_either() for pattern in (row.for_one, row.for_other)]
    told += [pattern for _, pattern in narrowing.read_layers()]
    patterns = [part.pattern for part in told if part is not None]
    assert [pattern for pattern in patterns if re.search(r"(?<!\\)[A-Z]", pattern)] == []
    assert not any(part.flags & re.IGNORECASE for part in told if part is not None)


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("MRI of the spine: a dural defect at L4.", "dural defect (of the spinal sac covering)"),
        ("Brain MRI: a dural defect near the skull.", "dural defect (of the brain covering)"),
        ("X-ray of the femoral head. Dural defect, lumbar spine.", "Dural (spinal sac covering) defect"),
        ("The stomach is pushed anteriorly by the mass.", "pushed toward the front"),
        ("A mass compresses the cord anteriorly.", "at the front"),
        ("The left portal vein is seen anteriorly.", "seen at the front"),
        (
            "Bowel is seen medially. The kidney is displaced laterally.",
            "seen on the inner side. The kidney is displaced toward",
        ),
    ],
)
def test_a_phrase_is_narrowed_by_its_caption(caption: str, said: str) -> None:
    assert said in lay(caption)


def test_no_word_has_more_than_a_row_of_senses() -> None:
    words = [word for row in topics.table("senses.csv") for word in row["words"].split("|")]
    assert len(words) == len(set(words)) and all(word == word.strip().lower() for word in words)
    assert [row["words"] for row in topics.table("senses.csv") if row["only"] and row["about"]] == []


def test_capitals_are_a_method_where_the_caption_tells_nothing_else_of_them() -> None:
    assert senses.defined_otherwise("MR", "Severe mitral regurgitation (MR) on echo.", "magnetic")
    assert senses.defined_otherwise("CT", "The root is wide. CT, connective tissue; LV, left ventricle.", "computed")
    assert not senses.defined_otherwise("MR", "Axial MR of the brain, magnetic resonance (MR).", "magnetic")
    assert not senses.defined_otherwise("CT", "Axial CT, arrow.", "computed")


@pytest.mark.parametrize(
    "caption",
    [
        "CT: cricothyroid muscle. The CT is bright.",
        "The CT is bright; CT = cricothyroid; TA = thyroarytenoid",
        "The cervicothoracic junction (CT) is wide.",
        "Chordae tendineae tissue (CT) is seen.",
        "The TA and CT are seen. CT, tendon of the center; TA, tibialis anterior.",
    ],
)
def test_other_words_that_hold_the_letters_tell_what_they_stand_for(caption: str) -> None:
    assert senses.defined_otherwise("CT", caption, "computed") and "CT scan" not in lay(caption)


@pytest.mark.parametrize(
    "caption",
    [
        "CT: carotid artery stenosis.",
        "Cytotoxic edema (CT).",
        "Chronic cyst of the tibia (CT).",
        "A mass in the liver. CT: cystic mass.",
        "The CT is shown. CT, computed tomography; TA, tibialis anterior.",
    ],
)
def test_a_finding_beside_a_method_does_not(caption: str) -> None:
    assert not senses.defined_otherwise("CT", caption, "computed")


@pytest.mark.parametrize(
    ("caption", "kept", "gone"),
    [
        ("The graft leaves at an acute inferior angle.", "acute", "sudden"),
        # A patch in the lung is cloudy; a coin, and a bone that looks brighter, is not.
        ("X-ray of a child: the circular opacity is a swallowed coin.", "circular opacity", "cloudy"),
        ("Increased bone opacity of the endplates.", "bone opacity", "cloudy"),
        ("Increased lucency of the left lung.", "increased darkness of the left lung", "dark area"),
        ("Angiogram with occlusion of the middle cerebral artery aneurysm.", "occlusion of", "blockage"),
        ("An absorbable plate compresses the right cavernous carotid artery.", "carotid artery", "neck"),
        ("The cannulated drill makes the socket in the bone.", "cannulated drill", "tube"),
        ("New protrusion of the catheter into the skin.", "protrusion of", "bulge"),
        ("Echocardiogram: hypertrophy of the right ventricle.", "hypertrophy of", "enlarge"),
        ("A cavernous malformation of the brain.", "malformation of", "part that"),
        ("CT of a renal pelvic mass.", "pelvic mass", "mass in the pelvis"),
        ("Bilateral cochlear otosclerosis.", "otosclerosis", "ear bones"),
        ("Plain and enhanced computed tomography scan of the thyroid.", "plain and enhanced CT scan", "dye"),
        ("A confluence of necrotic lymph nodes is seen.", "confluence of", "meeting"),
        ("Signal changes are seen, also demonstrated.", "also shown", "showed"),
        ("Also demonstrated are the regions with mild edema.", "also shown are", "showed"),
        ("Joints of the axial and appendicular skeleton.", "axial and appendicular", "cross-section"),
        ("CT of a coronal plane fracture of the femur.", "coronal plane fracture", "front-view"),
        ("Nasal displacement of the superior rectus.", "nasal displacement", "nose"),
        ("A histologically proven mass.", "histologically proven", "microscope"),
        ("CSF resorption is slow.", "resorption", "wearing"),
        ("The levator scapulae is thin.", "levator scapulae", "shoulder"),
        ("The umbilical segment of the vein.", "umbilical segment", "navel"),
        ("Oral contrast-enhanced CT of the tumor.", "with swallowed contrast liquid", "oral CT"),
        # Of the lung, the heart, the breast or a treatment, and of no other thing that is called so.
        ("Scarring of the bleb reaches the conjunctiva.", "bleb", "air bubble"),
        ("PET after two cycles of ICE chemotherapy.", "ICE chemotherapy", "ultrasound"),
        ("Mammogram with skin and trabecular thickening of the breast.", "trabecular thickening", "spongy"),
        ("CT of a missile pulmonary embolus.", "missile lung embolus", "clot"),
        ("Lytic image in the left sacral wing.", "lytic image", "bone-destroying"),
        ("Emphysematous changes of both lungs.", "signs of damage and over-inflation", "air-filled"),
        ("An arrow marks the diastolic, seen more proximally.", "diastolic", "heart-relaxation"),
        ("Panoramic ultrasound image of the calf, panoramic view.", "panoramic view", "dental"),
        ("An acute angulation of the aorta.", "acute", "sudden"),
        ("Biopsy for acute rejection.", "acute rejection", "sudden"),
        ("Left acute on chronic hematoma.", "new on top of long-term", "sudden"),
        ("The tibial osteotomy shows good consolidation.", "consolidation", "dense patch"),
        ("Relapse after consolidation chemotherapy.", "consolidation", "dense patch"),
        ("Sonogram of a cyst with enhancement behind it.", "enhancement", "dye"),
        ("The impacted lower third molar.", "impacted", "wedged"),
        ("Planned sites for implantation.", "implantation", "placement"),
        ("Solitary renal AML.", "renal", "kidney"),
        # Letters that stand for several things are explained where the caption speaks of one of them.
        ("Chest tube in zone 1: ICD within the chest.", "ICD", "heartbeat"),
        ("PE wear of the liner in the left hip.", "PE wear", "clot"),
        ("A mild pericardial effusion PE on CT of the chest.", "PE", "clot"),
        ("Right lung with MS and LP marked by nasal landmarks.", "MS", "sclerosis"),
        ("AML in the marrow after chemotherapy.", "AML", "growth"),
        ("NCCT KUB, a stone in the ureter.", "KUB", "X-ray"),
        ("Slices from cranial to caudal.", "cranial to caudal", "above"),
        ("Slices from lateral to medial, from dorsal to ventral.", "dorsal to ventral", "side of"),
        ("The cerebellopontine CP angle with a schwannoma.", "CP angle", "lung"),
        ("A flap on its vascular pedicle.", "pedicle", "spine"),
        ("The femoral head, neck and shaft.", "femoral head, neck", "ball"),
        ("No acute or chronic contusion.", "acute or chronic", "sudden"),
        ("Chronic blood in the ventricle.", "Chronic blood", "long-term"),
        ("A case of malignant glaucoma.", "malignant glaucoma", "cancerous"),
        ("Occlusion of the left shunt with a plug.", "Occlusion", "blockage"),
        ("Perforation of a bone screw into the canal.", "perforation of", "hole in"),
        ("The left lower posterior rib.", "lower posterior rib", "lower back"),
        ("Ultrasound with marked attenuation of the beam.", "attenuation", "density"),
        ("The carotid graft at the pulmonary root.", "pulmonary root", "lung root"),
        ("Shunt across the patch.", "shunt", "bypass"),
        # Words of several places or deeds, where the caption decides for another one or for none.
        ("Echo with severe MR across the posterior leaflet.", "MR", "MRI"),
        ("LR and MR at the orbital apex; ocular rectus insertion.", "MR", "MRI"),
        ("MR mammography of the left side.", "MR mammography", "X-ray"),
        ("Loculated fluid in the omental bursa of the belly.", "bursa", "cushion"),
        ("A molar pregnancy of 9 weeks.", "molar pregnancy", "tooth"),
        ("An aneurysm of the anterior choroidal artery.", "anterior choroidal artery", "eye"),
        ("Arthroscope through the lateral portal.", "portal", "liver"),
        ("A cirsoid aneurysm of the scalp.", "cirsoid aneurysm", "bulg"),
        ("Contrast uptake of the meninges on MRI.", "uptake", "tracer"),
        ("The stent crosses the culprit lesion.", "culprit lesion", "abnormal"),
        ("A lesion of the anterior cruciate ligament.", "lesion", "abnormal"),
        ("Foot with dorsal swelling.", "dorsal", "back"),
        ("Axial view of the patella, X-ray.", "axial", "cross-section"),
        ("The device embolized to the aorta.", "embolized", "purpose"),
        ("Teeth with distal caries.", "distal caries", "far"),
        ("The superior rectal artery bleeds.", "superior rectal artery", "upper"),
        ("Small nodules at the apex of the lung.", "apex", "tip"),
        ("An acute fracture line.", "recent fracture", "sudden"),
        ("Hip, antero posterior view.", "front-to-back view", "posterior"),
        ("An evident reduction in size.", "evident reduction", "seen"),
        ("Fracture of the rib.", "Fracture of the rib", "broken"),
        ("Sonogram; pulmonary bifurcation.", "fork of the lung artery", "lung bifurcation"),
        ("The tip is dilated in the coronary sinus.", "coronary sinus", "vein"),
        ("Ectopic pregnancy in the rudimentary horn.", "in the wrong place", "outside"),
        # A bone, a heart, a bowel only where the caption speaks of one.
        ("The radius of the cavity near the fundus is 4 cm.", "the radius of", "bone"),
        ("Tip in the right ventricle of the hydrocephalic brain.", "right ventricle", "heart"),
        ("Thrombosis of the left sigmoid sinus.", "sigmoid sinus", "colon"),
        ("An ampullary ectopic pregnancy.", "ampullary", "bile"),
        ("Varicose bronchiectasis on the left.", "varicose", "swollen"),
        ("Fracture of the capitulum humeri.", "capitulum humeri", "arm bones"),
        ("T1-weighted MRI: meningioma near the trigone of the lateral ventricle.", "tumor of the brain", "spine"),
        ("The rim remained unenhanced.", "remained unenhanced", "without"),
        ("Aortic right ventricular fistula.", "right ventricular", "of the right"),
        # Directions say no back of a body.
        ("A posterior spur at the elbow.", "posterior spur", "back"),
        ("The posterior area of the jaw.", "rear area", "back"),
        ("An anterior/posterior line.", "anterior/posterior", "front"),
        ("An intra peritoneal hematoma.", "intra peritoneal", "lining"),
        ("Mr Doe had a CT.", "Mr Doe", "MRI"),
        # What a gloss says is denied before it, or says whither where a surgeon comes from.
        ("A poorly circumscribed lytic defect.", "poorly circumscribed", "clear edge"),
        ("Fusion through a posterolateral approach.", "posterolateral approach", "toward"),
        ("A proximal migration of the stem.", "proximal migration", "nearer"),
        # Parts joined from birth, a grade of flow, what spreads itself, a heart's picture in other languages.
        ("A thick interthalamic adhesion.", "interthalamic adhesion", "scar"),
        ("Flow of Thrombolysis in Myocardial Infarction grade 2.", "thrombolysis in", "clot-dissolving"),
        ("A map of regional invasion of the sarcoma.", "invasion (spread into nearby tissue) of", "spread into the"),
        ("ETT with a large left atrium.", "ETT", "tube"),
        ("Drainage by the internal mammary veins.", "mammary", "breast"),
        ("A perihilar cholangiocarcinoma of the liver.", "perihilar", "lung"),
        ("A midesophageal web.", "midesophageal web", "from"),
        ("An obstructive stone in the duct.", "obstructive stone", "from a blockage"),
        ("A contrast-enhancing T1 image of the brain.", "contrast-enhancing T1", "brightens"),
        ("A right ventricular branch of the artery.", "branch of", "branch of the right"),
        ("Calcified crowns of the molars.", "calcified crowns", "build-up"),
        ("A large vascular tumour of the palm.", "vascular tumour", "blood-vessel"),
        ("Two cortical screws in the femur.", "cortical screws", "outer layer"),
        ("Melanoma in situ of the heel.", "in situ", "in place"),
        ("Ventriculogram with a pigtail catheter in the left ventricle.", "pigtail", "drain"),
        ("Thick cortical bone hypertrophy of the tibia.", "cortical bone hypertrophy", "enlarge"),
        ("A true umbilical knot.", "umbilical knot", "navel"),
        ("A ruptured biceps tendon.", "ruptured", "burst"),
        ("A calcified cul-de-sac of the duct.", "cul-de-sac", "belly"),
        ("Echo of a subpulmonary defect beside the aorta.", "subpulmonary", "lung"),
        ("A polyp in the vestibule of the nose.", "vestibule", "ear"),
        ("Paracentesis of the eye.", "paracentesis", "belly"),
        ("A Foley catheter in the jejunum.", "Foley catheter", "bladder"),
        ("Stippled femoral epiphyses.", "femoral epiphyses", "thigh"),
        ("Opacification reveals the tube and a side branch.", "opacification", "whitening"),
        ("The hyperechogenicity of the wall.", "hyperechogenicity of", "brighter area"),
        ("The air lies ventrally to the bone.", "ventrally to", "at the front"),
        ("The clot compresses and thrombosis the vein.", "thrombosis the", "clotting the"),
        # What another organ does, or has, that is called alike.
        ("HIDA scan: gallbladder ejection fraction of 12%.", "ejection fraction of", "heart"),
        ("Wrist in dorsiflexion after a fall.", "dorsiflexion", "foot"),
        ("Scar endometrioma of the abdominal wall.", "endometrioma", "ovary"),
        ("Pannus below the mechanical aortic valve.", "pannus", "joint"),
        ("Sclerotherapy of a renal cyst.", "sclerotherapy of", "vessel"),
        ("OCTA with a flow void of the choriocapillaris.", "flow void", "moves"),
        ("Ventriculogram through a burr hole, blocked aqueduct.", "ventriculogram", "heart"),
        ("Deep sulcus sign of the femoral condyle.", "deep sulcus sign", "lung"),
        ("Gallium scan with a lambda sign in sarcoidosis.", "lambda sign", "twins"),
        ("Rigler sign of a nodule.", "Rigler sign", "bowel"),
        ("Ankylosis of the second molar.", "ankylosis", "joint"),
        ("A gastric pacemaker.", "pacemaker", "heartbeat"),
        ("Volvulus of the gallbladder.", "volvulus", "bowel"),
        ("Metastatic calcification of the lungs.", "metastatic calcium", "cancer"),
        ("Coarctation of the pulmonary artery.", "coarctation", "body's"),
        ("The nasal fontanelle is open.", "fontanelle", "skull"),
        ("White matter of the cervical cord.", "white matter", "brain"),
        ("Macular gliosis.", "gliosis", "brain"),
        ("Pelvic hematocele after a tubal rupture.", "hematocele", "testicle"),
        ("The manubrium of the malleus.", "manubrium", "breast"),
        ("Echogenic pulvinar of the hip.", "pulvinar", "thalamus"),
        ("Recanalized umbilical vein in cirrhosis.", "umbilical vein", "cord"),
        ("Lingular height of the mandible.", "lingular height", "lung"),
        ("Echo: the RCC of the aortic valve.", "RCC", "cancer"),
        ("Sheath in the RFA, iliac angiogram.", "RFA", "radio"),
        ("Lymphovascular emboli in the section.", "emboli", "clot"),
        ("MRI with a venous infarct.", "venous infarct", "vein"),
        ("CT of a malignant left middle cerebral artery territory infarction.", "malignant", "cancer"),
        ("Malignant MCA stroke on CT.", "malignant", "cancer"),
        ("Megaloblastic marrow in malignant anemia.", "malignant", "cancer"),
        ("Cardiac MRI with severe MR.", "severe MR", "severe MRI"),
        ("CT of a patient with MR and epilepsy.", "MR and", "MRI"),
        ("Ultrasound showing a hydrocele in a female infant.", "hydrocele", "testicle"),
        ("Ultrasound-guided infiltration of the tendon sheath.", "infiltration", "spread"),
        ("Strain of the triceps surae.", "triceps surae", "arm"),
        ("CT with a bovine aortic arch.", "bovine", "cattle"),
        # Narrow or wide is what is hollow: of others a vessel, a duct or a canal is.
        ("Left renal stenosis.", "left renal narrowing", "kidney"),
        ("CT with intrahepatic dilatation.", "intrahepatic widening", "liver"),
        ("Mesenteric stenoses on CT angiography.", "mesenteric narrowings", "tissue"),
        # What two words share stays theirs.
        ("Lesions of the frontal and occipital lobes.", "frontal and occipital lobes", "part of the brain"),
        ("Gastric and liver abscess.", "stomach", "pus in the liver"),
    ],
)
def test_another_sense_is_left(caption: str, kept: str, gone: str) -> None:
    said = lay(caption)
    assert kept.lower() in said.lower() and gone not in said, said


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("Acute pain was felt.", "Sudden pain"),
        ("A malignant tumor of the lung with infarction.", "cancerous tumor"),
        ("A mass with infiltration of the chest wall.", "spread into the chest wall"),
        ("Hydrocele in a boy.", "testicle"),
        ("A graft of bovine tissue.", "of cattle"),
        ("Echo with an ejection fraction of 40%.", "each heartbeat pumps"),
        ("Tracheal stenosis.", "narrowing of the windpipe"),
        ("Consolidation of the right lower lobe after rib fracture.", "dense patch"),
        (
            "Enhancement of the meninges on CT.",
            "brightening of the meninges (coverings of brain and spinal cord) with contrast dye",
        ),
        ("The femoral head is flat.", "ball of the hip joint"),
        ("An impacted stone.", "wedged"),
        ("Acute and old subdural hematoma. Chronic hematoma.", "old blood collection"),
        ("Acute thrombus in the vein.", "fresh blood clot"),
        ("A soft tissue mass in the bone.", "mass of soft tissue"),
        ("Gallstone ileus.", "bowel blocked by a gallstone"),
        ("Intussusception of the jejunum.", "telescoping (intussusception) of the jejunum"),
        ("Occlusion of the vein.", "blockage of the vein"),
        ("Angiography of the leg.", "blood vessel imaging (angiography)"),
        ("The right ovarian cyst.", "cyst of the right ovary"),
        ("MR shows T2 signal.", "MRI scan shows"),
        ("Phalanges of the left hand.", "finger bones"),
        ("Phalanges of the foot.", "toe bones"),
        ("Phalanges of the hand and of the foot.", "finger or toe bones"),
        ("Swelling of the shoulder bursa.", "cushion of a joint"),
        ("Uptake of FDG on PET.", "taking up of the tracer"),
        ("The reduction is evident.", "seen"),
        ("Portal venous gas; a portal hilus.", "liver"),
        ("The mucosa of the tongue.", "moist lining of the tongue"),
        ("A substernal goiter.", "behind the breastbone"),
        ("Repaired hypoplastic left heart syndrome.", "syndrome (underdeveloped main pumping side)"),
        ("The drill bit lies in the intramedullary region of the femur.", "(inside the marrow)"),
        ("An intramedullary mass of the thoracic spine.", "inside the spinal cord"),
    ],
)
def test_the_usual_sense_is_said(caption: str, said: str) -> None:
    assert said.lower() in lay(caption).lower(), lay(caption)


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        # What the sentence says of contrast it says once.
        ("Contrast CT. There is enhancement.", "This is a contrast CT scan. There is brightening with contrast dye."),
        ("Barium study shows enhancing mucosa.", "A barium study shows moist lining that brightens."),
        ("Barium meal, esophagogram.", "This is a barium meal (contrast drink), food-pipe X-ray."),
        (
            "Barium study and contrast-enhanced CT show a mass.",
            "Barium (contrast liquid) study and CT scan with contrast dye show a mass.",
        ),
        ("CT scanning was done.", "CT scanning was done."),
        ("CT showing a massive pneumopericardium.", "A CT scan shows massive air around the heart."),
        ("A pneumothorax is seen.", "An air pocket around the lung is seen."),
        ("CT arterial phase showing a cyst.", "A CT arterial phase (dye in the arteries) shows a cyst."),
        ("MR angiography showing a cyst.", "MRI blood vessel imaging shows a cyst."),
        ("MRI T2 cuts showing two masses.", "MRI T2 cuts show two masses."),
        ("Axial CT: the arrow demonstrating a cyst.", "Cross-section CT scan: the arrow showing a cyst."),
        (
            "CT of rim-enhancing collections.",
            "CT scan of collections that brighten at the edge with contrast dye.",
        ),
        ("Coronal sections of CT scan showing a cyst.", "Front-view sections of CT scan show a cyst."),
        ("Short view of showing a tear.", "A short view shows a tear."),
        # What contradicts itself is no name of a picture; a sentence that lacks its space gets one.
        ("Non-contrast enhanced CT scan showed a cyst.", "A CT scan without contrast dye showed a cyst."),
        (
            "The superior sagittal sinus fistula is open.",
            "The superior sagittal sinus fistula (abnormal passage) is open.",
        ),
        (
            "It is open. Preoperative vascular ultrasonography is normal.",
            "It is open. Blood-vessel ultrasound before surgery is normal.",
        ),
        (
            "Thickening of the anterior commissure of the larynx.",
            "The image shows thickening of the anterior commissure (at the front) of the voice organ.",
        ),
        ("A cyst.The cyst is old.", "The image shows a cyst. The cyst is old."),
        ("A CT image of the knee.", "This is a CT image of the knee."),
        ("Resected femur with a plate.", "The image shows a resected thigh bone (removed by surgery) with a plate."),
        ("Patchily enhancing masses.", "Patchily dye-brightened masses."),
        ("Contrast CT: patchily enhancing masses.", "Contrast CT scan: patchily dye-brightened masses."),
        ("Acute Respiratory Distress Syndrome", "Acute Respiratory Distress Syndrome."),
        (
            "Avid enhancement of the spot lateral to it.",
            "Avid enhancement (strong brightening with contrast dye) of the spot to the outer side of it.",
        ),
        (
            "The arrow marks C on MRI. MRI, magnetic resonance imaging; E, edema of the cord.",
            "The arrow marks C on an MRI scan. MRI scan; E, swelling of the cord.",
        ),
    ],
)
def test_phrases_join(caption: str, said: str) -> None:
    assert lay(caption) == said


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        # A gloss says nothing that a modifier denies.
        ("Two large subpleural granulomas.", "granulomas (inflamed lumps)"),
        ("Ultrasound with a 6 cm large lacunar infarct.", "6 cm large stroke-damaged area"),
        ("Malignant conversion of a chronic acute appendicitis.", "appendicitis"),
        # A number and what it counts stay together.
        ("Radiograph on postoperative day 13 of treatment.", "X-ray on day 13 after surgery of treatment"),
        ("CT at two months postoperatively.", "at two months after surgery"),
        ("CT six months post-operative showing no stone.", "six months after surgery"),
        # No word twice.
        ("Dental panoramic radiography.", "a wide dental X-ray."),
        ("Ischemic infarction of the pons.", "tissue death from lost blood supply"),
        ("Vascular hemangioma of the liver.", "hemangioma (noncancerous blood vessel growth)"),
        ("Ewing's sarcoma of the rib.", "Ewing's sarcoma (a bone cancer)"),
        ("MRI imaging of the wall.", "This is MRI imaging of the wall."),
        ("Hepatic and renal cysts.", "liver and kidney cysts"),
    ],
)
def test_neighbours_agree(caption: str, said: str) -> None:
    assert said in lay(caption), lay(caption)


@pytest.mark.parametrize(
    ("caption", "said", "gone"),
    [
        # Six that two readers found, and others of each kind.
        ("Removal of the ununited ossicle at the knee.", "ossicle (small piece of bone)", "ear"),
        ("An ossicle of the middle ear.", "ossicle (tiny ear bone)", "piece"),
        ("The infiltration of the fatty tissue in panniculitis.", "spread into the", "growth"),
        ("Concentric reduction of the joint.", "setting back in place", "all around"),
        ("Femoral defect of the cartilage.", "thigh-bone defect", "thigh defect"),
        ("A lure on the rubber septum.", "rubber septum", "wall"),
        ("Mass effect of the lesion.", "mass effect of", "pressure"),
        ("A slice with angulation along the needle.", "angulation", "bending"),
        ("Implant with a healing abutment and crown; abutment.", "abutment", "touching"),
        ("Standard deviation of the map.", "Standard deviation", "shift"),
        ("Dens invaginatus of the upper tooth.", "dens invaginatus", "neck"),
        ("Right mesial temporal sclerosis.", "mesial temporal", "mouth"),
        ("Renal biopsy with interlobular arteries.", "interlobular", "lung"),
        ("A neural network marks the cells.", "neural network", "nerves"),
        ("A decubitus ulcer of the heel.", "decubitus ulcer", "lying"),
        ("A bulging fissure of the right lung.", "bulging fissure of", "split"),
        (
            "CT in arterial (A), portal venous (B) and delayed phase (C).",
            "arterial (A), portal venous (B) and",
            "artery",
        ),
        ("Superior sagittal and right transverse sinuses.", "sagittal and right", "view"),
        ("Fracture of the sagittal and coronal sutures.", "sagittal and coronal sutures", "view"),
        # Institutes keep their names.
        ("The Scoliosis Research Society's rules.", "Scoliosis Research Society", "curve"),
        ("Courtesy of the Department of Bronchoscopy and Surgery.", "of Bronchoscopy and Surgery", "airway"),
        ("The lesion is FDG-avid.", "is FDG-avid.", "is that"),
        # An outer layer is one organ's, or nothing is said of it.
        ("Cortical thinning of the tibia.", "thinning (in the outer layer of the bone)", "brain"),
        ("Cortical thickening of the adrenal gland.", "cortical thickening", "other organ"),
        ("The cortex near the sulcus of the brain.", "outer layer of the brain", "bone"),
        ("Cortical enhancement.", "shows cortical", "outer"),
        # What says where of another word is no place of a thing.
        ("A mass with centrally non-enhancing areas.", "with centrally", "in the center"),
        ("The tip is posteriorly directed.", "posteriorly directed", "toward the rear"),
        ("Uneven mass: a heterogeneous hyperdense mass.", "uneven-looking and brighter-looking", "looking bright"),
        ("A lesion in tracts; cut by the lesion rather than pushed.", "abnormal area rather", "lesion"),
        ("CTA of the legs.", "CTA (CT scan of blood vessels)", "heart"),
        ("Patella baja of the left knee.", "patella baja (kneecap that sits too low)", "high"),
    ],
)
def test_what_two_readers_found(caption: str, said: str, gone: str) -> None:
    written = lay(caption)
    assert said in written
    assert gone not in written


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("No intravascular coagulation.", "No intravascular coagulation (inside the vessel)."),
        ("A case of retinal pigmentosa.", "This is a case of retinal pigmentosa (inherited eye disease)."),
        ("The anterior plate (arrow).", "the anterior plate (arrow)."),
        ("A proximal stump (PS) was seen.", "A proximal stump (PS) was seen."),
    ],
)
def test_no_bracket_parts_an_adjective_and_its_noun(caption: str, said: str) -> None:
    assert lay(caption).endswith(said)


@pytest.mark.parametrize(
    ("caption", "said", "gone"),
    [
        # A vessel is blocked on purpose, a thing comes loose and travels.
        ("The closure device embolized into the aorta.", "embolized", "on purpose"),
        # The lower end of a lung, the upper of a heart chamber.
        ("Scar in the basal segment of the septum of the heart.", "basal", "lower"),
        ("Basal atelectasis of the right lung.", "basal", "absent"),
        ("Attenuation of the flow of blood on CT.", "attenuation", "density"),
        ("A lesion of low attenuation on CT.", "density", "attenuation"),
        ("A thoracic lesion of the spinal cord.", "thoracic", "chest"),
        ("Injury of the thoracic duct.", "thoracic duct (main lymph vessel", "chest duct"),
        ("Graft from the fibula.", "outer lower-leg bone", "calf"),
        ("A vein just proximal to the valve.", "proximal to", "near side"),
        ("Late subacute infarct.", "late subacute", "old"),
        ("A subacute infarct was seen.", "(days to weeks old)", "somewhat"),
        ("Reduction of the fracture with a plate.", "setting of the broken bone", "reduction"),
        ("A reduction of the dose.", "reduction of the dose", "setting"),
        ("High resolution of the image.", "resolution", "disappearance"),
        ("Abdominal distension after a meal.", "swelling of the belly", "stretching"),
        ("Signs of intracranial hypotension.", "low fluid pressure inside the skull", "hypotension"),
        ("The acetabular component is loose.", "artificial hip socket", "part"),
        ("The tibialis posterior was thin.", "tibialis posterior (", "tibialis rear"),
        ("A false aneurysm was seen.", "false aneurysm (walled-off leak)", "bulging"),
        ("Focal spot of the tube.", "focal spot", "local"),
        ("Nuclear magnetic resonance imaging of the knee.", "nuclear magnetic resonance", "nuclear MRI"),
        ("The catheter's tip is free.", "catheter's tip", "thin tube"),
        ("Thinning and corpus callosum thinning.", "corpus callosum thinning", "halves"),
    ],
)
def test_a_phrase_that_is_right_in_one_place_needs_its_evidence(caption: str, said: str, gone: str) -> None:
    written = lay(caption).lower()
    assert said.lower() in written, written
    assert gone.lower() not in written, written


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("Hippocampal deposits.", "Hippocampal deposits."),
        ("The aortic tube is open.", "The aortic tube (of the main artery) is open."),
        ("A dorsal swelling.", "A dorsal swelling (at the rear)."),
        ("A nasal septal fold.", "A nasal septal fold."),
    ],
)
def test_an_explanation_reads_behind_the_noun(caption: str, said: str) -> None:
    assert lay(caption).removeprefix("The image shows ").casefold() == said.casefold()


def test_a_verb_that_nobody_lists_is_seen_by_its_object() -> None:
    assert lay("CT image of the neck characterized a mass.") == "CT image of the neck characterized a mass."


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        # Of "small bowel perforation" only the whole name may go: the hole is not small.
        ("A large small bowel perforation was seen.", "A large hole in the small bowel was seen."),
        # What stands behind an explanation stays when there is no room for it.
        (
            "The hamartoma, the abscess (flap) of the adenoma and the abdominal aortic aneurysm.",
            "aneurysm (balloon-like bulge) of the belly's main artery",
        ),
        ("Abdominal aortic aneurysm. Repair of the abdominal aortic aneurysm.", "aneurysm of the belly's main artery."),
        # A plural has the other senses of its word.
        ("Thin apical segments of the left ventricle.", "apical segments"),
        ("The apical segments of the left lung.", "top segments"),
        ("The heart seen with anterior to the left.", "anterior to the left"),
        ("A vein anterior to the left kidney.", "in front of the left kidney"),
        ("The fin is caudal to the eye of the fish.", "caudal to"),
        ("Shadows bilaterally dense on the film.", "bilaterally dense"),
        ("An intravenous line.", "An intravenous line (into a vein)."),
        ("Intracranial lesion.", "abnormal area inside the skull"),
        ("Shunting through the first jejunal trunk goes on.", "jejunal trunk (of the middle small bowel) goes"),
        ("Percutaneous drainage of pus.", "percutaneous drainage (through the skin) of pus"),
    ],
)
def test_what_a_third_reading_found(caption: str, said: str) -> None:
    assert said.lower() in lay(caption).lower(), lay(caption)


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("Mass of the neck on CT scan.", "A CT scan shows a mass of the neck."),
        ("CT showing gallbladder wall thickening.", "A CT scan shows gallbladder wall thickening."),
        ("CT showing large gallbladder.", "A CT scan shows a large gallbladder."),
    ],
)
def test_a_frame_fits_what_it_holds(caption: str, said: str) -> None:
    assert lay(caption) == said


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        (
            "A subchondral lesion typical of cancer.",
            "subchondral lesion (below the cartilage) typical of cancer",
        ),
        ("Image of a subcutaneous vein posterior.", "subcutaneous"),
        ("Cranial MR image.", "head MRI image"),
        ("The cranial end of the lump.", "cranial end (toward the head)"),
        ("Axillary view of the shoulder.", "axillary view"),
        ("Cartilage lesion of the knee.", "lesion"),
    ],
)
def test_a_name_ends_with_its_noun(caption: str, said: str) -> None:
    assert said.lower() in lay(caption).lower(), lay(caption)


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("AP film of the hip.", "AP (front-to-back) film of the hip"),
        ("The PA interval of the heart.", "PA interval"),
        ("Chest X-ray PA showing a mass.", "Chest X-ray PA (back-to-front) shows a mass."),
        ("SEM image of a tooth showing a hole.", "A SEM (electron microscope) image of a tooth shows a hole."),
        ("Transverse US view.", "This is a crosswise ultrasound view."),
        ("A survey in the US is shown.", "in the US"),
        ("Signs of intra-cranial hypotension.", "low fluid pressure inside the skull"),
        ("Ultrasound of a cyst with posterior enhancement.", "cyst with ultrasound brightening behind it"),
    ],
)
def test_letters_are_unfolded_where_they_are_sure(caption: str, said: str) -> None:
    assert said.lower() in lay(caption).lower(), lay(caption)


def test_every_entry_of_the_list_passes_its_own_gate() -> None:
    """An entry whose phrase would change a fact is never said; the few that may be are names."""
    assert bundled().rejected["lay phrase changes a fact"] <= 6
    assert "heart in mirror position" in lay("Film showing dextrocardia.")
    assert "TEE (heart ultrasound through the food pipe) image" in lay("TEE image of the heart.")
    assert "finger" not in lay("ERCP with papillary balloon dilatation.")


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("Neither a benign nor a malignant sign.", "neither a noncancerous nor a cancerous sign"),
        ("Impacted premolars and impacted teeth.", "trapped premolar teeth and trapped teeth"),
        ("A tear of the rim from anterior to posterior.", "from anterior to"),
        ("A tear from right anteriorly toward the midline posteriorly.", "right anteriorly toward the midline post"),
        ("Resolution of previously occluded portal vein.", "resolution of previously blocked"),
        ("A chest X-ray with enlargement of cardia.", "enlargement of cardia."),
        ("Arterial and venous phases of a tangle.", "arterial and venous phases"),
        ("Patients with radiologically isolated syndrome.", "radiologically isolated"),
    ],
)
def test_no_word_is_lost_to_a_neighbour(caption: str, said: str) -> None:
    assert said.lower() in lay(caption).lower(), lay(caption)


def test_a_view_of_a_flat_picture_is_no_cross_section() -> None:
    assert "axial view" in lay("Axial view after a year, with erosion of the glenoid.").lower()
    assert "(toward" not in lay("Dorsal T2-weighted images of the cord.")


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("Coronal MRA image shows a tear of the glenoid labrum.", "MRA image"),
        ("MRA of the neck showed a narrow artery.", "MRA (MRI of blood vessels)"),
        ("A fracture of the anterior superior iliac spine.", "anterior superior iliac spine."),
        ("X-ray showing the root canal obturation.", "shows the root canal filling"),
        ("CT scan of the chest: sagittal scan showing a stone.", "scan shows"),
        ("Left ventriculography showed a hole.", "Left ventriculography (imaging of the heart chamber with dye)"),
        ("Radiological image of the shoulder.", "This is a medical image of the shoulder."),
        ("An example of the images from a poor group.", "This is an example of the images"),
    ],
)
def test_letters_of_two_methods_and_names_of_two_words(caption: str, said: str) -> None:
    assert said.lower() in lay(caption).lower(), lay(caption)


def test_what_is_told_of_a_picture_is_no_picture() -> None:
    assert lay("Findings of initial panoramic radiograph.").startswith("The image shows the findings of")


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("CT scan showing the median arcuate ligament.", "ligament (band of the diaphragm)"),
        ("Ultrasound of the transverse carpal ligament.", "ligament (band across the wrist)"),
        ("MRI of a tear of the alar ligament.", "ligament (band between skull and upper neck)"),
        ("Ultrasound of the tunica vaginalis.", "vaginalis (covering of the testicle)"),
        ("CT scan showing the ulnar styloid.", "ulnar styloid (bony tip of the pinky-side forearm bone)"),
    ],
)
def test_bands_and_tips_are_explained(caption: str, said: str) -> None:
    assert said in lay(caption), lay(caption)


@pytest.mark.parametrize(
    ("caption", "said", "gone"),
    [
        # A name of several words has a meaning of its own.
        ("CT of a basilar invagination.", "(spine top pushed up into the skull)", "folding"),
        ("Tumor thrombus extension into the vein; the thrombus is large.", "tumor thrombus", "blood clot"),
        ("Apical periodontitis of the lower molar.", "(inflammation around the root tip)", "gum"),
        ("A reverse Segond fracture of the left knee.", "inner knee", "outer"),
        ("MRI of the ventral striatum.", "reward center", "movement"),
        ("Clot in the small saphenous vein.", "small saphenous vein (surface vein of the calf)", "small surface"),
        ("Severe aortic valve regurgitation.", "leaky outlet valve of the heart", "main artery"),
        ("Mass of the tricuspid valve.", "(inlet of the heart's lung-pumping chamber)", "(into"),
        ("Chest CT: mass in the left lumbar region of the abdomen.", "belly-side", "lower-back"),
        ("CT of thick septations.", "thick dividing walls", "thin"),
        ("Right femoral access for the catheter.", "access from the right groin", "thigh"),
        # What stands beside a word decides what it is.
        ("Ultrasound of the pericardial effusion-volume.", "effusion-volume", "sac"),
        ("MRI of the thoracolumbar spine shows a subdural hematoma.", "under the spinal sac covering", "brain"),
        ("CT of the head shows a subdural hematoma.", "under the brain covering", "spin"),
        ("Panoramic view of the Achilles tendon by ultrasound.", "panoramic view", "dental"),
        ("Panorama X-ray after elongation of the leg.", "panorama X-ray", "dental"),
        ("Panoramic view showing the third molar.", "wide dental view", "panoramic"),
        ("Angiogram shows significant tumor revascularization.", "tumor revascularization", "restor"),
        (
            "T2 image shows disappearance of the epidural abscess.",
            "outside the brain or cord covering",
            "the brain cov",
        ),
        ("Brain MRI shows an epidural abscess.", "outside the brain covering", "cord"),
        ("The tumor is located in the hilar, cystic, and umbilical plate.", "hilar, cystic,", "cyst-like"),
        ("Stones in the cystic and common bile ducts.", "cystic and", "cyst-like"),
        ("Cystic and solid components of the mass.", "cyst-like and solid", "cystic"),
        ("Nodules, a few of which show calcifications, are seen.", "a few of which show", "showing"),
        ("Nodules, a few of which show calcifications.", "a few of which show", "showing"),
        (
            "A corneal section with edge detection turned on, showing the anterior surface.",
            "turned on shows",
            "turned shows",
        ),
        (
            "CT scan at our institution, with arrow showing appendiceal inflammation.",
            "with arrow showing",
            "arrow shows",
        ),
        ("A small left pleural effusion.", "small fluid build-up", "amount"),
        (
            "The central venous catheter in the left jugular vein.",
            "central line (thin tube in a large vein) in",
            "thin tube in a large vein in",
        ),
        ("The peritoneal abscess is just above the bladder.", "in the belly cavity", "lining"),
        (
            "The left ventricular end diastolic area.",
            "end diastolic area (when the heart is most filled)",
            "relaxation",
        ),
        ("Bowel ischemia with pneumatosis.", "gas in the bowel wall", "tissue"),
        ("X-ray of the distal phalanx of the thumb.", "phalanx (end bone) of the thumb", "finger"),
        ("Solid arthrodesis is seen.", "solid joining of the bones", "surgery"),
        ("DWI with gyral enhancement.", "enhancement", "dye"),
        ("Edema of both transplanted lungs.", "edema of", "swelling"),
        ("Increased fluid level in the joint.", "fluid level", "line"),
        ("Liver hematoma in the subscapular region.", "subscapular", "shoulder"),
        ("The subscapular hematoma of the rotator cuff.", "under the shoulder blade", "liver"),
        ("Left ventricular configuration of the treatment fields.", "configuration", "shape"),
        ("The mass is isointense to muscle.", "as bright as muscle", "surroundings"),
        ("MRI shows an isointense mass.", "isointense mass (as bright as its surroundings)", "equally"),
        ("The costophrenic angle is obliterated.", "hidden", "closed"),
        ("The vessel is obliterated.", "closed off", "hidden"),
        ("Fistulogram of the graft for dialysis.", "dialysis passage", "abnormal"),
        ("The mass was preoperatively diagnosed.", "was diagnosed before surgery", "was before"),
        ("Bile leak: extravasation from the duct.", "leak from an organ", "vessel"),
        # No word is said twice, and no noun stands before a noun.
        ("A nodule with lobulated margins.", "lumpy margins", "edge"),
        ("A mass in the gastric lumen.", "inside of the stomach", "space"),
        ("A fistulous communication is seen.", "abnormal passage is", "communication"),
        ("No signs of bowel ischemia.", "reduced blood supply to the bowel", "bowel reduced"),
        ("Calcification of the retina.", "calcium build-up in the retina", "build-up of"),
        ("CT after administration of contrast medium.", "contrast dye", "medium"),
        ("A hypodensity lesion of the liver.", "darker-looking abnormal area", "area lesion"),
        ("The area narrows in systole.", "while the heart squeezes", "in heart"),
        ("Scan of uptake of tracer on PET.", "uptake of tracer", "taking up"),
        # The place of a finding is told of all of it.
        ("An increased prevertebral soft-tissue shadow.", "(in front of the spine)", "(front"),
        # A measure behind a bracket is the noun's, not that of the place.
        ("CT shows a para-aortic mass (6 cm × 3 cm).", "mass (6 cm × 3 cm)", "artery ("),
        # Where a finding is stands behind it, not as a noun before a noun.
        ("CT of a splenic hematoma.", "blood collection in the spleen", "spleen blood"),
        ("Bilateral pulmonary nodules are seen.", "lumps in both lungs", "on both sides"),
        ("CT shows left renal atrophy.", "shrinkage of the left kidney", "kidney shrinkage"),
        ("A scan of tracheal stenosis.", "narrowing of the windpipe", "windpipe narrowing"),
        ("CT showing bilateral hydronephrosis.", "swelling of both kidneys from trapped urine", "sides"),
        # A normal part is no bulge, the collecting part of a kidney no pelvis that urine swells.
        ("The right sinus of Valsalva is wide.", "sinus of Valsalva (pouch at", "bulge"),
        ("US of the hydronephrotic renal pelvis.", "swollen urine-collecting part of the kidney", "pelvis"),
        ("Loss of enamel in the cervical region of the tooth.", "cervical region", "neck"),
        ("US of the kidney: cortical irregularity.", "cortical irregularity", "bone"),
        ("CT of the iliac wing: cortical irregularity.", "uneven outer layer of the bone", "brain"),
        ("Echo, apical 4 chamber view.", "4 chamber view from the heart's tip", "apical"),
        ("An antero posterior radiograph of the pelvis.", "front-to-back X-ray", "posterior"),
        ("An erect chest radiograph.", "upright chest X-ray", "erect"),
        ("The mass does not silhouette the heart.", "silhouette", "outline"),
        ("Loss of the silhouette of the diaphragm.", "outline of the diaphragm", "silhouette"),
        # A tract that ends in the spine is no word of the spine, an arm no leg.
        ("MRI: glioma of the motor area beside the corticospinal tract.", "tumor of the brain", "spinal cord"),
        ("Angiogram: claudication of the arm.", "claudication (pain on use)", "leg"),
        # What is compared belongs to no noun before it.
        ("Chest CT showing bilateral pleurisy more prominent on the right.", "bilateral pleurisy", "sides on"),
        ("Bilateral effusions larger on the left are seen.", "bilateral effusions", "larger on both"),
        ("The mass is hyperintense to fat on T2.", "brighter than fat", "looking"),
        ("Changed from hypodense to hyperdense.", "to brighter-looking", "than"),
        ("The branch was embolized with coils.", "embolized (blocked on purpose) with", "clot"),
        ("The embolized valve lies in the aorta.", "embolized valve", "purpose"),
        ("Balloon tamponade of the bleeding.", "balloon tamponade", "pressure"),
        ("A lump scalloping the phalanx.", "scalloping", "dents"),
        ("Weak heart in dilated cardiomyopathy.", "widened heart", "widened heart muscle"),
        # One view of two is no noun of the first one's time.
        ("Preoperative anteroposterior (A) and lateral (B) views.", "pre-surgery front-to-back (a)", "before"),
        ("Coronal fetal MRI at 31 weeks.", "front-view mri scan of the unborn baby at", "baby's"),
        ("Fetal ultrasound of the brain.", "unborn baby's ultrasound of the brain", "baby of"),
        ("Rim-enhancing collection deep to the fascia.", "rim-enhancing collection (brightening", "deep ("),
        ("DSA with right vertebral injection.", "right vertebral injection", "spine"),
        ("Ventrodorsal radiograph of a dog.", "belly-to-back", "front"),
        ("Leak after sleeve gastrectomy.", "removal of most of the stomach", "surgery"),
        # Letters that no word of a name begins with are not explained by what it is.
        ("MRI: sagging brainstem (SIH).", "brainstem (lowest part of the brain; sih)", "sih, lowest"),
        # An explanation stands behind the quotation mark.
        ('CT with "tree-in-bud" (arrow) nodules.', '"tree-in-bud" (like a budding twig; arrow) lumps', 'twig)"'),
    ],
)
def test_what_strict_readers_found(caption: str, said: str, gone: str) -> None:
    text = lay(caption).lower()
    assert said.lower() in text and gone not in text, text
