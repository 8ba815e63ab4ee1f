"""Names that only the maintainers' key can link to a person: what a release says in place of somebody's own.

Without the key nobody can tell who is meant, not even by trying all names one by one.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from pathlib import Path

from loaders.errors import InputError
from loaders.files.disk import write_whole
from loaders.files.opening import read_file
from loaders.files.paths import is_there

KEY_FILE = "pseudonyms.key"
_BYTES = 32


def read_key(given: Path | None, workspace: Path) -> bytes:
    """The secret behind the pseudonyms; a workspace's own is made in its first build and kept.

    Raises: InputError if the file that the user names is missing or shorter than 32 bytes.
    """
    path = given or workspace / KEY_FILE
    if given is None and not is_there(path):
        write_whole(path, secrets.token_bytes(_BYTES), private=True)
    key = read_file(path, expected=f"a secret of at least {_BYTES} bytes")
    if len(key) < _BYTES:
        do = f"Create one with: head -c {_BYTES} /dev/urandom > FILE"
        raise InputError(path, found=f"{len(key)} bytes", expected=f"a secret of at least {_BYTES}", do=do)
    return key


def fingerprint(key: bytes) -> str:
    """By which a manifest names the key."""
    return hashlib.sha256(b"fingerprint" + key).hexdigest()[:16]


def pseudonym(key: bytes, kind: str, name: str) -> str:
    """What replaces a name outside the workspace: 32 hex digits that only the key can link to it."""
    return hmac.new(key, f"{kind} {name}".encode(), hashlib.sha256).hexdigest()[:32]
