"""`bedside check`: can the models of long work be opened? Asked before the first of them is paid for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

import typer

from loaders.errors import BedsideError, InputError, MissingExtra, first_of
from loaders.models.chat import open_model
from loaders.models.encoders import open_encoder
from loaders.models.sight import check_sight
from loaders.threemdbench import NAMES
from scripts.terminal.console import output, table


def command(
    models: list[str] = typer.Argument(None, metavar="[MODEL]...", help="Chat models, as in --model or --doctor."),
    encoder: list[str] = typer.Option(
        [], metavar="NAME", help="Encoder for images and texts, as in `run retrieval --model`. May be repeated."
    ),
    classifier: list[str] = typer.Option(
        [], metavar="NAME", help="Image classifier, as in `run classifier --model`. May be repeated."
    ),
    metric: list[str] = typer.Option([], metavar="NAME", help="BERTScore, LENS, RaTEScore or GREEN. May be repeated."),
    base_url: list[str] = typer.Option([], metavar="URL", help="Base URL of the models' server. May be repeated."),
    pictures: bool = typer.Option(False, "--pictures", help="Ask each chat model what a picture shows, which is paid."),
) -> int:
    """Check that models can be opened: name, package, key, weights; without --pictures nothing is asked or paid.

    Run it before work that plays several models one after another: all that is missing is told at once. No server is
    started, and whether one answers is tried only with --pictures, since some servers take a picture and leave it out
    in silence. An encoder, a classifier or a model of `hf/` is loaded, and its weights are downloaded if they are not
    here yet; a metric scores one pair of sentences, with weights that are here. Exit code 1 if one cannot be opened, or
    does not see.

    Example: `bedside check openai/gpt-4o-mini anthropic/claude-sonnet-4-5 --encoder BiomedCLIP`
    """
    for option, given in (("--base-url", base_url), ("--pictures", pictures)):
        if given and not models:
            do = "Name the chat models that are meant, or leave the option out"
            raise InputError(option, found="no chat model", expected="one that this is about", do=do)
    kinds: list[tuple[list[str], Callable[[str], object]]] = [
        (models or [], partial(_open_chat, base_url=tuple(base_url), pictures=pictures)),
        (encoder, open_encoder),
        (classifier, _open_classifier),
        (metric, _compute),
    ]
    openings = [(name, opening) for names, opening in kinds for name in dict.fromkeys(names)]
    if not openings:
        do = "Name them, or an --encoder, --classifier or --metric"
        raise InputError("MODEL", found="none", expected="models to check", do=do)
    shown, failed = table("Models", "model", "found", "what to do"), 0
    for name, opening in openings:
        try:
            sees = opening(name) is True
        except BedsideError as error:
            failed += 1
            found = error.found if str(error.where) == name else f"{error.where}: {error.found}"
            shown.add_row(name, found, error.do)
        else:
            shown.add_row(name, "sees" if sees else "can be opened", "")
    output.print(shown, fault=failed > 0)
    return 1 if failed else 0


def _open_chat(name: str, base_url: tuple[str, ...], *, pictures: bool) -> bool:
    """Open a chat model, and ask each of its servers what a picture shows, if so wanted: whether all saw it. The
    scripted agents of dialogues are at hand."""
    from baselines.medconceal.agents import BY_ROLE as PATIENTS
    from baselines.threemdbench.consultation.agents import BY_ROLE as CONSULTATIONS

    agents = {f"scripted/{agent}" for roles in (PATIENTS, CONSULTATIONS) for role in roles.values() for agent in role}
    if name in agents:
        return False
    for address in base_url or (None,):
        model = open_model(name, base_url=address)
        if pictures:
            asyncio.run(check_sight(model))
    return pictures


def _open_classifier(name: str) -> None:
    with MissingExtra.needed("models", purpose="image classifiers"):
        from baselines.threemdbench.classifier.network import open_network
    open_network(name, classes=len(NAMES))


def _compute(name: str) -> None:
    from baselines.medlaybench_v.learned_metrics import METRICS

    if name not in METRICS:
        raise InputError(name, found="no such metric", expected=first_of(list(METRICS)))
    METRICS[name](["No effusion is seen."], ["There is no fluid."])
