"""Beasts that end the connection: at every stage, with FIN and with RST."""

from __future__ import annotations

import asyncio

from .keeper import Visit, beast, ordinary, response

PAGE = ordinary("beast")


@beast("reset", on_connect=True)
async def closed_on_connect(visit: Visit) -> None:
    visit.writer.close()


@beast("reset", on_connect=True)
async def reset_on_connect(visit: Visit) -> None:
    visit.reset()


@beast("reset")
async def closed_after_request(visit: Visit) -> None:
    visit.writer.close()


@beast("reset")
async def reset_after_request(visit: Visit) -> None:
    visit.reset()


@beast("reset", "bad_response")
async def reset_in_status_line(visit: Visit) -> None:
    await visit.send(b"HTTP/1.")
    await asyncio.sleep(0.05)
    visit.reset()


@beast("reset")
async def reset_in_head(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n")
    await asyncio.sleep(0.05)
    visit.reset()


@beast("truncated")
async def reset_in_body(visit: Visit) -> None:
    await visit.send(response(PAGE)[:-100])
    await asyncio.sleep(0.05)
    visit.reset()


@beast("truncated")
async def reset_in_chunk(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n400\r\nabc")
    await asyncio.sleep(0.05)
    visit.reset()


@beast(None, "truncated")
async def reset_after_body(visit: Visit) -> None:
    await visit.send(response(PAGE))
    await asyncio.sleep(0.05)
    visit.reset()
