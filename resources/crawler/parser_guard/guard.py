"""Which pages are parsed in the crawl's own process, and which behind the wall.

Ordinary pages are parsed right here, under the slot. Behind the wall go: pages that look suspicious
(`resources.web.suspicion`), pages at which a process has died before, and every page of a domain one page of
which took unreasonably long: a look from outside can be outwitted, but not twice.

Costs 4 µs an ordinary page of 25 KB.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from resources.web.suspicion import suspicious

from .child import ParserChild
from .slot import ParseSlot

__all__ = ["ParserGuard"]

T = TypeVar("T")

#: A parse in the event loop that takes this long makes its domain one to be wary of: a hundred times what an
#: ordinary page takes. CPU time, for a busy machine is not the page's fault, and for each megabyte of it.
SLOW_S = 0.25
MEGABYTE = 1_000_000
#: Wary domains kept; beyond it one is forgotten.
MAX_WARY = 10_000
#: Smaller pages cannot take longer than a second or two, whatever is in them.
SMALL = 65_536
#: CPU seconds after which the kernel ends a process whose parser does not come back. The slot names the page.
LAST_RESORT_S = 60.0


class ParserGuard:
    """One per process. `suspects`: keys of pages at which a process died before."""

    def __init__(self, folder: Path | None = None, suspects: Iterable[bytes] = ()) -> None:
        self.child = ParserChild()
        self.suspects = set(suspects)
        self._slot = ParseSlot(folder) if folder is not None else None
        self._wary: dict[str, None] = {}

    def __repr__(self) -> str:
        return f"<ParserGuard {len(self.suspects)} suspects, {len(self._wary)} wary domains>"

    def distrusts(self, key: bytes, domain: str, body: bytes) -> bool:
        """Whether this page is to be parsed behind the wall."""
        return suspicious(body) or key in self.suspects or domain in self._wary

    def here(self, key: bytes, domain: str, size: int, parse: Callable[[], T]) -> T:
        """Run `parse` in this process, with the page's name on the slot."""
        slot = self._slot
        if slot is not None:
            slot.enter(key)
        if size > SMALL:
            signal.setitimer(signal.ITIMER_VIRTUAL, LAST_RESORT_S)
        begin = time.thread_time()
        try:
            return parse()
        finally:
            if time.thread_time() - begin > SLOW_S * max(1.0, size / MEGABYTE):
                self._beware(domain)
            if size > SMALL:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            if slot is not None:
                slot.leave()

    def _beware(self, domain: str) -> None:
        self._wary[domain] = None
        if len(self._wary) > MAX_WARY:
            del self._wary[next(iter(self._wary))]

    async def close(self) -> None:
        await self.child.close()
        if self._slot is not None:
            self._slot.close()
