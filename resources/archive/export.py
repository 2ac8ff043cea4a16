"""Writes the stored pages of domains as one WARC 1.1 file.

Every kept version of a page is a response record with its request; a version whose body another record of the
file already has is a revisit that points there; a page confirmed by a 304 since it was fetched gets a revisit
"server not modified". The file is written beside its place and moved there when it is whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from resources.pages.base import CorruptBody, PageHead, PageStore
from resources.web.urls import redact, url_without_credentials
from resources.web.warc import Exchange, Origin, WarcWriter, payload_digest, records_for, warcinfo

__all__ = ["ExportReport", "export_warc"]

#: Bodies whose first record is remembered, for revisits: some 300 bytes each.
MAX_REMEMBERED = 1_000_000


@dataclass(slots=True)
class ExportReport:
    """What went into the file. `problems`: versions left out, with the reason."""

    responses: int = 0
    revisits: int = 0
    bytes: int = 0
    problems: list[str] = field(default_factory=list)


def export_warc(
    pages: PageStore,
    domains: Iterable[str],
    path: Path,
    *,
    software: str,
    agent: str = "",
    operator: str | None = None,
    now: datetime | None = None,
) -> ExportReport:
    """Export `domains` to `path` (gzip by record if the name ends in .gz). OSError if it cannot be written."""
    report = ExportReport()
    started = now or datetime.now(UTC)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            writer = WarcWriter(file, compress=path.name.endswith(".gz"))
            extra = [("robots", "obey"), *([("operator", operator)] if operator else [])]
            writer.write(warcinfo(started, software, filename=path.name, fields=extra))
            exporter = _Exporter(pages, writer, report, agent)
            for domain in domains:
                for head in pages.scan(domain):
                    exporter.page(head)
            file.flush()
            os.fsync(file.fileno())
        report.bytes = partial.stat().st_size
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return report


class _Exporter:
    def __init__(self, pages: PageStore, writer: WarcWriter, report: ExportReport, agent: str) -> None:
        self._pages = pages
        self._writer = writer
        self._report = report
        self._request = (("User-Agent", agent),) if agent else (("Accept", "*/*"),)
        self._first: dict[bytes, Origin] = {}

    def page(self, current: PageHead) -> None:
        """All versions of one URL, oldest first, then the 304 that confirmed the current one."""
        history = self._pages.history(current.key) or [current]
        origin: Origin | None = None
        for head in sorted(history, key=lambda head: head.fetched_at):
            origin = self._version(head) or origin
        if origin is not None and current.validated_at > current.fetched_at:
            not_modified = Exchange(
                url_without_credentials(current.url), _moment(current.validated_at), 304, _validators(current), b"",
                request_headers=self._request,
            )  # fmt: skip
            self._write(not_modified, origin)

    def _version(self, head: PageHead) -> Origin | None:
        """Write one version; where it can be referred to."""
        try:
            body = self._pages.body(head)
        except (CorruptBody, KeyError) as error:
            self._report.problems.append(f"{redact(head.url)}: left out: {error}")
            return None
        exchange = Exchange(
            url_without_credentials(head.url), _moment(head.fetched_at), head.status, head.headers, body,
            request_headers=self._request, notes=_notes(head),
        )  # fmt: skip
        same = self._first.get(head.content_hash)
        origin = self._write(exchange, same)
        if same is None and origin is not None and len(self._first) < MAX_REMEMBERED:
            self._first[head.content_hash] = origin
        return origin

    def _write(self, exchange: Exchange, same_as: Origin | None) -> Origin | None:
        try:
            records = records_for(exchange, same_as=same_as)
        except ValueError as error:
            self._report.problems.append(f"left out: {error}")
            return None
        self._writer.write_all(records)
        if records[0].type == "revisit":
            self._report.revisits += 1
        else:
            self._report.responses += 1
        return Origin(exchange.url, exchange.fetched_at, records[0].record_id, payload_digest(exchange.body))


def _moment(epoch: float) -> datetime:
    return datetime.fromtimestamp(epoch, UTC)


def _validators(head: PageHead) -> tuple[tuple[str, str], ...]:
    wanted = ("etag", "last-modified", "date", "cache-control", "expires", "vary")
    return tuple((name, value) for name, value in head.headers if name.lower() in wanted)


def _notes(head: PageHead) -> tuple[tuple[str, str], ...]:
    """What crawlers by convention put beside a response: how many links from a seed it was."""
    return (("hopsFromSeed", "L" * min(head.depth, 255)),) if head.depth else ()
