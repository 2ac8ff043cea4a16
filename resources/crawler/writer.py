"""Batches results and makes them durable in the one order that loses nothing:

1. bodies into the page store; 2. one frontier transaction with outlinks, log rows and acks.

A crash between the two means a page is fetched again and overwrites itself. A batch waits at most as long as
the page store says (`gather_s`: 0.4 s on a disk, 2 s on S3), so a crash costs the in-flight requests plus at most
that much work. Storage that is full or
locked does not lose a batch: it is kept and tried again, and the crawl waits meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from resources.frontier.base import Ack, CommitResult, FrontierError
from resources.pages.base import PageHead, PageStoreError, PageVersion

from .storage import Storage

__all__ = ["BatchWriter", "StorageStuck"]

log = logging.getLogger(__name__)

#: A result that is waited for waits that long for company: thousands of starved domains share a commit.
HURRY_S = 0.02
#: A batch this large is written at once. Larger ones cost the same per page and hold the thread longer.
FLUSH_ACKS = 256
#: Results waiting beyond this hold the dispatcher back: memory stays bounded when the disk is slow.
MAX_WAITING = 1024
#: Pauses between attempts on storage that fails, and how long before the crawl gives up.
RETRY_S = (0.5, 1, 2, 5, 10, 20, 30)
GIVE_UP_S = 600.0


class StorageStuck(Exception):
    """Storage kept failing; nothing is lost: what was not committed is fetched again next time."""


class BatchWriter:
    """`add` results, `flush` or let `run` flush them. `on_commit(batch, result)` is called after each."""

    def __init__(
        self, storage: Storage, now: Callable[[], float], on_commit: Callable[[list[Ack], CommitResult], None]
    ) -> None:
        self._storage = storage
        self._now = now
        self._on_commit = on_commit
        self._acks: list[Ack] = []
        self._versions: list[PageVersion] = []
        self._heads: list[PageHead] = []
        self._wake = asyncio.Event()
        self._lock = asyncio.Lock()
        self._closing = False
        self.stuck: StorageStuck | None = None
        #: Words for the progress display while storage fails, else "".
        self.trouble = ""

    @property
    def waiting(self) -> int:
        return len(self._acks)

    @property
    def full(self) -> bool:
        return len(self._acks) >= MAX_WAITING

    def add(self, ack: Ack, version: PageVersion | None = None, head: PageHead | None = None) -> None:
        """One finished claim, with the body to store or the head to refresh before it is acked."""
        self._acks.append(ack)
        if version is not None:
            self._versions.append(version)
        if head is not None:
            self._heads.append(head)
        if len(self._acks) >= FLUSH_ACKS:
            self._wake.set()

    def hurry(self) -> None:
        """A domain has nothing to do until this is committed: do not wait for a whole batch."""
        self._wake.set()

    async def run(self) -> None:
        """Flush every `gather_s`, or sooner where it is waited for, until `close`."""
        while not self._closing:
            try:
                await asyncio.wait_for(self._wake.wait(), self._storage.pages.gather_s)
                if len(self._acks) < FLUSH_ACKS and not self._closing:
                    await asyncio.sleep(HURRY_S)
            except TimeoutError:
                pass
            self._wake.clear()
            await self.flush()

    async def flush(self) -> None:
        """Make everything added so far durable."""
        async with self._lock:
            if not self._acks and not self._heads:
                return
            acks, versions, heads = self._acks, self._versions, self._heads
            self._acks, self._versions, self._heads = [], [], []
            result = await self._persist(acks, versions, heads)
            self._on_commit(acks, result)

    async def _persist(
        self, acks: list[Ack], versions: list[PageVersion], heads: list[PageHead]
    ) -> CommitResult:
        def write() -> CommitResult:
            if versions:
                self._storage.pages.put(versions)
            if heads:
                self._storage.pages.touch(heads)
            return self._storage.frontier.commit(acks, self._now())

        waited, attempt = 0.0, 0
        while True:
            try:
                result = await self._storage.run(write)
                self.trouble = ""
                return result
            except (FrontierError, PageStoreError) as error:
                pause = RETRY_S[min(attempt, len(RETRY_S) - 1)]
                self.trouble = f"storage: {error}"
                log.warning("writing %d results failed, next try in %g s: %s", len(acks), pause, error)
                if waited >= GIVE_UP_S:
                    self.stuck = StorageStuck(f"{error} (tried for {waited:.0f} s)")
                    raise self.stuck from error
                await asyncio.sleep(pause)
                waited += pause
                attempt += 1

    async def close(self) -> None:
        self._closing = True
        self._wake.set()
        await self.flush()
