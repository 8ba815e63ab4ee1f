"""Names that only the maintainers' key can link to a person: what a release says in place of somebody's own.

Without the key nobody can tell who is meant, not even by trying all names one by one.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from pathlib import Path

from loaders.errors import InputError
from loaders.files.disk import write_first
from loaders.files.opening import read_file
from loaders.files.paths import is_there

KEY_FILE = "pseudonyms.key"
PUBLIC_KEY = hashlib.sha256(b"threads that nobody wrote need no secret").digest()
"""For what was invented: nobody has to keep it."""
_BYTES = 32
CREATE_KEY = f"Create one with: head -c {_BYTES} /dev/urandom > FILE"


def read_key(given: Path | None, workspace: Path) -> bytes:
    """The secret behind the pseudonyms; a workspace's own is made in its first build and kept. Raises: InputError if
    the file that the user names is missing or shorter than 32 bytes."""
    path = given or workspace / KEY_FILE
    if given is None and not is_there(path):
        write_first(path, secrets.token_bytes(_BYTES), private=True)  # of two builds at once, the first one's counts
    key = read_file(path, expected=f"a secret of at least {_BYTES} bytes")
    if len(key) < _BYTES:
        raise InputError(path, found=f"{len(key)} bytes", expected=f"a secret of at least {_BYTES}", do=CREATE_KEY)
    return key


def require_key(given: Path | None, workspace: Path, release: str, theirs: str, *, lost: str) -> None:
    """Check that this build has the key of a release, whose manifest names it by the fingerprint `theirs`, before a new
    one is made; `lost` says what can be done without it. Raises: InputError."""
    if theirs == fingerprint(PUBLIC_KEY):
        return
    if given is None and not is_there(workspace / KEY_FILE):
        found = f"none, and {workspace} holds no {KEY_FILE}"
    elif fingerprint(read_key(given, workspace)) != theirs:
        found = f"another key than that of {release} ({given or workspace / KEY_FILE})"
    else:
        return
    do = f"Name the file {KEY_FILE} of the workspace that {release} was built in. If it is lost, {lost}"
    raise InputError("--key", found=found, expected=f"the key with the fingerprint {theirs}", do=do)


def fingerprint(key: bytes) -> str:
    """By which a manifest names the key."""
    return hashlib.sha256(b"fingerprint" + key).hexdigest()[:16]


def pseudonym(key: bytes, kind: str, name: str) -> str:
    """What replaces a name outside the workspace: 32 hex digits that only the key can link to it."""
    return hmac.new(key, f"{kind} {name}".encode(), hashlib.sha256).hexdigest()[:32]
