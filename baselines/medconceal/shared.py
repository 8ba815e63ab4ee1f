"""What others may see of dialogues with the reserved patient: reads a run without what its cases hide."""

from __future__ import annotations

from dataclasses import replace

from baselines.dialogue.played import Concealed, PlayedCase
from baselines.medconceal.game import concern_texts, public
from baselines.medconceal.judgement import JudgedEpisode

_JUDGED: Concealed = (
    PlayedCase[JudgedEpisode],
    lambda judged: replace(judged, episode=public(judged.episode)),
    lambda judged: concern_texts(judged.episode),
)
CONCEALED = {"confirmation": _JUDGED, "intervention": _JUDGED}
"""Baseline, as its record names it -> how its dialogues are read."""
