"""A game as a task of inspect_ai: its concurrency, its logs, its viewer; every rule of the game stays in the game.

    outcomes, log = evaluate(playing, cases, log_dir=RUN / "logs")       # `bedside run`
    task = dialogue_task(game, cases, agents=...)                         # `inspect eval`, roles by --model-role

A sample is a case. Its messages are the dialogue with its image, its metadata the whole record, its scores those of the
game; requests to models are events with their role, tokens and cost. Hidden texts are in the record alone, never in
the sample's input or target.

What inspect_ai leaves to its callers is done here: a role without a model is an error, and the doctor never takes the
patient's role; retries are bounded (`loaders.models.chat`); a case without a usable record is an errored sample; more
than `max_invalid` of them make the log's status `error`; digests of prompts are task arguments. Its cache and its
retry of old logs are not used: paid answers live in `AnswerStore`.
"""

from __future__ import annotations

import errno
import gc
import hashlib
import json
import logging
import math
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from baselines.dialogue.game import Case, Game, Record, ScriptedAgent
from baselines.dialogue.played import PlayedCase
from baselines.dialogue.playing import Player, Playing, Progress, Scripted, check_cases
from loaders.errors import BedsideError, InputError, MissingExtra
from loaders.files.disk import check_folder, make_folder, writing
from loaders.files.records import to_json
from loaders.models.answers import AnswerStore
from loaders.models.chat import InspectModel, open_model
from loaders.models.inspect_form import forget, inspect_message

MAX_INVALID = 0.1
"""Share of cases without a usable record above which a run has failed."""


_SWEPT = 256
"""After every so many cases garbage is collected whole: inspect_ai leaves cycles of each sample, with its pictures,
which are few objects to Python and much memory."""

_Left = tuple[PlayedCase[Any], list[Any]]
"""What the solver of a sample leaves for its scores and its log: the outcome, and the dialogue as messages."""


class InvalidCase(Exception):
    """Why a sample has no usable record; inspect_ai shows it as the sample's error."""


class _Abort(BaseException):
    """Ends the whole evaluation; not an Exception, which inspect_ai would take for the error of one sample."""


def evaluate(
    playing: Playing[Case, Record],
    cases: Sequence[Case],
    *,
    log_dir: Path,
    epochs: int = 1,
    concurrency: int = 16,
    max_invalid: float = MAX_INVALID,
    prices: Mapping[str, tuple[float, float]] | None = None,
    progress: Progress | None = None,
) -> tuple[list[PlayedCase[Record]], Path]:
    """Plays all cases in an evaluation; returns their outcomes, epoch by epoch, and the log's file in `log_dir`.

    `prices` are US dollars per million tokens of input and output, by model name, for the log's costs.

    Raises what `Playing.play` raises; BedsideError if the disk is full, also while a log is written;
    KeyboardInterrupt on Ctrl-C; MissingExtra without inspect_ai.
    """
    inspect = _inspect()
    _check_home()
    roles: dict[str, Any] = {}
    own: dict[str, Player] = {}
    for role, player in playing.players.items():
        if isinstance(player, Scripted):
            own[role], roles[role] = player, _scripted_model(player.name)
        else:
            own[role], model = player.in_role(role)
            if model is not None:
                roles[role] = model
    _set_prices(prices or {})
    playing.players = own
    task = _task(playing.game, cases, lambda: playing, epochs, max_invalid, progress)
    try:
        with writing(log_dir), _lean():
            make_folder(log_dir)
            logs = inspect.eval(
                task,
                model=None,
                model_roles=roles or None,
                log_dir=str(log_dir),
                log_realtime=False,
                log_header_only=True,
                max_samples=concurrency,
                display="none",
                log_level="error",
                acp_server=False,
                ctl_server=False,
            )
    except BaseException:
        if playing.stopped is None:
            raise
    if playing.stopped is not None:
        raise playing.stopped
    if not logs or logs[0].status == "cancelled":  # inspect_ai swallows Ctrl-C
        raise KeyboardInterrupt
    log = logs[0]
    wanted = [(playing.game.case_id(case), epoch) for epoch in range(1, epochs + 1) for case in cases]
    if any(key not in playing.outcomes for key in wanted):
        raise _unfinished(log, log_dir)
    return [playing.outcomes[key] for key in wanted], Path(str(log.location).removeprefix("file://"))


