"""The audit of merged URLs: what is sampled, what is asked at whose pace, what it finds."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from practice_site import practice_site_process
from resources.crawler.merges import MergedPair, MergeSample
from resources.crawler.merges.sample import PAIRS, RULES
from resources.web.urls import UrlPolicy

from .house import House

DOMAIN = "shop.example"
SHOP = f"https://{DOMAIN}"
POLICY = UrlPolicy(drop_parameters=("format", "sid"))


def sample(saved: str | None = None, policy: UrlPolicy = POLICY) -> MergeSample:
    return MergeSample(DOMAIN, policy, saved, random.Random(1))


# -- the sample ---------------------------------------------------------------------------------------------
def test_the_sample_is_bounded_and_every_link_has_its_chance() -> None:
    kept = set()
    for seed in range(60):
        bounded = MergeSample(DOMAIN, POLICY, None, random.Random(seed))
        bounded.saw((f"{SHOP}/p{n}?sid=1", f"{SHOP}/p{n}") for n in range(40))
        assert len(bounded) == PAIRS
        kept |= {url for _, url, _ in bounded.candidates()}
    assert len(kept) == 40


def test_rules_are_bounded_too() -> None:
    wide = UrlPolicy(keep_parameters=())
    many = sample(policy=wide)
    many.saw((f"{SHOP}/?p{n}=1", f"{SHOP}/") for n in range(10 * RULES))
    assert len(many) == RULES


def test_links_of_one_rule_go_before_links_of_several() -> None:
    mixed = sample()
    mixed.saw([(f"{SHOP}/a?sid=1&format=x", f"{SHOP}/a"), (f"{SHOP}/a?sid=1", f"{SHOP}/a")])
    labels = [label for label, _, _ in mixed.candidates()]
    assert labels == ["urls.drop_parameters: sid", "urls.drop_parameters: sid + urls.drop_parameters: format"]


def test_links_elsewhere_and_links_no_rule_changes_are_left_out() -> None:
    none = sample()
    none.saw([("https://other.example/?sid=1", "https://other.example/"), (f"{SHOP}/a", f"{SHOP}/a")])
    assert len(none) == 0 and not none.dirty


def test_a_sample_is_kept_and_forgotten_with_its_rule() -> None:
    first = sample()
    first.saw([(f"{SHOP}/a?sid=1", f"{SHOP}/a"), (f"{SHOP}/a?format=x", f"{SHOP}/a")])
    rule = ("urls.drop_parameters: format",)
    first.found = [MergedPair(rule, f"{SHOP}/a?format=x", f"{SHOP}/a", "different", "all of it", 1.0)]
    again = sample(first.to_json())
    assert (len(again), again.found) == (2, first.found)
    mended = sample(first.to_json(), UrlPolicy(drop_parameters=("sid",)))
    assert (len(mended), mended.found) == (1, [])
    assert len(sample('{"version": 0}')) == 0


def test_once_a_night() -> None:
    night = sample()
    assert not night.due(1e9)  # nothing to ask
    night.saw([(f"{SHOP}/a?sid=1", f"{SHOP}/a")])
    assert night.due(1e9)
    night.audited_at = 1e9
    assert not night.due(1e9 + 3600)
    assert night.due(1e9 + 86_000)


# -- the crawl ----------------------------------------------------------------------------------------------
def crawl(
    tmp_path: Path, urls: dict[str, Any], **behaviour: Any
) -> tuple[list[MergedPair], list[str], House]:
    """(what the audit compared, targets asked with a parameter the rules drop, the house)."""
    house = House(tmp_path)
    with practice_site_process(n_products=16, **behaviour) as site:
        house.write(site.domain, urls=urls)
        report = house.night(site.domain, audit_urls=True)[site.domain]
        asked = [r["path"] for r in site.requests()]
        again = house.night(site.domain, audit_urls=True)[site.domain]
        assert again.merged == report.merged  # asked once a night, known all night
        extra = [path for path in asked if "format=" in path or "sid=" in path or "sort=" in path]
        counts = house.counts(site.domain)
        assert counts.pending == 0
    return report.merged, extra, house


def test_a_parameter_that_selects_content_is_found_out(tmp_path: Path) -> None:
    pairs, asked, _ = crawl(tmp_path, {"drop_parameters": ["format"]})
    different = [pair for pair in pairs if pair.outcome == "different"]
    assert different
    assert {pair.rules for pair in different} == {("urls.drop_parameters: format",)}
    assert all("format=" in pair.url and "format=" not in pair.canonical for pair in different)
    assert 0 < len(asked) <= 20


def test_a_session_id_is_the_same_page(tmp_path: Path) -> None:
    pairs, asked, _ = crawl(tmp_path, {"drop_parameters": ["sid"]}, session_trap="everywhere")
    assert pairs
    assert {pair.outcome for pair in pairs} == {"same"}
    assert len([path for path in asked if "sid=" in path]) == len(pairs) <= 10


@pytest.mark.parametrize(
    ("urls", "why"),
    [({}, "nothing is merged"), ({"drop_parameters": ["format"], "audit": 0}, "the site file says so")],
)
def test_where_nothing_is_to_be_asked_nothing_is(tmp_path: Path, urls: dict[str, Any], why: str) -> None:
    pairs, asked, _ = crawl(tmp_path, urls)
    assert pairs == [], why
    if urls:
        assert asked == []


def test_the_budget_of_the_site_file_is_kept(tmp_path: Path) -> None:
    pairs, asked, _ = crawl(tmp_path, {"drop_parameters": ["format"], "audit": 2})
    assert len(pairs) == 1
    assert len(asked) == 1


def test_what_robots_forbids_is_not_asked(tmp_path: Path) -> None:
    """Lists sorted by price are closed to robots; with `sort` dropped they would be the open lists."""
    pairs, asked, _ = crawl(tmp_path, {"drop_parameters": ["sort"]})
    assert not [pair for pair in pairs if "sort" in pair.url]
    assert not [target for target in asked if "sort=" in target]


def test_it_goes_at_the_pace_of_the_domain_and_ends_in_the_budget_too(tmp_path: Path) -> None:
    house = House(tmp_path, pace={"rate": 50, "jitter": 0})
    with practice_site_process(n_products=30) as site:
        house.write(site.domain, urls={"drop_parameters": ["format"]}, scope={"max_pages": 42})
        report = house.night(site.domain, audit_urls=True)[site.domain]
        requests = [r for r in site.requests() if r["kind"] not in ("robots", "sitemap")]
    assert report.end == "budget"
    assert report.requests == 42
    assert report.merged
    assert len(requests) > 42
    assert len(requests) / (requests[-1]["at"] - requests[0]["at"]) < 55
