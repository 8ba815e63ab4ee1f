"""Names that keep their capital where the start of a sentence becomes its middle."""

from __future__ import annotations

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
    "waldenstrom warthin weber wegener wernicke whipple wilms wilson zenker "
    "bartholin brodie buerger kienbock maisonneuve modic morton nabothian ollier segond stener takayasu "
    "bankart barton blount boerhaave chance conn dawson eagle garre gorlin joubert klatskin langerhans lemierre ludwig "
    "mallory panner rasmussen riedel sever smith stafne tillaux todani virchow wharton".split()
)


def small(text: str) -> str:
    """Without the capital of a sentence's start; names such as "CT", "X-ray" and "Charcot" keep theirs."""
    word = text.split(" ", 1)[0]
    keeps = any(letter.isupper() or letter.isdigit() for letter in word[1:]) or word[1:2] == "-" or len(word) == 1
    keeps = (keeps and word != "A") or word.endswith(("'s", "’s", "s'", "s’")) or is_name(text)
    return text if keeps else text[:1].lower() + text[1:]


def is_name(text: str) -> bool:
    """Whether a sentence begins with a person's, a place's or a germ's name that is known."""
    return text.split(" ", 1)[0].lower() in _NAMES
