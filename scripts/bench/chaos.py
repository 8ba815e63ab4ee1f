"""Real commands, disturbed at random moments and started again: what is lost, what changes, what is paid for twice.

    python -m scripts.bench.chaos [--kills 250] [--minutes 120] [--seed 0] [--only JOB]    continues where it stopped
    python -m scripts.bench.chaos --table                                                  only what is known so far

An episode is one command of one corpus (build, run, curate, publish). It is started, struck at a moment drawn by the
seed, started again, up to twenty times, and at last left to finish. The result is then compared, byte by byte, with
that of the same command undisturbed; only `private/` and the record's time, place and seconds are left out. The chat
server logs every request and who sent it. One that is sent again was in flight when a process ended if it had not been
answered yet, or less than a second before: a process commits an answer as it receives it, or with the commit after the
current one, which takes milliseconds; the second allows for an overloaded machine. On a full disk, requests that were
in progress when the first answer did not fit count as in flight if nothing was asked after them. All others are paid
for twice, and count as such.

    kill          SIGKILL for the whole session        term, hup, int  SIGTERM, SIGHUP, SIGINT: requests to end
    kill-parent   SIGKILL for the command alone        stop            SIGSTOP, then SIGCONT (a minute, in every tenth)
    kill-worker   SIGKILL for one worker process       clock           the clock jumps by a day and a half, either way
    full          no space left, on a tmpfs (as root)  two             the same command twice at once

Each episode is a line of the results file, appended when it is over, so that any number of runs add up. Every twentieth
attempt is a cold `python -m scripts`; the others are forked off a process that has the imports done. The exit code is 1
if any episode ever went wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from multiprocessing import set_forkserver_preload
from pathlib import Path
from typing import Any

from loaders.files.disk import scratch
from loaders.files.places import without_places
from loaders.files.records import from_json
from scripts.bench.apart import commit
from scripts.bench.chaos_jobs import JOBS, KEY, Asked, Attempt, Job, Left, Place, SlowServer, left_by, prepare
from scripts.terminal.console import output, table
from scripts.terminal.stopping import hear
from tests.parts.faulty_hub import FaultyHub
from tests.parts.places import ROOT

RESULTS = Path(__file__).with_name("chaos.jsonl")
SIGNS = {
    "kill": (signal.SIGKILL, -9),
    "kill-parent": (signal.SIGKILL, -9),
    "kill-worker": (signal.SIGKILL, 2),
    "term": (signal.SIGTERM, 143),
    "hup": (signal.SIGHUP, 129),
    "int": (signal.SIGINT, 130),
}
"""Fault -> the signal, and the code with which the command then ends."""
REPO = "chaos/captions"
MOST = 20
"""Attempts that are struck in an episode."""
GRACE = 1.0
"""Seconds from an answer's last byte to the moment when it must be stored, or refused by a full disk."""
ORDER = (1, 7, 9, 2, 8, 6, 11, 4, 1, 7, 9, 2, 8, 6, 10, 0, 7, 9, 5, 2, 8, 11, 1, 7, 9, 3)
"""Which job comes when: those that cost most, rarely."""
COLD = 0.05
"""Share of the attempts that are a cold `python -m scripts`."""
DAY = 86400.0
PATIENCE = 240.0
"""Seconds after which a command that nobody disturbs hangs."""


@dataclass
class Struck:
    """One attempt: what happened to it when, how it ended, and how many requests it had in flight then."""

    fault: str
    after: float
    cold: bool = False
    struck: bool = False
    code: int | None = None
    flying: int = 0
    repeated: int = 0

    @property
    def hit(self) -> bool:
        """Whether it met its fault: a signal may come too late, or find no worker."""
        if self.fault not in SIGNS:
            return self.struck
        sign, code = SIGNS[self.fault]
        return self.struck and self.code in (code, -sign)

    @property
    def killed(self) -> bool:
        return self.hit and self.fault in SIGNS


