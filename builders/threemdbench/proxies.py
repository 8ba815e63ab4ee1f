"""The proxy that the environment names for an address: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, with NO_PROXY as exception.

A proxy resolves names itself, so checking that a name leads to a public address is up to the proxy's owner; an address
written as numbers is checked here all the same. Loopback addresses never go through a proxy.
"""

from __future__ import annotations

from urllib.parse import unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

import httpcore2

from builders.threemdbench.public_address import is_public, literal_address
from loaders.errors import InputError


def proxy_for(url: str) -> httpcore2.Proxy | None:
    """The proxy for a web address; None where it is reached directly.

    Raises:
        InputError: the environment names a proxy that cannot be used.
    """
    asked = urlsplit(url)
    host = asked.hostname or ""
    literal = literal_address(host)
    loopback = literal is not None and is_public(literal, allow_loopback=True) and not is_public(literal)
    if loopback or host == "localhost" or host.endswith(".localhost"):
        return None
    proxies = getproxies_environment()
    named = proxies.get(asked.scheme) or proxies.get("all")
    if not named or proxy_bypass(asked.netloc):
        return None
    try:
        return _proxy(named)
    except ValueError as error:
        raise InputError(
            f"the proxy for {asked.scheme} addresses",
            found=str(error),
            expected="http://HOST:PORT or https://HOST:PORT in the environment",
            do="Fix HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, or unset it to connect directly.",
        ) from None


def _proxy(named: str) -> httpcore2.Proxy:
    """Raises: ValueError, which does not show the password."""
    try:
        place = urlsplit(named if "://" in named else f"http://{named}")
        host, port = (place.hostname or "").encode("idna").decode(), place.port
    except ValueError:
        host = ""
    if not host:
        raise ValueError("not a proxy address")
    if place.scheme not in ("http", "https"):
        raise ValueError(f"{place.scheme} proxies cannot be used")
    host = f"[{host}]" if ":" in host else host
    login = (
        None if place.username is None else (unquote(place.username).encode(), unquote(place.password or "").encode())
    )
    return httpcore2.Proxy(f"{place.scheme}://{host}:{port or (443 if place.scheme == 'https' else 80)}", auth=login)
