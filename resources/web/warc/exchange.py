"""One fetched page and its WARC records, both ways.

Bodies in the page store are decoded, so their original framing fields would lie about the stored bytes.
Decision (the convention of Common Crawl): Content-Encoding, Transfer-Encoding and a Content-Length that does
not fit are kept under the prefix `X-Crawl-`, and the true Content-Length is added at the end. Names that
already have the prefix get one more, so `received_headers` can undo it exactly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import urlsplit

from .record import Payload, WarcRecord, payload_digest
from .writer import Fields, NewRecord, field_bytes, new_record, warc_date

__all__ = ["Exchange", "Origin", "archived_headers", "exchange_from", "received_headers", "records_for"]

_PREFIX = "X-Crawl-"
_FRAMING = re.compile(r"(?:x-crawl-)*(?:content-encoding|transfer-encoding|content-length)", re.I)
_ARCHIVED = re.compile(r"x-crawl-(?:content-encoding|transfer-encoding|content-length)", re.I)
_IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_TRUNCATED = ("length", "time", "disconnect", "unspecified")


@dataclass(frozen=True, slots=True)
class Origin:
    """The earlier capture a revisit refers to."""

    uri: str
    date: datetime
    record_id: str | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, as the page store keeps it: `body` decoded, `headers` as received.

    truncated: why the body is not whole: length, time, disconnect or unspecified (ISO 28500, 5.13).
    """

    url: str
    fetched_at: datetime
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    request_headers: tuple[tuple[str, str], ...] = ()
    method: str = "GET"
    reason: str = ""
    ip: str | None = None
    truncated: str | None = None
    notes: tuple[tuple[str, str], ...] = field(default=())


def records_for(exchange: Exchange, *, same_as: Origin | None = None) -> list[NewRecord]:
    """response (or revisit), request, and metadata if there are notes, tied by WARC-Concurrent-To.

    same_as: an earlier capture with the same payload, or, for status 304, the one it confirms; then the answer
    becomes a revisit record without body. Raises ValueError if a field cannot be written.
    """
    answer = _revisit(exchange, same_as) if same_as is not None else _response(exchange)
    concurrent = ("WARC-Concurrent-To", answer.record_id)
    records = [answer]
    if exchange.request_headers:
        kind = ("Content-Type", "application/http; msgtype=request")
        block = _request_head(exchange)
        records.append(
            new_record("request", exchange.fetched_at, [concurrent, kind], block, uri=exchange.url)
        )
    if exchange.notes:
        kind = ("Content-Type", "application/warc-fields")
        block = field_bytes(exchange.notes)
        refers = ("WARC-Refers-To", answer.record_id)
        fields = [concurrent, refers, kind]
        records.append(new_record("metadata", exchange.fetched_at, fields, block, uri=exchange.url))
    return records


def exchange_from(record: WarcRecord, *, limit: int | None = None) -> tuple[Exchange, Payload] | None:
    """The exchange in a `response` record, with the payload as decoded (its `problems` and `cut` to be minded).

    None for everything that is not an HTTP answer with a URI and a date. The request is not looked up: find it
    by `WARC-Concurrent-To`.
    """
    head, uri, stamp = record.http, record.target_uri, record.date
    if record.type != "response" or head is None or head.status is None or uri is None or stamp is None:
        return None
    moment = parse_warc_date(stamp)
    if moment is None:
        return None
    payload = record.payload() if limit is None else record.payload(limit)
    exchange = Exchange(
        url=uri,
        fetched_at=moment,
        status=head.status,
        headers=received_headers(head.headers),
        body=payload.body,
        reason=head.reason,
        ip=record.header("WARC-IP-Address"),
        truncated=record.header("WARC-Truncated"),
    )
    return exchange, payload