@dataclass
class Episode:
    """One line of the results."""

    seed: int
    number: int
    job: str
    run: str
    commit: str
    attempts: list[Struck] = field(default_factory=list)
    requests: int = 0
    repeated: int = 0
    paid_twice: int = 0
    rows_lost: int = 0
    changed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def survived(self) -> bool:
        return not (self.paid_twice or self.rows_lost or self.changed or self.wrong)

    @property
    def kills(self) -> int:
        return sum(one.killed for one in self.attempts)


@dataclass(frozen=True)
class Calm:
    """A job that nobody disturbed: its exit code, what it left and asked, the seconds and the bytes that it took."""

    code: int
    left: Left
    asked: Counter[str]
    seconds: float
    written: int


class Bench:
    """The servers, the inputs, and what each job leaves when nobody disturbs it."""

    def __init__(self, folder: Path, hub: FaultyHub, server: SlowServer) -> None:
        self.folder = folder
        self.hub = hub
        self.server = server
        self.number = 0
        self._calm: dict[str, Calm] = {}
        prepare(folder / "inputs")

    def place(self, name: str) -> Place:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        self.hub.store.repos.pop(f"datasets/{REPO}", None)  # a card names its repository, so that it is always the same
        return Place(self.folder / "inputs", folder, self.server.base_url, REPO)

    def attempt(self, job: Job, place: Place, **more: Any) -> tuple[Attempt, str]:
        """A start of the job, and the key by which the server knows it."""
        self.number += 1
        key = f"attempt-{self.number}"
        return Attempt(job.words(place), self.folder / "told.txt", {KEY: key}, **more), key

    def asked(self, keys: Sequence[str]) -> list[Asked]:
        wanted = {f"Bearer {key}" for key in keys}
        with self.server.lock:
            return [one for one in self.server.asked if one.attempt in wanted]

    def left(self, job: Job, place: Place) -> Left:
        """What the job left in its folder, or on the Hub: the tag's files, how many commits, and which tags."""
        if job.kept != "hub":
            return left_by(place.out)
        repo = self.hub.store.repo(place.repo)
        digests = {name: entry.blob for name, entry in repo.at("v1.0.0").tree.items()}
        commits = list(repo.history(repo.at("main")))
        return Left(digests | {"commits": str(len(commits)), "tags": ",".join(sorted(repo.tags))})

    def calm(self, job: Job) -> Calm:
        if job.name not in self._calm:
            place = self.place(f"calm-{JOBS.index(job)}")
            began = time.monotonic()
            attempt, key = self.attempt(job, place)
            code = attempt.ended(PATIENCE)
            seconds = time.monotonic() - began
            if code not in (0, 1):
                raise SystemExit(f"{job.name}: exit code {code}\n{attempt.said()}")
            asked = Counter(one.digest for one in self.asked([key]))
            written = sum(path.stat().st_size for path in place.folder.rglob("*") if path.is_file())
            self._calm[job.name] = Calm(code, self.left(job, place), asked, seconds, written)
        return self._calm[job.name]


# --- An episode -------------------------------------------------------------------------------------------------------


