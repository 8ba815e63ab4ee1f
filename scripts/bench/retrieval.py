"""Recall@K beside a bare matrix product and the full-matrix-mask method, and the bootstrap beside a plain loop.

    python -m scripts.bench.retrieval

Times are wall seconds, the best of `--rounds` rounds. Every round runs each method in turn, each in a process of its
own that has warmed up on the same input, so that a busy machine slows them equally. Memory is the peak of that process
above what it held with the inputs in place. Inputs are random pairs of a shared signal (R@1 about one third). The mask
method is that of CLIP_benchmark: all scores at once, a boolean matrix of the right pairs, and for each k the top k
of a batch turned into one-hot rows that the mask multiplies (needs torch).
The exit code is 1 if recalls differ by more than float32 explains, or a bootstrap replicate differs in a single bit.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.medlaybench_v.ranking import recall_at_k
from baselines.statistics.resampling import paired_bootstrap
from scripts.bench.apart import Measured, Row, apart, best_apart, ended, fastest
from scripts.bench.rival_finders import held_megabytes, peak_megabytes

Matrix = NDArray[np.float32]
KS = (1, 5, 10)


def pairs(size: int, width: int) -> tuple[Matrix, Matrix]:
    """Random unit vectors (size, width) of images and of their texts, made in blocks that leave no peak of memory."""
    generator = np.random.default_rng(0)
    images, texts = (np.empty((size, width), dtype=np.float32) for _ in range(2))
    signal = 3.4 / width**0.5
    for start in range(0, size, 1024):
        part = slice(start, start + 1024)
        images[part] = generator.standard_normal(images[part].shape, dtype=np.float32)
        texts[part] = signal * images[part] + generator.standard_normal(images[part].shape, dtype=np.float32)
        for side in (images, texts):
            side[part] /= np.linalg.norm(side[part], axis=1, keepdims=True)
    return images, texts


def product(images: Matrix, texts: Matrix) -> list[float]:
    """One matrix product, its result kept whole."""
    return [float((images @ texts.T)[0, 0])]


def counting(images: Matrix, texts: Matrix) -> list[float]:
    """Bedside's: ranks by counting, exact under ties."""
    recall = recall_at_k(images, texts, ks=KS)
    return [*recall.i2t.mean(axis=1).tolist(), *recall.t2i.mean(axis=1).tolist()]


def mask(images: Matrix, texts: Matrix) -> list[float]:
    """The full-matrix-mask method, in batches of 64 queries."""
    import torch

    scores = torch.from_numpy(images) @ torch.from_numpy(texts).T
    right = torch.eye(len(images), dtype=torch.bool)
    found = []
    for matrix in (scores, scores.T):
        for k in KS:
            hits = 0.0
            for start in range(0, len(matrix), 64):
                first = matrix[start : start + 64].topk(k, dim=1).indices
                marks = torch.nn.functional.one_hot(first, num_classes=matrix.shape[1])
                pairs_of_batch = right[start : start + 64]
                found_right = (marks * pairs_of_batch[:, None, :]).sum(dim=(1, 2))
                hits += float((found_right / pairs_of_batch.sum(dim=1)).sum())
            found.append(hits / len(matrix))
    return found


METHODS: dict[str, Callable[[Matrix, Matrix], list[float]]] = {
    "product": product,
    "counting": counting,
    "mask": mask,
}


def child(method: str, size: int, width: int, runs: int) -> dict[str, Any]:
    """Seconds (best of `runs`, after one to warm up unless runs is 1), megabytes above the inputs, and the values."""
    images, texts = pairs(size, width)
    if method == "mask":  # the library itself is not the method's memory
        import torch

        torch.set_num_threads(os.cpu_count() or 1)
    before = held_megabytes()
    seconds, values = [], []
    for _ in range(runs + (runs > 1)):
        start = time.perf_counter()
        values = METHODS[method](images, texts)
        seconds.append(time.perf_counter() - start)
    return {"seconds": min(seconds), "peak": peak_megabytes() - before, "values": values}


