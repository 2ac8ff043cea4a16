"""HTTP messages as archives store them: the head, chunked framing, content codings.

Archives hold bytes as they came, or as a careless writer left them, so every step accepts the body that does
not match its header: a body declared `gzip` or `chunked` that is neither is taken as it is. What was odd is
told in `problems`. Everything streams in pieces of at most 64 KiB; nothing allocates by a declared size.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

import brotli
import zstandard

__all__ = ["HttpHead", "dechunk", "decode_body", "parse_fields", "read_head"]

_PIECE = 64 * 1024
#: A head longer than this is no head; the largest servers accept is 64 KiB, archives have seen 100 KiB.
_MAX_HEAD = 1024 * 1024
#: RFC 9112 section 4, loose on the version: writers invent `HTTP/2 200` for protocols without a status line.
_STATUS_LINE = re.compile(rb"HTTP/\d+(?:\.\d+)?[ \t]+(\d{3})(?:[ \t]+(.*))?\s*\Z", re.I | re.S)
#: RFC 9112 section 7.1: 1*HEXDIG, extensions behind `;`. Twelve digits are 256 TiB.
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,12})[ \t]*(?:;[^\r\n]*)?\r?\n\Z")
#: Largest zstd window accepted, RFC 8878 section 3.1.1.1.2 recommends 8 MiB; Chrome and curl allow the same.
_ZSTD_WINDOW = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class HttpHead:
    """Start line and fields of a message; `size` is where in the block the body begins.

    `status` is None for a request. `headers` keep order, case and repetition.
    """

    start_line: str
    status: int | None
    reason: str
    headers: tuple[tuple[str, str], ...]
    size: int

    def all(self, name: str) -> list[str]:
        wanted = name.lower()
        return [value for key, value in self.headers if key.lower() == wanted]


def text_of(raw: bytes) -> str:
    """Header bytes as text: UTF-8, else Latin-1, which cannot fail (RFC 9110 section 5.5)."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def parse_fields(lines: Iterable[bytes]) -> tuple[tuple[str, str], ...]:
    """Field lines to (name, value) in order; folded lines are joined with a blank (RFC 9112 section 5.2).

    A line without a colon is not a field; it is dropped, as every browser does.
    """
    fields: list[tuple[str, bytes]] = []
    for line in lines:
        line = line.rstrip(b"\r\n")
        if line[:1] in (b" ", b"\t"):
            if fields:
                name, value = fields[-1]
                fields[-1] = (name, value + b" " + line.strip(b" \t"))
            continue
        raw_name, colon, value = line.partition(b":")
        name = text_of(raw_name.strip(b" \t"))
        if colon and name:
            fields.append((name, value.strip(b" \t")))
    return tuple((name, text_of(value.strip(b" \t"))) for name, value in fields)


def read_head(block: BinaryIO) -> HttpHead | None:
    """The head at the start of a block, or None if there is none. Interim 1xx heads are stepped over.

    A head that is never closed by an empty line is taken as all head and no body.
    """
    block.seek(0)
    size = 0
    while True:
        lines: list[bytes] = []
        taken = 0
        while taken < _MAX_HEAD:
            line = block.readline(_MAX_HEAD - taken)
            taken += len(line)
            if line in (b"", b"\r\n", b"\n"):
                break
            lines.append(line)
        size += taken
        if not lines:  # nothing at all, or an empty line: a head without fields
            return HttpHead("", None, "", (), size) if taken else None
        match = _STATUS_LINE.match(lines[0])
        status = int(match[1]) if match else None
        if status is not None and 100 <= status < 200 and status != 101 and block.read(5) == b"HTTP/":
            block.seek(size)
            continue
        first = lines[0].rstrip(b"\r\n")
        if match is None and not re.search(rb" HTTP/\d+(?:\.\d+)?\Z", first):
            return None
        reason = text_of((match[2] or b"").strip()) if match else ""
        return HttpHead(text_of(first), status, reason, parse_fields(lines[1:]), size)


def read_pieces(block: BinaryIO, start: int) -> Iterator[bytes]:
    """The rest of a block from `start`, in pieces."""
    while True:
        block.seek(start)
        piece = block.read(_PIECE)
        if not piece:
            return
        start += len(piece)
        yield piece


def dechunk(block: BinaryIO, start: int, problems: list[str]) -> Iterator[bytes]:
    """Undo chunked framing (RFC 9112 section 7.1) from `start` on.

    Cases: 1. no valid first size line: the body was stored without framing, given as it is; 2. a later size
    line is broken or the data are cut: what came before is given, the fault noted; 3. trailers: ignored.
    """
    position = start
    first = True
    while True:
        block.seek(position)
        line = block.readline(4096)
        match = _CHUNK_SIZE.match(line)
        if match is None:
            if first:
                if line:
                    problems.append("declared chunked, stored without chunk framing")
                yield from read_pieces(block, start)
            else:
                problems.append(f"chunked framing broken at byte {position} of the block")
            return
        first = False
        left = int(match[1], 16)
        if left == 0:
            return
        while left:
            piece = block.read(min(left, _PIECE))
            if not piece:
                problems.append("chunked body cut short")
                return
            left -= len(piece)
            yield piece
        end = block.readline(2)
        position = block.tell() if end in (b"\r\n", b"\n") else block.tell() - len(end)


