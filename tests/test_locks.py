"""The locks are those of setup.cfg: whoever changes the one runs ./scripts/lock."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.parts.places import ROOT

LEGS = ["curation", "language", "suite", "threads"]
LOCKS = {
    "base": [],
    "earlier": LEGS,
    "lowest": LEGS,
    **{name: [name] for name in "curation dialogue docs figures heic language medcat models scispacy study".split()},
    **{name: [name] for name in ("gs", "ray", "s3")},
    "test": ["test"],
    "threads": ["threads"],
}
_PIN = re.compile(r"^([\w.-]+)==([\w.!+-]+)(?: ; .*?)? \\\n((?:    --hash=\S+(?: \\)?\n)+)((?:    #.*\n)*)", re.M)


def required(extras: list[str]) -> dict[str, list[Requirement]]:
    """What setup.cfg asks for with these extras, by name."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    waiting = [config["options"]["install_requires"], *(config["options.extras_require"][extra] for extra in extras)]
    found: dict[str, list[Requirement]] = {}
    while waiting:
        for line in filter(None, (line.partition("#")[0].strip() for line in waiting.pop().splitlines())):
            one = Requirement(line)
            if one.name == "bedside":
                waiting += [config["options.extras_require"][extra] for extra in one.extras]
            else:
                found.setdefault(canonicalize_name(one.name), []).append(one)
    return found


def disagreements(lock: str, extras: list[str]) -> list[str]:
    """Where a lock is not what setup.cfg asks for."""
    asked = required(extras)
    pins: dict[str, set[str]] = {}
    direct: set[str] = set()
    for name, version, _, via in _PIN.findall(lock):
        pins.setdefault(canonicalize_name(name), set()).add(version)
        if "bedside (setup.cfg)" in via:
            direct.add(canonicalize_name(name))
    wrong = [f"{name} is not locked" for name in sorted(asked.keys() - pins.keys())]
    wrong += [f"{name} is locked, and setup.cfg does not ask for it any more" for name in sorted(direct - asked.keys())]
    wrong += [
        f"{name} is locked at {version}, setup.cfg asks for {one.specifier}"
        for name in sorted(asked.keys() & pins.keys())
        for version in sorted(pins[name])
        for one in asked[name]
        if not one.specifier.contains(version)
    ]
    pinned = sum("==" in line.partition(" ")[0] for line in lock.splitlines() if not line.startswith((" ", "#")))
    return wrong + ["a package without hashes"] * (pinned != len(_PIN.findall(lock)))


@pytest.mark.parametrize(("name", "extras"), LOCKS.items(), ids=LOCKS)
def test_a_lock_is_what_setup_cfg_asks_for(name: str, extras: list[str]) -> None:
    lock = (ROOT / "scripts" / "locks" / f"{name}.txt").read_text()
    assert disagreements(lock, extras) == [], f"run ./scripts/lock: {name}.txt is not what setup.cfg asks for"
    assert not re.search(r"file:|://|/dev/|\.\./", lock), "names a place of one machine, or an index of its own"


def test_every_lock_is_held(tmp_path: Path) -> None:
    assert {path.stem for path in (ROOT / "scripts" / "locks").glob("*.txt")} == LOCKS.keys()


def test_locks_agree_so_that_any_of_them_can_be_installed_together() -> None:
    whole = set(re.findall(r"^[\w.-]+==.*?(?= \\)", (ROOT / "scripts" / "locks" / "test.txt").read_text(), re.M))
    versions = {pin.partition(" ")[0] for pin in whole}
    for name in LOCKS.keys() - {"earlier", "lowest", "scispacy", "test"}:
        pins = re.findall(r"^[\w.-]+==[^ ]+", (ROOT / "scripts" / "locks" / f"{name}.txt").read_text(), re.M)
        assert set(pins) <= versions, name


def test_disagreements_are_found() -> None:
    lock = (ROOT / "scripts" / "locks" / "base.txt").read_text()
    assert disagreements(re.sub(r"^rich==.*?(?=^\w)", "", lock, flags=re.M | re.S), []) == ["rich is not locked"]
    (old,) = disagreements(re.sub(r"^datasets==[\d.]+", "datasets==3.6.0", lock, flags=re.M), [])
    assert old.startswith("datasets is locked at 3.6.0, setup.cfg asks for ")
    (gone,) = disagreements((ROOT / "scripts" / "locks" / "threads.txt").read_text(), [])[:1]
    assert gone == "backports-zstd is locked, and setup.cfg does not ask for it any more"
    assert disagreements(re.sub(r" \\\n    --hash.*?(?=\n    #)", "", lock, count=1, flags=re.S), [])
