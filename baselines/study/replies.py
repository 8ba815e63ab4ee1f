"""The patient's replies: prepared outside the pages, once each, by whichever process is free.

    replies = Replies(site)
    replies.due(slot.id)          # after a message; after a restart, for each talk that waits

A process claims a talk for a few seconds at a time, so that only one of several prepares the reply, and another takes
over if it dies. Each answer of a model is stored before it is used. While a model fails, the clock stops and the model
is asked again; after three minutes the talk is ended, paid, and given to somebody else. Nothing else answers instead.
"""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import replace

from sqlalchemy import Connection, update

from baselines.medconceal import clinician
from baselines.medconceal.game import FINISHED, TIME_UP
from baselines.medconceal.record import Episode, Findings
from baselines.study import replaced
from baselines.study import slots as at
from baselines.study.journal import note
from baselines.study.keys import Erased
from baselines.study.seat import Replayed
from baselines.study.site import Site
from baselines.study.store import kind_of
from baselines.study.tables import slots
from baselines.study.talks import Talks
from loaders.errors import BedsideError
from loaders.files.records import to_json

CLAIM, RENEW = 15.0, 5.0  # seconds
BROKEN_OFF = 180.0
"""Seconds of consecutive failures after which a talk is broken off."""
LONGEST_WAIT = 20.0  # seconds between two tries
_log = logging.getLogger(__name__)


class Replies:
    """Prepares due replies, in tasks of the event loop that it is called from."""

    def __init__(self, site: Site, *, broken_off: float = BROKEN_OFF, first_wait: float = 1.0) -> None:
        self._site, self._broken_off, self._first_wait = site, broken_off, first_wait
        self._going: dict[int, asyncio.Task[None]] = {}
        self.talks = Talks(site)

    def due(self, number: int) -> None:
        """Makes sure that whatever is due in a talk is prepared: the reply, or the episode of one that is over."""
        if number not in self._going:
            self._going[number] = asyncio.create_task(self._take_up(number))

    async def _take_up(self, number: int) -> None:
        """Whatever stops it is logged: the server's next look finds what is still due."""
        try:
            for due, work in ((at.unanswered, self._prepare), (at.without_episode, self._write)):
                with self._site.store.reading() as connection:
                    found = due(connection, slots.c.id == number)
                if found:
                    await work(number)
        except Exception as error:
            # Nothing of a talk may be logged, and an error may quote what it was about.
            _log.error("talk %d: %s", number, kind_of(error))
        finally:
            del self._going[number]

    async def _write(self, number: int) -> None:
        """Stores the episode of a finished talk, encrypted. Raises as `Talks.play`."""
        site = self._site
        with site.store.reading() as connection:
            slot = at.slot_of(connection, number)
            given = site.keys.open_json(slot.person, at.sealed_of(connection, slot)["sealed"]) or {}
        findings = tuple(clinician.finding(**one) for one in given.get("findings", ()))
        ended = FINISHED if slot.why == "clinician" else TIME_UP
        exchanges, episode = await self.talks.play(slot, ended=ended, findings=findings)
        assert episode is not None
        public: Episode = site.games[slot.task].public(episode)
        if slot.task == "confirmation":
            public = replace(public, findings=Findings(findings, attempts=1))
        with site.store.writing() as connection:
            sealed, leaks = site.keys.seal_json(slot.person, to_json(public)), episode.leaks
            connection.execute(update(slots).where(slots.c.id == slot.id).values(episode=sealed, leaks=leaks))
            replaced.keep(connection, slot.id, exchanges)

    async def stop(self) -> None:
        """Stops everything in progress; it resumes after a restart."""
        going = list(self._going.values())
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)

    async def settled(self) -> None:
        """Waits until nothing is in progress."""
        while self._going:
            # unlike `gather`, from Python 3.12 on, this lets the loop take those that are done off the list
            await asyncio.wait(list(self._going.values()))

    async def _prepare(self, number: int) -> None:
        site, wait = self._site, self._first_wait
        now = site.clock()
        with site.store.writing() as connection:
            if not claim(connection, number, now):
                return
        holding = asyncio.create_task(self._hold(number))
        try:
            while not await self._tried(number):
                await asyncio.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT)
        except Erased:
            pass  # the person has left, and everything of theirs is gone
        finally:
            holding.cancel()
            with site.store.writing() as connection:
                renew(connection, number, None)

    async def _hold(self, number: int) -> None:
        while True:
            await asyncio.sleep(RENEW)
            try:
                with self._site.store.writing() as connection:
                    renew(connection, number, self._site.clock() + CLAIM)
            except Exception as error:
                _log.error("claim of talk %d: %s", number, kind_of(error))

    async def _tried(self, number: int) -> bool:
        """One try; returns whether nothing is left to do."""
        site = self._site
        with site.store.reading() as connection:
            slot = at.slot_of(connection, number)
        if not slot.preparing:
            return True
        try:
            played = await self.talks.play(slot)
        except BedsideError as error:
            return self._failure(slot, error)
        self._took(slot, played)
        return True

    def _failure(self, slot: at.Slot, error: BedsideError) -> bool:
        site, now, why = self._site, self._site.clock(), told(error)
        if slot.failing is None:
            _log.error("talk %d waits for a model: %s. %s", slot.id, why, error.do)
        with site.store.writing() as connection:
            slot = at.slot_of(connection, slot.id)
            since = now if slot.failing is None else slot.failing  # the first of a series
            counted = update(slots).where(slots.c.id == slot.id).values(failing=since, failures=slot.failures + 1)
            connection.execute(counted)
            note(connection, now, "model failed", person=slot.person, slot=slot.id, kind=type(error).__name__, why=why)
            if now - since >= self._broken_off:
                at.lose(connection, slot, "interrupted", now)
                return True
        return False

    def _took(self, slot: at.Slot, played: Replayed) -> None:
        site, now, (exchanges, episode) = self._site, self._site.clock(), played
        with site.store.writing() as connection:
            slot = at.slot_of(connection, slot.id)
            if not slot.preparing or len(exchanges) != slot.turns:
                return
            at.reply(connection, site.keys, slot, exchanges[-1].patient, now)
            replaced.keep(connection, slot.id, exchanges)
            if episode is not None:  # the patient was convinced, or that was the last turn
                at.end_talk(connection, at.slot_of(connection, slot.id), episode.stopped, now)


def told(error: BedsideError) -> str:
    """What may be read of an error: whose it is, our own words and a status. A provider's words may quote somebody."""
    status = re.search(r"\bHTTP \d{3}\b", error.found)
    return f"{error.where} {re.split('[:;]', error.found)[0]}" + (f" ({status[0]})" if status else "")


def claim(connection: Connection, number: int, now: float) -> bool:
    """Claims the preparation of a reply for this process; returns whether nobody else has it."""
    free = slots.c.busy.is_(None) | (slots.c.busy < now)
    mine = update(slots).where(slots.c.id == number, slots.c.step == "talk", slots.c.since.is_(None), free)
    return connection.execute(mine.values(busy=now + CLAIM)).rowcount == 1


def renew(connection: Connection, number: int, until: float | None) -> None:
    """Renews the claim, or releases it."""
    connection.execute(update(slots).where(slots.c.id == number).values(busy=until))
