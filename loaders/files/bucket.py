"""A bucket in an object store that many machines write to: `s3://…` through s3fs, `gs://…` through gcsfs.

    store = Bucket("s3://our-bucket/captions")

The libraries retry transient failures and find credentials in their usual places (environment, profile, role); an
address never holds any. Error messages are built here from the error's code alone, because a library's own text may
contain a key. Lookups are not cached: another machine may have written in the meantime.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from loaders.errors import BedsideError, InputError, MissingExtra
from loaders.files.lease import leased

Done = TypeVar("Done")
_BUCKET = r"[a-z0-9][a-z0-9._-]{2,}"
_ADDRESS = re.compile(rf"(?P<scheme>s3|gs)://(?P<bucket>{_BUCKET})(?P<prefix>(/[\w.=+-]+)*)/?", re.ASCII)
_OPTIONS: dict[str, dict[str, Any]] = {
    # One GET per file: to fetch two parts at once it would ask for the size first.
    "s3": {"max_concurrency": 1, "config_kwargs": {"connect_timeout": 10, "read_timeout": 60}},
    "gs": {},
}
_CODE = re.compile(r"\w{1,40}", re.ASCII)
_REFUSALS = ("Forbidden", "RefreshError", "401", "403")
_TRIES = 5
_AGAIN = "Then run the same command again: finished work is kept"


def is_address(text: str) -> bool:
    """Whether a text is the address of a store rather than a path."""
    return re.match(r"[a-z][a-z0-9+.-]+://", text, re.IGNORECASE) is not None


class Bucket:
    """The objects below an address. Raises: InputError for an invalid one; MissingExtra without its library."""

    anywhere = True
    at_once = 16

    def __init__(self, address: str) -> None:
        parts = _ADDRESS.fullmatch(address)
        if parts is None:
            expected = "a folder, s3://BUCKET/PREFIX or gs://BUCKET/PREFIX"
            if "@" in address or "?" in address:  # it may contain a key, so it is not repeated
                found, do = ("holds more than a bucket and a prefix", "Put credentials in the environment or a profile")
                raise InputError("--work", found=found, expected=expected, do=do)
            found = "is not a bucket"
            scheme, _, path = address.partition("://")
            bucket, _, prefix = path.partition("/")
            if scheme in ("s3", "gs") and bucket:  # of the right form
                found = f"the prefix {prefix!r}"
                expected = "letters, digits and . = + - _, between single slashes"
                if not re.fullmatch(_BUCKET, bucket):
                    found = f"the bucket {bucket!r}"
                    expected = "the name of one: 3 or more lower-case letters, digits and . - _"
            raise InputError(address, found=found, expected=expected)
        self._scheme, self._root = parts["scheme"], f"{parts['bucket']}{parts['prefix']}"
        MissingExtra.check(self._scheme, purpose=f"{self._scheme}://")

    def __str__(self) -> str:
        return f"{self._scheme}://{self._root}"

    @property
    def _files(self) -> Any:
        return client(self._scheme)

    def read(self, name: str) -> bytes | None:
        return self._sought(name, lambda path: bytes(self._files.cat_file(path)))

    def size(self, name: str) -> int | None:
        return self._sought(name, lambda path: int(self._files.info(path)["size"]))

    def put(self, name: str, data: bytes) -> None:
        self._asked(name, lambda path: self._files.pipe_file(path, data))

    def create(self, name: str, data: bytes) -> bool:
        """As `Store.create`; servers other than Amazon's and Google's must support `If-None-Match`."""

        def write(path: str) -> bool:
            for left in reversed(range(_TRIES)):
                try:
                    self._files.pipe_file(path, data, mode="create")
                except FileExistsError:
                    return False
                except Exception as error:
                    code = _code(error)
                    if code in ("PreconditionFailed", "412"):
                        return False
                    # another writer is active at this moment
                    if code not in ("ConditionalRequestConflict", "409") or not left:
                        raise
                else:
                    return True
            return False

        return self._asked(name, write)

    def list(self, folder: str) -> list[str]:
        below = len(self._root) + 1
        paths = self._sought(folder, lambda path: list[str](self._files.find(path)))
        return sorted(path[below:] for path in paths or ())

    def held(self, own: Path) -> AbstractContextManager[Callable[[], None]]:
        return leased(self, own)

    def _sought(self, name: str, ask: Callable[[str], Done]) -> Done | None:
        """The result of `ask` for an object; None if the object does not exist. Raises: as `_asked`."""

        def seek(path: str) -> Done | None:
            try:
                return ask(path)
            except FileNotFoundError as error:
                if _code(error) == "NoSuchBucket":
                    raise
                return None

        return self._asked(name, seek)

    def _asked(self, name: str, ask: Callable[[str], Done]) -> Done:
        """The result of `ask` for an object. Raises: BedsideError if the store fails."""
        try:
            return ask(f"{self._root}/{name}")
        except BedsideError:  # a node without the library
            raise
        except Exception as error:
            raise self._explained(error, _code(error)) from None

    def _explained(self, error: Exception, code: str) -> BedsideError:
        bucket = f"{self._scheme}://{self._root.partition('/')[0]}"
        if isinstance(error, FileNotFoundError):
            return InputError(bucket, found="there is no such bucket", do="Create it, or name another")
        if isinstance(error, PermissionError) or "redentials" in code or code in _REFUSALS:
            do = f"Check the credentials in the environment, or renew them. {_AGAIN}"
            return BedsideError(bucket, found=f"refuses ({code})", expected="a bucket to read, list and write", do=do)
        do = f"Check the network and the storage service. {_AGAIN}"
        return BedsideError(bucket, found=f"does not answer, or answers with an error ({code})", do=do)


@cache
def client(scheme: str) -> Any:
    """The library's client, one per process: opening it takes a good part of a second."""
    MissingExtra.check(scheme, purpose=f"{scheme}://")
    import fsspec  # here, as it imports the libraries of the store

    for noisy in ("s3fs", "gcsfs", "botocore", "aiobotocore", "google"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
    return fsspec.filesystem(scheme, skip_instance_cache=True, use_listings_cache=False, **_OPTIONS[scheme])


def _code(error: BaseException) -> str:
    """What is wrong, in one word: the store's error code, or the kind of the error."""
    for one in (error, error.__cause__):
        response = getattr(one, "response", None)
        told = response.get("Error", {}).get("Code") if isinstance(response, dict) else getattr(one, "code", None)
        if told is not None and _CODE.fullmatch(str(told)):
            return str(told)
    if str(error).startswith("Forbidden:"):  # from gcsfs, which gives it no code
        return "Forbidden"
    return type(error.__cause__ or error).__name__
