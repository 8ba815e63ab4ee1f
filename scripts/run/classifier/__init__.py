"""`bedside run classifier`: the image classifier of Table 8, its cues for the dialogues, and a linear probe."""

from __future__ import annotations

from baselines.report.classifier import CONTENT
from baselines.threemdbench.slices import NAME as SLICES
from loaders.errors import InputError, MissingExtra
from scripts.run.classifier.options import Classifying
from scripts.run.stored import Rescored, Stored
from scripts.terminal.options_of import options_of


@options_of(Classifying)
def command(options: Classifying) -> None:
    """Fine-tune an image classifier on train, select it on validation, evaluate it once on test (Table 8).

    If it is interrupted, run the same command again: training resumes and gives the same weights, bit for bit. For
    several GPUs: `accelerate launch -m scripts run classifier …`. Writes cues.parquet, the top three diagnoses for each
    test case, for doctors with external cues.

    With --predict, the network of an earlier run classifies other photos: a release, `official`, REPO@TAG, or a folder
    with or without class folders. Before that, its own training photos are searched for among them, near-duplicates
    included.

    Examples: `bedside run classifier runs/3mdbench --model EfficientNetV2-S -o runs/cnn`

    `bedside run classifier official --predict --weights runs/cnn --trained-on runs/3mdbench -o runs/cnn-official`
    """
    options.check()
    with MissingExtra.needed("models", purpose="image classifiers"):
        import accelerate  # noqa: F401
        import timm  # noqa: F401
        import torch  # noqa: F401
    from scripts.run.classifier.ending import end
    from scripts.run.classifier.prediction import predict
    from scripts.run.classifier.training import trained

    made = predict(options) if options.predict else trained(options)
    if made is not None:
        end(*made, options)


def rescore(stored: Stored) -> Rescored:
    """Recompute the numbers, and what the report draws, from the answers about test."""
    from baselines.threemdbench.classifier.scoring import Scoring
    from baselines.threemdbench.classifier.stored import read_stored

    if not stored.option("labelled", True):
        raise InputError(stored.run.folder, found="answers about photos without labels", expected="some to score")
    seeds = stored.record.seeds
    seed = seeds.get("training and bootstrap", seeds.get("bootstrap", 0))
    answers, resamples = read_stored(stored.run.folder), stored.option("resamples")
    scoring = Scoring(answers=answers, record=stored.record, resamples=resamples, seed=seed)
    results, drawn = scoring.scored()
    sides = stored.file(SLICES, "slices")
    results += scoring.by_slice(sides)
    return Rescored(results, {CONTENT: {**stored.file(CONTENT), **drawn}, **({SLICES: sides} if sides else {})})