class Play:
    """An episode under way: which faults come is decided by the seed and its number alone."""

    def __init__(self, bench: Bench, episode: Episode, job: Job, *, may_mount: bool) -> None:
        self.bench = bench
        self.episode = episode
        self.job = job
        self.may_mount = may_mount and job.kept == "out"
        self.draw = random.Random(f"{episode.seed}/{episode.number}")
        self.calm = bench.calm(job)
        self.place = bench.place(f"episode-{episode.number}")
        self.ends: dict[str, float] = {}
        self.by_key: dict[str, Struck] = {}

    def faults(self) -> list[str]:
        """Mostly kills; of the slower faults at most one."""
        names = ["kill", "kill", "kill", "kill-parent", "term", "term", "hup", "int"]
        names += ["kill-worker"] * 3 * (self.job.workers > 1)
        chosen = [self.draw.choice(names) for _ in range(MOST)]
        chosen[self.draw.randrange(6)] = self.draw.choice(["stop", "clock", "two", "full", chosen[0], chosen[0]])
        return [fault for fault in chosen if fault != "full" or self.may_mount]

    def run(self) -> None:
        faults = self.faults()
        with self.own_disk() if "full" in faults else nullcontext():
            if not any(self.strike(fault) for fault in faults):
                self.follow(Struck("none", 0), None)
            self.compare()
        shutil.rmtree(self.place.folder)

    def strike(self, fault: str) -> bool:
        """Start the command and do it; whether the command went through to its end."""
        soon = self.draw.random() < 0.2  # while it begins; else at any time
        after = self.draw.uniform(0, 0.5) if soon else self.draw.expovariate(20 / self.calm.seconds)
        struck = Struck(fault, round(after, 3), cold=fault not in ("clock", "int") and self.draw.random() < COLD)
        if struck.cold:
            after += 2 * self.draw.random()  # as much as the imports take
        if fault == "full":
            ballast = self.place.folder / "ballast"
            free = shutil.disk_usage(self.place.folder).free
            with ballast.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, max(4096, free - int(self.draw.random() * self.calm.written)))
            code = self.follow(struck, None)
            struck.struck = code != self.calm.code
            ballast.unlink()
        else:
            code = self.follow(struck, after)
        return code == self.calm.code

    def follow(self, struck: Struck, after: float | None) -> int | None:
        """One attempt to its end, however it comes; the exit code."""
        self.episode.attempts.append(struck)
        drift = self.draw.choice([-1.5, 1.5]) * DAY if struck.fault == "clock" else 0
        attempt, key = self.bench.attempt(self.job, self.place, cold=struck.cold, drift=drift)
        self.by_key[key] = struck
        struck.code = attempt.ended(PATIENCE if after is None else after)
        if struck.code is None and after is not None:
            struck.struck = True
            self.do(struck.fault, attempt)
            struck.code = attempt.ended(PATIENCE)
        self.ends[key] = float("inf") if struck.code == self.calm.code else time.monotonic()
        self.check(struck, attempt)
        return struck.code

    def do(self, fault: str, attempt: Attempt) -> None:
        if fault == "stop":
            attempt.send(signal.SIGSTOP, whole=True)
            time.sleep(60 if self.draw.random() < 0.1 else 3)
            attempt.send(signal.SIGCONT, whole=True)
        elif fault == "two":
            second, key = self.bench.attempt(self.job, self.place)
            code = second.ended(PATIENCE)
            self.ends[key] = float("inf")
            if code not in (self.calm.code, 2) or "Traceback" in second.said():
                self.episode.wrong.append(f"two: the second ended with {code}: {second.said()[-600:]}")
        elif fault == "kill-worker":
            end = time.monotonic() + PATIENCE / 4
            while not (workers := attempt.workers()) and attempt.ended(0.05) is None and time.monotonic() < end:
                pass  # they come when there is work for them
            if workers:
                with suppress(ProcessLookupError):
                    os.kill(self.draw.choice(workers), signal.SIGKILL)
        elif fault in SIGNS:
            attempt.send(SIGNS[fault][0], whole=fault == "kill" or self.draw.random() < 0.3)

    def check(self, struck: Struck, attempt: Attempt) -> None:
        """The code that the fault calls for, no traceback, no process left behind."""
        expected = {self.calm.code, *([SIGNS[struck.fault][1]] if struck.fault in SIGNS else [])}
        expected |= {2} if struck.fault in ("full", "two") else set()
        expected |= {-sign for sign, _ in SIGNS.values()} if struck.cold else set()  # before Python has read a line
        wrong, said, where = self.episode.wrong, attempt.said(), f"{struck.fault} after {struck.after} s"
        if struck.code not in expected or "Traceback (most recent" in said:
            wrong.append(f"{where}: code {struck.code}, and it said: {said[-1500:]}")
        end = time.monotonic() + 15
        while attempt.others():
            if time.monotonic() > end:
                wrong.append(f"{where}: it left processes behind")
                attempt.send(signal.SIGKILL, whole=True)
                break
            time.sleep(0.05)

    @contextmanager
    def own_disk(self) -> Iterator[None]:
        """A small disk for the folder of the episode, which can be filled without harm."""
        folder = str(self.place.folder)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", folder], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)

    def in_flight(self, one: Asked, until: float = float("inf")) -> bool:
        """Whether its answer need not have been stored when its process ended, or by some earlier moment."""
        ended = min(until, self.ends[one.attempt.removeprefix("Bearer ")])
        return (one.answered or float("inf")) > ended - GRACE

    def fill(self, asked: Sequence[Asked]) -> None:
        """Ends, for what was in flight, each attempt whose disk was full with the first answer that did not fit."""
        for key, struck in self.by_key.items():
            if struck.fault == "full" and struck.struck:
                name = f"Bearer {key}"
                own = [one for one in asked if one.attempt == name]
                later = {one.digest: one.at for one in asked if one.attempt != name}  # the last time that another asked
                self.ends[key] = full_from(own, later, self.ends[key])

    def compare(self) -> None:
        episode, calm = self.episode, self.calm
        asked = self.bench.asked(list(self.ends))
        self.fill(asked)
        flying: Counter[str] = Counter()
        later: dict[str, list[Asked]] = defaultdict(list)
        for one in reversed(asked):
            others = [other.at for other in later[one.digest] if other.attempt != one.attempt]
            if self.in_flight(one, min(others, default=float("inf"))):
                flying[one.digest] += 1
                if struck := self.by_key.get(one.attempt.removeprefix("Bearer ")):
                    struck.flying += 1
                    struck.repeated += bool(others)
            later[one.digest].append(one)
        times = Counter(one.digest for one in asked)
        episode.requests = len(asked)
        episode.repeated = (times - calm.asked).total()
        episode.paid_twice = (times - calm.asked - flying).total()
        left = self.bench.left(self.job, self.place)
        episode.rows_lost = max(0, calm.left.rows - left.rows)
        episode.changed = calm.left.differing(left)
        if litter := [path.name for path in self.place.folder.rglob(".bedside-*.tmp")]:
            episode.wrong.append(f"left half-written: {litter}")


