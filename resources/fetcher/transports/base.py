"""The seam below the fetcher: one GET goes out, a response head with an unread body comes back.

A transport decides nothing: which address to connect to, which proxy to use and how much to read are told to
it. It follows no redirect, keeps no cookie, takes off no content coding and reads no environment variable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from resources.fetcher.base import FetchProfile
from resources.fetcher.origin import Origin

__all__ = ["Incoming", "Outgoing", "Transport"]


@dataclass(slots=True)
class Outgoing:
    """`address`: the one that was judged and must be connected to; None where the proxy resolves names."""

    url: str
    origin: Origin
    headers: list[tuple[str, str]] = field(repr=False)  # without Host
    address: str | None
    profile: FetchProfile  # its timeouts and its proxy


class Incoming(Protocol):
    """A response whose body is still on the wire. `close` must be called; it drops what was not read."""

    @property
    def status(self) -> int: ...

    @property
    def http_version(self) -> str: ...

    def headers(self) -> list[tuple[str, str]]:
        """In the order received; octets as latin-1. A value that cannot be had is an empty string."""
        ...

    async def read(self, limit: int) -> bytes:
        """At most `limit` bytes of the body as they came; fewer only at its end."""
        ...

    async def close(self) -> None: ...


class Transport(Protocol):
    """Any exception of `send` and `Incoming.read` is explained by `failures.explain`."""

    async def send(self, outgoing: Outgoing) -> Incoming: ...

    async def close(self) -> None: ...
