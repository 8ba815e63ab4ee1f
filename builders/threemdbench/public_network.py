"""Connections to public addresses only, each with a deadline, for fetching addresses from lists that strangers wrote.

The name is resolved here and the connection made to the very address that was checked, so a name server cannot give
two different answers. Loopback addresses can be allowed, for tests; no other private address ever is. The only
connection that is not checked is the one to a proxy of the environment (`request`).
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable
from typing import Any

import httpcore2

from builders.threemdbench.public_address import is_public


class ForbiddenAddress(httpcore2.ConnectError):
    """The name leads to an address that is not public."""


class PublicNetwork(httpcore2.NetworkBackend):
    """A backend for `httpcore2.ConnectionPool`; everything on its connections ends within `seconds`. How long a name is
    looked up is up to the system's resolver.

    Without `checked` any address is allowed: for the connection to a proxy, whose address is usually private.
    """

    def __init__(self, seconds: float, *, allow_loopback: bool = False, checked: bool = True) -> None:
        self._deadline = time.monotonic() + seconds
        self._allow_loopback = allow_loopback
        self._checked = checked
        self._plain = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first address of the host that answers.

        Raises: ForbiddenAddress if one of its addresses is not public; httpcore2.ConnectError or ConnectTimeout if the
        name is unknown, or no address answers in time.
        """
        addresses = _addresses(host, port)
        for address in addresses:
            if self._checked and not is_public(address, allow_loopback=self._allow_loopback):
                raise ForbiddenAddress(f"{host} is {address}, which is no public address")
        last: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                left = self.left(timeout)
                stream = self._plain.connect_tcp(address, port, left, local_address, socket_options)
                return _Timed(stream, self)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                last = error
        raise last

    def left(self, timeout: float | None) -> float:
        """Seconds until `timeout` or the deadline, whichever comes first. Raises httpcore2.ReadTimeout after it."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the whole answer took too long")
        return left if timeout is None else min(left, timeout)


def _addresses(host: str, port: int) -> list[str]:
    """The addresses of a host. Raises: httpcore2.ConnectError for a name that is unknown."""
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore2.ConnectError(f"unknown host {host}") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


class _Timed(httpcore2.NetworkStream):
    """A connection on which every step counts towards the deadline, so a server
    that drips bytes cannot hold it open."""

    def __init__(self, stream: httpcore2.NetworkStream, network: PublicNetwork) -> None:
        self._stream = stream
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._network.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._network.left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, self._network.left(timeout))
        return _Timed(secured, self._network)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
