"""A game and the judges of its record in one: so that judging is resumed, paid for and logged like playing."""

from __future__ import annotations

from collections.abc import Mapping

from baselines.dialogue.game import Ask, Case, Game
from baselines.medconceal import judge_rules
from baselines.medconceal.judge import ROLE, judge
from baselines.medconceal.judgement import JudgedEpisode
from baselines.medconceal.record import Episode
from loaders.models.messages import Message
from loaders.models.prompts import Prompts


def judged_game(game: Game[Case, Episode], prompts: Prompts | None) -> Game[Case, JudgedEpisode]:
    """The game, with each episode judged by the role `judge`, or by rules where there are no prompts for one.

    An episode whose findings no judge could read is invalid: as no match it would count against the clinician.
    """

    async def play(case: Case, ask: Ask) -> JudgedEpisode:
        episode = await game.play(case, ask)
        return JudgedEpisode(
            episode, judge_rules.judge(episode) if prompts is None else await judge(ask, prompts, episode)
        )

    def transcript(case: Case, record: JudgedEpisode) -> list[Message]:
        return list(game.transcript(case, record.episode))

    def invalid(record: JudgedEpisode) -> str | None:
        failed = record.judgement.failures.get("pairs")
        return game.invalid(record.episode) or (f"judge of findings: {failed}" if failed else None)

    def scores(record: JudgedEpisode) -> Mapping[str, float]:
        return game.scores(record.episode)

    digests = prompts.digests if prompts else {}
    return Game(
        name=game.name,
        roles=(*game.roles, ROLE) if prompts else game.roles,
        case_id=game.case_id,
        play=play,
        transcript=transcript,
        scores=scores,
        invalid=invalid,
        settings={**game.settings, "judge": digests if prompts else "rules"},
    )
