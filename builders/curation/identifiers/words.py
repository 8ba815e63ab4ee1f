"""Words that are written with a capital and are nobody's name; and words of medicine, by their endings."""

from __future__ import annotations

import re
from functools import cache

_COMMON = """
i i'm i've i'd i'll im ive id me my mine you your yours he him his she her hers it its it's we us our they them their this that these those the
a an and or but so if as at by for from in into of off on onto out over to up with without within about after again against all also although always
am any anybody anyone anything are aren't around away back be because been before being below best better both can can't cannot could couldn't
did didn't do does doesn't don't done down each either else even ever every everybody everyone everything few first for get gets getting go goes
going gone good got great had hadn't has hasn't have haven't having hello help here hey hi hope how however just last less let like long lots
many may maybe might more most mostly much must never new next no nobody none nope nor not nothing now oh ok okay once one only other others our own
people perhaps please plus probably quite rather really right same second see seems several shall should since some somebody someone something
sometimes soon sorry still such sure take than thank thanks that's the their them then there there's third though three through thus till today
together tomorrow too tried try two under unless until update edit upon used usually very was wasn't well went were weren't what what's when where whether
which while who whole whom whose why will won't would wouldn't yeah year years yes yesterday yet you're you've
mother father mum mom mam mama mommy mummy dad daddy papa parents wife husband spouse partner son daughter sister brother child children kid kids
baby uncle aunt auntie grandma grandpa grandmother grandfather granny gran nan nana cousin niece nephew family friend friends boss doctor doctors doc docs
doctor's dr nurse nurses physician surgeon patient patients consultant practitioner therapist specialist midwife carer miss mr mrs ms sir madam lady lord
man woman men women boy girl guy guys folks team op reddit redditors everyone's community internet god lord jesus christ bible buddha allah muslim christian
jewish catholic hindu sikh buddhist protestant mormon amish islam christmas easter ramadan passover eid diwali thanksgiving halloween xmas hanukkah
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun january february march april june july august
september october november december jan feb mar apr jun jul aug sep sept oct nov dec spring summer autumn fall winter morning night evening
english french german spanish italian portuguese dutch swedish norwegian danish finnish polish russian greek turkish arabic chinese japanese korean indian
pakistani bangladeshi american british irish scottish welsh canadian australian mexican african asian european caucasian hispanic latino latina jew arab
white black brown native western eastern northern southern google facebook instagram youtube tiktok twitter whatsapp amazon apple android iphone fitbit garmin
webmd wikipedia nhs nice fda cdc who ama medicare medicaid obamacare hipaa nih pfizer moderna astrazeneca bayer roche novartis merck gsk johnson's sanofi
tylenol advil aleve ibuprofen paracetamol aspirin panadol nurofen benadryl zyrtec claritin prozac zoloft lexapro xanax ativan valium klonopin ritalin
adderall concerta vyvanse strattera wellbutrin effexor cymbalta lipitor crestor zocor plavix eliquis xarelto coumadin warfarin heparin lovenox ozempic wegovy
mounjaro trulicity victoza metformin insulin lantus humalog novolog januvia jardiance farxiga synthroid levothyroxine armour prednisone medrol humira enbrel
remicade stelara cosentyx dupixent methotrexate plaquenil botox viagra cialis nexium prilosec omeprazole pepcid zantac zofran reglan imodium miralax
augmentin amoxicillin keflex bactrim cipro flagyl doxycycline macrobid valtrex tamiflu paxlovid remdesivir mirena nexplanon depo nuvaring accutane retin
mucinex sudafed robitussin nyquil dayquil vicks symbicort advair flonase singulair albuterol ventolin spiriva gabapentin neurontin lyrica tramadol
oxycontin percocet vicodin norco suboxone methadone narcan ambien lunesta trazodone seroquel abilify zyprexa risperdal lithium depakote lamictal tegretol
keppra topamax dilantin aricept namenda sinemet botulinum keytruda opdivo herceptin avastin rituxan gleevec tamoxifen arimidex lupron zoladex
covid covid-19 coronavirus flu omicron delta ebola zika hiv aids ibs ibd gerd copd adhd autism alzheimer's parkinson's crohn's hashimoto's graves
type stage grade level class phase part page chapter figure table day week month hour dose question questions title tldr tl;dr background history symptoms
age sex male female height weight medications meds medication allergies allergy diagnosis results labs lab blood urine test tests scan mri ct xray x-ray ecg
ekg eeg ultrasound er ed icu a&e gp gps pcp ob obgyn ob-gyn ent md do rn np pa phd bsc msc mbbs frcp emt cna lpn icu or pt ot
north south east west upper lower left right anterior posterior state city county country hospital clinic school university college church street road
st saint san santa insurance work workplace research researchers studies pharmacist pharmacists receptionist neighbours neighbors teachers dermatologist experts scientists rumour legend tests results radiology cardiology oncology neurology wife's people's
vitamin vitamins calcium magnesium iron zinc omega keto paleo vegan gluten ph rh latin greek roman hello regards sincerely cheers love yours best kind warm
google's nobody's said says told asked thinks line station manager assistant in-law home office care health service help desk plan program unit
department ward section room floor building centre center dept emergency medicine surgery medical general family internal pediatric paediatric geriatric
urgent intensive physical occupational mental behavioral public private national royal federal government council ministry army navy police fire court
""".split()
_NO_NAMES = frozenset(_COMMON)
_ENDINGS = re.compile(
    r"(?:itis|osis|oses|oma|omas|omata|emia|aemia|pathy|algia|ectomy|otomy|ostomy|oscopy|plasty|ology|ologist|ologists|iatry|iatrist|iatric|statin|pril|sartan|olol|azole"
    r"|cillin|mycin|micin|oxacin|cycline|mab|nib|ciclib|gliptin|gliflozin|glutide|parin|xaban|gatran|setron|triptan|dipine|zosin|zepam|zolam|barbital|caine"
    r"|profen|oxetine|triptyline|pramine|codone|morphone|apine|idone|prazole|phylline|terol|sone|solone|onide|asone|lukast|tadine|dryl|fenac|coxib|vir|vudine"
    r"|quine|thiazide|semide|lactone|cept|kinra|poetin|feron|leukin|taxel|platin|rubicin|trexate|toin|gabalin|racetam|lepsy|plegia|paresis|trophy|plasia"
    r"|penia|cytosis|uria|rrhea|rrhoea|pnea|pnoea|phagia|phasia|praxia|esthesia|sclerosis|stenosis|virus|coccus|bacter|bacterium|monas|amide|azine|azide|oxin"
    r"|formin|urea|afil|dronate|estrel|estradiol|gestone|testosterone|tropin|relin|relix|tide|ium|ase|cyte|blast|gram|graphy|meter|scope|tomy|nitis|phobia|mania"
    r"|amine|idine|etine|oside|mustine|tinib|zumab|ximab|umab|barb|thyroxine|cort|derm|stim|zyme|vax)$",
    re.IGNORECASE,
)
# What a proper name before it makes the name of a disease, a sign, a part of the body or a thing of medicine.
_HEADS = (
    r"(?:diseases?|syndromes?|disorder|signs?|test|palsy|paralysis|phenomenon|reflex|thyroiditis|lymphomas?|sarcomas?|tumou?rs?|cancer|carcinoma|anaemia|anemia|fever|chorea|ataxia|dystrophy|dementia"
    r"|contracture|fractures?|dislocation|hernia|cysts?|ulcers?|nodules?|nodes?|spots?|lines?|bodies|body|cells?|fib(?:er|re)s?|glands?|ducts?|tubes?|canals?|tendon|ligaments?|muscle|fascia|fossa|pouch"
    r"|space|triangle|angle|circle|loop|islets?|patch(?:es)?|capsule|area|gyrus|sulcus|ganglion|plexus|nerve|artery|vein|valve|ring|membrane|layer|corpuscles?|oesophagus|esophagus|diverticul\w+|stone|rash"
    r"|erythema|purpura|arthritis|arteritis|vasculitis|disease's|malformation|anomaly|tetralogy|triad|criteria|score|scale|index|stain|smear|method|man(?:o|oe)uvre|maneuver|procedure|operation|technique|incision"
    r"|repair|resection|bypass|shunt|catheter|drain|tube|tray|monitor|surgery|exercises?|diet|position|wort|solution|infection|hepatitis|encephalopathy|neuropathy|neuroma|psychosis|amaurosis|angina|oedema|edema"
    r"|metaplasia|mole|naevus|nevus|toe|foot|hand|finger|elbow|knee|hip|shoulder|joint|apple|horse|legs?|lymphadenitis|goit(?:er|re)|ophthalmopathy|gangrene|macula|cataract|chart|classification|grading|stage"
    r"|coma\s(?:scale|score)|transform|virus|bacillus|agent|factor|protein|reaction|law|murmur|breathing|respiration|pulse|gait|crisis|tremor|migraine|seizures?|epilepsy|amyotrophy|myopathy|osteodystrophy"
    r"|nephropathy|nephritis|tubule|sphincter|folds?|crypts?|plate|papillae?|prominence|process|foramen|tubercle|tuberosity|notch|band|raphe|organ|apparatus|haploid|mosaicism|deletion|mutation|score's|patient)"
)
_KIND = r"(?:muscular|lymph|sweat|salivary|bone|facial|cell|nerve|optic|hereditary|motor|type|aortic|septal|atrial|lymphatic|tarsal|spinal|heart|ear|eye|skin|foot|coma)"
_SO_ENDING = r"[a-z]+(?:itis|osis|oma|pathy|algia|emia|aemia|uria|plasia|trophy|plegia)"
_JOINED = r"['’]?s?(?:[-–][^\W\d_]+['’]?s?){0,2}\s+"
_AFTER = re.compile(rf"{_JOINED}(?:{_KIND}\s)?(?:{_HEADS}|{_SO_ENDING})\b")
_SURELY_AFTER = re.compile(
    rf"{_JOINED}(?:{_KIND}\s)?(?:diseases?|syndromes?|disorder|palsy|sign|nodules?|phenomenon|lymphoma|sarcoma|tumou?r|fracture|contracture|{_SO_ENDING})\b"
)
_PARTS = re.compile(
    r"\b(?:islets?|loop|circle|pouch|canal|sphincter|ligament|crypts?|bundle|foramen|ducts?|angle|tubercle|fossa|sulcus|fissure|organ|node|artery|vein|tetralogy|triad|valves?|glands?|antrum|ampulla|aqueduct"
    r"|isle|island|cells?|fib(?:er|re)s|layer|space|line|spots?|area|triangle|trigone|plexus|ganglion|membrane|capsule|corpuscles?|body|bodies|apparatus|disease|syndrome|sign|signs|facies)\sof\s(?:the\s)?$",
    re.IGNORECASE,
)


