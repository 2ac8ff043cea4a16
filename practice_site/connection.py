"""HTTP/1.1 on one connection: requests out of the bytes, answers in their order, keep-alive and pipelining.

Requests that cannot be read get 400 or 431 and the connection is closed. Bodies are read past by their
Content-Length and ignored: the shop and its controls need none.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, cast

from practice_site.wire import Answer, Request, ending, head

if TYPE_CHECKING:
    from practice_site.server import PracticeSite

__all__ = ["Connection"]

# Longer request heads are refused; real clients stay far below.
MAX_HEAD = 64 * 1024
# Clients repeat their header block with each request: parsed blocks are kept, this many.
MAX_KEPT_BLOCKS = 512

_numbers = itertools.count(1)
_blocks: dict[bytes, dict[bytes, bytes]] = {}


class Connection(asyncio.Protocol):
    """One client connection of one site."""

    def __init__(self, site: PracticeSite) -> None:
        self._site = site
        self._number = next(_numbers)
        self._client = ""
        self._buffer = b""
        self._skip = 0
        self._answers = 0
        self._busy = False
        self._paused = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self._client = peer[0] if peer else ""
        self._site.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._site.closed(self)

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self._serve()

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        self._serve()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _serve(self) -> None:
        """Answer whole requests in the buffer, one after the other, until one takes its time."""
        while self._buffer and not self._busy and not self._paused and self._transport is not None:
            if self._skip:
                skipped = min(self._skip, len(self._buffer))
                self._buffer, self._skip = self._buffer[skipped:], self._skip - skipped
                continue
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self._buffer) > MAX_HEAD:
                    self._complain(431)
                return
            block, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
            request = self._parse(block)
            if request is None:
                self._complain(400)
                return
            self._answers += 1
            answer = self._site.answer(request)
            if answer.drop == "reset":
                self._transport.abort()
            elif answer.drop == "hang":
                self._busy = True
            elif answer.delay > 0:
                self._busy = True
                asyncio.get_running_loop().call_later(answer.delay, self._late, answer)
            else:
                self._write(answer)

    def _late(self, answer: Answer) -> None:
        self._busy = False
        self._site.responder.finished()
        self._write(answer)
        self._serve()

    def _write(self, answer: Answer) -> None:
        if self._transport is None:
            return
        self._transport.write(answer.payload)
        if answer.close:
            self._transport.close()
            self._transport = None

    def _complain(self, status: int) -> None:
        self._buffer = b""
        self._write(Answer(head(status, [("Content-Length", "0")]) + ending(0, True), close=True))

    def _parse(self, block: bytes) -> Request | None:
        """The request of a header block, or None if it is none."""
        line, _, rest = block.partition(b"\r\n")
        parts = line.split(b" ")
        if len(parts) != 3 or not parts[2].startswith(b"HTTP/1."):
            return None
        headers = _blocks.get(rest)
        if headers is None:
            headers = {}
            for field in rest.split(b"\r\n") if rest else ():
                name, colon, value = field.partition(b":")
                if not colon:
                    return None
                headers[name.lower()] = value.strip()
            if len(_blocks) >= MAX_KEPT_BLOCKS:
                _blocks.clear()
            _blocks[rest] = headers
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or b"transfer-encoding" in headers:
            return None
        self._skip = int(length)
        target = parts[1].decode("latin-1")
        if not target.startswith("/"):
            # Absolute form, as sent to proxies: the origin is ours whatever it says.
            _, _, after = target.partition("://")
            target = "/" + after.partition("/")[2]
        wanted = headers.get(b"connection", b"").lower()
        limit = self._site.config.behaviour.keep_alive_requests
        closing = (
            b"close" in wanted
            or (parts[2] == b"HTTP/1.0" and b"keep-alive" not in wanted)
            or (limit > 0 and self._answers + 1 >= limit)
        )
        return Request(parts[0].decode("latin-1"), target, headers, self._client, self._number, closing)