@contextmanager
def _lean() -> Iterator[None]:
    """Turns off what an evaluation does not need, which saves a sixth of its time.

    Garbage is collected a third as often: nearly everything created stays until its dialogue has ended. What was there
    before, mostly the code of libraries, is not looked through in every collection. inspect_ai's traces, two lines per
    request in a file in the user's home, help to find requests that never end; ours always end (`loaders.models.chat`).
    """
    traces, often = logging.getLogger("inspect_ai.model._model"), gc.get_threshold()
    level = traces.level
    traces.setLevel(logging.INFO)
    gc.set_threshold(3 * often[0], *often[1:])
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        traces.setLevel(level)
        gc.set_threshold(*often)


def dialogue_task(
    game: Game[Case, Record],
    cases: Sequence[Case],
    *,
    agents: Mapping[str, ScriptedAgent],
    answers: Path | None = None,
    epochs: int = 1,
    max_invalid: float = MAX_INVALID,
    seed: int | None = None,
) -> Any:
    """The task of a game for `inspect eval`: roles come from `--model-role`, scripted agents from `agents` by name.

    A role without a model is an InputError before the first request; if a game has only one role, the model of --model
    plays it too. Models are asked as --max-retries and --attempt-timeout say. Answers are stored in the file `answers`,
    if named.
    """

    @cache
    def begun() -> Playing[Case, Record]:
        store = AnswerStore(answers, dialogue=True) if answers else None
        return Playing(game, _players_of_roles(game, agents), store, seed)

    return _task(game, cases, begun, epochs, max_invalid, None)


def _task(
    game: Game[Case, Record],
    cases: Sequence[Case],
    begun: Callable[[], Playing[Case, Record]],
    epochs: int,
    max_invalid: float,
    progress: Progress | None,
) -> Any:
    """`begun` returns the run that the samples are part of; it is called inside
    the evaluation, which knows the roles."""
    inspect = _inspect()
    from inspect_ai.dataset import MemoryDataset, Sample

    check_cases(game, cases)
    by_id = {game.case_id(case): case for case in cases}
    left: dict[tuple[str, int], _Left] = {}
    done = 0

    def ended() -> None:
        nonlocal done
        done += 1
        if done % _SWEPT == 0:
            gc.collect()
        if progress is not None:
            progress(done, len(cases) * epochs)

    @inspect.task(name="dialogue")  # type: ignore[untyped-decorator]
    @of_no_package
    def of_game(settings: Mapping[str, Any], version: str) -> Any:
        return inspect.Task(
            name=game.name,
            version=version,
            dataset=MemoryDataset([Sample(id=case_id, input=case_id) for case_id in by_id], name=game.name),
            solver=_solver(game, by_id, begun, left, ended),
            scorer=_scorer(game, left),
            cleanup=_logging(left),
            epochs=epochs,
            # inspect_ai counts a share as exceeded when it is just reached, and reads 1 as a count.
            fail_on_error=max_invalid + 1e-9 if max_invalid < 1 else False,
            continue_on_fail=True,
        )

    # A task in an eval set is identified by its name, arguments and version, not by its prompts or code.
    return of_game({**game.settings, "decoding": game.decoding}, settings_digest(game))


def _solver(
    game: Game[Case, Record],
    by_id: Mapping[str, Case],
    begun: Callable[[], Playing[Case, Record]],
    left: dict[tuple[str, int], _Left],
    ended: Callable[[], None],
) -> Any:
    """Plays the case of a sample; leaves its outcome and messages in `left`, and reports when it has ended."""
    from inspect_ai.log import transcript
    from inspect_ai.solver import solver

    @solver(name="dialogue")  # type: ignore[untyped-decorator]
    @of_no_package
    def dialogue() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            case = by_id[str(state.sample_id)]
            try:
                outcome = await begun().play(case, state.epoch)
            except Exception as error:
                raise _Abort(str(error)) from None
            ended()
            said = () if outcome.record is None else game.transcript(case, outcome.record)
            left[str(state.sample_id), state.epoch] = outcome, [inspect_message(message) for message in said]
            forget()
            if said:
                # The viewer opens on events, and replayed and scripted answers leave none.
                transcript().info(
                    "\n\n".join(f"**{message.role}** {message.text}" for message in said), source="dialogue"
                )
            if outcome.problem:
                raise InvalidCase(outcome.problem)
            state.completed = True
            return state

        return solve

    return dialogue()


def _logging(left: dict[tuple[str, int], _Left]) -> Callable[[Any], Awaitable[None]]:
    """Puts what the solver left into the state that is logged, whether or not the sample has failed.

    If the solver did it, inspect_ai would log all of it a second time, as an event that tells how the state changed.
    """

    async def logged(state: Any) -> None:
        key = str(state.sample_id), state.epoch
        if key not in left:  # the run was stopped before the case had ended
            return
        outcome, messages = left.pop(key)
        state.metadata["outcome"] = {name: value for name, value in to_json(outcome).items() if name != "case"}
        if outcome.record is not None:
            state.messages = messages

    return logged


