"""WARC files: reading any, writing good ones, and the way between a fetched page and its records.

`reader` yields records and damage, `writer` writes WARC 1.1, `append` finds where a torn file may be continued,
`exchange` maps one HTTP exchange to records and back. Nothing here opens a path or a socket.
"""

from __future__ import annotations

from .append import Recovery, recover
from .exchange import Exchange, Origin, exchange_from, records_for
from .reader import Limits, read_warc
from .record import Damage, Payload, WarcRecord, payload_digest
from .writer import NewRecord, WarcWriter, warcinfo

__all__ = [
    "Damage",
    "Exchange",
    "Limits",
    "NewRecord",
    "Origin",
    "Payload",
    "Recovery",
    "WarcRecord",
    "WarcWriter",
    "exchange_from",
    "payload_digest",
    "read_warc",
    "records_for",
    "recover",
    "warcinfo",
]
