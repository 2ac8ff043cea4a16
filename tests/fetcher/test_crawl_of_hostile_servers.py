"""A crawl through the whole zoo at once: each beast costs its own URL, recorded with a cause, and nothing else."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
import pytest_asyncio

from resources.crawler.order import CrawlOrder, DomainReport
from resources.crawler.session import CrawlSession
from resources.frontier.base import FetchLogRow, State
from resources.installation import Installation
from resources.site.catalog import Catalog
from resources.site.load import load_site_text
from resources.site.model import Site
from tests.fetcher.hostile_zoo.animals import ALL, tls_of
from tests.fetcher.hostile_zoo.codings import pack_bombs
from tests.fetcher.hostile_zoo.keeper import GOOD, Beast, Cage
from tests.fetcher.hostile_zoo.visitors import visitor

T = TypeVar("T")

#: Beasts that show nothing else: no good page can be had from them.
LONELY = [b for b in ALL if b.on_connect or b.secure not in ("", "good")]
SOCIAL = [b for b in ALL if b not in LONELY]


def site_of(cage: Cage, number: int) -> Site:
    text = f"""
name: cage{number}
domains: ["{cage.domain}"]
seeds: ["{cage.origin}/"]
sitemaps: off
identity: {{user_agent: "zoo-visitor/1.0 (+https://visitor.example)"}}
allow_private_addresses: ["127.0.0.0/8"]
pace: {{rate: unlimited, concurrency: 2}}
retry: {{attempts: 1}}
limits: {{connect_timeout: 3s, read_timeout: 3s, total_timeout: 6s, max_body: 6MB}}
"""
    site, problems = load_site_text(text, f"cage{number}.yaml")
    assert site is not None, problems
    return site


@dataclass
class Visited:
    cages: dict[str, Cage]
    reports: dict[str, DomainReport]
    log: list[FetchLogRow]
    states: dict[str, dict[State, int]]
    seconds: float


@contextmanager
def opened(beasts: list[Beast]) -> Iterator[list[Cage]]:
    """All cages, in a thread of their own: what the crawl is busy with is none of the servers' business."""
    pack_bombs()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def run(work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, loop).result(30)

    async def enter() -> tuple[AsyncExitStack, list[Cage]]:
        stack = AsyncExitStack()
        return stack, [await stack.enter_async_context(Cage(b).open(tls_of(b))) for b in beasts]

    stack, cages = run(enter())
    try:
        yield cages
    finally:
        run(stack.aclose())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def crawl(beasts: list[Beast], folder: Path) -> Visited:
    with opened(beasts) as cages:
        catalog = Catalog([site_of(c, n) for n, c in enumerate(cages)])
        domains = tuple(c.domain for c in cages)
        begin = time.monotonic()
        async with CrawlSession(
            Installation.at(folder), "run-1", catalog=catalog, fetcher=visitor()
        ) as session:
            session.guard.child.page_s = 5.0
            await session.seed(domains)
            reports = await session.crawl(CrawlOrder(domains, "run-1", concurrency=16))
            frontier = session.storage.frontier

            def read() -> tuple[list[FetchLogRow], dict[str, dict[State, int]]]:
                log = [row for _, row in frontier.read_log(0, 100_000)]
                states: dict[str, dict[State, int]] = {}
                for domain in domains:
                    assert frontier.counts(domain) == frontier.recount(domain)
                    for record in frontier.records(domain):
                        of = states.setdefault(domain, {})
                        of[record.state] = of.get(record.state, 0) + 1
                return log, states

            log, states = await session.storage.run(read)
        return Visited(
            {c.beast.name: c for c in cages},
            {r.domain: r for r in reports},
            log,
            states,
            time.monotonic() - begin,
        )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def social(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visited]:
    yield await crawl(SOCIAL, tmp_path_factory.mktemp("social"))


def row(visited: Visited, cage: Cage, path: str) -> FetchLogRow:
    """Of the request that counts. After a beast the server ends the connection and does not say so before: what is on
    its way in it just then is lost, and asked once more."""
    *lost, last = [r for r in visited.log if r.url == cage.origin + path]
    assert [r.outcome for r in lost] in ([], ["lost"]), (path, lost)
    return last


@pytest.mark.parametrize("beast", SOCIAL, ids=lambda beast: beast.name)
async def test_the_beast_is_recorded_and_the_crawl_goes_on(beast: Beast, social: Visited) -> None:
    cage = social.cages[beast.name]
    found = row(social, cage, "/beast")
    causes = beast.crawled if beast.crawled is not None else beast.causes
    assert (found.cause or None) in causes, (found.outcome, found.error)
    assert found.duration_ms < 10_000
    for path in ("/", *GOOD):
        good = row(social, cage, path)
        assert good.outcome == "ok", (path, good.cause, good.error)
    assert social.reports[cage.domain].end == "finished"
    assert State.LEASED not in social.states[cage.domain]


async def test_the_whole_zoo_takes_no_longer_than_its_slowest_animals(social: Visited) -> None:
    # Sixteen at a time, at most 5 s each and once, on a machine that does other things too.
    assert social.seconds < 5.0 * len(SOCIAL) / 16 + 60


async def test_servers_that_only_misbehave_end_alone(tmp_path: Path) -> None:
    visited = await crawl(LONELY, tmp_path)
    for beast in LONELY:
        cage = visited.cages[beast.name]
        report = visited.reports[cage.domain]
        # Their robots.txt cannot be had, so nothing else is asked of them tonight.
        assert report.end in ("put_off", "finished"), (beast.name, report)
        assert State.LEASED not in visited.states[cage.domain]
