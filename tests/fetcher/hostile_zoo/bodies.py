"""Beasts of the body's length: slow, endless, torn, and lying about where it ends."""

from __future__ import annotations

import asyncio

from .keeper import Visit, beast, ordinary, response

PAGE = ordinary("beast")
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


@beast("total_timeout")
async def slowloris_body(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    await visit.drip(b"<p>" * 33_000, 0.05)


@beast("read_timeout")
async def stalled_body(visit: Visit) -> None:
    await visit.send(response(PAGE)[:-200])
    await asyncio.sleep(60)


@beast("too_large", big=True)
async def endless_body(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    await visit.flood(b"<p>and on and on" * 4096, 1_000_000_000)


@beast("too_large", big=True)
async def endless_chunks(visit: Visit) -> None:
    await visit.send(CHUNKED)
    await visit.flood(chunk(b"<p>and on and on" * 4096), 1_000_000_000)


@beast("too_large")
async def announced_too_large(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n")
    await asyncio.sleep(60)


@beast("bad_response")
async def content_length_beyond_64_bits(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhi")


@beast("truncated")
async def content_length_too_long(visit: Visit) -> None:
    await visit.send(response(PAGE)[:-100])


@beast(None)
async def content_length_too_short(visit: Visit) -> None:
    await visit.send(response(PAGE) + b"<p>and this is beyond the end</p>" * 10)


@beast("bad_response")
async def content_length_negative(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello")


@beast("bad_response")
async def two_content_lengths(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nhello!!")


@beast(None, "bad_response")
async def length_and_chunks(visit: Visit) -> None:
    """RFC 9112 §6.3: chunks win, or the response is refused; never the length."""
    head = CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n")
    await visit.send(head + chunk(PAGE) + b"0\r\n\r\n")


@beast("truncated")
async def torn_chunk(visit: Visit) -> None:
    await visit.send(CHUNKED + chunk(PAGE) + b"400\r\n<p>the rest is")


@beast("truncated")
async def missing_last_chunk(visit: Visit) -> None:
    await visit.send(CHUNKED + chunk(PAGE))


@beast("bad_response", "truncated")
async def garbage_chunk_size(visit: Visit) -> None:
    await visit.send(CHUNKED + chunk(PAGE) + b"zz\r\nhello\r\n0\r\n\r\n")


@beast("bad_response", "truncated")
async def garbage_after_chunk(visit: Visit) -> None:
    await visit.send(CHUNKED + b"5\r\nhelloXXXX5\r\nhello\r\n0\r\n\r\n")


@beast("bad_response", "truncated")
async def chunk_size_beyond_64_bits(visit: Visit) -> None:
    await visit.send(CHUNKED + b"fffffffffffffffffff\r\nhello")


@beast("bad_response")
async def endless_chunk_extension(visit: Visit) -> None:
    await visit.send(CHUNKED + b"5;")
    await visit.flood(b"x" * 65_536, 64_000_000)


@beast("bad_response")
async def endless_trailers(visit: Visit) -> None:
    await visit.send(CHUNKED + chunk(PAGE) + b"0\r\n")
    await visit.flood(b"X-Trailer: " + b"t" * 1000 + b"\r\n", 64_000_000)


@beast("total_timeout", None)
async def chunks_of_one_byte(visit: Visit) -> None:
    await visit.send(CHUNKED)
    await visit.flood(chunk(b"x") * 1000, 3_000_000)
    await visit.send(b"0\r\n\r\n")


@beast("bad_response")
async def unknown_transfer_coding(visit: Visit) -> None:
    await visit.send(CHUNKED.replace(b"chunked", b"chunked, mystery") + b"hello")
