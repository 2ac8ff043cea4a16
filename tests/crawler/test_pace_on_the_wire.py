"""What a server really sees of the pace: the whole product on one side, the practice site's own log on the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from practice_site import RemoteSite, many_sites, practice_site_process, practice_web_process, site_config
from practice_site.request_log import gap_statistics
from tests.crawler.house import House

#: How late a busy machine may notice an arrival: what came meanwhile is then seen at once.
NOTICED_LATE_S = 0.15


def pages_asked(site: RemoteSite) -> list[dict[str, Any]]:
    """Requests paced by the crawl loop: robots.txt has a pace of its own."""
    return [seen for seen in site.requests() if seen["kind"] != "robots"]


def crawl(folder: Path, site: RemoteSite, pace: dict[str, Any] | None, **order: Any) -> list[float]:
    """One night; the instants at which the site saw the requests."""
    house = House(folder, pace=pace or {})
    house.write(site.domain, sitemaps="off")
    house.night(site.domain, **order)
    return [seen["at"] for seen in pages_asked(site)]


@pytest.mark.parametrize("burst", [1, 4])
def test_never_more_than_burst_in_any_window_at_a_configured_rate(tmp_path: Path, burst: int) -> None:
    rate = 40.0
    with practice_site_process(n_products=200, latency=0.01) as site:
        pace = {"rate": f"{rate:g}/s", "burst": burst, "ramp_up": 0, "concurrency": 5}
        times = crawl(tmp_path, site, pace, max_pages=100)
    assert len(times) >= 100
    for index, start in enumerate(times):
        for later in range(index + 1, len(times)):
            window = times[later] - start
            assert later - index + 1 <= burst + 1 + (window + NOTICED_LATE_S) * rate
    gaps = gap_statistics(times)
    assert gaps["rate"] <= rate * 1.05
    assert gaps["gap_variation"] > 0.1  # jittered: no metronome


def test_a_limit_is_found_on_the_wire_and_kept(tmp_path: Path) -> None:
    rate = 25.0
    with practice_site_process(n_products=400, rate=rate, burst=5) as site:
        times = crawl(tmp_path, site, None, max_pages=200)
        refused = [seen["at"] for seen in pages_asked(site) if seen["outcome"] == "limited"]
    assert refused, "the limit was never felt, so nothing was learned"
    assert len(refused) <= 6
    learned = [at for at in times if at > refused[0] + 1.0]
    for index, start in enumerate(learned):
        for later in range(index + 1, len(learned)):
            # Probes go beyond the limit for as long as its burst lasts; nothing goes beyond that.
            assert later - index + 1 <= 5 + 1 + 5 + (learned[later] - start + NOTICED_LATE_S) * rate * 1.1


def test_nobody_comes_back_in_lockstep_after_a_retry_after(tmp_path: Path) -> None:
    count, told = 6, 2.0
    template = site_config(n_products=60, rate=15.0, burst=5, retry_after_seconds=int(told), port=0)
    # One address and one state each, as for six shops behind one provider's limiter.
    with practice_web_process(many_sites(count, replace(template, port=0)), interlinked=False) as sites:
        house = House(tmp_path, pace={})
        domains = [site.domain for site in sites]
        house.write(*domains, sitemaps="off")
        house.night(*domains, max_pages=30)
        late = []
        for site in sites:
            seen = pages_asked(site)
            first = next(index for index, one in enumerate(seen) if one["outcome"] == "limited")
            after = [one["at"] for one in seen if one["at"] > seen[first]["at"] + told / 2]
            late.append(after[0] - seen[first]["at"] - told)
            assert late[-1] >= 0.0, "asked again before Retry-After had passed"
            # The return is no burst: it is no faster than what was refused.
            left = sum(seen[first]["at"] - 0.2 <= one["at"] <= seen[first]["at"] for one in seen)
            assert sum(at < after[0] + 0.2 for at in after) <= left + 2
    assert max(late) - min(late) > 0.01
    assert len({round(one, 3) for one in late}) > count / 2


def test_single_503s_of_the_sites_own_cost_a_pause_and_no_rate(tmp_path: Path) -> None:
    # Every 50th page answers 503 once, and another 50th 500; nothing of it has to do with the rate.
    with practice_site_process(
        n_products=300, seed=5, error_share=0.04, error_retry_after=False, latency=0.01
    ) as site:
        house = House(tmp_path, pace={"max_rate": "60/s"})
        house.write(site.domain, sitemaps="off")
        report = house.night(site.domain, max_pages=200)[site.domain]
        times = [seen["at"] for seen in pages_asked(site)]
    assert report.statuses.get(503, 0) >= 3
    tail = times[len(times) // 2 :]
    assert (len(tail) - 1) / (tail[-1] - tail[0]) > 0.6 * 60
