"""Options that several baselines share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    str, typer.Argument(metavar="DATA", help="medlaybench-v[@TAG], official, a release folder, or REPO[@TAG].")
]
Out = Annotated[
    Path, typer.Option("--out", "-o", metavar="RUN", help="Folder for results.jsonl, results.csv and run.json.")
]
Seed = Annotated[int, typer.Option(help="Seed of the bootstrap.")]
Encoders = Annotated[
    list[str],
    typer.Option(
        "--model",
        metavar="NAME",
        help="Encoder: one of the paper's, hf:ORG/NAME, an open_clip name, random:tiny. May be repeated.",
    ),
]
Cache = Annotated[Path, typer.Option(metavar="DIR", help="Embeddings, kept for the next run.")]
BatchSize = Annotated[int, typer.Option(min=1, help="Images or captions at a time.")]
Device = Annotated[str | None, typer.Option(metavar="NAME", help="cpu, cuda:0, … [a GPU where there is one]")]
Precision = Annotated[str, typer.Option(metavar="fp32|bf16|fp16", help="Precision of the encoder.")]
EMBEDDINGS = Path("runs/embeddings")
