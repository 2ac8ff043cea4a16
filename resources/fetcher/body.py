"""Content codings off the wire, under a cap: gzip, deflate, br, zstd, nested up to three deep.

The output is bounded while it is made, so a decompression bomb costs `max_body` bytes at most and is
recognised by its ratio. A coded stream that ends early is `truncated`, one that is damaged `bad_coding`.
"""

from __future__ import annotations

import zlib
from typing import Protocol

import brotli
import zstandard

from .base import Cause

__all__ = ["CODINGS", "MAX_NESTED", "decode_body"]

#: What Accept-Encoding announces.
CODINGS = "gzip, deflate, br, zstd"
#: RFC 9110 §8.4 allows lists; nobody honest nests more than twice.
MAX_NESTED = 3
#: Members (gzip) or frames (zstd) of one stream: blocked gzip has one for each 64 KB, a million empty ones are
#: an attack on the processor.
MAX_MEMBERS = 4096
#: Wire bytes handed to a decoder at once.
SLICE = 65_536
#: zstd has no bound on what one call puts out: the first bite of 256 bytes makes 8 MB at most, and bites
#: grow only while each unfolds less than 32 times.
FIRST_BITE = 256
GENTLE = 32
#: RFC 9659 §3: the largest window a `zstd` content coding may ask for.
ZSTD_WINDOW = 8 << 20
#: Below this decoded size a high ratio is normal (a page of blanks compresses 1,000 times).
RATIO_FLOOR = 1_000_000


class _Bounded(Protocol):
    def __call__(self, data: bytes, limit: int) -> tuple[bytes, Cause | None]: ...


def _inflate(data: bytes, limit: int, wbits: int) -> tuple[bytes, Cause | None]:
    """Members one after another (RFC 1952 §2.2), fed in slices: what follows a member is copied by zlib."""
    out: list[bytes] = []
    size = members = at = member_at = 0
    decoder = zlib.decompressobj(wbits)
    while at < len(data):
        piece_of_wire = data[at : at + SLICE]
        try:
            piece = decoder.decompress(piece_of_wire, limit + 1 - size)
        except zlib.error:
            # Bytes after a whole member that are no member: padding, ignored as gzip(1) does.
            return b"".join(out), None if members and at == member_at else Cause.BAD_CODING
        out.append(piece)
        size += len(piece)
        if size > limit:
            return b"".join(out)[:limit], Cause.TOO_LARGE
        at += len(piece_of_wire) - len(decoder.unused_data)
        if decoder.eof:
            members += 1
            if members > MAX_MEMBERS:
                return b"".join(out), Cause.BAD_CODING
            if at < len(data):
                decoder, member_at = zlib.decompressobj(wbits), at
    return b"".join(out), None if decoder.eof else Cause.TRUNCATED


def _gzip(data: bytes, limit: int) -> tuple[bytes, Cause | None]:
    return _inflate(data, limit, 31)


def _deflate(data: bytes, limit: int) -> tuple[bytes, Cause | None]:
    # RFC 9110 §8.4.1.2 says zlib; many servers send raw deflate. The first byte's low nibble tells.
    zlib_wrapped = len(data) > 1 and data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
    return _inflate(data, limit, 15 if zlib_wrapped else -15)


def _brotli(data: bytes, limit: int) -> tuple[bytes, Cause | None]:
    decoder = brotli.Decompressor()
    try:
        out = decoder.process(data, output_buffer_limit=limit + 1)
        while len(out) <= limit and not decoder.is_finished() and not decoder.can_accept_more_data():
            more = decoder.process(b"", output_buffer_limit=limit + 1 - len(out))
            if not more:
                break
            out += more
    except brotli.error:
        return b"", Cause.BAD_CODING
    if len(out) > limit:
        return out[:limit], Cause.TOO_LARGE
    return out, None if decoder.is_finished() else Cause.TRUNCATED


def _zstd(data: bytes, limit: int) -> tuple[bytes, Cause | None]:
    """Frames one after another (RFC 8878 §3.1). Bites start small: 4 bytes of zstd can unfold to 128 KB."""
    out: list[bytes] = []
    size = at = frames = 0
    bite = FIRST_BITE
    context = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
    decoder = context.decompressobj()
    while at < len(data):
        piece_of_wire = data[at : at + bite]
        try:
            piece = decoder.decompress(piece_of_wire)
        except zstandard.ZstdError:
            return b"".join(out), Cause.BAD_CODING
        out.append(piece)
        size += len(piece)
        if size > limit:
            return b"".join(out)[:limit], Cause.TOO_LARGE
        at += len(piece_of_wire) - len(decoder.unused_data)
        bite = min(2 * bite, SLICE) if len(piece) < GENTLE * bite else FIRST_BITE
        if decoder.eof:
            frames += 1
            if frames > MAX_MEMBERS:
                return b"".join(out), Cause.BAD_CODING
            if at < len(data):
                decoder = context.decompressobj()
    return b"".join(out), None if decoder.eof else Cause.TRUNCATED


_DECODERS: dict[str, _Bounded] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}


def decode_body(
    wire: bytes, content_encoding: str | None, max_body: int, max_ratio: float
) -> tuple[bytes, Cause | None, str]:
    """(decoded body, cause or None, words). With a cause the body is what could be had before it."""
    if not content_encoding or not wire:
        return wire, None, ""
    names = [n for n in (p.strip().lower() for p in content_encoding.split(",")) if n and n != "identity"]
    if len(names) > MAX_NESTED:
        return b"", Cause.BAD_CODING, f"{len(names)} nested content codings (at most {MAX_NESTED})"
    body = wire
    for name in reversed(names):
        if not body:
            break
        decoder = _DECODERS.get(name)
        if decoder is None:
            return b"", Cause.BAD_CODING, f"unknown content coding {name[:40]!r}"
        if name in ("gzip", "x-gzip") and body[:2] != b"\x1f\x8b":
            continue  # announced but not applied: common with misconfigured servers, and harmless
        body, cause = decoder(body, max_body)
        if cause is Cause.TOO_LARGE and len(body) > max_ratio * max(1, len(wire)):
            cause = Cause.BOMB
        if cause is not None:
            words = {
                Cause.TRUNCATED: f"the {name} stream ends early",
                Cause.BAD_CODING: f"the {name} stream is damaged",
                Cause.TOO_LARGE: f"more than {max_body:,} bytes after {name}",
                Cause.BOMB: f"{len(wire):,} bytes unfold to more than {max_body:,}",
            }
            return body, cause, words[cause]
        if len(body) > RATIO_FLOOR and len(body) > max_ratio * len(wire):
            return body, Cause.BOMB, f"{len(wire):,} bytes unfold to {len(body):,}"
    return body, None, ""
