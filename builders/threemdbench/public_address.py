"""Which IP addresses are public: those that `ipaddress` calls global, except what only some versions of Python know.

Python 3.11 calls 224.0.0.1, fec0::1 and 192.0.0.8 global, and does not know later registrations in the special-purpose
registries of IANA. Only the standard library is imported here.
"""

from __future__ import annotations

import ipaddress
import socket

# An IPv6 address that is an IPv4 address in another spelling: it leads where the last 32 bits say.
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")  # RFC 4291
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052

# All IPv6 addresses assigned for global use. Loopback, ::127.0.0.1, other NAT64 prefixes, discard, segment routing,
# unique and link local, site local and multicast lie outside.
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")

# An interface identifier that holds an IPv4 address (ISATAP, RFC 5214): 0:5efe or 200:5efe, behind any prefix.
_ISATAP, _ISATAP_MASK = 0x00005EFE, 0xFDFFFFFF

_SPECIAL = tuple(
    ipaddress.ip_network(network)
    for network in (
        "192.0.0.0/24",  # protocol assignments
        "192.88.99.0/24",  # relays of 6to4
        "224.0.0.0/4",  # multicast
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
)


def is_public(address: str, *, allow_loopback: bool = False) -> bool:
    """Whether an IP address is publicly reachable. IPv4 written as IPv6 counts as what it leads to (mapped, NAT64);
    every other form that hides an IPv4 address is refused. `allow_loopback` allows the loopback itself, for tests.

    >>> [is_public(a) for a in ("8.8.8.8", "127.0.0.1", "10.1.2.3", "169.254.169.254", "::ffff:10.0.0.1", "fe80::1%2")]
    [True, False, False, False, False, False]
    """
    try:
        asked = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(asked, ipaddress.IPv6Address):
        if asked in _MAPPED or asked in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(asked) & 0xFFFFFFFF)))
        isatap = (int(asked) >> 32) & _ISATAP_MASK == _ISATAP
        if asked not in _GLOBAL_UNICAST or asked.scope_id is not None or isatap:
            return allow_loopback and asked == ipaddress.IPv6Address("::1")
    elif asked.is_loopback:
        return allow_loopback
    return asked.is_global and not any(asked in network for network in _SPECIAL)


def literal_address(host: str) -> str | None:
    """The address that a host name itself spells, in any notation (127.1, 0x7f000001); None if it is a name.

    >>> [literal_address(h) for h in ("127.1", "0x7f000001", "[::1]", "example.org")]
    ['127.0.0.1', '127.0.0.1', '::1', None]
    """
    bare = host.strip("[]").rstrip(".")
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(bare))
    except (OSError, UnicodeError):
        return None
