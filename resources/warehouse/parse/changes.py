"""Which pages of a domain have to be read again, and which are gone.

A page's *signature* is everything its rows follow from: the body's hash, the response's type and status, the
parser's version and the site's extraction version. A page whose signature was loaded before is left alone.

A page is *gone* when the frontier says so: a 404 or 410, a soft 404, a redirect, an exclusion. A page that only
failed tonight (time-out, 500, a wall) keeps its rows. So does a page the frontier does not know, as after an
import from an archive. A page whose body is no longer stored is gone too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from xxhash import xxh3_128_digest

from resources.extract.page_row import header
from resources.extract.version import PARSER_VERSION
from resources.frontier.base import Frontier, State, UrlRecord
from resources.pages.base import PageHead, PageStore

__all__ = ["ChangeScan", "GonePage", "signature_of"]

_GONE_CAUSES = frozenset({"http_404", "http_410", "wall_soft_404", "wall_parked"})
_INDEX_BATCH = 50_000


@dataclass(frozen=True, slots=True)
class GonePage:
    """A page that loses its rows."""

    key: bytes
    reason: str


def signature_of(head: PageHead, extraction_version: str) -> bytes:
    """16 bytes that change exactly when the rows of the page may change."""
    about = (
        header(head, "content-type") or "",
        str(head.status),
        head.final_url,
        PARSER_VERSION,
        extraction_version,
    )
    return xxh3_128_digest(head.content_hash + "\0".join(about).encode("utf-8", "surrogatepass"))


class ChangeScan:
    """Compares the stored pages of a domain with what was loaded. Iterate once, over the heads to parse.

    After that `gone` and `unchanged` are complete. Store and index are streamed side by side in key order: memory
    grows with the pages that are gone, not with those there are or those to parse.
    """

    def __init__(
        self,
        store: PageStore,
        frontier: Frontier,
        domain: str,
        index: Path | None,
        extraction_version: str,
        *,
        force: bool = False,
    ) -> None:
        """`index`: what was loaded; None: nothing. `force`: parse every page."""
        self.gone: list[GonePage] = []
        self.unchanged = 0
        self._heads = store.scan(domain)
        self._reasons = _gone(frontier, domain)
        self._index = index
        self._version = extraction_version
        self._force = force

    def __iter__(self) -> Iterator[PageHead]:
        known = _loaded(self._index)
        loaded = next(known, None)
        for head in self._heads:
            if not 200 <= head.status <= 299:
                continue
            while loaded is not None and loaded[0] < head.key:
                self._lose(loaded[0])
                loaded = next(known, None)
            mine = loaded if loaded is not None and loaded[0] == head.key else None
            if mine is not None:
                loaded = next(known, None)
            if head.key in self._reasons:
                if mine is not None:
                    self._lose(head.key)
            elif self._force or mine is None or mine[1] != signature_of(head, self._version):
                yield head
            else:
                self.unchanged += 1
        while loaded is not None:
            self._lose(loaded[0])
            loaded = next(known, None)

    def _lose(self, key: bytes) -> None:
        self.gone.append(GonePage(key, self._reasons.get(key, "forgotten")))


def _loaded(index: Path | None) -> Iterator[tuple[bytes, bytes]]:
    """(key, signature) of loaded pages, in key order."""
    if index is None or not index.exists():
        return
    with pq.ParquetFile(index) as file:
        for batch in file.iter_batches(_INDEX_BATCH, columns=["page_key", "signature"]):
            yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)


def _gone(frontier: Frontier, domain: str) -> dict[bytes, str]:
    """URLs that once gave a page and do not any more, with the reason."""
    found = {}
    for record in frontier.records(domain, (State.DONE, State.FAILED, State.EXCLUDED)):
        reason = _reason(record)
        if reason is not None:
            found[record.key] = reason
    return found


def _reason(record: UrlRecord) -> str | None:
    """Numbered cases: 1. never fetched: nothing to lose; 2. excluded; 3. gone for good; 4. now a redirect."""
    if record.done_at is None and record.fetches == 0:
        return None
    if record.state is State.EXCLUDED:
        return f"excluded: {record.cause}"
    if record.state is State.FAILED and record.cause in _GONE_CAUSES:
        return record.cause
    if record.state is State.DONE and record.status is not None and 300 <= record.status <= 399:
        return "redirect" if record.status != 304 else None
    return None
