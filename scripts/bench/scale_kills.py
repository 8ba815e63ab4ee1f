"""A build that asks a model on a cluster of two nodes on this machine, killed again and again: driver, worker, node.

    nice -n 10 python -m scripts.bench.scale_kills [--rows 4000] [--kills 10] [--concurrency 64] [--latency 0.5]

The server answers after `--latency` seconds and logs each request. After every so many requests, SIGKILL hits the
driver, a process that asks, and a node with all its processes, in turn; a killed driver is restarted at once by the
same command. Whatever was asked again must have been in flight while something was killed: not answered, or its answer
not read a second before. Then one undisturbed machine builds the same with the stored answers: each must be what the
server says to its request, nothing may be left to ask, and the bytes must be equal. The exit code is 1 if any of that
does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from loaders.engines.choice import EngineName
from loaders.models.answers import STORE
from scripts.bench.apart import ROOT, command_line, processes, stat_of
from scripts.bench.scale import MODEL, write_captions
from scripts.bench.scale_server import BEFORE, Server, echoed, serving
from scripts.conformance import files_of
from scripts.terminal.console import output

_PATIENCE = 300.0
"""Seconds without a request after which something is stuck."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.environ.setdefault("LOCAL_API_KEY", "none")
    with tempfile.TemporaryDirectory(prefix="bedside-kills-") as folder:
        said, held = _disturbed(Path(folder), options)
    output.print(said)
    sys.exit(not held)


def _disturbed(folder: Path, options: argparse.Namespace) -> tuple[str, bool]:
    """What came of it, in words, and whether all held."""
    write_captions(folder / "captions.csv", options.rows, few_words=True)
    load, started = os.getloadavg()[0], time.monotonic()
    with serving(options.latency, echo=True) as server:
        asking = ("--model", MODEL, "--base-url", f"http://127.0.0.1:{server.port}/v1")
        build = partial(Driver, folder, *asking, "--concurrency", str(options.concurrency))
        with _cluster() as cluster:
            driver = build(out="killed", engine=EngineName.RAY)
            killer = _killer(cluster, driver, server, random.Random(options.seed))
            done = struck(server, driver, killer, options.rows, options.kills)
        told, calm_from = server.counts, time.monotonic()
        server.forget()
        kept, wrong = handed_on(folder / "killed.work" / STORE, folder / "calm.work" / STORE)
        ended(build(out="calm", engine=EngineName.LOCAL))
        lacking = server.counts.requests
    ours, calm = files_of(folder / "killed"), files_of(folder / "calm")
    other = sorted(name for name in ours.keys() | calm.keys() if ours.get(name) != calm.get(name))
    held = not other and not (told.lost or wrong or lacking) and len(done) == options.kills
    said = (
        f"{options.rows:,} captions, {options.concurrency} requests at a time, answers after {options.latency:g} s; "
        f"load before {load:.1f}",
        f"killed {len(done)} times: {', '.join(done)}",
        f"bytes as undisturbed: {'NO, not those of ' + ', '.join(other) if other else 'yes'}",
        f"answers kept {kept:,}, wrong {wrong:,}, lacking {lacking:,}; requests {told.requests:,}",
        f"asked again: {told.repeated:,}, of {told.struck:,} in flight at a kill or read less than "
        f"{BEFORE:g} s before; {told.lost:,} others",
        f"seconds: {calm_from - started:.0f}, and {time.monotonic() - calm_from:.0f} with the answers",
    )
    return "\n".join(said), held


def handed_on(answers: Path, other: Path) -> tuple[int, int]:
    """Give another build the answers of one: how many, and how many of them are not what the server says."""
    kept = wrong = 0
    with closing(sqlite3.connect(answers)) as store:
        for request, answer in store.execute("SELECT request, answer FROM answers"):
            kept += 1
            wrong += json.loads(answer)["text"] != echoed(json.loads(request)["messages"][-1]["text"])
    other.parent.mkdir()
    shutil.copy(answers, other)
    return kept, wrong


