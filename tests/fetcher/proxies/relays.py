"""Real proxies on loopback: HTTP (forward and CONNECT) and SOCKS5, with or without a password.

They resolve every name to loopback, count what they carry, and can be told to fail.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Relay"]


@dataclass(slots=True)
class Relay:
    """`carried`: `host:port` of every request or tunnel. `mode`: what it does with the next connection."""

    kind: Literal["http", "socks5"] = "http"
    user: str = ""
    password: str = ""
    mode: Literal["work", "drop", "silence", "bad_gateway"] = "work"
    port: int = 0
    carried: list[str] = field(default_factory=list)
    connections: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def url(self, credentials: str = "", scheme: str = "") -> str:
        return f"{scheme or self.kind}://{credentials and credentials + '@'}127.0.0.1:{self.port}"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Relay]:
        server = await asyncio.start_server(self._connection, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            if self.mode == "silence":
                await asyncio.sleep(60)
            elif self.mode != "drop":
                await (self._http(reader, writer) if self.kind == "http" else self._socks(reader, writer))
        with suppress(Exception):
            writer.close()

    # -- HTTP: RFC 9110 §7.6, §9.3.6 -----------------------------------------------------------------
    async def _http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            line, *fields = head.decode("latin-1").split("\r\n")
            method, where, _ = line.split(" ", 2)
            named = {n.lower(): v.strip() for n, _, v in (f.partition(":") for f in fields) if n}
            expected = "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
            if self.user and named.get("proxy-authorization") != expected:
                writer.write(
                    b"HTTP/1.1 407 Proxy Authentication Required\r\n"
                    b'Proxy-Authenticate: Basic realm="relay"\r\nContent-Length: 0\r\n\r\n'
                )
                await writer.drain()
                continue
            if self.mode == "bad_gateway":
                writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
                continue
            if method == "CONNECT":
                self.carried.append(where)
                there = await asyncio.open_connection("127.0.0.1", int(where.rpartition(":")[2]))
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await self._pump(reader, writer, *there)
                return
            authority, _, path = where.removeprefix("http://").partition("/")
            self.carried.append(authority)
            there = await asyncio.open_connection("127.0.0.1", int(authority.rpartition(":")[2]))
            kept = [f for f in fields if f and not f.lower().startswith("proxy-")]
            there[1].write("\r\n".join([f"{method} /{path} HTTP/1.1", *kept, "", ""]).encode("latin-1"))
            answer = await there[0].readuntil(b"\r\n\r\n")
            length = int(re.search(rb"(?i)content-length: *(\d+)", answer)[1])  # type: ignore[index]
            writer.write(answer + await there[0].readexactly(length))
            await writer.drain()
            there[1].close()

    # -- SOCKS5: RFC 1928, RFC 1929 --------------------------------------------------------------------
    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        offered = await reader.readexactly(count)
        method = 2 if self.user else 0
        if method not in offered:
            writer.write(b"\x05\xff")
            return
        writer.write(bytes([5, method]))
        if method == 2:
            await reader.readexactly(1)
            user = await reader.readexactly((await reader.readexactly(1))[0])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            right = (user.decode(), password.decode()) == (self.user, self.password)
            writer.write(b"\x01\x00" if right else b"\x01\x01")
            if not right:
                return
        _, _, _, kind = await reader.readexactly(4)
        if kind == 1:
            host = ".".join(str(b) for b in await reader.readexactly(4))
        elif kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = (await reader.readexactly(16)).hex()
        port = int.from_bytes(await reader.readexactly(2), "big")
        if self.mode == "bad_gateway":
            writer.write(b"\x05\x05\x00\x01" + bytes(6))
            return
        self.carried.append(f"{host}:{port}")
        there = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"\x05\x00\x00\x01" + bytes(6))
        await self._pump(reader, writer, *there)

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far_writer: asyncio.StreamWriter,
    ) -> None:
        async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError):
                while data := await source.read(65_536):
                    sink.write(data)
                    await sink.drain()
            with suppress(Exception):
                sink.close()

        await writer.drain()
        await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))
