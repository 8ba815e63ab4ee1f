"""Reads files of a dataset repository on the Hub, and says what went wrong with a request, and whether to try again.

Imports the Hub's library with its HTTP client, which nothing needs that reads from a folder.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from huggingface_hub import HfApi, constants, hf_hub_download, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from loaders.errors import HubError, ReleaseError, first_of
from loaders.files.caches import refuse_cache
from loaders.manifest import NAME

# The common base of all failed requests, whichever HTTP client this version of the library uses.
HTTP_ERROR: type[Exception] = HfHubHTTPError.__bases__[0]
HUB_ERRORS = (OSError, HTTP_ERROR, HFValidationError, UnicodeEncodeError)
"""What a failed read from the Hub may raise; `hub_error` says what it means."""


def address_of(repo: str) -> str:
    """The address of a dataset repository on the Hub in use: of a mirror it is another than of the Hub."""
    return f"{constants.ENDPOINT}/datasets/{repo}"


def fetch_manifest(repo: str, revision: str | None) -> tuple[Path, str]:
    """The snapshot folder of the commit that `revision` names, with its manifest; and what to call it in errors."""
    at = f"{repo}@{revision or 'main'}"
    try:
        path = hf_hub_download(repo, NAME, repo_type="dataset", revision=revision)
    except RemoteEntryNotFoundError:
        expected, do = "a release that `bedside publish` made", 'The authors\' release is loaded with source="official"'
        raise ReleaseError(at, found=f"holds no {NAME}", expected=expected, do=do) from None
    except HUB_ERRORS as error:
        said = hub_error(error, at, repo)
        if not isinstance(error, GatedRepoError | RevisionNotFoundError):  # otherwise there is such a repository
            what = "this" if isinstance(error, HFValidationError) else "the repository"
            said.found = f"no such folder is here, and {what} {said.found}"
        raise said from error
    folder = Path(path).parent
    return folder, f"{at} (commit {folder.name[:12]})"


def fetch(
    repo: str, revision: str = "main", at: str = "", patterns: list[str] | None = None, *, typed: bool = True
) -> Path:
    """Download a dataset repository, or its files of these `patterns`, into a folder of the cache named by its commit.

    `at` is what errors call it; `typed` is False if the user did not name the repository.

    Raises: HubError when it does not exist, or cannot be reached and is not in the cache.
    """
    try:
        return Path(snapshot_download(repo, repo_type="dataset", revision=revision, allow_patterns=patterns))
    except HUB_ERRORS as error:
        raise hub_error(error, at or f"{repo}@{revision}", repo, typed=typed) from error


def hub_error(error: Exception, at: str, repo: str = "", *, typed: bool = True) -> HubError:
    """The error for a failed read from the Hub; `at` names the repository and revision, as the user `typed` them.

    Of a missing revision it says which tags `repo` has.

    Raises: as `refuse_cache`, if the cache on this machine is what failed.
    """
    refuse_cache(error)
    if isinstance(error, GatedRepoError):
        do = "Accept its terms on the Hub, then log in with `hf auth login`"
        return HubError(at, found="is gated and this account has no access", expected="access", do=do)
    if isinstance(error, RevisionNotFoundError):
        return HubError(at, found="has no such revision", expected=f"a tag, branch or commit of it{_tags(repo)}")
    if isinstance(error, RepositoryNotFoundError):
        expected = "a dataset repository, or an existing folder"
        do = "Check the name; for a private repository, log in with `hf auth login`"
        if not typed:
            expected = "the authors' release where they published it"
            do = "Its authors may have moved it or made it private; if you may read it, log in with `hf auth login`"
        return HubError(at, found="does not exist, or this account may not read it", expected=expected, do=do)
    if isinstance(error, HFValidationError):
        return HubError(at, found="can be no repository's name", expected="a repository name such as org/medlaybench-v")
    if isinstance(error, LocalEntryNotFoundError):
        do = "Connect to the internet, or load this revision once while connected"
        return HubError(at, found="cannot be reached, and the cache holds no complete copy", expected="the Hub", do=do)
    if isinstance(error, UnicodeEncodeError):  # of a header, and only the token is the user's
        do = "Log in with `hf auth login`, or set HF_TOKEN again"
        found = "cannot be fetched: the token holds characters that HTTP does not allow"
        return HubError(at, found=found, expected="a valid token", do=do)
    first = (str(error) or type(error).__name__).splitlines()[0]
    return HubError(at, found=f"cannot be fetched: {first}", expected="the Hub", do="Try again later")


def _tags(repo: str) -> str:
    """The last tags of a repository, for a sentence; "" if it has none, or the Hub does not say."""
    try:
        tags = [one.name for one in HfApi().list_repo_refs(repo, repo_type="dataset").tags] if repo else []
    except Exception:  # the library does not check the replies it gets, and the error is about something else
        return ""
    tags.sort(key=lambda tag: [int(number) for number in re.findall(r"\d+", tag)], reverse=True)
    return f"; its tags: {first_of(tags)}" if tags else ""


# --- In words ---------------------------------------------------------------------------------------------------------

# How the library fails on a reply that is not the Hub's: one without `url`, a list instead of an object, a web page.
MALFORMED = (LookupError, TypeError, AttributeError, json.JSONDecodeError)

_TOKEN = "the request cannot be sent: the token holds characters that HTTP does not allow"
_TEMPORARY = frozenset({408, 429, 500, 502, 503, 504})
# Failures that the next request would meet again, by the names that all clients give them.
_FINAL = frozenset(
    {"LocalProtocolError", "UnsupportedProtocol", "TooManyRedirects", "DecodingError", "HTTPStatusError"}
)


def http_cause(error: BaseException) -> BaseException | None:
    """The failed request behind an error: itself, or what the library wrapped (for uploads in RuntimeError, for
    downloads in LocalEntryNotFoundError)."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, HTTP_ERROR):
        seen = seen.__cause__
    return seen