def full_from(asked: Sequence[Asked], later: Mapping[str, float], ended: float) -> float:
    """When a disk became too full for an answer, of what one attempt asked: as the first was answered that another had
    to ask again. Only if nothing was asked after that: else the command did not see it, and it was lost otherwise."""
    lost = [one.answered for one in asked if one.answered and later.get(one.digest, 0) > one.at]
    first = min(lost, default=ended)
    return first if all(one.at < first + GRACE for one in asked) else ended


# --- Results ----------------------------------------------------------------------------------------------------------


def read(results: Path) -> list[Episode]:
    """The episodes so far; a line that was cut off by a kill of this very script is none."""
    lines = results.read_bytes().split(b"\n")[:-1] if results.is_file() else []
    return [from_json(Episode, line, results) for line in lines]


def append(results: Path, episode: Episode) -> None:
    """One line, whole or absent: a part of one, left by a kill, is cut away first."""
    with results.open("ab+") as file:
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)
        file.write(json.dumps(without_places(asdict(episode), ROOT)).encode() + b"\n")


def show(episodes: Sequence[Episode]) -> None:
    """The table: fault, tried, survived, requests in flight, repeated; and what it all comes to."""
    tried: dict[str, list[tuple[Struck, bool]]] = defaultdict(list)
    for episode in episodes:
        for one in episode.attempts:
            if one.hit:
                tried[one.fault].append((one, episode.survived))
    columns = ("tried", "survived", "in flight", "asked again")
    shown = table("Disturbed commands", "fault", *columns, right=columns)
    for fault in sorted(tried, key=lambda name: -len(tried[name])):
        ones = [one for one, _ in tried[fault]]
        survived = sum(right for _, right in tried[fault])
        numbers = (len(ones), survived, sum(one.flying for one in ones), sum(one.repeated for one in ones))
        shown.add_row(fault, *(f"{number:,}" for number in numbers))
    output.print(shown)
    by_run = Counter[tuple[str, int]]()  # two may have begun in one second
    for episode in episodes:
        by_run[episode.run, episode.seed] += episode.kills
    bad = [episode for episode in episodes if not episode.survived]
    output.print(
        f"{by_run.total():,} kills in {len(episodes):,} episodes of {len({one.job for one in episodes})} commands, "
        f"{max(by_run.values(), default=0):,} in one run; rows lost {sum(one.rows_lost for one in episodes):,}; "
        f"results changed {sum(bool(one.changed) for one in episodes):,}; of {sum(one.requests for one in episodes):,} "
        f"requests {sum(one.repeated for one in episodes):,} asked again, {sum(one.paid_twice for one in episodes):,} "
        "that were not in flight"
    )
    for episode in bad:
        output.print(f"seed {episode.seed}, episode {episode.number}, {episode.job}: paid twice {episode.paid_twice}, "
                     f"rows lost {episode.rows_lost}, changed {episode.changed}, {episode.wrong}")  # fmt: skip


