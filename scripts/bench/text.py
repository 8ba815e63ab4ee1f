"""Speed of the text builder, side by side with the alternatives, in one run.

    python -m scripts.bench.text CAPTIONS.csv [--loop-captions 200]

Prints
  draft       captions/s of the one-pass substitution against a plain replace loop over the same terms (the authors'
              method, reimplemented), and how many captions the loop changes differently
  pipeline    rows/s of the whole build without a model (read, admit, concepts, draft, refine, gates, shards, card), one
              process, against the time that textstat takes for five readability formulas on the same captions; both
              without opening their dictionaries

Times are CPU seconds of this process, the fastest of several runs, alternating build and textstat; the ratios count,
a shared machine's clock does not. The loop gets the surface forms that the draft matches (plurals and compositions
too), so that both do the same work.
"""

from __future__ import annotations

import argparse
import pickle
import platform
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from builders.medlaybench_v import recipe
from builders.medlaybench_v.facts import read
from builders.medlaybench_v.lexicon import compiled
from builders.medlaybench_v.vocabulary import read_bundled, read_vocabulary
from builders.medlaybench_v.writing.draft import Drafter
from builders.recipe import build
from scripts.bench.apart import Measured, Row, ended, fastest
from scripts.bench.language import captions_of, cmudict_for_textstat, textstat_values
from scripts.terminal.console import output, table
from scripts.terminal.tables import Table


def main(arguments: Sequence[str]) -> Measured:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captions", type=Path)
    parser.add_argument("--loop-captions", type=int, default=200, help="captions for the replace loop, which is slow")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    captions = captions_of(options.captions)
    few = captions[:: max(1, len(captions) // options.loop_captions)][: options.loop_captions]
    vocabulary = read_vocabulary("bundled")
    drafter = Drafter(vocabulary.terms)
    output.print(f"{len(captions):,} captions, {len(vocabulary.terms):,} terms, Python {platform.python_version()}")
    shown = table("", "what", "per second", "against", "per second", "ratio", right=("per second", "ratio"))
    rows = [
        _draft(shown, captions, few, drafter, options.repeats),
        _pipeline(shown, captions, options.captions, options.repeats),
    ]
    output.print(shown)
    output.print("Goals: draft at least 50x the replace loop, pipeline at most 8x textstat.")
    return Measured(rows)


def _draft(shown: Table, captions: Sequence[str], few: Sequence[str], drafter: Drafter, repeats: int) -> Row:
    """The draft against the replace loop, which gets a few of the captions."""
    # A copy, whose strings lie side by side: from all over the memory, the loop takes two to three times as long, and
    # the ratio is another in each process.
    pairs = pickle.loads(pickle.dumps(sorted(drafter.pairs, key=lambda pair: -len(pair[0]))))
    readings = [read(caption) for caption in captions]
    turns = {
        "draft": lambda: [drafter.draft(r, drafter.match(r)).text for r in readings],
        "loop": lambda: [_replace_loop(c, pairs) for c in few],
    }
    best = fastest(turns, 4 * repeats)  # of seconds, which a shared machine doubles now and then
    ours, loop = len(captions) / best["draft"], len(few) / best["loop"]
    ratio = f"{ours / loop:,.0f}× faster"
    shown.add_row("draft", f"{ours:,.0f}", f"replace loop ({len(few)} captions)", f"{loop:,.1f}", ratio)
    differ = sum(drafter.draft(r, drafter.match(r)).text != _replace_loop(r.text, pairs) for r in map(read, few))
    what = f"draft: {len(drafter):,} surface forms put in lay words, names left whole, facts protected"
    against = f"a plain replace loop over the same forms (which writes {differ / len(few):.0%} of captions differently)"
    return Row("draft", what, against, ratio)


def _pipeline(shown: Table, captions: Sequence[str], path: Path, repeats: int) -> Row:
    """The whole build against textstat."""
    best = fastest({"build": lambda: _build(path), "opening": _open, "formulas": _textstat(captions)}, repeats)
    pipeline = best["build"] - best["opening"]
    ratio = f"{pipeline / best['formulas']:.2f}× its time"
    build, formulas = (f"{len(captions) / seconds:,.0f}" for seconds in (pipeline, best["formulas"]))
    shown.add_row("pipeline", build, "textstat, five formulas", formulas, ratio)
    what = f"whole build of {len(captions):,} captions without a model, gates, shards and card included"
    return Row("build", what, "textstat's five formulas on the same captions", ratio)


def _replace_loop(caption: str, pairs: Sequence[tuple[str, str]]) -> str:
    """One `str.replace` a term, longest first, on the text as it has become."""
    for expert, lay in pairs:
        caption = caption.replace(expert, lay)
    return caption


def _open() -> None:
    read_bundled.cache_clear()
    Drafter(read_vocabulary("bundled").terms)


def _build(captions: Path) -> None:
    """A whole build in a fresh workspace, as the first one of a process."""
    read_bundled.cache_clear()
    compiled.cache_clear()
    with tempfile.TemporaryDirectory() as folder:
        options = recipe.Options(captions=str(captions), allowed_licences=frozenset({"unknown"}))
        build(recipe.RECIPE, options, Path(folder, "release"), workspace=Path(folder, "work"))


def _textstat(captions: Sequence[str]) -> Callable[[], object]:
    """Five formulas on all captions.

    All captions were read once before: the first word that is not in its dictionary has it open another one, and how it
    divides such words is kept, which takes half as long again as the formulas.
    """
    with cmudict_for_textstat():
        textstat_values(captions)
    return lambda: textstat_values(captions)


if __name__ == "__main__":
    ended(main)
