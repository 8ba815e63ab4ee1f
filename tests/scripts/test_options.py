"""The options of the commands that evaluate: names and defaults that people have in their scripts."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
import typer

from scripts.commands import COMMANDS, Command, Group

# `!` is required; else what it is without being given.
ASKING = """
    --bare=False --base-url=[] --concurrency=16 --max-cost=None --max-retries=5 --max-tokens=[] --price=[]
    --prompts=None --reasoning-effort=[] --seed=0 --temperature=[] --timeout=120.0 --top-p=[]
"""
ENCODING = """
    --batch-size=64 --cache=runs/embeddings --device=None --embeddings=[] --model=[] --out/-o! --precision=fp32 --seed=0
    --split=test data!
"""
SCORED = f"""{ASKING}
    --epochs=1 --evaluator=None --judge! --limit=None --max-invalid=0.1 --model-seed=None --out/-o! --overlap=None
    --policy=bedside --transcripts=None data!
"""
TALKS = f"{SCORED} --clinician=None --patient=None --turns=8"
OPTIONS = {
    "compare": "--all=False --different-data=False --json=False --table=[] runs=None",
    "contrast": "--all=False --json=False --out/-o=None --seed=0 runs!",
    "sheet": "--out/-o=sheet.csv --pairs=None --raters=None --seed=0 --split=test release!",
    "ratings": "--out/-o=None --seed=0 sheets!",
    "fit-policy": """
        --base-url=[] --base=None --clinician=None --corpus=sample --evaluator=rules --judge=None --labels=None
        --most=2000 --out/-o! --ridge=10.0 --seed=0
    """,
    "run language": "--out/-o! --resamples=1000 --seed=0 --split=None --wordnet=None data!",
    "run retrieval": f"{ENCODING} --k=[1, 5, 10] --method=None --resamples=10000",
    "run captioning": f"""{ASKING}
        --label=None --max-invalid=0.0 --model! --out/-o! --pairs=1000 --resamples=1000 --sample-seed=None --split=test
        data!
    """,
    "run embedding-space": f"{ENCODING} --points=2000 --projection/--no-projection=True --resamples=1000",
    "run concepts": "--out/-o! --split=None data!",
    "run ablation": "--out/-o! runs!",
    "run classifier": """
        --allow-untrained=False --batch-size=32 --cache=runs/embeddings --checkpoint-seconds=300.0
        --clusters=None --crop=0.35 --depth-decay=None --device=None --drop-trained=False --ema=0.998
        --epochs=30 --learning-rate=None --model=EfficientNetV2-XL --out/-o! --patience=8 --precision=auto
        --predict=False --probe=False --randaugment=9 --resamples=10000 --restart=False --seed=0 --size=None --slice=[]
        --split=test --test-size=None --trained-on=None --weights=None --workers=None data!
    """,
    "run consultation": f"""{ASKING}
        --assessor! --cap-mode=None --cues=None --doctor! --epochs=1 --f1=authors --judge=None --limit=None
        --max-invalid=0.1 --model-seed=None --out/-o! --patient=None --photos=None --protocol=bedside --resamples=1000
        --setting=dialogue+image --slice=[] --split=test --unfinished=None data!
    """,
    "run recheck": f"{ASKING} --assessor! --limit=None --max-invalid=0.1 --out/-o! --run! data!",
    "run confirmation": TALKS,
    "run findings": f"{SCORED} --writer!",
    "run patients": "--out/-o! --policy=bedside --seed=0 --turns=8 data!",
    "run intervention": TALKS,
    "select patient": f"""{ASKING}
        --device=None --doctor! --encoder! --judge! --limit=None --max-invalid=0.1 --model-seed=None
        --out/-o=runs/select-patient --patient! --split=test data!
    """,
    "select sheet": "--count=100 --out/-o=sheet.csv --raters=5 --seed=0 runs!",
    "select assessor": f"""{ASKING}
        --assessor! --data! --keep-all=False --max-invalid=0.1 --model-seed=None --out/-o=runs/select-assessor --run!
        sheets!
    """,
    "select physicians-sheet": "--out/-o=physicians.csv --raters=2 --seed=0 --setting=image+basic --split=test data!",
    "select physicians": "--out/-o=runs/physicians --run! sheets!",
}


def entry(words: str) -> Command:
    group, _, name = words.partition(" ")
    listed = COMMANDS[group]
    chosen = listed.commands[name] if isinstance(listed, Group) else listed
    assert isinstance(chosen, Command)
    return chosen


@pytest.mark.parametrize("command", OPTIONS)
def test_options_keep_their_names_and_defaults(command: str) -> None:
    module, _, function = entry(command).place.partition(":")
    app = typer.Typer(add_completion=False)
    app.command()(getattr(import_module(module), function or "command"))
    offered = []
    for option in typer.main.get_command(app).params:
        name = "/".join(option.opts + option.secondary_opts) if option.opts[0].startswith("-") else option.name
        default = option.default.as_posix() if isinstance(option.default, Path) else option.default
        offered.append(f"{name}!" if option.required else f"{name}={default}")
    assert sorted(" ".join(offered).split()) == sorted(OPTIONS[command].split())
