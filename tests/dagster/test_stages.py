"""The stages through the real Dagster machinery: materializations, red and green partitions, checks."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest

from crawl_assets.stages import retry
from crawl_assets.stages.against_published import LABEL
from crawl_assets.stages.night import Night
from crawl_assets.stages.night_report import gather
from crawl_assets.stages.tables import TableMaker
from practice_site import practice_site_process, practice_web_process, site_config
from resources.frontier.base import State
from resources.pages.base import Kind
from resources.reports.needs import needs
from resources.warehouse.parse import ParseReport
from resources.warehouse.parse.step import DomainStep
from resources.warehouse.read import published
from resources.web.walls import DETECTOR_VERSION
from tests.dagster.conftest import NIGHT, House


def test_one_domain_from_seeds_to_raw_bodies(house: House) -> None:
    with practice_site_process(n_products=30) as site:
        house.write_site(site.domain)
        result = house.run(*NIGHT, first=site.domain)
        assert result.success
        fetched = house.metadata("fetched_pages", site.domain)
        assert fetched["end"] == "finished"
        assert fetched["fetched"] >= len(site.expected_pages())
        assert fetched["urls pending"] == fetched["urls leased"] == 0
        assert house.metadata("raw_html", site.domain)["bodies"] >= len(site.expected_pages())
        assert house.checks("seed_frontier", "canary")[site.domain][0]
        assert house.checks("fetched_pages", "conservation")[site.domain][0]
        assert house.metadata("items", site.domain)["rows book"] == len(site.expected_items())
        assert house.partitions("published") == ({site.domain}, set())
        items = len(site.expected_items())
        against = house.metadata("published", site.domain)[LABEL]
        assert f"| book | 0 | {items} | {items} | 0 | 0 |" in against and "--diff" in against
        for table, column, part in (
            ("pages", "title", "body"),
            ("pages", "content_type", "headers"),
            ("links", "from_url", "url"),
            ("items", "price", "body"),
        ):
            shown = house.metadata(table, site.domain)
            schema, sources = shown["dagster/column_schema"], shown["dagster/column_lineage"].deps_by_column
            assert column in {c.name for c in schema.columns}
            (source,) = sources[column]
            assert (source.asset_key.to_user_string(), source.column_name) == ("raw_html", part)
            assert set(sources) <= {c.name for c in schema.columns}
            assert "nightcrawl sql" in shown["read it with"]
        assert fetched["next due"] > time.time()
        frontier = house.installation.open_frontier()
        assert frontier.get_value(f"upkeep due:{site.domain}") == "", "the page store was not kept up"
        frontier.close()


def test_a_domain_that_fails_is_the_only_red_one(house: House) -> None:
    configs = [
        site_config(n_products=10, host=f"127.0.0.{n}", down="reset" if n == 3 else "off") for n in (2, 3, 4)
    ]
    with practice_web_process(configs) as sites:
        names = [s.domain for s in sites]
        house.write_site(names)
        result = house.run(*NIGHT, first=names[0], last=names[2])
        assert not result.success
        for asset in ("fetched_pages", "raw_html", "pages", "published"):
            assert house.partitions(asset) == ({names[0], names[2]}, {names[1]})
        passed, words = house.checks("seed_frontier", "canary")[names[1]]
        assert not passed
        assert "them" in words or "no response" in words


@pytest.mark.slow
def test_a_domain_whose_rows_cannot_be_staged_costs_the_others_no_table(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = DomainStep.stage
    configs = [site_config(n_products=2, host=f"127.0.0.{n}") for n in (2, 3, 4)]
    with practice_web_process(configs) as sites:
        names = [s.domain for s in sites]

        def failing(step: DomainStep) -> ParseReport:
            if step.domain == names[1]:
                raise OSError("no space left")
            return stage(step)

        monkeypatch.setattr(DomainStep, "stage", failing)
        house.write_site(names)
        assert not house.run(*NIGHT, first=names[0], last=names[2]).success
    assert house.partitions("raw_html") == (set(names), set())
    for asset in ("pages", "items", "published"):
        assert house.partitions(asset) == ({names[0], names[2]}, {names[1]})


def test_domains_that_end_together_are_all_told(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Telling takes time; the crawl's end must not cut off the one that is being told."""
    materialized = Night.materialized

    async def slowly(night: Night, asset: str, *rest: Any) -> None:
        if asset == "fetched_pages":
            await asyncio.sleep(0.2)
        await materialized(night, asset, *rest)

    monkeypatch.setattr(Night, "materialized", slowly)
    monkeypatch.setattr("crawl_assets.stages.fetch.LOOK_EVERY_S", 0.01)
    configs = [site_config(n_products=2, host=f"127.0.0.{n}") for n in range(2, 8)]
    with practice_web_process(configs) as sites:
        names = [s.domain for s in sites]
        house.write_site(names)
        assert house.run("seed_frontier", "fetched_pages", first=names[0], last=names[-1]).success
    assert house.partitions("fetched_pages") == (set(names), set())


