"""A web server that counts: when each request came, and how many were there at once."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

__all__ = ["CountingServer"]


class CountingServer:
    """Runs in a thread. `answer(number)` gives (seconds, status, headers) for each request."""

    def __init__(self, answer: Callable[[int], tuple[float, int, str]]) -> None:
        self.arrivals: list[float] = []
        self.at_once = 0
        self.most = 0
        self._answer = answer
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self.port = 0
        threading.Thread(target=self._run, daemon=True).start()
        self._ready.wait(10)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.arrivals.append(time.monotonic())
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        seconds, status, headers = self._answer(len(self.arrivals))
        await asyncio.sleep(seconds)
        self.at_once -= 1
        writer.write(f"HTTP/1.1 {status} X\r\n{headers}Content-Length: 0\r\n\r\n".encode())
        writer.close()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    def rate(self, start: float, end: float) -> float:
        """Requests per second between two instants, in seconds after the first request."""
        first = self.arrivals[0]
        return sum(start <= at - first < end for at in self.arrivals) / (end - start)
