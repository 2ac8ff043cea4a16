"""Pages that fail for a while fail on the wire, by seed and attempt, and get well."""

from __future__ import annotations

from typing import Any

from practice_site import PracticeSite, SiteConfig, site_config
from practice_site.faults import Faults
from tests.practice_site.raw_client import fetch


async def test_errors_last_for_the_chosen_attempts() -> None:
    async with PracticeSite(site_config(n_products=30, error_share=1.0, error_attempts=2)) as site:
        paths = [row["url"].removeprefix(site.origin) for row in site.truth().expected_items()]
        replies = [[await fetch(site, path) for _ in range(3)] for path in paths]
        assert {tuple(reply.status for reply in three) for three in replies} == {
            (500, 500, 200),
            (503, 503, 200),
        }
        assert all(
            ("retry-after" in reply.headers) == (reply.status == 503) for three in replies for reply in three
        )
        site.reset()
        assert (await fetch(site, paths[0])).status in {500, 503}
        assert (await fetch(site, "/")).status == 200


async def test_truncated_bodies_stop_before_their_content_length() -> None:
    async with PracticeSite(site_config(n_products=5, truncated_share=1.0)) as site:
        cut, mended = await fetch(site, "/books"), await fetch(site, "/books")
        assert (cut.status, cut.whole) == (200, False)
        assert 0 < len(cut.body) < int(cut.headers["content-length"])
        assert mended.whole
        assert mended.body.startswith(cut.body)
        zipped = await fetch(site, "/categories", Accept_Encoding="gzip")
        assert not zipped.whole


async def test_slow_pages_take_their_time_and_the_log_says_so() -> None:
    async with PracticeSite(site_config(n_products=5, slow_share=1.0, slow_seconds=0.02)) as site:
        assert (await fetch(site, "/books")).status == 200
        assert [entry.delay for entry in site.log.entries] == [0.02]


def faulty(config: SiteConfig) -> dict[str, str]:
    faults = Faults(config)
    return {f"/x{n}": faults.plan(f"/x{n}").kind for n in range(500)}


def test_the_same_seed_and_night_fail_alike_and_others_differ() -> None:
    shares: dict[str, Any] = {"error_share": 0.1, "truncated_share": 0.1, "slow_share": 0.1}
    plans = [
        faulty(site_config(seed=seed, night=night, **shares))
        for seed, night in ((1, 1), (1, 1), (2, 1), (1, 2))
    ]
    assert plans[0] == plans[1]
    assert plans[0] != plans[2]
    assert plans[0] != plans[3]
    counts = [list(plans[0].values()).count(kind) for kind in ("error", "truncated", "slow")]
    assert all(25 < count < 80 for count in counts)


async def test_a_site_can_be_down_in_three_ways_and_still_be_controlled() -> None:
    async with PracticeSite(site_config(n_products=5, down="503")) as site:
        assert (await fetch(site, "/")).status == 503
        site.set(down="reset")
        try:
            reply = await fetch(site, "/robots.txt")
        except (ConnectionResetError, IndexError):
            reply = None
        assert reply is None
        assert [(entry.status, entry.outcome) for entry in site.log.entries] == [(503, "down"), (0, "down")]
        assert (await fetch(site, "/_control/health")).status == 200
