"""`bedside check`: can the models of long work be opened? Asked before the first of them is paid for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import typer

from loaders.errors import BedsideError, InputError
from loaders.models.chat import open_model
from loaders.models.encoders import open_encoder
from scripts.terminal.console import output, table


def command(
    models: list[str] = typer.Argument(None, metavar="[MODEL]...", help="Chat models, as in --model or --doctor."),
    encoder: list[str] = typer.Option(
        [], metavar="NAME", help="Encoder for images and texts, as in `run retrieval --model`. May be repeated."
    ),
    base_url: list[str] = typer.Option([], metavar="URL", help="Base URL of the models' server. May be repeated."),
) -> int:
    """Check that models can be opened: name, package, key, weights; nothing is asked, and nothing paid.

    Run it before work that plays several models one after another: all that is missing is told at once. No server is
    started, and whether one answers is not tried. An encoder, or a model of `hf/`, is loaded, and its weights are
    downloaded if they are not here yet. Exit code 1 if one cannot be opened.

    Example: `bedside check openai/gpt-4o-mini anthropic/claude-sonnet-4-5 --encoder BiomedCLIP`
    """
    if not models and not encoder:
        raise InputError("MODEL", found="none", expected="models to check", do="Name them, or an --encoder")
    shown, failed = table("Models", "model", "found", "what to do"), 0
    openings: list[tuple[str, Callable[[], object]]] = []
    openings += [(name, partial(_open_chat, name, tuple(base_url))) for name in dict.fromkeys(models or [])]
    openings += [(name, partial(open_encoder, name)) for name in dict.fromkeys(encoder)]
    for name, opening in openings:
        try:
            opening()
        except BedsideError as error:
            failed += 1
            found = error.found if str(error.where) == name else f"{error.where}: {error.found}"
            shown.add_row(name, found, error.do)
        else:
            shown.add_row(name, "can be opened", "")
    output.print(shown)
    return 1 if failed else 0


def _open_chat(name: str, base_url: tuple[str, ...]) -> None:
    """Open a chat model; the scripted agents of dialogues are at hand."""
    from baselines.medconceal.agents import BY_ROLE as PATIENTS
    from baselines.threemdbench.consultation.agents import BY_ROLE as CONSULTATIONS

    agents = {f"scripted/{agent}" for roles in (PATIENTS, CONSULTATIONS) for role in roles.values() for agent in role}
    if name not in agents:
        open_model(name, base_url=base_url)
