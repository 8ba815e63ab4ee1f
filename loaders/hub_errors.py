"""Turns errors of the Hub's library into a plain statement of what went wrong, and whether to try again."""

from __future__ import annotations

import json

from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

from loaders.hub import HTTP_ERROR

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
