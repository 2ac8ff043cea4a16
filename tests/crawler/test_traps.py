"""Places without end on a real site: contained, at the price of at most one request in a hundred, nothing real lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from practice_site import practice_site_process
from resources.frontier.base import State
from tests.crawler.house import House
from tests.crawler.test_manners_on_the_wire import Reply, name, serving

#: Every kind of trap at once; session ids come in two kinds that exclude each other.
ALL_TRAPS = [
    {"session_trap": "section", "calendar_trap": True, "next_loop": "endless"},
    {"session_trap": "everywhere", "calendar_trap": True, "next_loop": "endless"},
]
WASTED = 0.01


@pytest.mark.parametrize(
    "traps",
    [
        pytest.param(ALL_TRAPS[0], id="ids in a section"),
        pytest.param(ALL_TRAPS[1], id="ids everywhere", marks=pytest.mark.slow),
    ],
)
def test_with_all_traps_two_nights_end_with_every_page_and_hardly_a_request_wasted(
    tmp_path: Path, traps: dict[str, Any]
) -> None:
    with practice_site_process(n_products=1000, **traps) as site:
        house = House(tmp_path)
        house.write(site.domain)
        for night in (1, 2):
            site.reset()
            site.night(night)
            report = house.night(site.domain)[site.domain]
            assert report.end == "finished"
            seen = site.stats()
            assert seen["wasted"] <= WASTED * seen["requests"], f"night {night}: {seen['by_kind']}"
            assert site.expected_pages() <= house.stored(site)
            assert house.counts(site.domain).pending == 0
        assert house.excluded(site.domain).keys() >= {"trap: session id ?sid", "trap: endless"}


def test_ids_in_every_link_lose_nothing_where_no_sitemap_names_the_pages(tmp_path: Path) -> None:
    with practice_site_process(n_products=300, session_trap="everywhere", sitemap="off") as site:
        house = House(tmp_path)
        house.write(site.domain)
        report = house.night(site.domain)[site.domain]
        assert report.end == "finished"
        assert site.expected_pages() <= house.stored(site)
        seen = site.stats()
        assert seen["repeated"] <= 5
        assert sum(report.trapped.values()) < 1_000, "ids are learned from a few pages"


def test_the_default_practice_site_ends(tmp_path: Path) -> None:
    with practice_site_process(preset="default", n_products=200, rate=0) as site:
        house = House(tmp_path)
        house.write(site.domain)
        report = house.night(site.domain)[site.domain]
        assert report.end == "finished"
        soft_404s = site.truth().walk().of_kind("soft_404")
        assert site.expected_pages() - soft_404s <= house.stored(site) | {
            r.url for r in house.records(site.domain, State.FAILED)
        }


def test_a_calendar_costs_one_probe_on_a_later_night(tmp_path: Path) -> None:
    with practice_site_process(n_products=60, calendar_trap=True) as site:
        house = House(tmp_path)
        house.write(site.domain)
        house.night(site.domain)
        first = site.stats()["trap_requests"]
        site.reset()
        site.night(2)
        house.night(site.domain)
        again = [r["path"] for r in site.requests(kind="calendar")]
        assert len(again) < first
        assert len(set(again) - {"/events/2025/01"}) == 1


def test_a_site_without_traps_has_nothing_excluded_and_nothing_remembered(tmp_path: Path) -> None:
    with practice_site_process(n_products=200) as site:
        house = House(tmp_path)
        house.write(site.domain)
        report = house.night(site.domain)[site.domain]
        assert not report.trapped
        assert not [reason for reason in house.excluded(site.domain) if reason.startswith("trap")]
        assert site.expected_pages() == house.stored(site)


def test_a_chain_of_real_pages_is_fetched_whole_and_its_holes_are_crossed_on_later_nights(
    tmp_path: Path,
) -> None:
    """Numbered pages that only name the next one; four equal pages near the start look like a trap for some nights."""
    count, hole = 120, range(4, 8)

    def reply(path: str) -> Reply:
        n = int(path.rpartition("/")[2] or 0)
        following = f"<a href='/lot/{n + 1}'>Next</a>" if n < count else ""
        text = "Sold." if n in hole else f"Lot of {' '.join(name(n * k + k) for k in range(1, 9))}"
        return 200, {}, f"<html><h1>Lot {n}</h1><p>{text}</p>{following}</html>"

    with serving(reply) as server:
        house = House(tmp_path)
        house.write(server.domain, sitemaps="off", items={}, canaries=[])
        report = house.night(server.domain)[server.domain]
        assert list(report.trapped) == [f"trap: endless http://{server.domain}/lot/#"]
        for night in range(2, 7):
            house.night(server.domain)
            counts = house.counts(server.domain)
            # Once it has been fetched whole it stays so, in whatever order its pages come on a later night.
            assert night < 5 or (counts.done, counts.excluded, counts.pending) == (count + 1, 0, 0)