def compare(size: int, width: int, rounds: int) -> dict[str, dict[str, Any]]:
    """Prints one line a method; what `child` says of each."""
    works: dict[str, Callable[[], dict[str, Any]]] = {
        method: partial(apart, child, method, size, width, 3) for method in METHODS
    }
    # Minutes on a small machine: once is enough for a factor of ten.
    works["mask"] = cache(partial(apart, child, "mask", size, width, 1))
    best = best_apart(works, rounds)
    print(f"\n{size:,} x {width}, both directions, R@1/5/10")
    for method, found in best.items():
        ratio = f"{found['seconds'] / best['product']['seconds']:6.2f} x product"
        print(f"  {method:<16} {found['seconds']:8.3f} s   {ratio}   {found['peak']:7.0f} MB above inputs")
    print(f"  counting R@1/5/10: {', '.join(f'{value:.4f}' for value in best['counting']['values'])}")
    return best


def bootstrap(rounds: int) -> Measured:
    """The bootstrap's time beside a plain loop's over the hit vectors; no row when a replicate differs."""
    rows, deltas, resamples = 9_927, 48, 1_000
    generator = np.random.default_rng(0)
    layman = (generator.random((rows, deltas)) < 0.3).astype(np.float64)
    expert = np.where(generator.random((rows, deltas)) < 0.1, 1 - layman, layman)
    vectors = [(layman[:, at].copy(), expert[:, at].copy()) for at in range(deltas)]

    def loop() -> NDArray[np.float64]:
        drawing = np.random.default_rng(1)
        found = np.empty((resamples, deltas))
        for resample in range(resamples):
            drawn = drawing.integers(rows, size=rows)
            for at, (one, other) in enumerate(vectors):
                found[resample, at] = (one[drawn] - other[drawn]).mean()
        return found

    def ours() -> NDArray[np.float64]:
        return paired_bootstrap(layman, expert, resamples=resamples, seed=1).replicates

    replicates: dict[str, NDArray[np.float64]] = {}
    works = {"loop": lambda: replicates.update(loop=loop()), "ours": lambda: replicates.update(ours=ours())}
    slow, fast = fastest(works, rounds, time.perf_counter).values()
    equal = bool((replicates["loop"] == replicates["ours"]).all())
    print(f"\nbootstrap of {rows:,} rows: loop {slow:.3f} s, weights {fast:.3f} s, {'equal' if equal else 'DIFFERENT'}")
    what = f"paired bootstrap of {deltas} deltas × {resamples:,}, bit-identical"
    row = Row("bootstrap", what, "a loop over hit vectors", f"{slow / fast:.1f}× faster")
    return Measured([row] if equal else [], equal)


def main(arguments: Sequence[str]) -> Measured:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", type=int, default=9_927, help="rows of the pool (the paper's test split)")
    parser.add_argument("--width", type=int, nargs=2, default=[512, 1024], help="lengths of the embeddings")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    narrow, wide = (compare(options.rows, width, options.rounds) for width in options.width)
    rows, right = bootstrap(options.rounds)
    for one in (narrow, wide):
        # Scores that differ by less than float32 resolves may swap places in the mask method.
        right &= bool(np.abs(np.subtract(one["counting"]["values"], one["mask"]["values"])).max() <= 3 / options.rows)
    faster, wider = (f"{one['mask']['seconds'] / one['counting']['seconds']:.1f}×" for one in (narrow, wide))
    product, above = narrow["counting"]["seconds"] / narrow["product"]["seconds"], narrow["counting"]["peak"]
    what = "R@1/5/10 both ways, {:,} × {} (× {:,}), exact under ties".format(options.rows, *options.width)
    ratio = f"{faster} ({wider}) faster; {product:.2f}× one matrix product, {above:.0f} MB above its inputs"
    return Measured([Row("recall", what, "the full-matrix-mask method", ratio), *rows], right)


if __name__ == "__main__":
    ended(main)
