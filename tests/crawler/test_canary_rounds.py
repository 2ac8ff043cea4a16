"""A round of canaries over many domains measures the sites, not the crowd of its own requests."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from practice_site import site_yaml
from resources.crawler import session
from resources.crawler.canaries import CanaryResult
from resources.crawler.session import CANARIES_AT_ONCE, CrawlSession
from resources.installation import Installation


async def test_only_so_many_domains_are_asked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way, most = 0, 0

    async def check(canary: Any, rules: Any, fetcher: Any) -> CanaryResult:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return CanaryResult(canary.url, rules.domain, "", 200, 1_000, 0.1)

    monkeypatch.setattr(session, "check_canary", check)
    domains = [f"127.0.{n // 250}.{n % 250 + 2}:8080" for n in range(3 * CANARIES_AT_ONCE)]
    installation = Installation.at(tmp_path / "data", tmp_path / "sites").prepare()
    installation.sites.mkdir()
    (installation.sites / "all.yaml").write_text(site_yaml(domains))
    async with CrawlSession(installation, "round") as crawl:
        found = await crawl.canaries(list(crawl.territory.catalog.domains()))
    assert len(found) == len(domains) and all(results for results in found.values())
    assert 1 < most <= CANARIES_AT_ONCE
