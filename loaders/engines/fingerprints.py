"""What two processes must have in common to produce the same bytes."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from loaders.engines.engine import Task
from loaders.reached import code_digest

_INSTRUCTIONS = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512_vnni", "asimd", "sve")
_FAMILY = ("vendor_id", "cpu family", "CPU implementer", "CPU part")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The code that a task can reach, Python, the libraries that matter, and the machine."""

    code: str
    python: str
    versions: tuple[tuple[str, str], ...]
    machine: str

    def differences(self, expected: Fingerprint, *, machine: bool) -> Iterator[tuple[str, str]]:
        """What differs, as found here and as expected; `machine` says whether the machine matters."""
        if self.code != expected.code:
            yield f"other code ({self.code[:12]}…)", f"{expected.code[:12]}…"
        if self.python != expected.python:
            yield f"Python {self.python}", f"Python {expected.python}"
        for (package, found), (_, other) in zip(self.versions, expected.versions, strict=True):
            if found != other:
                yield f"{package} {found}", f"{package} {other}"
        if machine and self.machine != expected.machine:
            yield f"another machine ({self.machine})", f"{expected.machine}"


def fingerprint(task: Task[Any]) -> Fingerprint:
    """The fingerprint of this process, as far as it matters to a task."""
    versions = tuple((package, _version(package)) for package in task.packages)
    return Fingerprint(code_digest(task), platform.python_version(), versions, machine())


@cache
def machine() -> str:
    """The kind of this machine: the family of its CPU, the instruction sets by which libraries choose their code path,
    and the BLAS. Two machines of one kind give the same floating-point numbers; the machine's name is not part of
    it."""
    facts: dict[str, str] = {}
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(errors="replace").partition("\n\n")[0].splitlines():
            name, _, value = line.partition(":")
            facts[name.strip()] = value.strip()
    family = [facts[name] for name in _FAMILY if name in facts]
    flags = (facts.get("flags") or facts.get("Features") or "").split()
    return " ".join([platform.machine(), *family, *(flag for flag in _INSTRUCTIONS if flag in flags), *_blas()])


def _blas() -> Sequence[str]:
    np.ones((2, 2)) @ np.ones((2, 2))  # loads the BLAS
    loaded = [each for each in threadpool_info() if each["user_api"] == "blas" and "numpy" in each["filepath"]]
    return sorted(f"{each['internal_api']} {each['version']} {each.get('architecture', '')}".strip() for each in loaded)


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
