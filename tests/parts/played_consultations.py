"""Cases from the authored complaints, and a table at which scripted agents or fixed answers play them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from baselines.dialogue.game import Asking, Script, parted
from baselines.threemdbench.consultation.agents import AGENTS
from baselines.threemdbench.consultation.assessor import as_items
from baselines.threemdbench.consultation.game import consultation_game
from baselines.threemdbench.consultation.prompts import read_prompts
from baselines.threemdbench.consultation.record import ITEMS, Case, Consultation
from builders.threemdbench.complaints import authored_basic, authored_facts
from loaders.models.messages import Answer, Message
from loaders.threemdbench import CORPUS, DIAGNOSES, NAMES, PERSONALITIES
from tests.parts.pictures import drawn, jpeg
from tests.parts.small_release import write_small

PROMPTS = read_prompts()
PHOTO = jpeg(drawn(1, (60, 40)))
VERDICT = as_items(dict.fromkeys(ITEMS, 1))


def cases(count: int) -> list[Case]:
    """Cases of all diagnoses in turn and all temperaments in turn; half of the cues name the diagnosis first."""
    return [case(number) for number in range(count)]


def case(number: int = 0, **more: Any) -> Case:
    diagnosis = DIAGNOSES[number % len(DIAGNOSES)]
    draw = random.Random(number)
    others = draw.sample([name for name in NAMES if name != diagnosis.name], 3)
    place = draw.choice([0, 0, 0, 1, 2, 3])
    facts: dict[str, Any] = {
        "case_id": f"case-{number:04}",
        "image": PHOTO,
        "diagnosis": diagnosis.name,
        "domain": diagnosis.domain,
        "basic": authored_basic(diagnosis.name),
        "additional": tuple(authored_facts(diagnosis.name, key=str(number), seed=0)),
        "temperament": PERSONALITIES[number % 4],
        "cues": tuple([*others[:place], diagnosis.name, *others[place:]][:3]),
    }
    return Case(**(facts | more))


@dataclass(frozen=True)
class Asked:
    role: str
    messages: tuple[Message, ...]
    json_schema: Mapping[str, Any] | None
    attempt: int
    temperature: float | None
    max_tokens: int
    top_p: float | None = None
    seed: int | None = None


@dataclass
class Table:
    """Who plays which role, and everything they were asked.

    A role is played by a script, or gives the answers of a list in turn, the last one forever. An assessor without
    either finds no diagnosis and answers with VERDICT.
    """

    players: Mapping[str, Script | Sequence[str | Answer]]
    asked: list[Asked] = field(default_factory=list)

    async def ask(self, role: str, messages: Sequence[Message], **how: Unpack[Asking]) -> Answer:
        turn = len(self.of(role))
        json_schema, attempt, drawn = parted(how)
        self.asked.append(Asked(role, tuple(messages), json_schema, attempt, **drawn))
        player = self.players.get(role)
        if player is None:
            assert role == "assessor"
            said: str | Answer = VERDICT if "4.1" in messages[0].text else "none"
        else:
            said = player(messages) if callable(player) else player[min(turn, len(player) - 1)]
        return said if isinstance(said, Answer) else Answer(said, None, None, "stop")

    def of(self, role: str) -> list[Asked]:
        return [one for one in self.asked if one.role == role]


def played(
    one: Case | None = None, setting: str = "dialogue+image", **players: Script | Sequence[str | Answer]
) -> tuple[Consultation, Table]:
    """One case with these players; see Table. The protocol is the default one."""
    table = Table(players)
    return asyncio.run(consultation_game(setting, PROMPTS).play(one or case(), table.ask)), table


def by_script(
    one: Case, doctor: str, setting: str = "dialogue+image", *, patient: str = "patient"
) -> tuple[Consultation, Table]:
    """One case played by scripted agents."""
    names: dict[str, str] = {"patient": patient, "doctor": doctor, "assessor": "assessor"}
    scripts: dict[str, Callable[[Sequence[Message]], str]] = {role: AGENTS[name](one) for role, name in names.items()}
    return played(one, setting, **scripts)


def write_cases(folder: Path, count: int, *, stand_in: str | None = "drawn for a test", split: str = "test") -> Path:
    """A release of the corpus with a row for each of the first `count` cases, all of one split."""
    rows = []
    for number in range(count):
        one = case(number)
        said = {
            "image": {"bytes": one.image, "path": f"{one.case_id}.jpg"},
            "image_id": one.case_id,
            "split": split,
            "diagnosis": one.diagnosis,
            "domain": one.domain,
            "general_complaint": one.basic,
            "complaints": list(one.additional),
            "personality": one.temperament,
        }
        rows.append({name: said.get(name) for name in CORPUS.features})
    write_small(folder, rows, corpus="3mdbench", features=CORPUS.features, exclusions=[], stand_in=stand_in,
                measure=lambda found: {"kinds": {}, "letters": len(list(found))})  # fmt: skip
    return folder