def archived_headers(headers: Fields, size: int) -> tuple[tuple[str, str], ...]:
    """Fields for a stored body of `size` decoded bytes."""
    framing = [(name.lower(), value.strip()) for name, value in headers if _FRAMING.fullmatch(name)]
    plain = [pair for pair in framing if not pair[0].startswith("x-crawl-")]
    honest = not plain or plain == [("content-length", str(size))]
    renamed: list[tuple[str, str]] = []
    for name, value in headers:
        keep = honest and name.lower() == "content-length"
        renamed.append((name if keep or not _FRAMING.fullmatch(name) else _PREFIX + name, value))
    if not honest:
        renamed.append(("Content-Length", str(size)))
    return tuple(renamed)


def received_headers(headers: Fields) -> tuple[tuple[str, str], ...]:
    """The fields as they came over the wire: undoes `archived_headers`, and Common Crawl's form of it."""
    rewritten = any(_ARCHIVED.fullmatch(name) for name, _ in headers)
    restored: list[tuple[str, str]] = []
    for name, value in headers:
        if rewritten and name.lower() == "content-length":
            continue
        inner = name[len(_PREFIX) :]
        is_ours = name.lower().startswith(_PREFIX.lower()) and _FRAMING.fullmatch(inner) is not None
        restored.append((inner if is_ours else name, value))
    return tuple(restored)


def parse_warc_date(stamp: str) -> datetime | None:
    """A WARC-Date of either version as an aware time; None if it is none."""
    try:
        moment = datetime.fromisoformat(stamp.strip())
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _status_line(exchange: Exchange) -> bytes:
    reason = exchange.reason
    if not reason and exchange.status in HTTPStatus._value2member_map_:
        reason = HTTPStatus(exchange.status).phrase
    if any(c in reason for c in "\r\n\0"):
        raise ValueError(f"{exchange.url}: reason phrase has a line end: {reason[:80]!r}")
    return f"HTTP/1.1 {exchange.status:03d} {reason}\r\n".encode("utf-8", "surrogateescape")


def _head(exchange: Exchange, headers: Fields) -> bytes:
    try:
        return _status_line(exchange) + field_bytes(headers) + b"\r\n"
    except ValueError as error:
        raise ValueError(f"{exchange.url}: cannot be written as WARC: {error}") from error


def _answer_fields(exchange: Exchange) -> list[tuple[str, str]]:
    fields = [("Content-Type", "application/http; msgtype=response")]
    if exchange.ip is not None:
        fields.append(("WARC-IP-Address", exchange.ip))
    return fields


def _response(exchange: Exchange) -> NewRecord:
    fields = [*_answer_fields(exchange), ("WARC-Payload-Digest", payload_digest(exchange.body))]
    if exchange.truncated is not None:
        known = exchange.truncated if exchange.truncated in _TRUNCATED else "unspecified"
        fields.append(("WARC-Truncated", known))
    block = _head(exchange, archived_headers(exchange.headers, len(exchange.body))) + exchange.body
    return new_record("response", exchange.fetched_at, fields, block, uri=exchange.url)


def _revisit(exchange: Exchange, origin: Origin) -> NewRecord:
    unchanged = exchange.status == 304
    fields = [
        *_answer_fields(exchange),
        ("WARC-Profile", _NOT_MODIFIED if unchanged else _IDENTICAL),
        ("WARC-Refers-To-Target-URI", origin.uri),
        ("WARC-Refers-To-Date", warc_date(origin.date)),
    ]
    if origin.record_id is not None:
        fields.append(("WARC-Refers-To", origin.record_id))
    digest = origin.digest if unchanged else payload_digest(exchange.body)
    if digest is not None:
        fields.append(("WARC-Payload-Digest", digest))
    headers = exchange.headers if unchanged else archived_headers(exchange.headers, len(exchange.body))
    return new_record("revisit", exchange.fetched_at, fields, _head(exchange, headers), uri=exchange.url)


def _request_head(exchange: Exchange) -> bytes:
    parts = urlsplit(exchange.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = list(exchange.request_headers)
    if not any(name.lower() == "host" for name, _ in headers):
        headers.insert(0, ("Host", parts.netloc.rpartition("@")[2]))
    line = f"{exchange.method} {target} HTTP/1.1\r\n".encode()
    return line + field_bytes(headers) + b"\r\n"
