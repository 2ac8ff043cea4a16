"""One thread that owns frontier and page store, so the event loop never waits for a disk.

Back-ends are synchronous and single-threaded by contract; every call goes through `run`, in order. Batches
keep the price of the hop (some 50 µs) far below the work it carries.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from resources.frontier.base import Frontier, FrontierError
from resources.pages.base import PageStore, PageStoreError

__all__ = ["Storage"]

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)

#: Pauses between attempts on storage that fails, and how long before its error is passed on.
PAUSES_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
GIVE_UP_S = 600.0


class Storage:
    """`opener` runs in the thread itself: SQLite connections belong to the thread that made them."""

    def __init__(self, opener: Callable[[], tuple[Frontier, PageStore]]) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="nightcrawl-storage")
        self._opener = opener
        self.frontier: Frontier
        self.pages: PageStore

    async def open(self) -> Storage:
        self.frontier, self.pages = await self.run(self._opener)
        return self

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking call in the storage thread, after all calls before it."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: call(*args, **kwargs))

    async def patiently(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`run`, but storage that fails for a while (a restart, a cut line, a full disk) is waited for.

        Only for calls that may be made twice. Raises the storage's error after `GIVE_UP_S`.
        """
        waited, attempt = 0.0, 0
        while True:
            try:
                return await self.run(call, *args, **kwargs)
            except (FrontierError, PageStoreError) as error:
                if waited >= GIVE_UP_S:
                    raise
                pause = PAUSES_S[min(attempt, len(PAUSES_S) - 1)]
                log.warning("storage failed, next try in %g s: %s", pause, error)
                await asyncio.sleep(pause)
                waited += pause
                attempt += 1

    async def close(self) -> None:
        def shut() -> None:
            self.frontier.close()
            self.pages.close()

        await self.run(shut)
        self._thread.shutdown(wait=True)
