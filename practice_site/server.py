"""Practice sites running in this process's event loop: one, or many domains at once.

    async with PracticeSite(SiteConfig(n_products=100)) as site:
        ...                              # site.url, site.log, site.set(rate=20), site.truth()
    async with serve(many_sites(20, SiteConfig())) as web:
        ...                              # web.sites[3].url

A crawler in the same loop competes with the site for it; for measurements use `process.py`.
"""

from __future__ import annotations

import asyncio
import errno
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from practice_site.behaviour import changed
from practice_site.connection import Connection
from practice_site.control import CONTROL_PATH, control_answer
from practice_site.request_log import RequestLog
from practice_site.responder import Responder
from practice_site.site_config import SiteConfig
from practice_site.truth import Truth
from practice_site.wire import Answer, Request

__all__ = ["PracticeSite", "PracticeWeb", "serve"]

# As many waiting connections as a burst of a fast crawler makes.
BACKLOG = 1024


class PracticeSite:
    """One listening shop. `clock` (monotonic) and `epoch` (wall) in seconds may be replaced by tests."""

    def __init__(
        self,
        config: SiteConfig | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        epoch: Callable[[], float] = time.time,
    ) -> None:
        self.config = config or SiteConfig()
        self.clock = clock
        self.epoch = epoch
        self.web: Sequence[PracticeSite] = [self]
        self.neighbours: tuple[str, ...] = ()
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self._responder: Responder | None = None
        self.log = RequestLog(self.config.host)

    async def start(self) -> None:
        """Listen. Raises OSError naming the address if that is impossible."""
        host, port = self.config.host, self.config.port
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(lambda: Connection(self), host, port, backlog=BACKLOG)
        except OSError as error:
            reason = "the port is in use" if error.errno == errno.EADDRINUSE else str(error)
            raise OSError(
                error.errno, f"practice site cannot listen on {host}:{port}: {reason}; choose another --port"
            ) from error
        port = self._server.sockets[0].getsockname()[1]
        self.config = replace(self.config, port=port)
        self.log = RequestLog(f"{host}:{port}", self.config.log_file)
        self._responder = Responder(self.config, self.origin, self.log, self.clock, self.epoch)

    async def stop(self) -> None:
        """Stop listening, cut every connection, write the rest of the log file."""
        if self._server is not None:
            self._server.close()
            for connection in list(self._connections):
                connection.abort()
            await self._server.wait_closed()
            self._server = None
        self.log.close()

    async def __aenter__(self) -> PracticeSite:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def __repr__(self) -> str:
        return f"PracticeSite({self.url}, night {self.config.night}, {len(self.log.entries)} requests)"

    @property
    def domain(self) -> str:
        """`host:port`, the unit of politeness."""
        return f"{self.config.host}:{self.config.port}"

    @property
    def origin(self) -> str:
        return f"http://{self.domain}"

    @property
    def url(self) -> str:
        """The front page."""
        return self.origin + "/"

    @property
    def control(self) -> str:
        """Where the control paths start (see control.py)."""
        return self.origin + CONTROL_PATH

    @property
    def responder(self) -> Responder:
        if self._responder is None:
            raise RuntimeError("the practice site is not running; use `async with` or `await site.start()`")
        return self._responder

    def set(self, **behaviour: Any) -> None:
        """Switch fields of Behaviour, typed or as text. Raises ValueError naming the field."""
        self._apply(replace(self.config, behaviour=changed(self.config.behaviour, behaviour)))

    def set_night(self, night: int) -> None:
        """Prices, arrivals, departures and layout of that night, from the next request on."""
        self._apply(replace(self.config, night=night))

    def set_neighbours(self, urls: Sequence[str]) -> None:
        self.neighbours = tuple(urls)
        self._apply(self.config)

    def reset(self) -> None:
        """Forget requests, attempts, buckets, bans and queues; keep behaviour and night."""
        self.responder.forget()

    def truth(self) -> Truth:
        return Truth(self.config, self.origin, self.neighbours)

    def stats(self, *, window: float = 1.0, since: int = 0) -> dict[str, Any]:
        return self.log.statistics(window=window, since=since)

    def answer(self, request: Request) -> Answer:
        if request.target.startswith(CONTROL_PATH):
            return control_answer(self, request)
        return self.responder.answer(request)

    def opened(self, connection: Connection) -> None:
        self._connections.add(connection)
        log = self.log
        log.connections_opened += 1
        log.connections_open += 1
        log.connections_peak = max(log.connections_peak, log.connections_open)

    def closed(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self.log.connections_open -= 1
        # A client that leaves is when readers of the log file look.
        self.log.flush()

    def _apply(self, config: SiteConfig) -> None:
        self.config = config
        self.responder.apply(config, self.neighbours)


@dataclass(frozen=True, slots=True)
class PracticeWeb:
    """Several running sites, in the order of their configs."""

    sites: Sequence[PracticeSite]


@asynccontextmanager
async def serve(configs: Sequence[SiteConfig], *, interlinked: bool = True) -> AsyncIterator[PracticeWeb]:
    """Run many sites in one loop; `interlinked`: the /links page of each leads to the front page of the next."""
    sites = [PracticeSite(config) for config in configs]
    try:
        for site in sites:
            await site.start()
            site.web = sites
        if interlinked and len(sites) > 1:
            for index, site in enumerate(sites):
                site.set_neighbours([sites[(index + 1) % len(sites)].url])
        yield PracticeWeb(sites)
    finally:
        for site in sites:
            await site.stop()
