"""Do the gates see one wrong word? A program changes one fact in captions that the rules wrote, in eleven ways.

    python -m scripts.bench.changes CAPTIONS.csv [--show passed]

Unlike a writer's pairs (`bench/pairs.py`), these keep all other words, as a light edit or a slip of a model does.
Prints for each kind of change how many fail a gate, are doubtful, and pass.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.gates import check
from builders.medlaybench_v.lexicon import Lexicon
from builders.medlaybench_v.refine import by_rules
from builders.medlaybench_v.vocabulary import read_vocabulary
from scripts.bench.lay import captions_of, cases_of
from scripts.bench.pairs import WORST_FIRST, outcome
from scripts.terminal.console import output, table

ORGANS = (
    "liver spleen kidney lung heart stomach bladder pancreas brain thyroid uterus prostate ovary colon esophagus "
    "trachea aorta femur tibia humerus knee hip shoulder elbow wrist ankle jaw gallbladder spine breast neck chest "
    "abdomen pelvis skull hand foot eye ear nose tongue rectum testicle womb"
).split()
FINDINGS = (
    "mass cyst fracture abscess tumor stone clot infection aneurysm hernia fluid bleeding swelling lesion nodule tear "
    "blockage"
).split()
OPPOSITES = [
    tuple(pair.split())
    for pair in (
        "small large,upper lower,anterior posterior,increased decreased,thickened thinned,proximal distal,"
        "medial lateral,superior inferior,before after,mild severe,acute chronic,benign malignant,dilated narrowed,"
        "complete incomplete,multiple single,normal abnormal,arterial venous,high low,bright dark,male female,"
        "woman man,first second,old new,thick thin,wide narrow,front back,top bottom,inside outside,early late,"
        "solid cystic,open closed,central peripheral,white black,axial sagittal,short long"
    ).split(",")
]
OTHER = {word: other for one, two in OPPOSITES for word, other in ((two, one), (one, two))}

Change = tuple[str, str]  # its kind, the changed caption


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captions", type=Path, metavar="CAPTIONS.csv")
    parser.add_argument("--show", choices=WORST_FIRST, help="print ten changes of each kind with this outcome")
    options = parser.parse_args(arguments)
    captions = captions_of(options.captions)
    rng = random.Random(1)
    lexicon = Lexicon(read_vocabulary("bundled").terms)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    examples: dict[str, list[str]] = defaultdict(list)
    for case in cases_of(rng.sample(captions, min(1500, len(captions))), lexicon):
        written = by_rules(case, lexicon.drafter).layman_caption
        for kind, changed in changes(written, rng):
            found = outcome(check(case.expert, read(changed), case.context))
            counts[kind][found] += 1
            if found == options.show:
                examples[kind].append(f"{kind}\n  E {case.expert.text}\n  L {changed}")
    shown = table("One fact changed in captions by rules", "change", "n", *WORST_FIRST, right=("n", *WORST_FIRST))
    for kind, tally in counts.items():
        shown.add_row(kind, f"{tally.total():,}", *(f"{tally[each] / tally.total():.0%}" for each in WORST_FIRST))
    output.print(shown)
    for lines in examples.values():
        for line in rng.sample(lines, min(10, len(lines))):
            output.print(line)


def changes(caption: str, rng: random.Random) -> Iterator[Change]:
    """A caption changed in each way that it allows, once at each word or once at random."""
    words = [(found[0], *found.span()) for found in re.finditer(r"[A-Za-z]+", caption)]
    said = {word.lower() for word, *_ in words}
    organs = [word for word in words if word[0].lower() in ORGANS]
    findings = [word for word in words if word[0].lower() in FINDINGS]
    opposites = [word for word in words if word[0].lower() in OTHER]
    for word in opposites:
        yield "opposite", _put(caption, word, OTHER[word[0].lower()])
    for kind, places, names in (("body part", organs, ORGANS), ("finding", findings, FINDINGS)):
        for word in places:
            yield kind, _put(caption, word, rng.choice([name for name in names if name not in said]))
        different = {word[0].lower(): word for word in reversed(places)}
        if len(different) > 1:
            first, second = sorted(list(different.values())[-2:], key=lambda word: word[1])
            later = _put(caption, second, first[0].lower())
            yield f"two {kind}s exchanged".replace("ys", "ies"), _put(later, first, second[0].lower())
    ends = [found.start() for found in re.finditer(r"[.;]", caption)]
    if ends:
        end, finding, organ = rng.choice(ends), rng.choice(FINDINGS), rng.choice(ORGANS)
        yield "finding added", f"{caption[:end]} and a small {finding}{caption[end:]}"
        yield "place added", f"{caption[:end]} near the {organ}{caption[end:]}"
        yield "sentence added", f"{caption[:end]}. There is also a {finding} in the {organ}{caption[end:]}"
    phrases = list(re.finditer(r"(?:,| and| with| in| of) [^,.;()]{8,60}(?=[,.;])", caption))
    if phrases:
        left_out = rng.choice(phrases)
        yield "phrase left out", caption[: left_out.start()] + caption[left_out.end() :]
    if opposites:
        _, start, end = rng.choice(opposites)
        yield "qualifier left out", caption[:start] + caption[end + 1 :]


def _put(caption: str, place: tuple[str, int, int], word: str) -> str:
    there, start, end = place
    return caption[:start] + (word.capitalize() if there[0].isupper() else word) + caption[end:]


if __name__ == "__main__":
    main()
