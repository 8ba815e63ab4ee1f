"""Plays the talks of a study: people's words come from the store, and so do earlier answers of models.

    talks = Talks(site)
    played = await talks.play(slot)              # as far as the talk has come

A talk is replayed from the store. The most recent ones are kept in memory, each with the number of words that it has
heard, so that a person's next words cost one turn and not all. One that is lost (a restart, another process, too many
talks) is replayed and arrives at the same place; nothing else depends on it.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Unpack

from sqlalchemy import bindparam, func, select, update

from baselines.dialogue.budget import counted
from baselines.dialogue.game import Asking, Script, parted
from baselines.dialogue.playing import Scripted
from baselines.medconceal import rubric
from baselines.medconceal.record import SubmittedFinding
from baselines.study import requests
from baselines.study import slots as at
from baselines.study.seat import Replayed, Seat, Talk
from baselines.study.site import Site
from baselines.study.tables import answers
from loaders.errors import ModelError
from loaders.files.records import from_json
from loaders.models.answers import request_of
from loaders.models.endpoint import TALK
from loaders.models.messages import REQUEST, Answer, Message
from loaders.models.tries import REFUSED

AT_ONCE = 2
"""Talks that are played at a time. One whose model is answering does not count."""
MOST_KEPT = 300
"""Talks that are kept in memory; each takes some ten KiB."""
_STORED = select(answers.c.sealed).where(answers.c.digest == bindparam("wanted"))


class Asked:
    """Evaluator and patient of one talk: earlier answers are repeated, and new ones are stored first.

    A request is recorded before it is sent (`requests`).
    """

    def __init__(self, site: Site, slot: at.Slot, stored: Mapping[str, str], turn: asyncio.Semaphore) -> None:
        self._site, self._slot, self._stored, self._turn = site, slot, dict(stored), turn
        self._scripts: dict[str, Script] = {}
        self._used: list[tuple[str, str]] = []  # role and digest, in order

    async def __call__(self, role: str, messages: Sequence[Message], **how: Unpack[Asking]) -> Answer:
        player, slot = self._site.players[role], self._slot
        if isinstance(player, Scripted):
            if role not in self._scripts:
                self._scripts[role] = player.agent(self._site.profiles[slot.item])
            return Answer(self._scripts[role](messages), None, None, "stop")
        json_schema, attempt, drawn = parted(how)
        name = json.dumps([slot.task, slot.item, 1, role, attempt])
        encounter = str(slot.id)
        _, digest = request_of(player, messages, drawn, json_schema, namespace=name, encounter=encounter, dialogue=True)
        self._used.append((role, digest))
        # asked for once per replay
        if (stored := self._stored.pop(digest, None) or self._answered_elsewhere(digest)) is not None:
            await asyncio.sleep(0)  # let others run, too
            return from_json(Answer, stored.encode(), "a stored answer")
        self._site.check_dollars()
        TALK.set(json.dumps([slot.task, slot.item, 1, encounter]))
        began = self._site.clock()
        with self._site.store.writing() as connection:
            # raises Erased: nothing is sent for somebody who was erased meanwhile
            self._site.keys.seal(slot.person, "")
            REQUEST.set(requests.sending(connection, digest, slot.id, role, began))
        self._turn.release()  # others are played while the model answers
        try:
            answer = await player.ask(messages, json_schema=json_schema, **drawn)
            if answer.turned_away:  # rules would speak in its place
                raise ModelError(player.name, found=f"{REFUSED}: {answer.stop}")
        except ModelError:
            with self._site.store.writing() as connection:
                requests.over(connection, digest)
            raise
        finally:
            REQUEST.set("")
            await self._turn.acquire()
        self._keep(digest, role, player.name, messages, answer, began)
        return answer

    def _answered_elsewhere(self, digest: str) -> str | None:
        """An answer that another process received since this talk was read from the store."""
        with self._site.store.reading() as connection:
            sealed = connection.execute(_STORED, {"wanted": digest}).scalar()
        return None if sealed is None else self._site.keys.open(self._slot.person, sealed)

    def _keep(
        self, digest: str, role: str, model: str, messages: Sequence[Message], answer: Answer, began: float
    ) -> None:
        site, slot, now = self._site, self._slot, self._site.clock()
        read, written = counted(messages, answer)
        with site.store.writing() as connection:
            # Within the transaction: if the person was erased meanwhile, this raises Erased.
            sealed = site.keys.seal(slot.person, json.dumps(asdict(answer)))
            requests.over(connection, digest)
            if connection.execute(_STORED, {"wanted": digest}).first() is None:
                connection.execute(
                    answers.insert(),
                    {
                        "digest": digest,
                        "slot": slot.id,
                        "role": role,
                        "model": model,
                        "at": now,
                        "seconds": now - began,
                        "input_tokens": read,
                        "output_tokens": written,
                        "estimated": (read, written) != (answer.input_tokens, answer.output_tokens),
                        "sealed": sealed,
                    },
                )

    def set_aside(self) -> None:
        """The last answers of the evaluator cannot be used: they are stored under another name, and requested again."""
        with self._site.store.writing() as connection:
            kept = connection.execute(select(func.count()).select_from(answers)).scalar()
            for digest in [digest for role, digest in self._used if role == "evaluator"][-rubric.ATTEMPTS :]:
                aside = f"{digest}.{kept}"
                connection.execute(update(answers).where(answers.c.digest == digest).values(digest=aside))


class Talks:
    """Plays the talks of a site. `most` is how many are kept in memory."""

    def __init__(self, site: Site, *, most: int = MOST_KEPT) -> None:
        self._site, self._most = site, most
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._kept: OrderedDict[int, Talk] = OrderedDict()

    async def play(
        self, slot: at.Slot, *, ended: str | None = None, findings: Sequence[SubmittedFinding] = ()
    ) -> Replayed:
        """The talk as far as it has come, or to its end. It waits for its turn.

        Raises ModelError if a model fails, or gives no usable answer; Erased.
        """
        talk = self._at(slot)
        talk.seat.ended, talk.seat.findings = ended, findings
        try:
            async with self._turn:
                exchanges, episode = await talk.go_on()
        except ModelError as error:
            if error.where == "evaluator" and isinstance(asked := talk.seat.others, Asked):
                asked.set_aside()
            raise
        if episode is None:
            self._kept[slot.id] = talk
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)[1].close()
        return exchanges, episode

    def _at(self, slot: at.Slot) -> Talk:
        """The talk with all of the words: the kept one, taken out while it is played; else from the beginning."""
        site, kept = self._site, self._kept.pop(slot.id, None)
        with site.store.reading() as connection:
            words = [one.text for one in at.said_in(connection, site.keys, slot) if one.who == at.CLINICIAN]
            if kept is not None and (heard := kept.seat.words) == words[: len(heard)]:
                heard[:] = words
                return kept
            rows = connection.execute(select(answers.c.digest, answers.c.sealed).where(answers.c.slot == slot.id)).all()
            texts = site.keys.open_all(slot.person, [row.sealed for row in rows])
            stored = {row.digest: text for row, text in zip(rows, texts, strict=True)}
        if kept is not None:
            kept.close()
        seat = Seat(words, Asked(site, slot, stored, self._turn))
        return Talk(site.games[slot.task], site.profiles[slot.item], seat)

    def keep_only(self, going: Collection[int]) -> None:
        """Drops talks that are over, with everything that was said in them."""
        for number in [number for number in self._kept if number not in going]:
            self._kept.pop(number).close()
