"""Links that were handed to the frontier are not handed over again, unless their commit did not count."""

from __future__ import annotations

import pytest

from resources.crawler.outlinks import MAX_URL, Outlinks
from resources.crawler.territory import Territory
from resources.frontier.base import Source
from resources.site.catalog import Catalog
from resources.site.model import Site

DOMAIN = "shop.example"
PARENT = bytes(16)


def outlinks() -> tuple[Outlinks, Territory]:
    site = Site.model_validate(
        {"name": "shop", "domains": [DOMAIN], "identity": {"contact": "a@shop.example"}}
    )
    territory = Territory(Catalog([site]))
    return Outlinks(territory), territory


def test_a_link_is_handed_over_once_and_a_redirect_each_time() -> None:
    links, territory = outlinks()
    rules = territory.rules(DOMAIN)
    assert rules is not None
    url = f"https://{DOMAIN}/a"
    assert [d.url for d in links.discoveries(rules, [url, url], PARENT, 1)] == [url]
    assert links.discoveries(rules, [url], PARENT, 1) == []
    assert len(links.discoveries(rules, [url], PARENT, 1, source=Source.REDIRECT)) == 1


def test_what_a_dropped_commit_brought_is_handed_over_again() -> None:
    links, territory = outlinks()
    rules = territory.rules(DOMAIN)
    assert rules is not None
    long = f"https://{DOMAIN}/{'x' * MAX_URL}"
    for url in (f"https://{DOMAIN}/a", long):
        found = links.discoveries(rules, [url], PARENT, 1)
        links.forget(found)
        assert links.discoveries(rules, [url], PARENT, 1) == found


def test_what_is_met_again_and_again_is_remembered_while_new_links_go_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("resources.crawler.outlinks.MAX_REMEMBERED", 10)
    links, territory = outlinks()
    rules = territory.rules(DOMAIN)
    assert rules is not None
    home, once = f"https://{DOMAIN}/", f"https://{DOMAIN}/once"
    links.discoveries(rules, [home, once], PARENT, 1)
    for number in range(100):
        url = f"https://{DOMAIN}/{number}"
        assert [d.url for d in links.discoveries(rules, [home, url], PARENT, 1)] == [url]
    assert [d.url for d in links.discoveries(rules, [once], PARENT, 1)] == [once]
