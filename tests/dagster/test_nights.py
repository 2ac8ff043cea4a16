"""Nights that are not plain: second nights, broken sites, budgets, layouts that change, rows published by hand."""

from __future__ import annotations

import time

import pytest

from crawl_assets.stages.against_published import LABEL
from practice_site import practice_site_process, practice_web_process, site_config
from resources.warehouse.read import domain_state, table_counts
from tests.dagster.conftest import NIGHT, House

TABLES = ("pages", "links", "items", "published")


@pytest.mark.slow
def test_a_second_night_and_a_reparse_ask_only_what_they_must(house: House) -> None:
    with practice_site_process(n_products=30) as site:
        house.write_site(site.domain)
        assert house.run(*NIGHT, first=site.domain).success
        first_rows = table_counts(house.installation, site.domain)
        site.reset()
        site.night(2)
        assert house.run(*NIGHT, first=site.domain, config={"force": True}).success
        second = house.metadata("fetched_pages", site.domain)
        assert second["not modified"] > 0
        assert second["hit rate"] > 0
        assert table_counts(house.installation, site.domain)["pages"] >= first_rows["pages"] // 2

        site.reset()
        assert house.run(*TABLES, first=site.domain, config={"parse_all": True}).success
        assert site.requests() == []
        assert house.metadata("pages", site.domain)["parsed"] > 0


def test_a_budget_ends_a_night_cleanly_and_the_next_goes_on(house: House) -> None:
    with practice_site_process(n_products=40) as site:
        house.write_site(site.domain)
        assert house.run(*NIGHT, first=site.domain, config={"max_pages": 10}).success
        short = house.metadata("fetched_pages", site.domain)
        assert short["end"] == "budget"
        assert short["urls pending"] > 0
        passed, words = house.checks("fetched_pages", "budget")[site.domain]
        assert not passed
        assert "budget ran out" in words
        assert house.checks("pages", "row_drift")[site.domain][0]
        assert house.run(*NIGHT, first=site.domain).success
        assert house.metadata("fetched_pages", site.domain)["urls pending"] == 0
        assert house.checks("fetched_pages", "no_duplicate_fetch")[site.domain][0]


@pytest.mark.slow
def test_a_changed_layout_keeps_last_nights_rows_until_somebody_decides(house: House) -> None:
    with practice_site_process(n_products=40, layout_change_night=2) as site:
        house.write_site(site.domain)
        assert house.run(*NIGHT, first=site.domain).success
        good = table_counts(house.installation, site.domain)["book"]
        site.night(2)
        assert not house.run(*NIGHT, first=site.domain, config={"force": True}).success
        assert not house.checks("items", "rejects")[site.domain][0]
        (held_back,) = house.check_metadata("items", "rejects", site.domain, LABEL)
        assert f"| book | {good} |" in held_back and "--diff" in held_back
        assert house.partitions("fetched_pages")[0] == {site.domain}
        assert house.partitions("published")[1] == {site.domain}
        assert table_counts(house.installation, site.domain)["book"] == good
        state = domain_state(house.installation, site.domain)
        assert state is not None
        assert state.stale
        assert "rejects" in (state.stale_reason or "")

        assert house.run("published", first=site.domain, config={"publish_anyway": True}).success
        assert house.partitions("published") == ({site.domain}, set())
        assert table_counts(house.installation, site.domain)["book"] < good


def test_a_domain_that_somebody_else_crawls_is_red_in_words(house: House) -> None:
    with practice_site_process(n_products=10) as site:
        house.write_site(site.domain)
        frontier = house.installation.open_frontier()
        assert frontier.lease_domain(site.domain, "elsewhere:1:1", 300.0, time.time()) is not None
        result = house.run(*NIGHT, first=site.domain)
        frontier.close()
        assert not result.success
        assert house.partitions("fetched_pages")[1] == {site.domain}
        failure = result.all_events
        assert any("elsewhere:1:1 crawls this domain" in str(e.event_specific_data) for e in failure)


def test_a_walled_site_and_a_broken_site_file_fall_alone(house: House) -> None:
    configs = [site_config(n_products=10, host=f"127.0.0.{n}", walled=n == 6) for n in (5, 6)]
    with practice_web_process(configs) as sites:
        good, walled = (s.domain for s in sites)
        house.write_site([good, walled])
        house.instance.add_dynamic_partitions("domains", ["broken.example"])
        (house.installation.sites / "broken.yaml").write_text("domains: [broken.example]\nsede: x\n")
        result = house.run(*NIGHT, first=good, last="broken.example")
        assert not result.success
        assert house.partitions("published") == ({good}, {walled, "broken.example"})
        assert "wall" in house.checks("seed_frontier", "canary")[walled][1]


def test_canaries_alone_crawl_nothing(house: House) -> None:
    with practice_site_process(n_products=10) as site:
        house.write_site(site.domain)
        job = house.loaded.resolve_job_def("canaries")
        result = job.execute_in_process(
            instance=house.instance,
            tags={
                "dagster/asset_partition_range_start": site.domain,
                "dagster/asset_partition_range_end": site.domain,
            },
            run_config=house.config(),
        )
        assert result.success
        assert house.checks("seed_frontier", "canary")[site.domain][0]
        assert len(site.requests()) == 1


def test_one_run_retries_a_cause_wherever_it_stands(house: House) -> None:
    configs = [
        site_config(n_products=10, host=f"127.0.0.{n}", dead_links=0 if n == 8 else 3) for n in (7, 8, 9)
    ]
    with practice_web_process(configs, interlinked=False) as sites:
        names = [s.domain for s in sites]
        house.write_site(names)
        house.run("seed_frontier", "fetched_pages", first=names[0], last=names[2])
        for site in sites:
            site.reset()
        config = house.config()
        config["ops"] = {"sweep": {"config": {"causes": ["http_404"], "retry_all": True}}}
        result = house.loaded.resolve_job_def("retry_everywhere").execute_in_process(
            instance=house.instance, run_config=config, raise_on_error=False
        )
        assert result.success
        assert house.partitions("published")[0] == {names[0], names[2]}
        asked = [r for r in sites[0].requests() if r["path"] != "/robots.txt"]
        assert asked
        assert {r["status"] for r in asked} == {404}
        assert sites[1].requests() == []
