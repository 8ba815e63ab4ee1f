"""Connections to public addresses only, each with a deadline: what a list of addresses from strangers is fetched by.

The name is resolved here and the connection made to the very address that was checked, so that a name server cannot
answer twice. Loopback addresses can be let in, for tests; nothing else private ever is.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Iterable
from typing import Any

import httpcore2

# Everything under this prefix is a translation of an IPv4 address (RFC 6052).
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class ForbiddenAddress(httpcore2.ConnectError):
    """The name leads to an address that is not public."""


class PublicNetwork(httpcore2.NetworkBackend):
    """A backend for `httpcore2.ConnectionPool`; all that happens on its connections ends within `seconds`."""

    def __init__(self, seconds: float, *, allow_loopback: bool = False) -> None:
        self._deadline = time.monotonic() + seconds
        self._allow_loopback = allow_loopback
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

        Raises:
            ForbiddenAddress: one of its addresses is not public.
            httpcore2.ConnectError, httpcore2.ConnectTimeout: the name is unknown, or none answers in time.
        """
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(f"unknown host {host}") from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        for address in addresses:
            if not is_public(address, allow_loopback=self._allow_loopback):
                raise ForbiddenAddress(f"{host} is {address}, which is no public address")
        last: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                left = self.left(timeout)
                stream = self._plain.connect_tcp(address, port, left, local_address, socket_options)
                return _Timed(stream, self)
            except httpcore2.ConnectError as error:
                last = error
        raise last

    def left(self, timeout: float | None) -> float:
        """Seconds until `timeout` or the deadline, whichever comes first. Raises httpcore2.ReadTimeout after it."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the whole answer took too long")
        return left if timeout is None else min(left, timeout)


class _Timed(httpcore2.NetworkStream):
    """A connection whose every step also counts towards the deadline: a server that drips bytes cannot hold it open."""

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


def is_public(address: str, *, allow_loopback: bool = False) -> bool:
    """Whether an IP address is reachable by everyone, looking through every way of wrapping IPv4 in IPv6.

    >>> [is_public(a) for a in ("8.8.8.8", "127.0.0.1", "10.1.2.3", "169.254.169.254", "::ffff:10.0.0.1", "fe80::1%2")]
    [True, False, False, False, False, False]
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        wrapped = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if wrapped is None and found in _NAT64:
            wrapped = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if wrapped is not None:
            return is_public(str(wrapped))
    if found.is_loopback:
        return allow_loopback
    return found.is_global and not found.is_multicast
