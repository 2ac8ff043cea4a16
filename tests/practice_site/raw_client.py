"""A client that sees the bytes: no redirects, no decoding, no retries, no cookies."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from practice_site import PracticeSite, RemoteSite

__all__ = ["Reply", "exchange", "fetch"]


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes
    whole: bool
    """All of Content-Length arrived."""


async def exchange(site: PracticeSite | RemoteSite, wire: bytes) -> bytes:
    """Send bytes, close the sending side, return everything that comes back until the server closes."""
    reader, writer = await asyncio.open_connection(site.config.host, site.config.port)
    try:
        writer.write(wire)
        return await asyncio.wait_for(reader.read(-1), 10)
    finally:
        writer.close()


async def fetch(
    site: PracticeSite | RemoteSite, target: str, *, method: str = "GET", **headers: str
) -> Reply:
    """One request on a connection of its own. Header names: underscores become hyphens."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {site.domain}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return parse_reply(await exchange(site, ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")))


def parse_reply(wire: bytes) -> Reply:
    head, _, body = wire.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    return Reply(
        int(lines[0].split(" ")[1]), headers, body, len(body) == int(headers.get("content-length", "0"))
    )
