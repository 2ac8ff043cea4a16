"""Beasts of the content coding: bombs, nests, and bodies that are not what they say."""

from __future__ import annotations

import gzip
import zlib
from functools import cache

import brotli
import zstandard

from .keeper import Visit, beast, ordinary, response

PAGE = ordinary("beast")
#: What a bomb unfolds to.
BOMB = 100_000_000


@cache
def raw_bomb() -> bytes:
    """Raw deflate, made by repeating one flushed block: quick to make, and never whole in memory."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(1_000_000)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (BOMB // 1_000_000) + packer.flush()


def gzip_bomb() -> bytes:
    """Its checksum is never reached."""
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + raw_bomb() + bytes(8)


def deflate_bomb() -> bytes:
    return b"\x78\x9c" + raw_bomb() + bytes(4)


@cache
def brotli_bomb() -> bytes:
    packer = brotli.Compressor(quality=1)
    return b"".join(packer.process(bytes(1_000_000)) for _ in range(BOMB // 1_000_000)) + packer.finish()


@cache
def zstd_bomb() -> bytes:
    packer = zstandard.ZstdCompressor(level=3).compressobj()
    return b"".join(packer.compress(bytes(1_000_000)) for _ in range(BOMB // 1_000_000)) + packer.flush()


def pack_bombs() -> None:
    """Packing takes a while and the interpreter with it: done before anybody waits for an answer."""
    for pack in (raw_bomb, brotli_bomb, zstd_bomb):
        pack()


@beast("bomb", "too_large", big=True)
async def bomb_of_gzip(visit: Visit) -> None:
    await visit.send(response(gzip_bomb(), "Content-Encoding: gzip"))


@beast("bomb", "too_large", big=True)
async def bomb_of_deflate(visit: Visit) -> None:
    await visit.send(response(deflate_bomb(), "Content-Encoding: deflate"))


@beast("bomb", "too_large", big=True)
async def bomb_of_brotli(visit: Visit) -> None:
    await visit.send(response(brotli_bomb(), "Content-Encoding: br"))


@beast("bomb", "too_large", big=True)
async def bomb_of_zstd(visit: Visit) -> None:
    await visit.send(response(zstd_bomb(), "Content-Encoding: zstd"))


@beast("bomb", big=True)
async def bomb_in_a_bomb(visit: Visit) -> None:
    inner = gzip.compress(gzip_bomb(), 9)
    await visit.send(response(gzip.compress(inner, 9), "Content-Encoding: gzip, gzip, gzip"))


@beast("bomb", "too_large", big=True)
async def bomb_of_mixed_codings(visit: Visit) -> None:
    await visit.send(response(brotli.compress(gzip_bomb()), "Content-Encoding: gzip, br"))


@beast("bomb")
async def small_bomb(visit: Visit) -> None:
    """Within the size limit, out of all proportion."""
    await visit.send(response(zstandard.compress(bytes(1_500_000), 19), "Content-Encoding: zstd"))


@beast("bad_coding", big=True)
async def two_hundred_thousand_empty_members(visit: Visit) -> None:
    await visit.send(response(gzip.compress(b"") * 200_000, "Content-Encoding: gzip"))


@beast("bad_coding", "too_large", "bomb", big=True)
async def zstd_window_of_a_gigabyte(visit: Visit) -> None:
    """A frame header that asks for a window of 1 GiB (RFC 8878 §3.1.1.1.2)."""
    frame = b"\x28\xb5\x2f\xfd\x00\xa0" + b"\x02\x00\x10" + b"x" * 100
    await visit.send(response(frame, "Content-Encoding: zstd"))


@beast(None)
async def nested_twice(visit: Visit) -> None:
    await visit.send(response(brotli.compress(gzip.compress(PAGE)), "Content-Encoding: gzip, br"))


@beast(None)
async def nested_over_two_fields(visit: Visit) -> None:
    body = brotli.compress(gzip.compress(PAGE))
    await visit.send(response(body, "Content-Encoding: gzip", "Content-Encoding: br"))


@beast("bad_coding")
async def nested_too_deep(visit: Visit) -> None:
    body = PAGE
    for _ in range(9):
        body = gzip.compress(body)
    await visit.send(response(body, "Content-Encoding: " + ", ".join(["gzip"] * 9)))


@beast("truncated")
async def gzip_cut(visit: Visit) -> None:
    await visit.send(response(gzip.compress(PAGE)[:-30], "Content-Encoding: gzip"))


@beast("bad_coding", "truncated")
async def gzip_damaged(visit: Visit) -> None:
    packed = bytearray(gzip.compress(PAGE))
    packed[20:40] = bytes(20)
    await visit.send(response(bytes(packed), "Content-Encoding: gzip"))


@beast("truncated")
async def brotli_cut(visit: Visit) -> None:
    await visit.send(response(brotli.compress(PAGE)[:-30], "Content-Encoding: br"))


@beast("truncated")
async def zstd_cut(visit: Visit) -> None:
    await visit.send(response(zstandard.compress(PAGE)[:-30], "Content-Encoding: zstd"))


@beast("bad_coding")
async def unknown_coding(visit: Visit) -> None:
    await visit.send(response(PAGE, "Content-Encoding: middle-out"))


@beast(None)
async def gzip_announced_but_plain(visit: Visit) -> None:
    await visit.send(response(PAGE, "Content-Encoding: gzip"))


@beast("bad_coding")
async def brotli_announced_but_plain(visit: Visit) -> None:
    await visit.send(response(PAGE, "Content-Encoding: br"))


@beast(None)
async def raw_deflate(visit: Visit) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    await visit.send(response(packer.compress(PAGE) + packer.flush(), "Content-Encoding: deflate"))


@beast(None, crawled=("wall_empty",))
async def coding_of_an_empty_body(visit: Visit) -> None:
    await visit.send(response(b"", "Content-Encoding: gzip"))