@pytest.mark.slow
def test_a_rule_that_merges_different_pages_is_told_by_check_and_report(house: House) -> None:
    with practice_site_process(n_products=30) as site:
        house.write_site(site.domain, urls={"drop_parameters": ["format"]})
        tags = {"nightcrawl/night": "2026-11-29"}
        assert house.run(*NIGHT, first=site.domain, tags=tags).success
        passed, words = house.checks("fetched_pages", "merged_urls")[site.domain]
    assert not passed
    assert "take format out of urls.drop_parameters" in words
    facts = gather(house.instance, house.installation, "2026-11-29")
    (need,) = [n for n in needs(facts) if n.title == "check merged_urls"]
    assert [d for d, _ in need.domains] == [site.domain]


@pytest.mark.slow
def test_each_domain_has_its_row_of_the_night_whoever_is_done_first(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first domains are loaded while another is still fetched; their pace has to be in the ledger by then."""
    loaded = asyncio.Event()
    load, nothing_to_do = TableMaker.load, retry.nothing_to_do

    async def loading(maker: TableMaker, parsed: Any) -> Any:
        found = await load(maker, parsed)
        loaded.set()
        return found

    async def waiting(night: Night, session: Any, domain: str) -> None:
        if domain == names[-1]:
            await asyncio.wait_for(loaded.wait(), 60)
        await nothing_to_do(night, session, domain)

    monkeypatch.setattr(TableMaker, "load", loading)
    monkeypatch.setattr(retry, "nothing_to_do", waiting)
    configs = [site_config(n_products=2, host=f"127.0.0.{n}", latency=0.1 * (n == 4)) for n in (2, 3, 4)]
    with practice_web_process(configs) as sites:
        names = [s.domain for s in sites]
        house.write_site(names)
        assert house.run(*NIGHT, first=names[0], last=names[-1]).success
    with published(house.installation) as connection:
        rows = connection.execute("SELECT domain, requests FROM nights").fetchall()
    assert sorted(domain for domain, _ in rows) == sorted(names)
    assert all(requests > 5 for _, requests in rows)


@pytest.mark.slow
def test_a_new_wall_detector_makes_rows_of_pages_it_clears_without_a_request(house: House) -> None:
    with practice_site_process(n_products=20) as site:
        house.write_site(site.domain)
        assert house.run(*NIGHT, first=site.domain).success
        rows = house.metadata("items", site.domain)["rows book"]
        mistaken = _mistake_for_a_wall(house, site.domain, "/book/")
        after = ("raw_html", "pages", "links", "items", "published")
        assert house.run(*after, first=site.domain).success
        assert house.metadata("raw_html", site.domain)["walls that became pages"] == 0
        assert house.metadata("items", site.domain)["rows book"] == rows - len(mistaken)
        _by_an_older_version(house, site.domain, mistaken)
        site.reset()
        assert house.run(*after, first=site.domain).success
        assert site.requests() == []
    assert house.metadata("raw_html", site.domain)["walls that became pages"] == len(mistaken)
    assert house.metadata("items", site.domain)["rows book"] == rows


def _mistake_for_a_wall(house: House, domain: str, part: str) -> list[bytes]:
    """Three pages quarantined, as a detector would that took them for walls."""
    pages, frontier = house.installation.open_pages(), house.installation.open_frontier()
    try:
        heads = [h for h in pages.scan(domain) if part in h.url][:3]
        for head in heads:
            pages.quarantine(head, "captcha", DETECTOR_VERSION, "the word robot")
            record = frontier.get(head.key)
            assert record is not None
            failed = replace(record, state=State.FAILED, cause="wall_soft_404", failed_at=1.0)
            frontier.put_records([failed])
        return [head.key for head in heads]
    finally:
        pages.close()
        frontier.close()


def _by_an_older_version(house: House, domain: str, keys: list[bytes]) -> None:
    pages = house.installation.open_pages()
    try:
        heads = pages.heads(keys, Kind.QUARANTINE, domain=domain)
        pages.touch([replace(head, verdict_version="0") for head in heads.values()])
    finally:
        pages.close()
