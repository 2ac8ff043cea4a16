"""gzip by its magic bytes, incrementally, whatever the address or the headers say.

Guarantees: memory is bounded by the chunk and 64 KiB of output, at any ratio; no byte that could be unpacked
before a defect is lost; several members, gzip in gzip and rubbish after the last member are read. Costs one
copy of the inflate state (about 40 KiB) per 64 KiB of output, which is what makes the second guarantee hold.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from .document import Limits, Problems

__all__ = ["Unpacker"]

_MAGIC = b"\x1f\x8b"
#: Inflate with a gzip header (zlib manual, inflateInit2).
_GZIP = 31
#: Input and output of one inflate call: what a bomb can hold in memory at once.
_INPUT, _OUTPUT = 16_384, 65_536


class Unpacker:
    """One layer of maybe-gzip; the layer inside, if it is gzip, is another Unpacker.

    State: undecided until two bytes are there, then plain or gzip, and ended after the last member or a defect.
    """

    def __init__(self, limits: Limits, problems: Problems, layer: int = 0) -> None:
        self._limits, self._problems, self._layer = limits, problems, layer
        self._decided = False
        self._head = b""
        self._inflate: zlib._Decompress | None = None
        self._inner: Unpacker | None = None
        self._ended = False

    def feed(self, data: bytes, *, final: bool = False) -> Iterator[bytes]:
        """Unpacked bytes, in pieces of at most 64 KiB for packed input; iterate to the end."""
        if not self._decided:
            self._head += data
            if len(self._head) < len(_MAGIC) and not final:
                return
            data, self._head = self._head, b""
            self._decided = True
            if data.startswith(_MAGIC) and self._layer < self._limits.gzip_layers:
                self._inner = Unpacker(self._limits, self._problems, self._layer + 1)
                self._inflate = zlib.decompressobj(_GZIP)
        if self._inner is None:
            if data:
                yield data
            return
        for piece in self._members(data):
            yield from self._inner.feed(piece)
        if final:
            # An inflate object that took no byte stands for a member that never began.
            if self._inflate is not None and not self._ended:
                self._problems.add("the gzip data ends before its end mark: kept what was before the cut")
            yield from self._inner.feed(b"", final=True)

    def _members(self, data: bytes) -> Iterator[bytes]:
        """Every member of the gzip data: one after another, as RFC 1952 §2.2 has it."""
        while data and not self._ended:
            if self._inflate is None:
                # Between members. 1. Padding of NULs (tar, tapes).  2. Another member.  3. Rubbish.
                self._head = (self._head + data).lstrip(b"\0")
                if len(self._head) < len(_MAGIC):
                    return
                data, self._head = self._head, b""
                if not data.startswith(_MAGIC):
                    self._problems.add("bytes after the end of the gzip data were ignored")
                    self._ended = True
                    return
                self._inflate = zlib.decompressobj(_GZIP)
            piece, data = data[:_INPUT], data[_INPUT:]
            while piece and not self._ended:
                state = self._inflate.copy()
                try:
                    unpacked = self._inflate.decompress(piece, _OUTPUT)
                except zlib.error as defect:
                    yield from self._rescue(state, piece, defect)
                    return
                if unpacked:
                    yield unpacked
                piece = self._inflate.unconsumed_tail
                if self._inflate.eof:
                    data = self._inflate.unused_data + data
                    self._inflate = None
                    break

    def _rescue(self, state: zlib._Decompress, piece: bytes, defect: zlib.error) -> Iterator[bytes]:
        """A failed call gives back nothing of what it had: repeat it byte by byte up to the defect."""
        self._problems.add(f"the gzip data is damaged ({defect}): kept what was before the damage")
        self._ended = True
        for at in range(len(piece)):
            try:
                unpacked = state.decompress(piece[at : at + 1])
            except zlib.error:
                return
            if unpacked:
                yield unpacked
