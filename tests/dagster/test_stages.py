"""The stages through the real Dagster machinery: materializations, red and green partitions, checks."""

from __future__ import annotations

from practice_site import practice_site_process, practice_web_process, site_config
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
