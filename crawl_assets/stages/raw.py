"""`raw_html`: the catalogue of current bodies in the page store, every one of them read and verified.

Bodies that an older wall detector judged are judged again first: what it took for walls may be pages, and the other
way round.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

import dagster as dg
import xxhash

from crawl_assets.partitions import domains
from crawl_assets.stages.columns import BODY_COLUMNS
from crawl_assets.stages.columns import RAW as ASSET
from crawl_assets.stages.night import Night
from crawl_assets.stages.retry import ASSET as RETRIED
from resources.frontier.base import Frontier, State
from resources.pages.base import PageHead, PageStore

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.crawler.parser_guard import ParserGuard
    from resources.crawler.rejudge import Rejudge, Rejudged

__all__ = ["ASSET", "SPEC", "BodyCatalogue", "RawBodies"]

SPEC = dg.AssetSpec(
    ASSET,
    deps=[RETRIED],
    description=(
        "The raw bodies of a domain: how many, how large, all intact.\n\n"
        "Every body is read and compared with its hash. A damaged one is taken out and its URL is pending again, so "
        "that the next fetch replaces it. When the wall detector has a new version, bodies are judged again without a "
        "request: quarantined ones that are no walls become pages, pages that are walls are quarantined.\n\n"
        "**When red:** the page store cannot be read: disk full or file damaged; the message names the file. The "
        "check `integrity` says which URLs will be fetched again."
    ),
    group_name="5_raw",
    kinds={"file", "bronze"},
    partitions_def=domains,
    skippable=True,
    owners=["team:crawl"],
    metadata={"dagster/column_schema": BODY_COLUMNS},
)


@dataclass(frozen=True, slots=True)
class BodyCatalogue:
    """What the page store holds of a domain. `version` changes when any current body does."""

    pages: int
    body_bytes: int
    stored_bytes: int
    oldest: float | None
    newest: float | None
    version: str
    damaged: tuple[PageHead, ...]


def catalogue(pages: PageStore, domain: str) -> BodyCatalogue:
    """Read and verify everything of the domain. O(its bytes)."""
    damaged = tuple(pages.verify(domain))
    bad = {head.key for head in damaged}
    digest = xxhash.xxh3_128()
    oldest = newest = None
    for head in pages.scan(domain):
        if head.key in bad:
            continue
        digest.update(head.key + head.content_hash)
        oldest = head.validated_at if oldest is None else min(oldest, head.validated_at)
        newest = head.fetched_at if newest is None else max(newest, head.fetched_at)
    count, body_bytes, stored_bytes = pages.counts(domain)
    return BodyCatalogue(count, body_bytes, stored_bytes, oldest, newest, digest.hexdigest(), damaged)


def fetch_again(frontier: Frontier, damaged: tuple[PageHead, ...]) -> int:
    """Make the URLs of damaged bodies pending; returns how many."""
    found = [record for head in damaged if (record := frontier.get(head.key)) is not None]
    again = [
        # Without `done_at` no conditional request is made: a 304 would confirm a body that is not there.
        replace(record, state=State.PENDING, attempts=0, not_before=None, done_at=None, due_at=None)
        for record in found
        if record.state is State.DONE
    ]
    return frontier.put_records(again) if again else 0


class RawBodies:
    """The stage over the domains of a run. Use as an async context manager: it may start a parser process."""

    def __init__(self, night: Night) -> None:
        self._night = night
        self._guard: ParserGuard | None = None
        self._rejudge: Rejudge | None = None

    async def __aenter__(self) -> RawBodies:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._guard is not None:
            await self._guard.close()

    async def rejudge(self, domain: str) -> Rejudged:
        """Judge again what another version of the detector judged."""
        from resources.crawler.parser_guard import ParserGuard, parsing_folder, suspects
        from resources.crawler.rejudge import Rejudge, Rejudged
        from resources.crawler.territory import Territory

        night = self._night
        if self._rejudge is None:
            folder = parsing_folder(night.installation.data)
            known = await night.storage.run(suspects, night.storage.frontier, folder)
            self._guard = ParserGuard(folder, known)
            self._territory = Territory(night.catalog)
            self._rejudge = Rejudge(night.storage, self._territory, self._guard)
        rules = self._territory.rules(domain)
        if rules is None:
            return Rejudged()
        return await self._rejudge.domain(rules, stopped=night.stop.is_set)

    async def domain(self, domain: str) -> BodyCatalogue | None:
        """Judge and catalogue one domain; None when it fell."""
        from resources.crawler.rejudge import Rejudged

        try:
            judged = await self.rejudge(domain) if self._night.does(ASSET) else Rejudged()
        except Exception as error:
            words = f"stored bodies could not be judged again: {type(error).__name__}: {error}"
            self._night.fall(domain, ASSET, words)
            return None
        return await _catalogue(self._night, domain, judged)


async def _catalogue(night: Night, domain: str, judged: Rejudged) -> BodyCatalogue | None:
    started = time.monotonic()
    try:
        found = await night.storage.run(catalogue, night.storage.pages, domain)
        again = await night.storage.run(fetch_again, night.storage.frontier, found.damaged)
    except Exception as error:
        night.fall(domain, ASSET, f"the page store could not be read: {type(error).__name__}: {error}")
        return None
    numbers: dict[str, Any] = {
        "bodies": found.pages,
        "body bytes": found.body_bytes,
        "stored bytes": found.stored_bytes,
        "compression": round(found.body_bytes / max(found.stored_bytes, 1), 2),
        "damaged": len(found.damaged),
        "fetched again": again,
        "judged again": judged.judged,
        "walls that became pages": judged.released,
        "pages that became walls": judged.quarantined,
        "duration s": round(time.monotonic() - started, 3),
    }
    if judged.left:
        from resources.crawler.rejudge import MOST

        numbers["left to judge"] = f"bodies beyond {MOST:,} keep their old verdict until the next run"
    if found.oldest is not None and found.newest is not None:
        numbers |= {
            "oldest confirmation": dg.MetadataValue.timestamp(found.oldest),
            "newest body": dg.MetadataValue.timestamp(found.newest),
        }
    await night.materialized(ASSET, domain, numbers, {"dagster/data_version": found.version})
    return found
