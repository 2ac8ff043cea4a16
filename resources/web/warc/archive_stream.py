"""The bytes of an archive file: plain, one gzip member a record, one member for all, or a mixture.

Guarantees: never more than a few pieces of 64 KiB in memory, whatever the file claims; a gzip stream that
is cut or corrupt still gives up every byte before the fault, and the fault is kept in `failure` with the
offset it happened at. Nothing here raises on bad bytes. Cost: one zlib state copy per 16 KiB of input, which
is what makes the bytes before a fault recoverable.

The file is a run of *segments*: a gzip member, or a stretch of plain bytes. A record normally lies in one.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import BinaryIO, Literal

__all__ = ["GZIP_MAGIC", "ArchiveStream", "Failure"]

#: ID1, ID2 and CM=deflate, the only method RFC 1952 defines.
GZIP_MAGIC = b"\x1f\x8b\x08"
#: Input per inflate call: small, because a fault replays the piece byte by byte.
_PIECE_IN = 16 * 1024
#: Output per inflate call: bounds what a bomb can make us hold.
_PIECE_OUT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the bytes stop: `torn` = the file ends inside a member, `corrupt` = deflate or CRC error."""

    kind: Literal["torn", "corrupt"]
    offset: int
    reason: str


class ArchiveStream:
    """Reads forward through the segments of a seekable binary file.

    `segment_start` is the file offset of the current segment, `segment_read` how many of its (inflated)
    bytes were handed out, `compressed` whether it is a gzip member.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.restart(0)

    def __repr__(self) -> str:
        kind = "gzip" if self.compressed else "plain"
        return f"<ArchiveStream {kind} segment at {self.segment_start}, {self.segment_read} read, {self.failure}>"

    def restart(self, offset: int) -> None:
        """Go on at a file offset, as if the file began there."""
        self._raw = b""
        self._raw_offset = offset
        self._buffer = bytearray()
        self._inflater = zlib.decompressobj(31)
        self.compressed = False
        self.failure: Failure | None = None
        self.segment_start = offset
        self.segment_read = 0
        self._ended = True
        self.next_segment()

    @property
    def offset(self) -> int:
        """File offset of the next byte (plain) or of the first byte behind what was inflated (gzip)."""
        return self._raw_offset - (0 if self.compressed else len(self._buffer))

    def segment_done(self) -> bool:
        """True when the current segment has no further byte; finds out by reading on."""
        return not self.peek(1)

    def next_segment(self) -> bool:
        """Enter the segment behind a finished one; False at the end of the file or after a failure."""
        if self.failure is not None or not self.segment_done():
            return False
        if not self._load(len(GZIP_MAGIC)):
            return False
        self.compressed = self._raw.startswith(GZIP_MAGIC)
        self._inflater = zlib.decompressobj(31)
        self._ended = False
        self.segment_start = self._raw_offset
        self.segment_read = 0
        return True

    def switch_to_gzip_here(self) -> bool:
        """In plain bytes at a record boundary: start a gzip member if one begins at the next byte."""
        if self.compressed or bytes(self.peek(3)) != GZIP_MAGIC:
            return False
        self._raw_offset -= len(self._buffer)
        self._raw = bytes(self._buffer) + self._raw
        self._buffer.clear()
        self._ended = True
        return self.next_segment()

    def peek(self, size: int) -> bytes:
        """Up to `size` next bytes of the current segment, not consumed; empty at its end."""
        while len(self._buffer) < size and self._fill():
            pass
        return bytes(self._buffer[:size])

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, at most one piece; crosses into a following gzip member; empty at the end."""
        if not self._buffer and not self._fill() and not (self.compressed and self._enter_member()):
            return b""
        piece = bytes(self._buffer[:size])
        del self._buffer[: len(piece)]
        self.segment_read += len(piece)
        return piece

    def read_line(self, limit: int) -> bytes:
        """Up to and with the next LF, at most `limit` bytes; without LF at the end or the limit."""
        line = bytearray()
        while len(line) < limit:
            if not self._buffer and not self._fill() and not (self.compressed and self._enter_member()):
                break
            stop = self._buffer.find(b"\n", 0, limit - len(line))
            take = stop + 1 if stop >= 0 else min(len(self._buffer), limit - len(line))
            line += self._buffer[:take]
            del self._buffer[:take]
            self.segment_read += take
            if stop >= 0:
                break
        return bytes(line)

    def _enter_member(self) -> bool:
        """The next gzip member that has a byte in it (empty members are legal and skipped)."""
        while self._load(len(GZIP_MAGIC)) and self._raw.startswith(GZIP_MAGIC) and self.next_segment():
            if self._fill():
                return True
        return False

    def _load(self, size: int) -> bool:
        """Have at least `size` raw bytes if the file has them; False when it has none."""
        while len(self._raw) < size:
            self._file.seek(self._raw_offset + len(self._raw))
            piece = self._file.read(_PIECE_IN)
            if not piece:
                break
            self._raw += piece
        return bool(self._raw)

    def _fill(self) -> bool:
        """Add bytes of the current segment to the buffer; False when it has no more."""
        if self._ended:
            return False
        if not self.compressed:
            if not self._load(1):
                self._ended = True
                return False
            self._buffer += self._raw
            self._raw_offset += len(self._raw)
            self._raw = b""
            return True
        while True:
            gave, more = self._inflate()
            if gave or not more:
                return gave

    def _inflate(self) -> tuple[bool, bool]:
        """One step of the member: whether it gave bytes, whether there may be more."""
        at_eof = not self._load(1)
        before = self._inflater.copy()
        try:
            out = self._inflater.decompress(self._raw, _PIECE_OUT)
        except zlib.error as error:
            out = self._replay(before)
            self.failure = Failure(
                "corrupt", self._raw_offset, f"gzip member at {self.segment_start}: {error}"
            )
            self._ended = True
        else:
            rest = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail
            self._raw_offset += len(self._raw) - len(rest)
            self._raw = rest
            self._ended = self._inflater.eof
            if at_eof and not out and not self._ended:
                reason = f"the file ends inside the gzip member that begins at {self.segment_start}"
                self.failure = Failure("torn", self._raw_offset, reason)
                self._ended = True
        self._buffer += out
        return bool(out), not self._ended

    def _replay(self, state: zlib._Decompress) -> bytes:
        """What the piece with the fault still gives: fed byte by byte up to the fault."""
        out = bytearray()
        try:
            for index in range(len(self._raw)):
                out += state.decompress(self._raw[index : index + 1])
                self._raw_offset += 1
        except zlib.error:
            pass  # the fault itself: it is on record in `failure`
        self._raw = b""
        return bytes(out)
