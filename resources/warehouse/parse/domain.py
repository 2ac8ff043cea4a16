"""One domain from the page store into staging."""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from resources.extract.version import PARSER_VERSION
from resources.installation import Installation
from resources.pages.base import PageHead, PageStore
from resources.site.model import Site
from resources.warehouse.folders import file_name

from .batch import Batch
from .changes import ChangeScan, GonePage
from .messages import Chunk, LostPage
from .pool import ParseError, ParserPool
from .staged_rows import chunk_file

if TYPE_CHECKING:  # the storage is made of batches, so it imports this package
    from resources.warehouse.storage import TableStorage

__all__ = ["ParseReport", "parse_domain"]

#: Pages that are lost work when a child dies, against files per table: half a second of one core.
_CHUNK = 500
#: Smaller chunks than this cost more in files than they gain in balance: 3 ms each, as much as four pages.
_SMALLEST_CHUNK = 25
#: Pages that are brought into the order of the store together: some megabytes of heads. Bodies that are compressed
#: together come to one worker one after another then, and are decompressed once.
_ORDERED = 4_000
#: Pages that may each cost their parser its life. More than these are not the pages' fault but a selector's or ours.
_MAX_LOST = 20


@dataclass(slots=True)
class ParseReport:
    """What a parse step did. `rows` by table (`item.<type>` for items); `batch` is empty if nothing changed."""

    domain: str
    parsed: int = 0
    unchanged: int = 0
    gone: int = 0
    missing: int = 0
    errors: int = 0
    lost: list[tuple[str, str, str]] = field(default_factory=list)
    """(url, parser_crash or parser_hang, what happened)"""
    rows: dict[str, int] = field(default_factory=dict)
    body_bytes: int = 0
    seconds: float = 0.0
    batch: str = ""
    extraction_version: str = ""

    @property
    def items(self) -> int:
        return sum(count for table, count in self.rows.items() if table.startswith("item."))


def parse_domain(
    installation: Installation,
    domain: str,
    *,
    run_id: str,
    force: bool = False,
    processes: int | None = None,
    pool: ParserPool | None = None,
) -> ParseReport:
    """Parse the pages of `domain` that changed since they were loaded (all with `force`) and stage their rows.

    Never opens DuckDB, makes no request. One parse step of a domain at a time. A step that dies stages nothing;
    batches staged and not loaded yet stay, and their pages are parsed once more. `pool`: share child processes
    between domains. ParseError: no site file covers the domain, or parsing cannot go on.
    """
    started = time.monotonic()
    if pool is None:
        with ParserPool(installation, installation.catalog(), processes) as own:
            return parse_domain(installation, domain, run_id=run_id, force=force, pool=own)
    site = pool.catalog.for_domain(domain)
    if site is None:
        raise ParseError(
            f"no site file covers {domain}: its rows stay as they are; add a site file to parse it"
        )
    tables = installation.open_tables()
    tables.drop_unfinished(domain)
    report = ParseReport(domain, extraction_version=site.extraction_version)
    store, frontier = installation.open_pages(), installation.open_frontier()
    try:
        scan = ChangeScan(store, frontier, domain, tables.index(domain), site.extraction_version, force=force)
        _stage(tables, site, scan, store, report, pool, run_id)
    finally:
        frontier.close()
        store.close()
    report.seconds = time.monotonic() - started
    return report


def _stage(
    tables: TableStorage,
    site: Site,
    scan: ChangeScan,
    store: PageStore,
    report: ParseReport,
    pool: ParserPool,
    run_id: str,
) -> None:
    name = f"{file_name(run_id)[:60]}-{uuid.uuid4().hex[:12]}"
    folder = tables.folders.staging_of(report.domain) / name
    chunks = _chunks(scan, store, pool.processes, report, folder, run_id)
    with closing(pool.run(chunks)) as results:
        for done, lost in results:
            report.missing += done.missing
            report.errors += done.errors
            report.lost += [_told(page) for page in lost]
            if len(report.lost) > _MAX_LOST:
                url, reason, detail = report.lost[-1]
                raise ParseError(
                    f"{len(report.lost)} pages of {report.domain} ended their parser, the last one {url} ({reason}: {detail}). "
                    f"A selector of site {site.name} may be too costly (:has, several ~): make it simpler"
                )
            for table, count in done.counts.items():
                report.rows[table] = report.rows.get(table, 0) + count
            tables.settle(folder / chunk_file(table, done.number) for table in done.counts)
    report.parsed = report.rows.get("parsed", 0)
    report.unchanged, report.gone = scan.unchanged, len(scan.gone)
    if not scan.gone and not folder.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    _write_gone(folder / "gone-000000.parquet", scan.gone)
    batch = Batch(
        name=name, domain=report.domain, run_id=run_id, created_at=time.time(),
        extraction_version=site.extraction_version, parser_version=PARSER_VERSION,
        item_types=tuple(site.items), counts=dict(report.rows), folder=folder,
    )  # fmt: skip
    tables.stage(batch)
    report.batch = name


def _chunks(
    scan: ChangeScan, store: PageStore, processes: int, report: ParseReport, folder: Path, run_id: str
) -> Iterator[Chunk]:
    """Chunks made as they are asked for: each a share of the pages that are left, so that all processes end at about
    the same time whatever their pages cost, with few files for the bulk of them."""
    heads = _in_stored_order(scan, store)
    left, _, _ = store.counts(report.domain)
    for number in itertools.count():
        size = max(_SMALLEST_CHUNK, min(_CHUNK, left // (processes * 2)))
        left = max(0, left - size)
        some = list(itertools.islice(heads, size))
        if not some:
            return
        if number == 0:
            folder.mkdir(parents=True)
        report.body_bytes += sum(head.body_bytes for head in some)
        yield Chunk(number, report.domain, run_id, folder, some)


def _in_stored_order(scan: ChangeScan, store: PageStore) -> Iterator[PageHead]:
    heads = iter(scan)
    while some := list(itertools.islice(heads, _ORDERED)):
        yield from store.stored_order(some)


def _told(page: LostPage) -> tuple[str, str, str]:
    return page.head.url, page.reason, page.detail


def _write_gone(path: Path, gone: list[GonePage]) -> None:
    schema = pa.schema([("page_key", pa.binary()), ("reason", pa.string())])
    table = pa.Table.from_arrays(
        [pa.array([g.key for g in gone], pa.binary()), pa.array([g.reason for g in gone], pa.string())],
        schema=schema,
    )
    pq.write_table(table, path, compression="zstd")
