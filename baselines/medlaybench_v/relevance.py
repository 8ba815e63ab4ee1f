"""How far a lay caption keeps the expert caption's words: BLEU-4, ROUGE-L and METEOR (MedLayBench-V, Table 2).

The hypothesis is the lay caption, the reference the expert caption; every value is in percent. The paper names no
implementation; these are the choices made here:

- BLEU-4: sacrebleu's, cased, tokens of mteval-13a; of one pair with one added to the matches and totals of 2- to
  4-grams (Lin and Och), of a corpus with its defaults.
- ROUGE-L: F1 with stemmed tokens. `rouge_score.RougeScorer(["rougeL"], use_stemmer=True)` gives the same values.
- METEOR: NLTK's `single_meteor_score` itself (alpha 0.9, beta 3, gamma 0.5) on the tokens of mteval-13a, because NLTK's
  own tokenizer needs data that has to be downloaded; stems and synonyms are looked up once. Matches are exact words,
  then stems, then WordNet's synonyms where a WordNet is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from loaders.errors import MissingExtra

if TYPE_CHECKING:
    from baselines.medlaybench_v.wordnet import WordNet

_ROUGE_TOKEN = re.compile(r"[a-z0-9]+")


NO_SYNONYMS = SimpleNamespace(synsets=lambda word: ())  # stands for WordNet on a machine without one


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
    """BLEU-4 of every pair in percent, shape (pairs,).

    Raises MissingExtra when sacrebleu is not installed.
    """
    # With one added no order is empty: `effective_order` changes nothing, but its absence would be warned of.
    metric = _sacrebleu()(smooth_method="add-k", smooth_value=1, effective_order=True)
    pairs = zip(hypotheses, references, strict=True)
    return np.array([metric.sentence_score(said, [wanted]).score for said, wanted in pairs], dtype=np.float64)


def corpus_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """BLEU-4 in percent of pairs taken as one corpus."""
    # Without `force`, spaces before full stops are warned of.
    return float(_sacrebleu()(force=True).corpus_score(hypotheses, [references]).score)


def rouge_l(hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
    """ROUGE-L F1 of every pair in percent, shape (pairs,).

    Raises MissingExtra when nltk or rapidfuzz is not installed.
    """
    with MissingExtra.needed("language", purpose="ROUGE-L"):
        from rapidfuzz.distance import LCSseq
    stem = _Stemmer().stem
    values = np.zeros(len(hypotheses))
    for place, (hypothesis, reference) in enumerate(zip(hypotheses, references, strict=True)):
        # Like rouge-score: words of three letters or fewer are their own stem.
        said, wanted = (
            [stem(token) if len(token) > 3 else token for token in _ROUGE_TOKEN.findall(text.lower())]
            for text in (hypothesis, reference)
        )
        common = LCSseq.similarity(wanted, said)
        if common:
            precision, recall = common / len(said), common / len(wanted)
            values[place] = 2 * precision * recall / (precision + recall) * 100
    return values


def meteor(hypotheses: Sequence[str], references: Sequence[str], wordnet: WordNet | None = None) -> NDArray[np.float64]:
    """METEOR of every pair in percent, shape (pairs,); without a WordNet synonyms do not match.

    Raises MissingExtra when nltk or sacrebleu is not installed.
    """
    with MissingExtra.needed("language", purpose="METEOR"):
        from nltk.translate.meteor_score import single_meteor_score
    tokens = _tokenizer()
    stemmer, synonyms = _Stemmer(), wordnet or NO_SYNONYMS
    values = [
        single_meteor_score(tokens(reference), tokens(hypothesis), stemmer=stemmer, wordnet=synonyms) * 100
        for hypothesis, reference in zip(hypotheses, references, strict=True)
    ]
    return np.array(values, dtype=np.float64)


def versions() -> dict[str, str]:
    """Package -> version, for those that the values depend on."""
    return {package: version(package) for package in ("sacrebleu", "rapidfuzz", "nltk")}


def _sacrebleu() -> Any:
    with MissingExtra.needed("language", purpose="BLEU"):
        from sacrebleu.metrics import BLEU
    return BLEU


@cache
def _tokenizer() -> Callable[[str], list[str]]:
    """mteval-13a as sacrebleu applies it to a segment, each distinct run of non-space characters tokenized once.

    The rules look at a character and its neighbours only, so runs are independent, except where a line end or an entity
    is rewritten first: such a segment is tokenized as a whole.
    """
    with MissingExtra.needed("language", purpose="METEOR"):
        from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    tokenize: Callable[[str], str] = Tokenizer13a()

    @cache
    def of_run(run: str) -> list[str]:
        # The rules rewrite ASCII punctuation only.
        return [run] if run.isalnum() else tokenize(run).split()

    def tokens(segment: str) -> list[str]:
        segment = segment.rstrip()
        if "&" in segment or "\n" in segment or "<skipped>" in segment:
            return tokenize(segment).split()
        return [token for run in segment.split() for token in of_run(run)]

    return tokens


class _Stemmer:
    """NLTK's Porter stemmer, each word stemmed once."""

    def __init__(self) -> None:
        with MissingExtra.needed("language", purpose="stems"):
            from nltk.stem.porter import PorterStemmer
        self.stem: Callable[[str], str] = cache(PorterStemmer().stem)
