"""Writes WARC 1.1: one gzip member a record, SHA-1 digests in base32, the same bytes for the same input.

Record ids are derived (UUID version 5) from type, URI, date and digest, and the gzip header carries no time,
so that exporting the same pages twice gives the same file and a record written twice has one id.
"""

from __future__ import annotations

import uuid
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import BinaryIO

from .record import payload_digest

__all__ = ["NewRecord", "WarcWriter", "new_record", "warc_date", "warcinfo"]

Fields = Sequence[tuple[str, str]]

#: zlib's own default: 7 % larger than 9 at a third of its time on HTML.
_LEVEL = 6


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to be written: its fields (Content-Length and block digest are the writer's) and its block."""

    type: str
    record_id: str
    fields: tuple[tuple[str, str], ...]
    block: bytes

    def to_bytes(self) -> bytes:
        """The record uncompressed, with its two closing line ends. Raises ValueError on a field with CR or LF."""
        lines = [
            ("WARC-Type", self.type),
            ("WARC-Record-ID", self.record_id),
            *self.fields,
            ("WARC-Block-Digest", payload_digest(self.block)),
            ("Content-Length", str(len(self.block))),
        ]
        return b"WARC/1.1\r\n" + field_bytes(lines) + b"\r\n" + self.block + b"\r\n\r\n"


class WarcWriter:
    """Appends records to a binary file that stands at its end.

    Each record goes out in one `write`; call `sync` on the file's owner side for durability, and `recover`
    before appending to a file of an earlier process.
    """

    def __init__(self, file: BinaryIO, *, compress: bool = True) -> None:
        self._file = file
        self._compress = compress

    def write(self, record: NewRecord) -> tuple[int, int]:
        """Write one record; its (offset, length) in the file."""
        raw = record.to_bytes()
        if self._compress:
            packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31)
            raw = packer.compress(raw) + packer.flush()
        offset = self._file.tell()
        self._file.write(raw)
        return offset, len(raw)

    def write_all(self, records: Iterable[NewRecord]) -> list[tuple[int, int]]:
        return [self.write(record) for record in records]


def new_record(
    type_: str, date: datetime, fields: Fields, block: bytes, *, uri: str | None = None
) -> NewRecord:
    """A record with its date, URI and a derived id. `fields` follow in their order."""
    stamp = warc_date(date)
    name = "\n".join([type_, uri or "", stamp, payload_digest(block)])
    record_id = f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}>"
    head: list[tuple[str, str]] = [("WARC-Date", stamp)]
    if uri is not None:
        head.append(("WARC-Target-URI", uri))
    return NewRecord(type_, record_id, (*head, *fields), block)


def warcinfo(date: datetime, software: str, *, filename: str | None = None, fields: Fields = ()) -> NewRecord:
    """The record that opens a file: who wrote it, in which format (ISO 28500, 6.2)."""
    body = field_bytes([("software", software), ("format", "WARC File Format 1.1"), *fields])
    head = [("Content-Type", "application/warc-fields")]
    if filename is not None:
        head.append(("WARC-Filename", filename))
    return new_record("warcinfo", date, head, body)


def warc_date(moment: datetime) -> str:
    """ISO 8601 in UTC, with a fraction only when there is one (WARC 1.1 allows it). Needs an aware time."""
    if moment.tzinfo is None:
        raise ValueError(f"WARC-Date needs a time with a zone, got {moment.isoformat()}")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def field_bytes(fields: Fields) -> bytes:
    """`Name: value` lines in UTF-8. Raises ValueError on what would not read back: CR, LF, NUL, a bad name."""
    out = []
    for name, value in fields:
        if not name or name != name.strip() or any(c in name for c in ":\r\n\0"):
            raise ValueError(f"not a field name: {name!r}")
        if any(c in value for c in "\r\n\0"):
            raise ValueError(f"field {name} has a line end or NUL in its value: {value[:80]!r}")
        out.append(f"{name}: {value}\r\n")
    return "".join(out).encode("utf-8", "surrogateescape")
