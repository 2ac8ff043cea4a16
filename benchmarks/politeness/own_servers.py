"""Two servers nginx can not play: one whose goodput collapses under load, one that bans.

    python -m benchmarks.politeness.own_servers collapsing|banning --port N --root DIR --log FILE

*collapsing*: 4 workers, 50 ms a page; every request that waits for a worker slows all of them by half (locks, caches,
context switches), so that goodput peaks at 4 requests in flight; beyond 64 waiting it answers 503.
*banning*: 20 r/s with a burst of 5; more is 429 with Retry-After: 1; after 20 of them the address gets 403 for five
minutes. Both write the log nginx writes: time, seconds taken, status, path.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from .nginx import free_port

__all__ = ["own_server", "peak_goodput"]

_WORKERS, _SERVICE_S, _PENALTY, _QUEUE = 4, 0.05, 0.5, 64
_STRIKES, _BAN_S = 20, 300.0


class _Gate(Protocol):
    async def serve(self) -> tuple[int, dict[str, str]]: ...


class Collapsing:
    """Workers with an accept queue, each slower the longer the queue."""

    def __init__(self) -> None:
        self._workers = asyncio.Semaphore(_WORKERS)
        self._open = 0

    async def serve(self) -> tuple[int, dict[str, str]]:
        if self._open >= _WORKERS + _QUEUE:
            return 503, {}
        self._open += 1
        try:
            async with self._workers:
                waiting = max(0, self._open - _WORKERS)
                await asyncio.sleep(_SERVICE_S * (1.0 + _PENALTY * waiting))
        finally:
            self._open -= 1
        return 200, {}


class Banning:
    """A leaky bucket with a memory. There is one client, so there is one bucket."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, burst
        self._excess, self._last = 0.0, 0.0
        self._strikes, self._until = 0, 0.0

    async def serve(self) -> tuple[int, dict[str, str]]:
        now = time.monotonic()
        if now < self._until:
            return 403, {}
        excess = max(0.0, self._excess - self._rate * (now - self._last) + 1.0)
        if self._last and excess > self._burst:
            self._strikes += 1
            if self._strikes >= _STRIKES:
                self._strikes, self._until = 0, now + _BAN_S
            return 429, {"Retry-After": "1"}
        self._excess, self._last = excess if self._last else 0.0, now
        return 200, {}


async def _run(gate: _Gate, port: int, root: Path, log: Path) -> None:
    pages = {f"/{file.relative_to(root)}": file.read_bytes() for file in root.rglob("*.html")}
    pages["/"] = pages.pop("/index.html")
    lines = log.open("a", buffering=1)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ", 2)[1].decode("latin-1")
                begun = time.time()
                status, headers = await gate.serve()
                body = b"" if status != 200 else pages.get(path.partition("?")[0], b"")
                if status == 200 and not body:
                    status = 404
                body = body or f"{status}\n".encode()
                fields = {"Content-Type": "text/html", "Content-Length": str(len(body)), **headers}
                wire = (
                    f"HTTP/1.1 {status} -\r\n" + "".join(f"{k}: {v}\r\n" for k, v in fields.items()) + "\r\n"
                )
                writer.write(wire.encode() + body)
                await writer.drain()
                lines.write(f"{time.time():.3f} {time.time() - begun:.3f} {status} {path}\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has hung up: nothing to answer
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", port, backlog=1024)
    print("ready", flush=True)
    async with server:
        await server.serve_forever()


def peak_goodput(port: int, seconds: float = 4.0) -> float:
    """Pages per second that four connections without pauses get out of it here and now: what it permits."""

    def ask() -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        end, pages = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            connection.request("GET", "/")
            pages += len(connection.getresponse().read()) > 0
        connection.close()
        return pages

    with ThreadPoolExecutor(_WORKERS) as threads:
        return sum(threads.map(lambda _: ask(), range(_WORKERS))) / seconds


@contextmanager
def own_server(kind: str, root: Path, log: Path) -> Iterator[int]:
    """Run one in a process of its own while the block runs; yields its port."""
    port = free_port()
    words = [kind, "--port", str(port), "--root", str(root), "--log", str(log)]
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.politeness.own_servers", *words], stdout=subprocess.PIPE
    )
    try:
        assert child.stdout is not None
        if child.stdout.readline() != b"ready\n":
            raise RuntimeError(f"the {kind} server did not start")
        yield port
    finally:
        child.terminate()
        child.wait(10)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["collapsing", "banning"])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    given = parser.parse_args()
    asyncio.run(
        _run(
            Collapsing() if given.kind == "collapsing" else Banning(20.0, 5),
            given.port,
            given.root,
            given.log,
        )
    )