class Driver:
    """A build in a process of its own, which can be killed and started again."""

    def __init__(self, folder: Path, *asking: str, out: str, engine: EngineName) -> None:
        command: list[str | Path] = [sys.executable, "-m", "scripts", "build", "medlaybench-v", "--quiet", *asking]
        command += ["--captions", folder / "captions.csv", "--out", folder / out, "--work", folder / f"{out}.work"]
        command += ["--engine", engine]
        self._start = partial(subprocess.Popen, command, cwd=ROOT, stdout=subprocess.DEVNULL)
        self.process = self._start()

    def again(self) -> None:
        """Kill it, wait until it is gone, and start it once more."""
        self.process.kill()
        self.process.wait()
        self.process = self._start()


def struck(server: Server, driver: Driver, kill: Callable[[str], bool], requests: int, kills: int) -> Sequence[str]:
    """What was killed, in order, by the time that the build is done, which takes so many `requests`."""
    done: list[str] = []
    try:
        for number in range(kills):
            _reached(server, driver, requests * (number + 1) // (kills + 1))
            what = ("driver", "worker", "node")[number % 3]
            while driver.process.poll() is None:
                if kill(what):
                    done.append(what)
                    print(f"{what} killed after {server.counts.requests:,} requests", file=sys.stderr)
                    break
                time.sleep(0.2)  # nobody is at work
        ended(driver)
    finally:
        driver.process.kill()
    return done


def _reached(server: Server, driver: Driver, requests: int) -> None:
    """Wait until so many were answered, or the build ends. Raises: TimeoutError when none comes for long."""
    last, since = -1, time.monotonic()
    while (now := server.counts.requests) < requests and driver.process.poll() is None:
        if now != last:
            last, since = now, time.monotonic()
        if time.monotonic() - since > _PATIENCE:
            raise TimeoutError(f"no request for {_PATIENCE:g} s after {now}")
        time.sleep(0.1)


def ended(driver: Driver) -> None:
    """Wait for the end of a build. Raises: CalledProcessError for one that failed."""
    if code := driver.process.wait():
        raise subprocess.CalledProcessError(code, driver.process.args)


def _killer(cluster: Any, driver: Driver, server: Server, draw: random.Random) -> Callable[[str], bool]:
    """What kills a driver, a worker or a node; it tells whether there was one."""

    def kill(what: str) -> bool:
        workers = {node: _at_work(node) for node in cluster.list_all_nodes()}
        asking = sorted(worker for each in workers.values() for worker in each)
        if not asking:
            return False
        with server.killing():
            if what == "driver":
                driver.again()
                _gone(asking)  # their node ends them
            elif what == "worker":
                _end(struck := draw.choice(asking))
                _gone([struck])
            else:
                node = next(iter(cluster.worker_nodes))
                cluster.remove_node(node, allow_graceful=False)
                for worker in workers[node]:
                    _end(worker)
                _gone(workers[node])
        if what == "node":
            cluster.add_node(num_cpus=1)
        return True

    return kill


def _end(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _gone(killed: Sequence[int]) -> None:
    """Wait for the end of processes. Raises: TimeoutError after a minute."""
    end = time.monotonic() + 60
    while any(map(stat_of, killed)):
        if time.monotonic() > end:
            raise TimeoutError(f"of processes {list(killed)} some do not end")
        time.sleep(0.02)


def _at_work(node: Any) -> list[int]:
    """The processes of a node that do our work."""
    ours = [[str(each.process.pid)] for each in node.all_processes.get("raylet", ())]
    theirs = (process for process in processes() if stat_of(process)[1:2] in ours)
    return sorted(process for process in theirs if command_line(process).startswith(b"ray::_do"))


@contextmanager
def _cluster() -> Iterator[Any]:
    """Two nodes with a processor each, whose address is that of RAY_ADDRESS meanwhile."""
    from ray.cluster_utils import Cluster

    quick = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 1000, "health_check_failure_threshold": 5}
    os.environ["PYTHONPATH"] = str(ROOT)
    os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's 15 would starve them where others use the machine
    head = {"num_cpus": 1, "include_dashboard": False, "_system_config": quick}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        cluster.add_node(num_cpus=1)
        os.environ["RAY_ADDRESS"] = cluster.address
        yield cluster
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
