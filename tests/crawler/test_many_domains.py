"""More domains than are opened at once: each waits for its turn, all are crawled whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from practice_site import many_sites, practice_web_process, site_config
from practice_site.site_file import site_yaml
from resources.crawler import crawl as crawl_module
from resources.crawler.order import CrawlOrder
from resources.crawler.session import CrawlSession
from resources.installation import Installation


async def test_domains_beyond_the_opening_limit_are_crawled_whole(tmp_path: Path) -> None:
    count = crawl_module.OPENING_AT_ONCE + 16
    configs = many_sites(count, replace(site_config(preset="tame", n_products=2), port=0))
    sites = tmp_path / "sites"
    sites.mkdir()
    with practice_web_process(configs) as web_sites:
        domains = tuple(site.domain for site in web_sites)
        (sites / "many.yaml").write_text(
            site_yaml(domains, name="many", changes={"pace": {"rate": "unlimited"}, "sitemaps": "off"})
        )
        async with CrawlSession(Installation.at(tmp_path / "data", sites), "run") as session:
            await session.seed(domains)
            reports = await session.crawl(CrawlOrder(domains, "run"))
            counts = session.storage.frontier.all_counts
            by_domain = await session.storage.run(counts)
    assert [r.domain for r in reports] == list(domains)
    assert {r.end for r in reports} == {"finished"}
    assert all(c.pending == c.leased == 0 < c.done for c in by_domain.values())
