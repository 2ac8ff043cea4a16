"""ARC version 1, the format before WARC: one line of five fields, then the bytes.

The line is `URL IP-address Archive-date Content-type Archive-length`; URLs with blanks exist, so it is read
from the right. A length that is no number counts as 0, because the next record line then follows at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["ARC_LINE", "ArcLine", "parse_arc_line"]

#: What a record line looks like; the date has 14 digits, some writers padded it to more.
ARC_LINE = re.compile(rb"([a-z][a-z0-9+.\-]{1,20}:.*) (\S*) (\d{8,18}) (\S+) (\S+)[ \t]*\r?\n?\Z", re.S)


@dataclass(frozen=True, slots=True)
class ArcLine:
    """A record line; `remark` tells if the length was no number."""

    headers: tuple[tuple[str, str], ...]
    is_file_header: bool
    length: int
    remark: str | None


def parse_arc_line(line: bytes) -> ArcLine | None:
    """The fields of a record line under their WARC names, or None if it is none."""
    match = ARC_LINE.match(line)
    if match is None:
        return None
    url, ip, date, kind, length = (part.decode("utf-8", "replace") for part in match.groups())
    digits = date[:14].ljust(14, "0")
    iso = f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}T{digits[8:10]}:{digits[10:12]}:{digits[12:14]}Z"
    headers = (
        ("WARC-Target-URI", url),
        ("WARC-IP-Address", ip),
        ("WARC-Date", iso),
        ("Content-Type", kind),
        ("Content-Length", length),
    )
    usable = re.fullmatch(r"\d{1,18}", length) is not None
    remark = None if usable else f"archive length {length!r} is not a number: read as 0"
    return ArcLine(headers, url.startswith("filedesc:"), int(length) if usable else 0, remark)