def _can_mount(folder: Path) -> bool:
    there = folder / "mount"
    there.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(there)], capture_output=True, check=False)
    return done.returncode == 0 and subprocess.run(["umount", str(there)], check=True).returncode == 0


def campaign(options: argparse.Namespace, folder: Path) -> None:
    """Episodes until there are enough kills or the time is over."""
    until = time.monotonic() + options.minutes * 60
    run, code, kills = datetime.now(UTC).isoformat(timespec="seconds"), commit(), 0
    number = max((one.number for one in read(options.results) if one.seed == options.seed), default=-1) + 1
    order = [which for which in ORDER if options.only in JOBS[which].name]
    if not order:
        raise SystemExit(f"--only {options.only}: none of {', '.join(job.name for job in JOBS)}")
    may_mount = _can_mount(folder)
    if not may_mount:
        output.print("full: left out, as no tmpfs can be mounted here")
    with FaultyHub() as hub, SlowServer() as server:
        os.environ.update(hub.environment(folder / "home"), PYTHONPATH=str(ROOT), XDG_DATA_HOME=str(folder / "home"))
        os.environ.update(OMP_NUM_THREADS="1", COLUMNS="300")
        set_forkserver_preload(["scripts.bench.chaos_warm"])
        for method in ("GET", "HEAD", "POST", "PUT"):
            hub.delay(method, "", 0.1, times=10**9)
        bench = Bench(folder, hub, server)
        while kills < options.kills and time.monotonic() < until:
            job = JOBS[order[number % len(order)]]
            episode = Episode(options.seed, number, job.name, run, code)
            began = time.monotonic()
            Play(bench, episode, job, may_mount=may_mount).run()
            append(options.results, episode)
            kills, number = kills + episode.kills, number + 1
            told = "" if episode.survived else f"  WRONG: {episode}"
            print(
                f"{number - 1}: {job.name}: {episode.kills} kills, {time.monotonic() - began:.0f} s{told}", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=250, metavar="N", help="stop after so many kills")
    parser.add_argument("--minutes", type=float, default=120, metavar="M", help="start nothing after this time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", metavar="TEXT", help="only commands whose name holds this: '2 processes'")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--table", action="store_true", help="only show what is known so far")
    options = parser.parse_args()
    hear()
    if not options.table:
        with scratch() as folder:
            campaign(options, folder)
    episodes = read(options.results)
    show(episodes)
    sys.exit(not all(episode.survived for episode in episodes))


if __name__ == "__main__":
    main()
