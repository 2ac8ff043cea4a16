"""09-warc: the reader against real and made files, good and damaged."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from resources.web.warc import Damage, WarcRecord, read_warc

from ..case import Case, Check, Suite

__all__ = ["SUITE"]

_HTTP_WITH_STATUS = ("response", "revisit")


def _differences(
    expected: Any, warcio_gave_up: bool, whole: list[WarcRecord], damage: list[Damage]
) -> Iterator[str]:
    # The data count a torn last record in some files and not in others: both counts are accepted.
    torn = [entry.partial for entry in damage if entry.partial is not None and entry.kind != "too_large"]
    most = len(whole) + len(torn)
    wanted = expected["records"]
    if warcio_gave_up:  # the numbers are what warcio read before it raised; reading on is right
        if most < wanted:
            yield f"{wanted} records can be read, got {most}"
    elif not len(whole) <= wanted <= most:
        yield f"{wanted} records expected, got {len(whole)} whole and {len(torn)} torn"
    if expected["ends_with_error"] != bool(damage):
        yield f"damage: {[str(entry) for entry in damage]}, expected {expected['ends_with_error']}"
    records = (whole + torn)[: max(wanted, len(whole))] if not warcio_gave_up else (whole + torn)[:wanted]
    for key, got in (
        ("types", [record.type for record in records]),
        ("uris", [record.target_uri for record in records]),
        ("offsets", [record.offset for record in records]),
        ("payloads", [record.payload().body.decode("latin-1") for record in records]),
    ):
        if key in expected and expected[key] != got:
            yield f"{key}: {got}, expected {expected[key]}"
    for key in ("block_digest_ok", "payload_digest_ok"):
        if key in expected:
            got_digests = [getattr(record, key)() for record in records]
            if any(ok is not expected[key] for ok in got_digests):
                yield f"{key}: {got_digests}, expected {expected[key]}"
    for index, verdict in enumerate(expected.get("digest_check", [])):
        passed = (
            records[index].block_digest_ok() is not False and records[index].payload_digest_ok() is not False
        )
        if passed is not verdict["passed"]:
            yield f"digests of record {index}: {passed}"
    listed = expected.get("list", [])
    for index, row in enumerate(listed):
        last_before_raise = warcio_gave_up and index == len(listed) - 1 and len(listed) > 0
        yield from _row(index, row, records[index], compare_payload=not last_before_raise)


def _row(index: int, row: Any, record: WarcRecord, *, compare_payload: bool) -> Iterator[str]:
    got: dict[str, Any] = {"type": record.type, "target_uri": record.target_uri}
    if not record.version.startswith("ARC"):  # warcio gives ARC records no such fields
        got |= {"record_id": record.record_id, "date": record.date, "content_length": record.block_length}
    if record.type in _HTTP_WITH_STATUS:
        status = record.http.status if record.http is not None else None
        got["http_status"] = None if status is None else str(status)
    if compare_payload and record.type != "arc_header":
        got["decoded_payload_bytes"] = len(record.payload().body)
    for key, value in got.items():
        if key in row and row[key] != value:
            yield f"record {index} {key}: {value!r}, expected {row[key]!r}"


def _judge(case: Case, folder: Path) -> Iterator[Check]:
    data = (folder / case["input"]["file"]).read_bytes()
    entries = list(read_warc(io.BytesIO(data)))
    whole = [entry for entry in entries if isinstance(entry, WarcRecord)]
    damage = [entry for entry in entries if isinstance(entry, Damage)]
    problems = list(_differences(case["expected"], case.get("warcio_raises") is not None, whole, damage))
    yield Check(str(case["id"]), str(case.get("level", "must")), not problems, "\n".join(problems))


SUITE = Suite("09-warc", {"warc.json": _judge})
