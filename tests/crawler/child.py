"""A crawl in a process of its own, to be killed. `start` forks it off a server that has loaded everything before.

SIGTERM and SIGINT stop it as in the product.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from contextlib import suppress
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from resources.crawler.order import CrawlOrder
from resources.crawler.session import CrawlSession
from resources.installation import Installation
from resources.pages.sqlite.store import SqlitePages

__all__ = ["Child"]

#: A hang, not a slow machine.
PATIENCE_S = 120.0
#: Results are written eight times as often as in the product: a kill at any moment is more often one during that.
GATHER_S = 0.05


class Child:
    """A crawl that has begun to fetch, and is alone in its process."""

    def __init__(self, data: Path, sites: Path, domain: str, run_id: str, *, seed: bool) -> None:
        # Loading takes longer than most of these crawls: once for all of them, and not by a fork of a test process.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        self._told, told = context.Pipe(duplex=False)
        self._process = context.Process(target=_crawl, args=(told, data, sites, domain, run_id, seed))
        self._process.start()
        told.close()
        assert self._next() == "ready"

    def _next(self) -> Any:
        assert self._told.poll(PATIENCE_S), "the crawl hangs"
        return self._told.recv()

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        """As kill -9."""
        self._process.kill()
        self._process.join(10)
        self._told.close()

    def stop(self) -> None:
        if self._process.pid is not None:
            with suppress(ProcessLookupError):  # it has ended by itself
                os.kill(self._process.pid, signal.SIGTERM)

    def report(self) -> dict[str, Any]:
        """Of the domain, when it has ended by itself."""
        report: dict[str, Any] = self._next()
        self._process.join(30)
        assert self._process.exitcode == 0
        self._told.close()
        return report


def _crawl(told: Connection, data: Path, sites: Path, domain: str, run_id: str, seed: bool) -> None:
    asyncio.run(_session(told, data, sites, domain, run_id, seed))


async def _session(told: Connection, data: Path, sites: Path, domain: str, run_id: str, seed: bool) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    SqlitePages.gather_s = GATHER_S
    async with CrawlSession(Installation.at(data, sites), run_id) as session:
        if seed:
            await session.seed([domain])
        told.send("ready")
        reports = await session.crawl(CrawlOrder((domain,), run_id), stop=stop)
    told.send(asdict(reports[0]))
