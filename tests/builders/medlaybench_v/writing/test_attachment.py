"""A phrase is moved behind its noun only where nothing else takes it: each construction that mis-attaches, once."""

from __future__ import annotations

import pytest

from builders.medlaybench_v.writing.attachment import complement_end, landing
from tests.parts.rule_captions import lay


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        # Of a whole picture or finding: behind its "of …", where that ends for sure.
        ("Preoperative angiogram of the left leg.", "angiogram) of the left leg before surgery"),
        ("Contrast-enhanced CT of the neck shows a stone.", "CT scan of the neck with contrast dye shows"),
        ("Bilateral scarring of the cortex.", "scarring of the cortex on both sides"),
        ("Enhancement of the nerve on the left.", "brightening of the nerve with contrast dye on"),
        ("CECT of same patient as in Figure 1.", "contrast dye of same patient as in Figure"),
        # Where "surgery" would take what follows, the time stands in front.
        ("Postoperative X-ray with a plate.", "post-surgery X-ray with a plate"),
        ("Preoperative X-ray of the leg with a plate.", "pre-surgery X-ray of the leg with a plate"),
        # What follows would be read of what the phrase ends in.
        ("Enhancing mass with a drain in place.", "dye-brightened mass with a drain"),
        ("Enhancing mass compressing the heart.", "dye-brightened mass compressing"),
        ("Enhancing mass in the neck.", "mass that brightens with contrast dye in the neck"),
        ("Calcified mass of the neck.", "calcified mass (with calcium build-up) of the neck"),
        ("Paraspinal mass containing fat.", "paraspinal mass (beside the spine) containing fat"),
        # A layer is a part of what follows.
        ("Subcutaneous air of the neck.", "subcutaneous air (under the skin) of the neck"),
        ("Transthoracic image of a hole.", "transthoracic (through the chest) image of a hole"),
        # What stands between would take the phrase.
        ("Calcified retroperitoneal mass.", "calcified mass behind the belly lining"),
        ("Bilateral subcutaneous air.", "air under the skin on both sides"),
        # A bracket that tells a finding's place is not needed where the place can stand behind the finding.
        ("A perivascular hematoma is seen.", "blood collection around the vessel is"),
        ("CT shows a perinephric abscess.", "pocket of pus around the kidney."),
        ("An adrenal cystic mass is seen.", "cyst-like mass of the gland atop the kidney is"),
        ("A right adrenal cystic mass is seen.", "right adrenal cyst-like mass (of the gland atop the kidney)"),
        ("An aortic right ventricular fistula is seen.", "aortic right ventricular abnormal passage (of"),
        ("Superior mesenteric artery occlusion is seen.", "artery (of the bowel) blockage"),
        # An adverb before it stays with the time.
        ("Immediately postoperative X-ray.", "X-ray just after surgery"),
        ("Saggital view of the neck.", "side view of the neck"),
        ("CT abdomen image.", "belly CT image"),
    ],
)
def test_a_phrase_lands_where_nothing_takes_it(caption: str, said: str) -> None:
    assert said.lower() in lay(caption).lower(), lay(caption)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (" of the right arm shows", " of the right arm"),
        (" of the chest and neck.", " of the chest and neck"),
        (" of a patient walking", ""),
    ],
)
def test_the_end_of_a_complement(text: str, ends: str) -> None:
    assert text[: complement_end(text, len(" of"), len(text))] == ends


def test_a_phrase_of_a_part_never_jumps() -> None:
    text = "Calcified mass of the neck."
    assert landing("with calcium build-up", text, 14, len(text)) == 0
    assert landing("before surgery", text, 14, len(text)) == len(text) - 1
