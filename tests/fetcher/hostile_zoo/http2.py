"""Beasts of HTTP/2: streams and connections that end in every way the protocol has, and some it has not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import h2.config
import h2.connection
import h2.events
from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError

from .keeper import GOOD, Visit, beast, ordinary

PAGE = ordinary("beast")
OK = [(":status", "200"), ("content-type", "text/html")]


class Talk:
    """One HTTP/2 connection: ordinary paths are served, the beast is asked about its own."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))

    async def flush(self) -> None:
        if data := self.h2.data_to_send():
            await self.visit.send(data)

    async def serve(self, misbehave: Callable[[Talk, int], Awaitable[None]]) -> None:
        self.h2.initiate_connection()
        await self.flush()
        while data := await self.visit.reader.read(65_536):
            for event in self.h2.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    path = dict(event.headers)[b":path"].decode()
                    self.visit.cage.seen.append(path)
                    await self._answer(path, event.stream_id, misbehave)
                elif isinstance(event, h2.events.ConnectionTerminated):
                    return
            await self.flush()

    async def _answer(
        self, path: str, stream: int, misbehave: Callable[[Talk, int], Awaitable[None]]
    ) -> None:
        if path.startswith("/beast"):
            await misbehave(self, stream)
        elif path == "/":
            await self.page(stream, ordinary("front", ("/beast", *GOOD)))
        elif path in GOOD:
            await self.page(stream, ordinary(path))
        else:
            self.h2.send_headers(stream, [(":status", "404")], end_stream=True)
            await self.flush()

    async def page(self, stream: int, body: bytes) -> None:
        self.h2.send_headers(stream, [*OK, ("content-length", str(len(body)))])
        self.h2.send_data(stream, body, end_stream=True)
        await self.flush()


def talking(*causes: str | None) -> Callable[[Callable[[Talk, int], Awaitable[None]]], object]:
    """Register a behaviour of one HTTP/2 stream."""

    def register(misbehave: Callable[[Talk, int], Awaitable[None]]) -> object:
        async def serve(visit: Visit) -> None:
            with suppress(ProtocolError):  # what the visitor answers to misbehaviour is its own affair
                await Talk(visit).serve(misbehave)

        serve.__name__ = misbehave.__name__
        return beast(*causes, secure="good", http2=True)(serve)

    return register


@talking(None)
async def http2_page(talk: Talk, stream: int) -> None:
    await talk.page(stream, PAGE)


@talking("reset")
async def http2_stream_reset_at_once(talk: Talk, stream: int) -> None:
    talk.h2.reset_stream(stream, ErrorCodes.INTERNAL_ERROR)
    await talk.flush()


@talking("reset")
async def http2_stream_refused(talk: Talk, stream: int) -> None:
    talk.h2.reset_stream(stream, ErrorCodes.REFUSED_STREAM)
    await talk.flush()


@talking("truncated")
async def http2_stream_reset_in_body(talk: Talk, stream: int) -> None:
    talk.h2.send_headers(stream, OK)
    talk.h2.send_data(stream, PAGE[:500])
    await talk.flush()
    await asyncio.sleep(0.05)
    talk.h2.reset_stream(stream, ErrorCodes.CANCEL)
    await talk.flush()


@talking("truncated", "bad_response")
async def http2_body_shorter_than_announced(talk: Talk, stream: int) -> None:
    talk.h2.send_headers(stream, [*OK, ("content-length", "5000")])
    talk.h2.send_data(stream, PAGE[:500], end_stream=True)
    await talk.flush()


@talking("reset")
async def http2_goaway_at_once(talk: Talk, stream: int) -> None:
    talk.h2.close_connection(ErrorCodes.ENHANCE_YOUR_CALM, last_stream_id=0)
    await talk.flush()
    talk.visit.writer.close()


@talking("truncated")
async def http2_goaway_in_body(talk: Talk, stream: int) -> None:
    talk.h2.send_headers(stream, OK)
    talk.h2.send_data(stream, PAGE[:500])
    await talk.flush()
    await asyncio.sleep(0.05)
    talk.h2.close_connection(ErrorCodes.INTERNAL_ERROR)
    await talk.flush()
    talk.visit.writer.close()


@talking(None)
async def http2_goaway_after_page(talk: Talk, stream: int) -> None:
    """A polite end: the next request needs a new connection."""
    await talk.page(stream, PAGE)
    talk.h2.close_connection(ErrorCodes.NO_ERROR)
    await talk.flush()


@talking("reset", "bad_response")
async def http2_garbage_frames(talk: Talk, stream: int) -> None:
    await talk.visit.send(b"\0\0\5\1\4\0\0\0\1hello" * 10)


@talking("read_timeout")
async def http2_silence(talk: Talk, stream: int) -> None:
    """On this stream; others of the connection are served."""


@talking("reset", "headers_too_large", "bad_response")
async def http2_endless_headers(talk: Talk, stream: int) -> None:
    """CONTINUATION frames without end (the flood of 2024)."""
    frame = b"\x00\x10\x00\x09\x00" + stream.to_bytes(4, "big") + b"\x00\x05x-aaa\x7f\x81\x1f" + b"a" * 4083
    first = b"\x00\x00\x01\x01\x00" + stream.to_bytes(4, "big") + b"\x88"
    await talk.visit.send(first)
    await talk.visit.flood(frame, 64_000_000)


@talking("bad_response", "reset", None)
async def http2_thousand_resets(talk: Talk, stream: int) -> None:
    for odd in range(stream + 2, stream + 2002, 2):
        await talk.visit.send(b"\x00\x00\x04\x03\x00" + odd.to_bytes(4, "big") + b"\x00\x00\x00\x08")
    await talk.page(stream, PAGE)
