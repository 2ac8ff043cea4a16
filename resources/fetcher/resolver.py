"""Names to addresses: resolved once, judged, and pinned.

The operating system's resolver is asked in a thread (it honours /etc/hosts and the machine's settings).
Answers are kept for a minute and failures for ten seconds: DNS answers carry no TTL through getaddrinfo,
and a crawl asks for the same host thousands of times.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections import OrderedDict
from dataclasses import dataclass

from resources.clock import Clock, SystemClock

from .addresses import AddressGuard

__all__ = ["Resolution", "Resolver"]

KEEP_S = 60.0
KEEP_FAILURE_S = 10.0
#: Names kept; beyond it the least recently used goes. 100,000 names are some 20 MB.
MAX_NAMES = 100_000


@dataclass(frozen=True, slots=True)
class Resolution:
    """Addresses in the resolver's order of preference, or why there are none."""

    addresses: tuple[str, ...] = ()
    error: str = ""


class Resolver:
    """`lookup` for raw answers, `permitted` for the first answer that the guard lets through."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._kept: OrderedDict[tuple[str, int], tuple[float, Resolution]] = OrderedDict()
        self._asking: dict[tuple[str, int], asyncio.Task[Resolution]] = {}

    async def lookup(self, host: str, port: int) -> Resolution:
        """All addresses of `host`; never raises. Concurrent questions for one name are asked once."""
        literal = host[1:-1] if host.startswith("[") else host
        try:
            return Resolution((str(ipaddress.ip_address(literal)),))
        except ValueError:
            pass  # a name, not an address
        key = (host, port)
        kept = self._kept.get(key)
        if kept is not None and kept[0] > self._clock.now():
            self._kept.move_to_end(key)
            return kept[1]
        task = self._asking.get(key)
        if task is None:
            task = asyncio.create_task(self._ask(host, port))
            self._asking[key] = task
            task.add_done_callback(lambda _: self._asking.pop(key, None))
        return await asyncio.shield(task)

    async def _ask(self, host: str, port: int) -> Resolution:
        try:
            answers = await asyncio.get_running_loop().getaddrinfo(
                host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
            )
            found = Resolution(tuple(dict.fromkeys(str(a[4][0]) for a in answers)))
        except (OSError, UnicodeError) as error:
            found = Resolution(error=f"{host} does not resolve: {getattr(error, 'strerror', None) or error}")
        keep = KEEP_S if found.addresses else KEEP_FAILURE_S
        self._kept[host, port] = (self._clock.now() + keep, found)
        if len(self._kept) > MAX_NAMES:
            self._kept.popitem(last=False)
        return found

    async def permitted(self, host: str, port: int, guard: AddressGuard) -> tuple[str | None, str, bool]:
        """(address, error, refused): the first permitted address, or None with what to tell.

        Any forbidden answer makes the whole name forbidden: a name with a public and a private address is
        the classic shape of a rebinding attack.
        """
        resolution = await self.lookup(host, port)
        if not resolution.addresses:
            return None, resolution.error, False
        for address in resolution.addresses:
            if refusal := guard.refusal(address):
                return None, f"{host}: {refusal}", True
        return resolution.addresses[0], "", False
