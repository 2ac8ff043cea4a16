"""Reads the records of a WARC (0.17 to 1.1) or ARC v1 file, whatever state it is in.

Accepts plain files, one gzip member a record, one member for all, mixtures; torn tails, zero padding, blank
lines too few or too many, LF for CRLF, folded and repeated fields. The first bytes decide, never the name.

Guarantees: the iterator yields whole records and `Damage` in file order and raises on no input; a record is
yielded only when its block is complete and, in gzip, the check sum of its member was right. Memory is bounded
by `Limits`, never by what the file declares. Each record is read to its end before it is yielded.

After damage there are two ways on, and the caller chooses by name:
- default: stop where the next boundary is unknown. Boundaries come from Content-Length alone, so a body that
  contains `WARC/1.0` can never pass for a record (ISO 28500, 5.3).
- `salvage=True`: search for the next gzip member or version line that heads a complete record and go on;
  such records carry `salvaged`.
"""

from __future__ import annotations

import re
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

from .arc import ARC_LINE, parse_arc_line
from .archive_stream import GZIP_MAGIC, ArchiveStream
from .http_message import parse_fields
from .record import Damage, DamageKind, WarcRecord

__all__ = ["Limits", "read_warc"]

_PIECE = 64 * 1024
_VERSION = re.compile(rb"WARC/(0\.1[78]|1\.\d)[ \t]*\r?\n\Z")
_VERSION_ANYWHERE = re.compile(rb"(?:\A|\n)(?=WARC/(?:0\.1[78]|1\.\d)[ \t]*\r?\n)")
_ARC_ANYWHERE = re.compile(rb"(?:\A|\n)(?=[a-z][a-z0-9+.\-]{1,20}:[^\n]{1,4000} \d{8,18} \S+ \d+\r?\n)")
#: Writers that count off by a few: a stray end, then exactly the two line ends and a version line.
_SHORT_BY_FEW = re.compile(rb"([^\r\nW][^\r\n]{0,3})\r\n\r\nWARC/")
_BOM = b"\xef\xbb\xbf"
#: Longest match of the patterns above, so that none is missed between two pieces.
_OVERLAP = 8192
#: Block bytes salvage may read, in file sizes: nested false heads would otherwise cost their number squared.
_SALVAGE_WASTE = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """What one record may cost.

    header: bytes of the WARC header; 100 kB headers exist. block: bytes of a block; longer ones are stepped
    over and reported. in_memory: block bytes held in memory, the rest goes to a temporary file.
    """

    header: int = 1024 * 1024
    block: int = 1024 * 1024 * 1024
    in_memory: int = 1024 * 1024


def read_warc(
    file: BinaryIO, *, salvage: bool = False, limits: Limits | None = None
) -> Iterator[WarcRecord | Damage]:
    """Whole records and damage of a seekable binary file, in file order. See the module for the promises."""
    yield from _Reader(file, salvage, limits or Limits()).entries()


@dataclass(slots=True)
class _Head:
    version: str
    type: str
    headers: tuple[tuple[str, str], ...]
    length: int
    remark: str | None = None


