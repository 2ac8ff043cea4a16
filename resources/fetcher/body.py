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
#: Below this decoded size a high ratio is normal (a page of blanks compresses 1,000 times).
RATIO_FLOOR = 1_000_000


class _Bounded(Protocol):
    def __call__(self, data: bytes, limit: int) -> tuple[bytes, Cause | None]: ...


def _inflate(data: bytes, limit: int, wbits: int) -> tuple[bytes, Cause | None]:
    out: list[bytes] = []
    size, rest = 0, data
    while rest:
        decoder = zlib.decompressobj(wbits)
        try:
            piece = decoder.decompress(rest, limit + 1 - size)
        except zlib.error:
            # Bytes after a whole member that are no member: padding, ignored as gzip(1) does.
            return (b"".join(out), None) if out else (b"", Cause.BAD_CODING)
        out.append(piece)
        size += len(piece)
        if size > limit:
            return b"".join(out)[:limit], Cause.TOO_LARGE
        if not decoder.eof:
            return b"".join(out), Cause.TRUNCATED
        rest = decoder.unused_data
    return b"".join(out), None


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
    decoder = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj(read_across_frames=True)
    out: list[bytes] = []
    size = 0
    try:
        # 16 KiB of zstd can unfold to gigabytes; small bites keep the overshoot of one call small.
        for start in range(0, len(data), 1024):
            piece = decoder.decompress(data[start : start + 1024])
            out.append(piece)
            size += len(piece)
            if size > limit:
                return b"".join(out)[:limit], Cause.TOO_LARGE
    except zstandard.ZstdError:
        return b"".join(out), Cause.BAD_CODING
    return b"".join(out), None if decoder.eof or not data else Cause.TRUNCATED


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
