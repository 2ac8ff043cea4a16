"""Which addresses may be connected to.

A public crawler that can be talked into requesting `http://169.254.169.254/` or a router's admin page is a
hole in the network it runs in (SSRF). Every address is judged after resolution and the judged address is
the one connected to, so a name cannot change its answer in between (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from functools import lru_cache

__all__ = ["AddressGuard", "IPAddress", "why_refused"]

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

#: Ranges `ipaddress` does not already call non-global in every supported Python, with the reason told.
_EXTRA = (
    (ipaddress.ip_network("169.254.169.254/32"), "a cloud metadata address"),
    (ipaddress.ip_network("fd00:ec2::254/128"), "a cloud metadata address"),
    (ipaddress.ip_network("100.100.100.200/32"), "a cloud metadata address"),
    (ipaddress.ip_network("168.63.129.16/32"), "a cloud platform address"),
    (ipaddress.ip_network("100.64.0.0/10"), "a carrier-grade NAT address (RFC 6598)"),
    (ipaddress.ip_network("192.0.0.0/24"), "a protocol assignment (RFC 6890)"),
    (ipaddress.ip_network("192.88.99.0/24"), "a 6to4 relay (RFC 7526)"),
    (ipaddress.ip_network("198.18.0.0/15"), "a benchmarking address (RFC 2544)"),
    (ipaddress.ip_network("240.0.0.0/4"), "a reserved address (RFC 1112)"),
    (ipaddress.ip_network("0.0.0.0/8"), "an address of this network (RFC 1122)"),
    (ipaddress.ip_network("64:ff9b:1::/48"), "a local NAT64 address (RFC 8215)"),
    (ipaddress.ip_network("100::/64"), "a discard-only address (RFC 6666)"),
    (ipaddress.ip_network("2001::/23"), "a protocol assignment (RFC 2928)"),
    (ipaddress.ip_network("2001:db8::/32"), "a documentation address (RFC 3849)"),
    (ipaddress.ip_network("3fff::/20"), "a documentation address (RFC 9637)"),
    (ipaddress.ip_network("5f00::/16"), "a segment-routing address (RFC 9602)"),
    (ipaddress.ip_network("fec0::/10"), "a site-local address (RFC 3879)"),
    (ipaddress.ip_network("fc00::/7"), "a unique local address (RFC 4193)"),
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_TRANSLATED = ipaddress.ip_network("::ffff:0:0:0/96")
_SIX_TO_FOUR = ipaddress.ip_network("2002::/16")
_V4_COMPATIBLE = ipaddress.ip_network("::/96")


def _embedded(address: IPAddress) -> ipaddress.IPv4Address | None:
    """The IPv4 address inside a mapped, translated, compatible, NAT64 or 6to4 one: what is really reached."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64 or address in _TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address in _SIX_TO_FOUR:
        return ipaddress.IPv4Address((int(address) >> 80) & 0xFFFFFFFF)
    if address in _V4_COMPATIBLE and int(address) > 0xFFFF:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


@lru_cache(maxsize=65_536)
def why_refused(address: IPAddress) -> str | None:
    """Why an address is not for crawling, in words; None if it is an ordinary public one."""
    inner = _embedded(address)
    if inner is not None:
        reason = why_refused(inner)
        return f"{reason} inside {address}" if reason else None
    for network, reason in _EXTRA:
        if address.version == network.version and address in network:
            return reason
    # The order tells the most telling reason first; an address is often several of these.
    for flag, reason in (
        (address.is_unspecified, "the unspecified address"),
        (address.is_loopback, "a loopback address"),
        (address.is_link_local, "a link-local address"),
        (address.is_multicast, "a multicast address"),
        (address.is_private, "a private address"),
        (not address.is_global, "not a public address"),
    ):
        if flag:
            return reason
    return None


class AddressGuard:
    """Refuses non-public addresses unless they are in one of the allowed networks."""

    __slots__ = ("_allowed", "_told")

    #: Addresses whose verdict is remembered, some 200 bytes each.
    REMEMBERED = 10_000

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self._allowed = tuple(ipaddress.ip_network(text, strict=False) for text in allow)
        self._told: dict[str, str | None] = {}

    def refusal(self, address: str) -> str | None:
        """None if `address` may be connected to, else a sentence with the reason and the cure.

        Text that is no address is refused too: what cannot be judged is not connected to.
        """
        try:
            return self._told[address]
        except KeyError:
            pass
        if len(self._told) >= self.REMEMBERED:
            self._told.clear()
        told = self._told[address] = self._judge(address)
        return told

    def _judge(self, address: str) -> str | None:
        bare = address.partition("%")[0]  # a zone index names an interface, not another address
        try:
            parsed = ipaddress.ip_address(bare)
        except ValueError:
            return f"{address[:80]!r} is not an IP address"
        reason = why_refused(parsed)
        if reason is None or any(self._names(c) for c in (parsed, _embedded(parsed)) if c is not None):
            return None
        return (
            f"{address} is {reason}; to crawl it, name it in the site file: allow_private_addresses: [{bare}]"
        )

    def _names(self, address: IPAddress) -> bool:
        return any(address.version == n.version and address in n for n in self._allowed)
