"""Which pages of a domain have to be read again, and which are gone.

A page's *signature* is everything its rows follow from: the body's hash, the response's type and status, the
parser's version and the site's extraction version. A page whose signature was loaded before is left alone.

A page is *gone* when the frontier says so: a 404 or 410, a soft 404, a redirect, an exclusion. A page that only
failed tonight (time-out, 500, a wall) keeps its rows. So does a page the frontier does not know, as after an
import from an archive. A page whose body is no longer stored is gone too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq
from xxhash import xxh3_128_digest

from resources.extract.page_row import header
from resources.extract.version import PARSER_VERSION
from resources.frontier.base import Frontier, State, UrlRecord
from resources.pages.base import PageHead, PageStore

__all__ = ["Changes", "GonePage", "find_changes", "signature_of"]

_GONE_CAUSES = frozenset({"http_404", "http_410", "wall_soft_404", "wall_parked"})
_INDEX_BATCH = 50_000


@dataclass(frozen=True, slots=True)
class GonePage:
    """A page that loses its rows."""

    key: bytes
    reason: str


@dataclass(slots=True)
class Changes:
    """What the parse step has to do for a domain."""

    to_parse: list[PageHead] = field(default_factory=list)
    gone: list[GonePage] = field(default_factory=list)
    unchanged: int = 0


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


def find_changes(
    store: PageStore,
    frontier: Frontier,
    domain: str,
    index: Path | None,
    extraction_version: str,
    *,
    force: bool = False,
) -> Changes:
    """Compare the stored pages with what was loaded (`index`; None: nothing). Streams both in key order.

    Memory grows with the pages to parse and with those that are gone, not with the pages there are.
    """
    changes = Changes()
    gone = _gone(frontier, domain)
    known = _loaded(index)
    loaded = next(known, None)
    for head in store.scan(domain):
        if not 200 <= head.status <= 299:
            continue
        while loaded is not None and loaded[0] < head.key:
            changes.gone.append(GonePage(loaded[0], gone.get(loaded[0], "forgotten")))
            loaded = next(known, None)
        mine = loaded if loaded is not None and loaded[0] == head.key else None
        if mine is not None:
            loaded = next(known, None)
        if (reason := gone.get(head.key)) is not None:
            if mine is not None:
                changes.gone.append(GonePage(head.key, reason))
        elif force or mine is None or mine[1] != signature_of(head, extraction_version):
            changes.to_parse.append(head)
        else:
            changes.unchanged += 1
    while loaded is not None:
        changes.gone.append(GonePage(loaded[0], gone.get(loaded[0], "forgotten")))
        loaded = next(known, None)
    return changes


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
