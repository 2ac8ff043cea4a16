"""The parse step of one domain: chunks of its changed pages, what became of them, the batch they make.

It parses nothing: whoever runs it has the chunks parsed, and tells it of each. Nothing counts before `stage`; a step
that ends without leaves a folder that the next one removes.
"""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from resources.extract.version import PARSER_VERSION
from resources.frontier.base import Frontier
from resources.pages.base import PageHead, PageStore
from resources.site.model import Site
from resources.warehouse.folders import file_name

from .batch import Batch
from .changes import ChangeScan, GonePage
from .messages import Chunk, ChunkDone, LostPage
from .report import ParseError, ParseReport
from .staged_rows import chunk_file

if TYPE_CHECKING:  # the storage is made of batches, so it imports this package
    from resources.warehouse.storage import TableStorage

__all__ = ["DomainStep"]

#: Pages that are brought into the order of the store together: some megabytes of heads. Bodies that are compressed
#: together come to one worker one after another then, and are decompressed once.
_ORDERED = 4_000
#: Pages that may each cost their parser its life. More than these are not the pages' fault but a selector's or ours.
_MAX_LOST = 20


class DomainStep:
    """See the module docstring. Reads stores until `chunk` has given None, and no longer."""

    def __init__(
        self,
        tables: TableStorage,
        site: Site,
        store: PageStore,
        frontier: Frontier,
        domain: str,
        run_id: str,
        *,
        force: bool = False,
    ) -> None:
        """Removes what dead steps of the domain left: this one has to be its only one."""
        self._started = time.monotonic()
        self.domain = domain
        self._tables = tables
        self._site = site
        self._run_id = run_id
        tables.drop_unfinished(domain)
        self._scan = ChangeScan(
            store, frontier, domain, tables.index(domain), site.extraction_version, force=force
        )
        self._heads = _in_stored_order(self._scan, store)
        self._name = f"{file_name(run_id)[:60]}-{uuid.uuid4().hex[:12]}"
        self._folder = tables.folders.staging_of(domain) / self._name
        self._report = ParseReport(domain, extraction_version=site.extraction_version)
        self._made = self._back = 0
        self._all_made = False

    def __repr__(self) -> str:
        return f"DomainStep({self.domain!r}, {self._back} of {self._made} chunks back)"

    def chunk(self, size: int) -> Chunk | None:
        """The next pages to parse, `size` at most; None when all were given."""
        heads = list(itertools.islice(self._heads, size))
        if not heads:
            self._all_made = True
            return None
        if self._made == 0:
            self._folder.mkdir(parents=True)
        self._report.body_bytes += sum(head.body_bytes for head in heads)
        number, self._made = self._made, self._made + 1
        return Chunk(number, self.domain, self._run_id, self._folder, heads)

    def add(self, done: ChunkDone, lost: list[LostPage]) -> None:
        """A chunk is parsed, without these pages. Its files are durable on return. ParseError: too many are lost."""
        report = self._report
        report.missing += done.missing
        report.errors += done.errors
        report.lost += [(page.head.url, page.reason, page.detail) for page in lost]
        if len(report.lost) > _MAX_LOST:
            url, reason, detail = report.lost[-1]
            raise ParseError(
                f"{len(report.lost)} pages of {self.domain} ended their parser, the last one {url} ({reason}: {detail}). "
                f"A selector of site {self._site.name} may be too costly (:has, several ~): make it simpler"
            )
        for table, count in done.counts.items():
            report.rows[table] = report.rows.get(table, 0) + count
        self._tables.settle(self._folder / chunk_file(table, done.number) for table in done.counts)
        self._back += 1

    @property
    def is_whole(self) -> bool:
        """Whether all chunks are made and parsed: it can be staged."""
        return self._all_made and self._back == self._made

    def stage(self) -> ParseReport:
        """Make the batch count, if anything changed. Once, and only of a whole step."""
        report, gone = self._report, self._scan.gone
        report.parsed = report.rows.get("parsed", 0)
        report.unchanged, report.gone = self._scan.unchanged, len(gone)
        if gone or self._made:
            self._folder.mkdir(parents=True, exist_ok=True)
            _write_gone(self._folder / "gone-000000.parquet", gone)
            batch = Batch(
                name=self._name, domain=self.domain, run_id=self._run_id, created_at=time.time(),
                extraction_version=self._site.extraction_version, parser_version=PARSER_VERSION,
                item_types=tuple(self._site.items), counts=dict(report.rows), folder=self._folder,
            )  # fmt: skip
            self._tables.stage(batch)
            report.batch = self._name
        report.seconds = time.monotonic() - self._started
        return report


def _in_stored_order(scan: ChangeScan, store: PageStore) -> Iterator[PageHead]:
    heads = iter(scan)
    while some := list(itertools.islice(heads, _ORDERED)):
        yield from store.stored_order(some)


def _write_gone(path: Path, gone: list[GonePage]) -> None:
    schema = pa.schema([("page_key", pa.binary()), ("reason", pa.string())])
    table = pa.Table.from_arrays(
        [pa.array([g.key for g in gone], pa.binary()), pa.array([g.reason for g in gone], pa.string())],
        schema=schema,
    )
    pq.write_table(table, path, compression="zstd")