class _Reader:
    def __init__(self, file: BinaryIO, salvage: bool, limits: Limits) -> None:
        self.file = file
        self.stream = ArchiveStream(file)
        self.salvage = salvage
        self.limits = limits
        self.arc = False
        self.salvaging = False
        self.crowded_member = -1
        self.last_member = -1
        self.spent = 0
        self.file_is_gzip = self._first_bytes() == GZIP_MAGIC
        self.budget = _SALVAGE_WASTE * max(file.seek(0, 2), 1024 * 1024)

    def entries(self) -> Iterator[WarcRecord | Damage]:
        if self.stream.peek(3) == _BOM:
            self.stream.read(3)
            yield Damage(0, "garbage", "a byte order mark stands before the first record")
        while True:
            start = self._next_record_start()
            if start is None:
                failure = self.stream.failure
                if failure is None:
                    return
                yield Damage(self.stream.segment_start, failure.kind, failure.reason)
                resume_from = self.stream.segment_start + 1
            else:
                lost = False
                resume_from = start + 1
                for entry in self._record(start):
                    if isinstance(entry, Damage) and entry.kind not in ("not_addressable", "too_large"):
                        lost = True
                        if entry.kind in ("length", "torn") and entry.partial is not None:
                            resume_from = entry.partial.offset + 1
                    yield entry
                if not lost:
                    continue
            if not self.salvage:
                return
            if self.spent > self.budget:
                reason = "too many false record heads: the search for further records is given up"
                yield Damage(resume_from, "garbage", reason)
                return
            found = self._search(resume_from)
            if found is None:
                return
            self.salvaging = True
            self.stream.restart(found)

    def _next_record_start(self) -> int | None:
        """Skip blank lines and padding; the file offset of the next record, None at the end."""
        stream = self.stream
        while True:
            head = stream.peek(1)
            if not head:
                if not stream.next_segment():
                    return None
            elif head in (b"\r", b"\n"):
                stream.read(1)
            elif head == b"\0" and self._only_padding():
                return None
            elif stream.switch_to_gzip_here():
                continue
            else:
                return stream.segment_start if stream.compressed else stream.offset

    def _only_padding(self) -> bool:
        """Zeros up to the end of the file: a preallocated or block-padded file, not damage."""
        position = self.stream.segment_start if self.stream.compressed else self.stream.offset
        self.file.seek(position)
        while piece := self.file.read(_PIECE):
            if piece.strip(b"\0"):
                return False
        # Nothing left to read: go to the end, so that the caller sees no further segment.
        self.stream.restart(self.file.seek(0, 2))
        return True

    def _record(self, start: int) -> Iterator[WarcRecord | Damage]:
        """One record; the last entry is a record, or the damage that ended it."""
        stream = self.stream
        member = stream.segment_start
        inside = stream.compressed and self.last_member == member
        self.last_member = member
        if inside and self.crowded_member != member:
            self.crowded_member = member
            reason = (
                "one gzip member holds several records: they cannot be reached by offset; recompress the file"
            )
            yield Damage(member, "not_addressable", reason)
        head = self._head(start)
        if isinstance(head, Damage):
            yield head
            return
        if self.file_is_gzip and not stream.compressed and self.crowded_member != member:
            self.crowded_member = member
            yield Damage(start, "not_addressable", "an uncompressed record in a compressed file")
        record = WarcRecord(
            head.version,
            head.type,
            head.headers,
            self._spool(),
            0,
            start,
            addressable=not inside,
            salvaged=self.salvaging,
            remarks=(head.remark,) if head.remark else (),
        )
        too_large = head.length > self.limits.block
        left = head.length
        while left:
            piece = stream.read(min(left, _PIECE))
            if not piece:
                break
            left -= len(piece)
            self.spent += len(piece)
            if not too_large or record.block_length < self.limits.in_memory:
                record.block_length += record.block.write(piece)
        record.block.seek(0)
        if left and self.arc and stream.failure is None and record.http_is_complete():
            # Archive lengths of ARC files were counted in several ways; the message itself says it is whole.
            record.remarks += (f"archive length is {left} bytes too long for the file",)
            left = 0
        if left:
            failure = stream.failure
            kind: DamageKind = failure.kind if failure else "torn"
            where = failure.reason if failure else "the file ends"
            reason = f"record cut: {head.length - left} of {head.length} bytes of its block; {where}"
            yield Damage(start, kind, reason, record)
            return
        spans = stream.compressed and stream.segment_start != member
        problem = self._after_block(record)
        record.length = stream.offset - start
        if problem is not None:
            yield Damage(start, *problem, record)
        elif too_large:
            reason = f"block of {head.length} bytes is over the limit of {self.limits.block}: record not read"
            yield Damage(start, "too_large", reason, record)
        else:
            if spans:
                record.addressable = False
                reason = "one record lies in several gzip members: it cannot be reached by offset"
                yield Damage(start, "not_addressable", reason)
            yield record

    def _spool(self) -> BinaryIO:
        """Where a block goes; closed, and deleted if on disk, together with its record."""
        return cast("BinaryIO", tempfile.SpooledTemporaryFile(max_size=self.limits.in_memory))

    def _first_bytes(self) -> bytes:
        self.file.seek(0)
        return self.file.read(len(GZIP_MAGIC))

    def _head(self, start: int) -> _Head | Damage:
        first = self.stream.read_line(self.limits.header)
        arc = parse_arc_line(first) if not first.startswith(b"WARC/") else None
        if arc is not None and (self.arc or arc.is_file_header):
            self.arc = True
            kind = "arc_header" if arc.is_file_header else "response"
            if arc.is_file_header and arc.remark is not None:
                # Without a length the version block ends where its format ends it: at the empty line.
                while self.stream.read_line(self.limits.header).strip():
                    pass
            return _Head("ARC/1.0", kind, arc.headers, arc.length, arc.remark)
        if not _VERSION.match(first):
            return self._not_a_head(start, first)
        lines: list[bytes] = []
        size = len(first)
        while True:
            line = self.stream.read_line(self.limits.header)
            size += len(line)
            if line in (b"\r\n", b"\n"):
                break
            if not line.endswith(b"\n") and size < self.limits.header:
                failure = self.stream.failure
                reason = failure.reason if failure else "the file ends inside a record header"
                return Damage(start, failure.kind if failure else "torn", reason)
            if size >= self.limits.header:
                return Damage(start, "header", f"record header is longer than {self.limits.header} bytes")
            lines.append(line)
        headers = parse_fields(lines)
        lengths = {value for name, value in headers if name.lower() == "content-length"}
        if len(lengths) != 1 or not re.fullmatch(r"[0-9]{1,18}", length := next(iter(lengths))):
            shown = ", ".join(sorted(lengths)) or "none"
            return Damage(start, "header", f"no usable Content-Length ({shown[:80]}): the end is unknown")
        kind = next((value for name, value in headers if name.lower() == "warc-type"), "")
        return _Head(first.strip().decode("ascii"), kind.lower(), headers, int(length))

    def _not_a_head(self, start: int, first: bytes) -> Damage:
        failure = self.stream.failure
        if failure is not None and not first.endswith(b"\n"):
            return Damage(start, failure.kind, failure.reason)
        if first.startswith(b"WARC/"):
            return Damage(start, "header", f"version not known: {first[:40]!r}")
        if b"WARC/1.1\r\n".startswith(first) or b"WARC/1.0\r\n".startswith(first):
            return Damage(start, "torn", "the file ends inside a version line")
        return Damage(start, "garbage", f"no record begins here: {first[:40]!r}")

    def _after_block(self, record: WarcRecord) -> tuple[DamageKind, str] | None:
        """Check what stands behind a block: line ends, then the end of the segment or the next record."""
        stream = self.stream
        if match := _SHORT_BY_FEW.match(stream.peek(16)):
            stream.read(match.end(1))
            record.remarks += (f"Content-Length is {match.end(1)} bytes short of the record's end",)
        line_ends = 0
        while (byte := stream.peek(1)) in (b"\r", b"\n"):
            line_ends += byte == b"\n"
            stream.read(1)
        ahead = stream.peek(5)
        if not ahead:
            failure = stream.failure
            return (failure.kind, failure.reason) if failure is not None else None
        if line_ends >= 2:  # closed as the standard wants it: whatever follows is not this record's fault
            return None
        if (
            b"WARC/".startswith(ahead)
            or (ahead[0] == 0 and line_ends)
            or (not stream.compressed and ahead[:3] == GZIP_MAGIC)
        ):
            return None
        if self.arc and ARC_LINE.match(stream.peek(8192).split(b"\n", 1)[0]):
            return None
        return ("length", f"Content-Length does not lead to a record: {ahead!r} follows the block")

    def _search(self, position: int) -> int | None:
        """File offset at or behind `position` where something that heads a record begins, None if nowhere."""
        keep = b""
        while True:
            self.file.seek(position + len(keep))
            piece = self.file.read(_PIECE)
            window = keep + piece
            if not window:
                return None
            final = len(piece) < _PIECE
            limit = len(window) if final else len(window) - _OVERLAP
            for offset in self._candidates(window):
                if offset < limit and self._heads_record(position + offset):
                    return position + offset
            if final:
                return None
            position += limit
            keep = window[limit:]

    def _candidates(self, window: bytes) -> list[int]:
        found = {match.start() for match in re.finditer(re.escape(GZIP_MAGIC), window)}
        found |= {match.end() for match in _VERSION_ANYWHERE.finditer(window)}
        if self.arc:
            found |= {match.end() for match in _ARC_ANYWHERE.finditer(window)}
        return sorted(found)

    def _heads_record(self, offset: int) -> bool:
        self.file.seek(offset)
        head = self.file.read(4096)
        if head.startswith(GZIP_MAGIC):
            try:
                head = zlib.decompressobj(31).decompress(head, 4096)
            except zlib.error:
                return False
        head = head.lstrip(b"\r\n")
        if self.arc and ARC_LINE.match(head.split(b"\n", 1)[0]):
            return True
        lowered = head.lower()
        return head.startswith(b"WARC/") and b"\nwarc-type:" in lowered
