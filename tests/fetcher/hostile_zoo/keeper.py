"""What a beast is, and the cage it is shown in: a raw-socket server on loopback, one port a beast.

Each cage serves an ordinary small site (`/`, `/good1` to `/good3`, no robots.txt) whose front page also links
to `/beast`; only there the beast is let loose. So one cage answers both questions: what does a fetch of the
beast come to, and does a crawl that meets it get the other pages all the same.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

__all__ = ["BEASTS", "Beast", "Cage", "Visit", "beast", "ordinary", "response"]

GOOD = tuple(f"/good{n}" for n in (1, 2, 3))
_WORDS = "The keeper feeds the animals at nine and at noon, and tells the visitors what they eat. " * 12


@dataclass(slots=True)
class Visit:
    """One request that reached a beast. `nth` counts the visits of this cage from 1."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    path: str
    head: bytes
    nth: int
    cage: Cage

    async def send(self, data: bytes) -> None:
        if self.writer.is_closing():
            raise ConnectionResetError("the visitor has gone")
        self.writer.write(data)
        await self.writer.drain()
        await asyncio.sleep(0)  # lets the loop learn that the visitor has gone

    async def drip(self, pieces: bytes, every_s: float) -> None:
        """One byte at a time."""
        for at in range(len(pieces)):
            await self.send(pieces[at : at + 1])
            await asyncio.sleep(every_s)

    async def flood(self, piece: bytes, total: int) -> None:
        for _ in range(total // len(piece) + 1):
            await self.send(piece)

    def reset(self) -> None:
        """End the connection with RST instead of FIN."""
        self.writer.transport.abort()


@dataclass(frozen=True, slots=True)
class Beast:
    """`causes`: what a fetch may come to, None for a usable response. `crawled`: the same for the fetch log of a
    crawl, where it differs (a redirect is judged there)."""

    name: str
    serve: Callable[[Visit], Awaitable[None]]
    causes: frozenset[str | None]
    crawled: frozenset[str | None] | None = None
    on_connect: bool = False  # misbehaves before any request is read; the cage shows nothing else
    big: bool = False  # sends or unfolds to more than a machine should hold: memory is measured
    secure: str = ""  # name of a certificate of `certificates`; empty: plain HTTP
    http2: bool = False  # speaks HTTP/2 by itself, from the first byte
    tame: bool = False  # keeps to the protocol: the connection goes on


BEASTS: dict[str, Beast] = {}


def beast(
    *causes: str | None,
    crawled: tuple[str | None, ...] | None = None,
    on_connect: bool = False,
    big: bool = False,
    secure: str = "",
    http2: bool = False,
) -> Callable[[Callable[[Visit], Awaitable[None]]], Callable[[Visit], Awaitable[None]]]:
    """Register a behaviour under its function's name."""

    def register(serve: Callable[[Visit], Awaitable[None]]) -> Callable[[Visit], Awaitable[None]]:
        name = serve.__name__
        assert name not in BEASTS
        BEASTS[name] = Beast(
            name, serve, frozenset(causes), frozenset(crawled) if crawled is not None else None,
            on_connect, big, secure, http2,
        )  # fmt: skip
        return serve

    return register


def response(
    body: bytes, *fields: str, status: str = "200 OK", content_type: str | None = "text/html; charset=utf-8"
) -> bytes:
    """A correct response, with more fields if wanted."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields]
    if content_type is not None:
        lines.append(f"Content-Type: {content_type}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def ordinary(title: str, links: tuple[str, ...] = ()) -> bytes:
    """An ordinary page with enough text that nobody takes it for an empty one."""
    anchors = "".join(f'<li><a href="{link}">{link}</a>' for link in links)
    return (
        f"<!doctype html><html><head><title>{title}</title></head><body><h1>{title}</h1>"
        f"<p>{_WORDS}</p><ul>{anchors}</ul></body></html>"
    ).encode()


@dataclass(slots=True)
class Cage:
    """One beast on show. `seen` are the paths that were asked for."""

    beast: Beast
    host: str = "127.0.0.1"
    port: int = 0
    seen: list[str] = field(default_factory=list)
    visits: int = 0
    open_tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def origin(self) -> str:
        return f"{'https' if self.beast.secure else 'http'}://{self.domain}"

    @property
    def domain(self) -> str:
        host = "zoo.example" if self.beast.secure else self.host
        return f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/beast"

    @asynccontextmanager
    async def open(self, tls: ssl.SSLContext | None = None) -> AsyncIterator[Cage]:
        server = await asyncio.start_server(self._connection, self.host, self.port, ssl=tls)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in list(self.open_tasks):
                task.cancel()
            await asyncio.gather(*self.open_tasks, return_exceptions=True)

    async def conversations_end(self, patience_s: float) -> None:
        """Until the cage has ended every connection by itself; not longer than that for those it keeps open."""
        if self.open_tasks:
            await asyncio.wait(self.open_tasks, timeout=patience_s)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.open_tasks.add(task)
        task.add_done_callback(self.open_tasks.discard)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
            await self._converse(reader, writer)
        with suppress(Exception):
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.beast.on_connect or self.beast.http2:
            self.visits += 1
            await self.beast.serve(Visit(reader, writer, "", b"", self.visits, self))
            return
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode("latin-1")
            self.seen.append(path)
            if path == "/":
                writer.write(response(ordinary("front", ("/beast", *GOOD))))
            elif path in GOOD:
                writer.write(response(ordinary(path)))
            elif path.startswith(("/beast", "/loop")):
                self.visits += 1
                await self.beast.serve(Visit(reader, writer, path, head, self.visits, self))
                if not self.beast.tame:
                    return
            else:
                writer.write(response(b"not here", status="404 Not Found", content_type="text/plain"))
            await writer.drain()