def status_of(error: BaseException) -> int | None:
    """The HTTP status behind an error; None if there was no reply."""
    cause = http_cause(error)
    return cause.response.status_code if isinstance(cause, HfHubHTTPError) else None


def is_temporary(error: BaseException) -> bool:
    """Whether the same request may succeed in a while: no reply or none of the Hub's, 408, 429, 5xx, or a transfer that
    failed in any way (the next attempt gets a new place to send the object to)."""
    cause = http_cause(error)
    if cause is None:
        return isinstance(error, MALFORMED)
    if isinstance(cause, HfHubHTTPError):
        return isinstance(error, RuntimeError) or status_of(error) in _TEMPORARY
    return type(cause).__name__ not in _FINAL


def in_words(error: BaseException) -> str:
    """One line on what went wrong with a request."""
    cause = http_cause(error)
    if cause is not None and cause is not error:
        return f"{str(error).rstrip('.')}: {in_words(cause)}"
    if isinstance(cause, HfHubHTTPError):
        status = status_of(error)
        if status == 401 and not isinstance(cause, RepositoryNotFoundError):
            return f"the Hub answered 401: it does not know this token ({' '.join(str(cause).split())})"
        return f"the Hub answered {status}" + (f" ({cause.server_message})" if cause.server_message else "")
    if cause is not None:
        name = type(cause).__name__
        if name == "LocalProtocolError":  # its text may quote the token
            return _TOKEN
        if "Timeout" in name:
            return "the Hub did not answer in time"
        for kind, said in (("Proxy", "the proxy refuses"), ("Connect", "the Hub cannot be reached")):
            if kind in name:
                return f"{said} ({cause})"
        return f"the {'request failed' if name in _FINAL else 'connection to the Hub was cut'} ({cause})"
    if isinstance(error, UnicodeEncodeError):  # of a header, and only the token is the user's
        return _TOKEN
    if isinstance(error, MALFORMED):
        return f"the answer is not from a Hub ({type(error).__name__}: {' '.join(str(error).split())[:100]})"
    return " ".join(str(error).split()) or type(error).__name__
