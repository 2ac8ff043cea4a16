"""A response that has no content by its status ends with its head, whatever its fields say (RFC 9112 §6.3)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from resources.fetcher.base import FetchProfile, FetchRequest
from resources.fetcher.web import WebFetcher


class _Answers(asyncio.Protocol):
    """Gives the same head to each request, and counts connections."""

    connections = 0
    head = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._seen = b""
        type(self).connections += 1

    def data_received(self, data: bytes) -> None:
        self._seen += data
        while b"\r\n\r\n" in self._seen:
            self._seen = self._seen.split(b"\r\n\r\n", 1)[1]
            self._transport.write(type(self).head)


@pytest.mark.parametrize(
    "head",
    [
        b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 25000\r\n\r\n',
        b"HTTP/1.1 304 Not Modified\r\nContent-Encoding: gzip\r\nContent-Length: 99999999999\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
    ],
)
async def test_it_is_whole_at_once_and_its_connection_is_used_again(head: bytes) -> None:
    answers: Any = type("Answers", (_Answers,), {"head": head, "connections": 0})
    server = await asyncio.get_running_loop().create_server(answers, "127.0.0.1", 0)
    base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    fetcher = WebFetcher()
    profile = FetchProfile(allow_networks=("127.0.0.0/8",), total_timeout_s=5.0)
    async with server:
        for number in range(5):
            result = await fetcher.fetch(FetchRequest(f"{base}/{number}", profile))
            assert result.status in (204, 304) and result.cause is None, result.error
            assert (result.body, result.wire_bytes) == (b"", 0)
        assert answers.connections == 1
        await fetcher.close()
