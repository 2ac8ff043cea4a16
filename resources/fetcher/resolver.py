"""Names to addresses: resolved once, judged, and pinned.

The operating system's resolver is asked in a thread (it honours /etc/hosts and the machine's settings).
Answers are kept for a minute and failures for ten seconds: DNS answers carry no TTL through getaddrinfo,
and a crawl asks for the same host thousands of times. A new answer that still has the address in use keeps it
first, so that names that rotate their addresses do not cost a new connection a minute.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections import OrderedDict
from dataclasses import dataclass

from resources.clock import Clock, SystemClock

from .addresses import AddressGuard

__all__ = ["Permitted", "Resolution", "Resolver"]

KEEP_S = 60.0
KEEP_FAILURE_S = 10.0
#: Names kept; beyond it the least recently used goes. 100,000 names are some 20 MB.
MAX_NAMES = 100_000
#: Longest wait for the operating system's answer; glibc alone may ask three servers twice, 5 s each.
ANSWER_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Resolution:
    """Addresses in the resolver's order of preference, or why there are none."""

    addresses: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Permitted:
    """The addresses that may be connected to, or why there are none: `refused` by the guard, or not found."""

    addresses: tuple[str, ...] = ()
    error: str = ""
    refused: bool = False


class Resolver:
    """`lookup` for raw answers, `permitted` for those that the guard lets through."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._kept: OrderedDict[tuple[str, int], tuple[float, Resolution]] = OrderedDict()
        self._asking: dict[tuple[str, int], asyncio.Task[Resolution]] = {}

    async def lookup(self, host: str, port: int) -> Resolution:
        """All addresses of `host`; never raises. Concurrent questions for one name are asked once."""
        key = (host, port)
        kept = self._kept.get(key)
        if kept is not None and kept[0] > self._clock.now():
            return kept[1]
        try:
            return self._keep(key, Resolution((str(ipaddress.ip_address(host)),)), KEEP_S)
        except ValueError:
            pass  # a name, not an address
        task = self._asking.get(key)
        if task is None:
            task = asyncio.create_task(self._ask(host, port))
            self._asking[key] = task
            task.add_done_callback(lambda _: self._asking.pop(key, None))
        return await asyncio.shield(task)

    async def addresses_of(self, host: str, port: int) -> tuple[str, ...]:
        """What the operating system answers, uncached. Raises OSError or UnicodeError.

        The one method to replace in order to resolve otherwise (a test's own names, a fixed table).
        """
        answers = await asyncio.get_running_loop().getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )
        return tuple(dict.fromkeys(str(a[4][0]) for a in answers))

    async def _ask(self, host: str, port: int) -> Resolution:
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                found = Resolution(await self.addresses_of(host, port))
        except TimeoutError:
            found = Resolution(error=f"{host} does not resolve: no answer within {ANSWER_WITHIN_S:g} s")
        except (OSError, UnicodeError) as error:
            found = Resolution(error=f"{host} does not resolve: {getattr(error, 'strerror', None) or error}")
        if not found.addresses and not found.error:
            found = Resolution(error=f"{host} has no address")
        before = self._kept.get((host, port))
        if before is not None and before[1].addresses[:1] and before[1].addresses[0] in found.addresses:
            found = _first(before[1].addresses[0], found)
        return self._keep((host, port), found, KEEP_S if found.addresses else KEEP_FAILURE_S)

    def _keep(self, key: tuple[str, int], found: Resolution, seconds: float) -> Resolution:
        self._kept[key] = (self._clock.now() + seconds, found)
        self._kept.move_to_end(key)
        if len(self._kept) > MAX_NAMES:
            self._kept.popitem(last=False)
        return found

    async def permitted(self, host: str, port: int, guard: AddressGuard) -> Permitted:
        """The addresses of `host` if the guard lets all of them through.

        Any forbidden answer makes the whole name forbidden: a name with a public and a private address is
        the classic shape of a rebinding attack.
        """
        resolution = await self.lookup(host, port)
        for address in resolution.addresses:
            if refusal := guard.refusal(address):
                return Permitted(error=refusal if host == address else f"{host}: {refusal}", refused=True)
        return Permitted(resolution.addresses, resolution.error)

    def avoid(self, host: str, port: int, address: str | None) -> None:
        """Nobody answered at `address`: try the others of this name first from now on."""
        kept = self._kept.get((host, port))
        if kept is None or address is None or kept[1].addresses[:1] != (address,):
            return
        rest = kept[1].addresses[1:]
        self._kept[host, port] = (kept[0], Resolution((*rest, address)))


def _first(address: str, found: Resolution) -> Resolution:
    return Resolution((address, *(a for a in found.addresses if a != address)))