def _scorer(game: Game[Case, Record], left: Mapping[tuple[str, int], _Left]) -> Any:
    """Returns the game's scores of the outcome that the solver left."""
    from inspect_ai.scorer import Score, metric, scorer

    @metric(name="mean")  # type: ignore[untyped-decorator]
    @of_no_package
    def means() -> Any:
        def mean(samples: Sequence[Any]) -> dict[str, float]:
            """Mean of every score over the samples that have it."""
            columns: dict[str, list[float]] = {}
            for name, value in (item for sample in samples for item in sample.score.value.items()):
                if math.isfinite(value):
                    columns.setdefault(name, []).append(float(value))
            return {name: sum(values) / len(values) for name, values in sorted(columns.items())}

        return mean

    @scorer(name="dialogue", metrics=[means()])  # type: ignore[untyped-decorator]
    @of_no_package
    def rated() -> Any:
        async def score(state: Any, target: Any) -> Any:
            outcome, _ = left[str(state.sample_id), state.epoch]
            assert outcome.record is not None  # without one, the solver has raised
            return Score(value=dict(game.scores(outcome.record)))

        return score

    return rated()


def of_no_package(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function under its own name: inspect_ai would put its installed top-level package before it, here `scripts`.

    inspect_ai looks for the package by the module, which this makes unfindable. That also saves it reading the metadata
    of every package, a second in all.
    """
    function.__module__ = "of no package"
    return function


def _players_of_roles(game: Game[Any, Any], agents: Mapping[str, ScriptedAgent]) -> dict[str, Player]:
    from inspect_ai.model import get_model
    from inspect_ai.model._generate_config import active_generate_config

    players: dict[str, Player] = {}
    for role in game.roles:
        try:
            model = get_model(role=role, required=len(game.roles) > 1)
        except Exception:  # inspect_ai's own text does not name the option
            raise InputError(
                f"role {role} of {game.name}",
                found="no model",
                do=f"Name one: --model-role {role}=provider/model, or {role}=scripted/NAME",
            ) from None
        name = str(model)
        if not name.startswith("scripted/"):
            told = model.config.merge(active_generate_config())
            limits = {"max_retries": told.max_retries, "timeout": told.attempt_timeout}
            players[role] = InspectModel(model, **{name: most for name, most in limits.items() if most is not None})
        elif name in agents:
            players[role] = Scripted(name, agents[name])
        else:
            players[role] = open_model(name)
    return players


def settings_digest(game: Game[Any, Any]) -> str:
    """Digest (16 hexadecimal digits) of what is played, prompts and decoding included."""
    text = json.dumps([game.name, game.settings, game.decoding], sort_keys=True, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _scripted_model(name: str) -> Any:
    """The model that represents a scripted agent in the header of a log."""
    from inspect_ai.model import get_model

    import baselines.dialogue.provider  # noqa: F401 - registers `scripted/...`, installed or not

    return get_model(name, memoize=False)


def _set_prices(prices: Mapping[str, tuple[float, float]]) -> None:
    """Passes inspect_ai the prices of models; for those that it does not know, it would log no costs."""
    from inspect_ai.model import ModelCost, ModelInfo, set_model_info

    for name, (given, said) in prices.items():
        cost = ModelCost(input=given, output=said, input_cache_write=given, input_cache_read=given)
        set_model_info(name, ModelInfo(cost=cost))


def _unfinished(log: Any, log_dir: Path) -> BedsideError:
    """The error for an evaluation that ended early for a reason of inspect_ai's own."""
    message = log.error.message if log.error is not None else f"status {log.status}"
    found, do = f"the log was ended early: {message}", "Run the same command again"
    if os.strerror(errno.ENOSPC) in message:
        found, do = "the disk is full", "Free some space there and run the same command again: answers are kept"
    return BedsideError(log_dir, found=found, do=do)


def _check_home() -> None:
    """Refuse a home in which inspect_ai, which begins with a file of traces there, cannot write: homes in containers
    may be read-only. Its own error would be taken for one about the log.

    Raises: as `check_folder`.
    """
    from platformdirs import user_data_path

    try:
        check_folder(user_data_path("inspect_ai") / "traces")
    except BedsideError as error:
        error.do = "Name another place for inspect_ai's own files (XDG_DATA_HOME=DIR), or play without a log (--bare)"
        raise


def _inspect() -> Any:
    with MissingExtra.needed("dialogue", purpose="dialogues with a log (--bare plays without one)"):
        import inspect_ai
    return inspect_ai