def decode_body(body: Iterator[bytes], codings: Iterable[str], problems: list[str]) -> Iterator[bytes]:
    """Undo content codings, last applied first (RFC 9110 section 8.4)."""
    names = [part.strip().lower() for value in codings for part in value.split(",") if part.strip()]
    for name in reversed(names):
        if name == "identity":
            continue
        decoder = _DECODERS.get(name)
        if decoder is None:
            problems.append(f"unknown content coding {name!r}: body left as stored")
            return body
        body = decoder(body, problems)
    return body


def _zlib_pieces(body: Iterator[bytes], problems: list[str], wbits: int, name: str) -> Iterator[bytes]:
    inflater = zlib.decompressobj(wbits)
    for data in body:
        while data:
            if inflater.eof:
                if wbits != 31 or not data.startswith(b"\x1f\x8b"):
                    problems.append(f"bytes behind the end of the {name} stream")
                    return
                inflater = zlib.decompressobj(wbits)
            try:
                out = inflater.decompress(data, _PIECE)
            except zlib.error as error:
                problems.append(f"{name} body: {error}")
                return
            data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            if out:
                yield out
        while not inflater.eof and (out := _drain(inflater)):
            yield out
    if not inflater.eof:
        problems.append(f"{name} body cut short")


def _drain(inflater: zlib._Decompress) -> bytes:
    """Output zlib still holds although it took all its input."""
    try:
        return inflater.decompress(b"", _PIECE)
    except zlib.error:
        return b""


def _with_first(body: Iterator[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """The first `size` bytes at least (if there are so many), and the body whole again."""
    first = b""
    for piece in body:
        first += piece
        if len(first) >= size:
            break

    def whole() -> Iterator[bytes]:
        if first:
            yield first
        yield from body

    return first, whole()


def _gunzip(body: Iterator[bytes], problems: list[str]) -> Iterator[bytes]:
    first, body = _with_first(body, 3)
    if not first:
        return
    if not first.startswith(b"\x1f\x8b\x08"):
        problems.append("declared gzip, stored plain")
        yield from body
        return
    yield from _zlib_pieces(body, problems, 31, "gzip")


def _inflate(body: Iterator[bytes], problems: list[str]) -> Iterator[bytes]:
    first, body = _with_first(body, 2)
    if not first:
        return
    # RFC 9110 section 8.4.1.2 means zlib; some servers send raw deflate; some archives keep it plain.
    if len(first) >= 2 and first[0] & 0x0F == 8 and (first[0] << 8 | first[1]) % 31 == 0:
        yield from _zlib_pieces(body, problems, 15, "deflate")
        return
    try:
        zlib.decompressobj(-15).decompress(first, _PIECE)
    except zlib.error:
        problems.append("declared deflate, stored plain")
        yield from body
        return
    yield from _zlib_pieces(body, problems, -15, "deflate")


def _unbrotli(body: Iterator[bytes], problems: list[str]) -> Iterator[bytes]:
    decoder = brotli.Decompressor()
    seen = b""
    started = False
    for data in body:
        if not started:
            seen += data
        while True:
            try:
                out = decoder.process(data, output_buffer_limit=_PIECE)
            except brotli.error as error:
                if started:
                    problems.append(f"br body: {error}")
                else:
                    problems.append("declared br, stored plain")
                    yield seen
                    yield from body
                return
            if not out:
                break
            started, seen, data = True, b"", b""
            yield out
        if decoder.is_finished():
            return
    if started:
        problems.append("br body cut short")
    elif seen:
        problems.append("declared br, stored plain")
        yield seen


class _Pieces:
    """The `read` side of a file over an iterator of pieces, for zstandard."""

    def __init__(self, body: Iterator[bytes]) -> None:
        self._body = body
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        if not self._rest:
            self._rest = next(self._body, b"")
        taken = self._rest[:size] if size >= 0 else self._rest
        self._rest = self._rest[len(taken) :]
        return taken


def _unzstd(body: Iterator[bytes], problems: list[str]) -> Iterator[bytes]:
    first, body = _with_first(body, 4)
    if not first:
        return
    if not first.startswith(b"\x28\xb5\x2f\xfd"):
        problems.append("declared zstd, stored plain")
        yield from body
        return
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    reader = decompressor.stream_reader(_Pieces(body), read_across_frames=True)  # type: ignore[arg-type]
    try:
        while out := reader.read(_PIECE):
            yield out
    except zstandard.ZstdError as error:
        problems.append(f"zstd body: {error}")


_DECODERS: dict[str, Callable[[Iterator[bytes], list[str]], Iterator[bytes]]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