def is_no_name(word: str) -> bool:
    """Whether a word, whatever its case, is one that everybody writes, and nobody's name.

    >>> is_no_name("Google"), is_no_name("Said"), is_no_name("Okonkwo")
    (True, True, False)
    """
    plain = word.casefold().replace("’", "'").strip(".,;:!?()")
    return plain in _NO_NAMES or plain.removesuffix("'s") in _NO_NAMES


@cache
def is_medical(word: str) -> bool:
    """Whether a word is one of medicine by its ending, or by being written in capitals alone.

    >>> is_medical("Hepatitis"), is_medical("Apixaban"), is_medical("TSH"), is_medical("Kowalczyk")
    (True, True, True, False)
    """
    plain = word.removesuffix("'s").removesuffix("’s")
    return bool(len(plain) > 5 and _ENDINGS.search(plain)) or (plain.isupper() and 1 < len(plain) < 6)


def names_a_thing(text: str, start: int, end: int, *, surely: bool = True) -> bool:
    """Whether the name at `start` to `end` is part of the name of a disease, a sign or an organ.

    With `surely` False, for what is nearly always somebody's name, only where nothing else can be meant.

    >>> names_a_thing("Smith fracture", 0, 5), names_a_thing("Smith called", 0, 5), names_a_thing("loop of Henle", 8, 13)
    (True, False, True)
    """
    after = _AFTER if surely else _SURELY_AFTER
    return bool(after.match(text, end) or _PARTS.search(text[max(0, start - 30) : start]))
