"""Made-up captions for tests that compare two implementations: thousands, seeded, with what real captions hold."""

from __future__ import annotations

import random

_WORDS = (
    "axial coronal sagittal CT MRI T2-weighted contrast-enhanced radiograph ultrasound image scan of the a an in "
    "with and showing shows demonstrates demonstrating reveals mass lesion tumor tumour neoplasm masses nodule "
    "nodules abscess hepatic pulmonary left right bilateral lung liver kidney heart chest abdomen patient's "
    "(arrow) (arrows), [asterisk] white black arrowhead measuring 1.5 cm 2,3 mm x 10-15 >5 <3 5% 3×4 µm No no not "
    "without evidence hydronephrosis pneumothorax lymphadenopathy fluid-filled well-defined post-operative "
    "Crohn's isn't don't they've we'll 'quoted' café naïve Sjögren’s — – … Fig. e.g. i.e. approx. (a) (b) A: B; "
    "a/b & &amp; hmm Hm _under_score_ İstanbul ΑΣ ﬁbrosis "
).split()
_ENDS = (".", ".", ".", "!", "?", "...", "", ";", ".)", " .")
_GAPS = (" ", " ", " ", " ", "  ", "\n", "-\n", "\t", "\u00a0")


def made_up_captions(count: int, seed: int) -> list[str]:
    """`count` texts of 1 to 60 words in 1 to 4 sentences, no two alike on purpose, none empty."""
    choice = random.Random(seed)
    captions = []
    for _ in range(count):
        sentences = []
        for _ in range(choice.choice((1, 1, 2, 3, 4))):
            words = [choice.choice(_WORDS) for _ in range(choice.randint(1, 15))]
            text = words[0]
            for word in words[1:]:
                text += choice.choice(_GAPS) + word
            sentences.append(text + choice.choice(_ENDS))
        captions.append(choice.choice((" ", " ", "")).join(sentences))
    return captions
