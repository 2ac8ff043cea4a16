"""A new version of the wall detector: stored bodies are judged again, in both directions and without a request."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from xxhash import xxh3_128_digest

from resources.crawler.parser_guard import ParserGuard
from resources.crawler.rejudge import Rejudge, Rejudged
from resources.crawler.storage import Storage
from resources.crawler.territory import Territory
from resources.frontier.base import Frontier, Source, State, UrlRecord
from resources.installation import Installation
from resources.pages.base import Kind, PageHead, PageStore, PageVersion
from resources.site.catalog import Catalog
from resources.site.load import load_site_text
from resources.web.urls import key
from resources.web.walls import DETECTOR_VERSION
from tests.fetcher.hostile_zoo.keeper import ordinary

DOMAIN = "shop.example"
GOOD = ordinary("lamp", ("/one", "/two"))
WALL = (
    b"<html><head><title>Just a moment...</title></head><body><h1>Checking your browser before accessing shop.example"
    b'</h1><script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script></body></html>'
)


@dataclass
class Store:
    """Frontier and pages filled by hand, as an older detector left them."""

    frontier: Frontier
    pages: PageStore
    installation: Installation
    catalog: Catalog

    def add(
        self, path: str, body: bytes, kind: Kind, state: State, *, version: str = "0", at: float = 100.0
    ) -> bytes:
        url = f"https://{DOMAIN}{path}"
        walled = kind is Kind.QUARANTINE
        head = PageHead(
            key=key(url), url=url, domain=DOMAIN, kind=kind, status=200, headers=(("content-type", "text/html"),),
            content_hash=xxh3_128_digest(body), body_bytes=len(body), fetched_at=at, validated_at=at,
            first_seen_at=at, changed_at=at, final_url=url, depth=1, verdict="captcha" if walled else "ok",
            verdict_version=version,
        )  # fmt: skip
        self.pages.put([PageVersion(head, body)])
        self.frontier.put_records([
            UrlRecord(
                head.key, url, DOMAIN, state, 1, 20, Source.LINK, None, 1.0, attempts=1, fetches=1, status=200,
                cause="wall_captcha" if walled else "", failed_at=at if walled else None,
                done_at=None if walled else at, next_eligible_at=1e12 if walled else None,
            )
        ])  # fmt: skip
        return head.key

    def record(self, at: bytes) -> UrlRecord:
        found = self.frontier.get(at)
        assert found is not None
        return found

    def run(self, *, most: int = 1000, version: str = DETECTOR_VERSION) -> Rejudged:
        async def go() -> Rejudged:
            storage = await Storage(
                lambda: (self.installation.open_frontier(), self.installation.open_pages())
            ).open()
            guard, territory = ParserGuard(), Territory(self.catalog)
            try:
                rules = territory.rules(DOMAIN)
                assert rules is not None
                return await Rejudge(storage, territory, guard, version=version).domain(rules, most=most)
            finally:
                await guard.close()
                await storage.close()

        return asyncio.run(go())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    installation = Installation.at(tmp_path).prepare()
    site, problems = load_site_text(
        f'domains: ["{DOMAIN}"]\nidentity: {{contact: "https://visitor.example"}}\n', "shop.yaml"
    )
    assert site is not None, problems
    frontier, pages = installation.open_frontier(), installation.open_pages()
    yield Store(frontier, pages, installation, Catalog([site]))
    pages.close()
    frontier.close()


def test_a_quarantined_page_that_is_no_wall_becomes_the_page(store: Store) -> None:
    at = store.add("/lamp", GOOD, Kind.QUARANTINE, State.FAILED)
    done = store.run()
    assert (done.judged, done.released, done.left) == (1, 1, False)
    head = store.pages.head(at)
    assert head is not None and store.pages.body(head) == GOOD
    assert (head.verdict, head.verdict_version) == ("ok", DETECTOR_VERSION)
    record = store.record(at)
    assert (record.state, record.cause, record.done_at) == (State.DONE, "", 100.0)
    assert record.due_at is not None and record.content_hash == head.content_hash
    # Its links were never followed: they are now.
    for path in ("/one", "/two"):
        link = store.record(key(f"https://{DOMAIN}{path}"))
        assert (link.state, link.depth, link.parent) == (State.PENDING, 2, at)
    assert store.frontier.counts(DOMAIN) == store.frontier.recount(DOMAIN)


def test_a_quarantined_page_that_is_a_wall_gets_the_new_verdict(store: Store) -> None:
    at = store.add("/lamp", WALL, Kind.QUARANTINE, State.FAILED)
    done = store.run()
    assert (done.judged, done.released) == (1, 0)
    assert store.pages.head(at) is None
    aside = store.pages.head(at, Kind.QUARANTINE)
    assert aside is not None and aside.verdict_version == DETECTOR_VERSION
    assert aside.verdict.startswith("challenge") and aside.note
    assert store.record(at).cause == "wall_challenge"
    assert store.record(at).state is State.FAILED


def test_a_stored_page_that_is_a_wall_is_quarantined(store: Store) -> None:
    at = store.add("/lamp", WALL, Kind.PAGE, State.DONE)
    good = store.add("/other", GOOD, Kind.PAGE, State.DONE)
    done = store.run()
    assert (done.judged, done.quarantined) == (2, 1)
    assert store.pages.head(at) is None
    aside = store.pages.head(at, Kind.QUARANTINE)
    assert aside is not None and aside.verdict_version == DETECTOR_VERSION
    record = store.record(at)
    assert (record.state, record.cause) == (State.FAILED, "wall_challenge")
    assert record.next_eligible_at is not None
    kept = store.pages.head(good)
    assert kept is not None and kept.verdict_version == DETECTOR_VERSION
    assert store.frontier.counts(DOMAIN) == store.frontier.recount(DOMAIN)


def test_the_page_before_the_wall_is_current_again(store: Store) -> None:
    at = store.add("/lamp", GOOD, Kind.PAGE, State.DONE, version=DETECTOR_VERSION)
    store.add("/lamp", WALL, Kind.PAGE, State.DONE, at=200.0)
    assert store.run().quarantined == 1
    head = store.pages.head(at)
    assert head is not None and store.pages.body(head) == GOOD


@pytest.mark.parametrize("state", [State.LEASED, State.EXCLUDED])
def test_a_url_that_somebody_else_decides_about_is_left_alone(store: Store, state: State) -> None:
    at = store.add("/lamp", GOOD, Kind.QUARANTINE, state)
    before = store.record(at)
    assert store.run().released == 0
    assert store.pages.head(at) is None
    assert store.record(at) == before


def test_a_newer_page_is_not_replaced(store: Store) -> None:
    at = store.add("/lamp", GOOD, Kind.QUARANTINE, State.FAILED)
    newer = ordinary("newer")
    store.add("/lamp", newer, Kind.PAGE, State.DONE, at=200.0, version=DETECTOR_VERSION)
    assert store.run().released == 0
    head = store.pages.head(at)
    assert head is not None and store.pages.body(head) == newer


def test_what_this_version_judged_and_what_no_version_can_is_not_judged(store: Store) -> None:
    store.add("/a", GOOD, Kind.QUARANTINE, State.FAILED, version=DETECTOR_VERSION)
    store.add("/b", GOOD, Kind.PAGE, State.DONE, version=DETECTOR_VERSION)
    crashed = store.add("/c", GOOD, Kind.QUARANTINE, State.FAILED, version="")
    head = store.pages.head(crashed, Kind.QUARANTINE)
    assert head is not None
    store.pages.touch([replace(head, verdict="parser_crash")])
    assert store.run().judged == 0


def test_a_bounded_call_goes_on_where_the_last_one_ended(store: Store) -> None:
    for number in range(7):
        store.add(f"/{number}", GOOD if number % 2 else WALL, Kind.QUARANTINE, State.FAILED)
    calls = [store.run(most=3) for _ in range(3)]
    assert [(c.judged, c.left) for c in calls] == [(3, True), (3, True), (1, False)]
    assert sum(c.released for c in calls) == 3
    assert store.run() == Rejudged()


def test_the_next_version_judges_again(store: Store) -> None:
    store.add("/lamp", GOOD, Kind.QUARANTINE, State.FAILED)
    store.run()
    again = store.run(version="next")
    assert (again.judged, again.released, again.quarantined) == (2, 0, 0)  # the page, and what was set aside
    assert store.run(version="next") == Rejudged()
