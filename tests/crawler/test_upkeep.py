"""Housekeeping saves room, waits for nobody, and forgets no domain it did not come to."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.crawler.liveness import worker_name
from resources.crawler.upkeep import Kept, due_for_upkeep, keep_up
from resources.frontier.base import Frontier
from resources.pages.base import PageStore, PageStoreError
from resources.pages.sqlite import SqlitePages
from tests.pages.samples import DOMAIN, article, version

OTHER = "other.example"


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[Frontier]:
    from resources.installation import Installation

    frontier = Installation.at(tmp_path / "data", tmp_path / "sites").prepare().open_frontier()
    yield frontier
    frontier.close()


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[PageStore]:
    store = SqlitePages(tmp_path / "pages.sqlite")
    for number in range(120):
        store.put([version(f"/{number}", article(number))])
    yield store
    store.close()


def due(frontier: Frontier) -> list[str]:
    return due_for_upkeep(frontier, (DOMAIN, OTHER), lambda _: False)


def test_stored_bodies_become_smaller_and_stay_readable(frontier: Frontier, pages: PageStore) -> None:
    heads = list(pages.scan(DOMAIN))
    bodies = [pages.body(head) for head in heads]
    assert due_for_upkeep(frontier, (DOMAIN, OTHER), lambda d: d == DOMAIN) == [DOMAIN]
    (kept,) = keep_up(frontier, pages, [DOMAIN], worker_name())
    assert isinstance(kept, Kept) and kept.pages == 120
    assert 0 < kept.after < kept.before and kept.saved == kept.before - kept.after
    assert [pages.body(head) for head in heads] == bodies
    assert due(frontier) == []
    assert frontier.domain_lease(DOMAIN, time.time()) is None


def test_a_domain_that_is_crawled_is_left_alone_until_the_next_time(
    frontier: Frontier, pages: PageStore
) -> None:
    due_for_upkeep(frontier, (DOMAIN, OTHER), lambda _: True)
    assert frontier.lease_domain(DOMAIN, "elsewhere:1:1", 60, time.time())
    told = list(keep_up(frontier, pages, (DOMAIN, OTHER), worker_name()))
    assert isinstance(told[0], str) and DOMAIN in told[0] and "crawls this domain" in told[0]
    assert isinstance(told[1], Kept)
    assert due(frontier) == [DOMAIN]


def test_what_there_was_no_time_for_is_done_the_next_time(frontier: Frontier, pages: PageStore) -> None:
    due_for_upkeep(frontier, (DOMAIN, OTHER), lambda _: True)
    assert list(keep_up(frontier, pages, (DOMAIN, OTHER), worker_name(), go_on=lambda: False)) == []
    assert due(frontier) == [DOMAIN, OTHER]


def test_a_store_in_trouble_is_told_and_tried_again(
    frontier: Frontier, pages: PageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise PageStoreError("the disk is full")

    monkeypatch.setattr(pages, "maintain", full)
    due_for_upkeep(frontier, (DOMAIN,), lambda _: True)
    (told,) = keep_up(frontier, pages, [DOMAIN], worker_name())
    assert isinstance(told, str) and "the disk is full" in told
    assert due(frontier) == [DOMAIN]
    assert frontier.domain_lease(DOMAIN, time.time()) is None
