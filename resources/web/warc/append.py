"""Where a WARC file of an earlier process may be continued.

A crash leaves a torn last record, a power cut may leave zeros or garbage behind it. Recovery keeps every whole
record, cuts what follows the last one, and makes the cut durable. It refuses to cut in front of a whole record:
damage in the middle is the operator's to judge.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import UnsupportedOperation
from typing import BinaryIO

from .archive_stream import GZIP_MAGIC
from .reader import read_warc
from .record import Damage, WarcRecord

__all__ = ["DamagedInTheMiddle", "Recovery", "recover"]


class DamagedInTheMiddle(Exception):
    """Whole records follow the damage, so the file can be neither cut nor safely appended to."""

    def __init__(self, damage: Damage, later: WarcRecord) -> None:
        super().__init__(
            f"byte {damage.offset}: {damage.reason}; a whole record follows at byte {later.offset}. "
            "Write to a new file and salvage this one."
        )
        self.damage = damage
        self.later = later


@dataclass(frozen=True, slots=True)
class Recovery:
    """records: whole records kept. end: length of the file now. cut: bytes removed. damage: why."""

    records: int
    end: int
    cut: int
    damage: Damage | None


def recover(file: BinaryIO) -> Recovery:
    """Make a file opened `r+b` ready for appending and leave it positioned at its end.

    Reads the whole file once. Raises DamagedInTheMiddle without changing a byte. A file in which no record was
    ever whole is emptied if it begins like an archive, refused (ValueError) otherwise.
    """
    end = records = 0
    damage: Damage | None = None
    last: WarcRecord | None = None
    for entry in read_warc(file, salvage=True):
        if isinstance(entry, WarcRecord):
            if damage is not None:
                raise DamagedInTheMiddle(damage, entry)
            records += 1
            last, end = entry, entry.offset + entry.length
        elif entry.kind != "not_addressable" and damage is None:
            damage = entry
    file.seek(0)
    start = file.read(4)
    like_an_archive = b"WARC".startswith(start) or GZIP_MAGIC.startswith(start[: len(GZIP_MAGIC)])
    if not records and not like_an_archive:
        raise ValueError(f"not a WARC file: it begins with {start!r}; nothing was changed")
    size = file.seek(0, os.SEEK_END)
    if last is not None and last.block_digest_ok() is False:
        # A power cut can fill the end of a plain record with zeros: long enough, and not what was written.
        reason = "the last record's block does not have its digest"
        damage, end, records = Damage(last.offset, "corrupt", reason, last), last.offset, records - 1
    file.truncate(end)
    file.seek(end)
    if end and start == b"WARC":
        _close_plain_record(file, end)
    _sync(file)
    return Recovery(records, file.seek(0, os.SEEK_END), size - end, damage)


def _close_plain_record(file: BinaryIO, end: int) -> None:
    """Give a plain last record the two line ends it may lack."""
    file.seek(max(0, end - 4))
    if file.read(4) != b"\r\n\r\n":
        file.write(b"\r\n\r\n")


def _sync(file: BinaryIO) -> None:
    file.flush()
    try:
        descriptor = file.fileno()
    except UnsupportedOperation:
        return  # a file in memory has nothing to make durable
    os.fsync(descriptor)
