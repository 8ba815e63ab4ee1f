"""A checkout of Bedside: the code that built a release, and the locks from which its environment is made."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import builders
from loaders.errors import InputError
from loaders.files.paths import is_file, is_there, resolved
from loaders.manifest import Code, file_digest

LOCKS = "scripts/locks"
_DECIDES = ("bedside.py", "loaders", "builders", "dataset_cards", "scripts", "setup.cfg")


@dataclass(frozen=True)
class Checkout:
    """A folder that holds the code of Bedside."""

    folder: Path

    @classmethod
    def opened(cls, folder: Path) -> Checkout:
        """The checkout at `folder`. Raises: InputError if there is none, or one without locks."""
        for part in ("setup.cfg", "builders", f"{LOCKS}/base.txt"):
            if not is_there(folder / part):
                do = "Clone the repository, check out the commit named in the manifest, and pass its folder"
                raise InputError(folder, found=f"holds no {part}", expected="a checkout of Bedside", do=do)
        return cls(resolved(folder))

    def lock(self, extra: str) -> Path:
        """The lock of an extra, or `base`. Raises: InputError if there is none."""
        path = self.folder / LOCKS / f"{extra}.txt"
        if "/" in extra or not is_file(path):
            known = ", ".join(sorted(path.stem for path in (self.folder / LOCKS).glob("*.txt")))
            raise InputError(f"extra {extra}", found=f"no lock in {self.folder}", expected=f"one of {known}")
        return path

    def code(self) -> Code | None:
        """What a manifest says about the code; None if this is no checkout (an installed package) or has no commit."""
        top, commit = self._git("rev-parse", "--show-toplevel"), self._git("rev-parse", "--verify", "HEAD")
        if not top or resolved(Path(top)) != resolved(self.folder) or not commit:
            return None  # a folder inside somebody else's repository has no commit of its own
        # Untracked files count too: a new module may be imported.
        changed = self._git("status", "--porcelain", "--", *_DECIDES)
        locks = sorted((self.folder / LOCKS).glob("*.txt"))
        text = "".join(f"{path.name} {file_digest(path)}\n" for path in locks)
        lock = hashlib.sha256(text.encode()).hexdigest() if locks else None
        return Code(commit=commit, changed=changed != "", lock=lock)

    def _git(self, *arguments: str) -> str | None:
        # git refuses what another user owns, as a folder mounted into a container: there might be programs in its
        # settings. Those of this folder run here in any case.
        git = ["git", "-C", str(self.folder), "-c", f"safe.directory={resolved(self.folder)}"]
        try:
            done = subprocess.run([*git, *arguments], capture_output=True, text=True, timeout=60, check=True)
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip()


@cache
def own_code() -> Code | None:
    """The code that runs here, as it was when first asked for."""
    return Checkout(Path(builders.__file__).parent.parent).code()
