"""A breadth-first crawl with the standard library only: an independent opinion on what can be reached."""

from __future__ import annotations

import gzip
import re
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit
from xml.etree import ElementTree

from practice_site import PracticeSite
from tests.practice_site.raw_client import fetch

__all__ = ["Links", "naive_crawl"]

NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


class Links(HTMLParser):
    """href of every <a> that is not nofollow."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.nofollow_page = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "meta" and values.get("name") == "robots" and "nofollow" in (values.get("content") or ""):
            self.nofollow_page = True
        if tag == "a" and values.get("href") and "nofollow" not in (values.get("rel") or ""):
            self.found.append(values["href"] or "")


async def naive_crawl(site: PracticeSite, *, sitemaps: bool = True) -> dict[str, int]:
    """Status of every URL of the site that a polite crawler gets to, without following redirects' targets
    other than by queue."""
    robots = (await fetch(site, "/robots.txt")).body.decode()
    queue = [site.url]
    if sitemaps:
        for sitemap in re.findall(r"(?m)^Sitemap: (\S+)$", robots):
            queue += await _sitemap_urls(site, sitemap)
    seen: dict[str, int] = {}
    while queue:
        url = urldefrag(queue.pop(0)).url
        if url in seen or not url.startswith(site.url):
            continue
        if not _may_fetch(robots, url.removeprefix(site.origin)):
            continue
        parts = urlsplit(url)
        reply = await fetch(site, parts.path + (f"?{parts.query}" if parts.query else ""))
        seen[url] = reply.status
        if "location" in reply.headers:
            queue.append(urljoin(url, reply.headers["location"]))
        elif reply.status == 200:
            links = Links(reply.body.decode("ascii", "ignore"))
            if not links.nofollow_page:
                queue += [urljoin(url, link) for link in links.found]
    return seen


def _may_fetch(robots: str, target: str) -> bool:
    """The longest matching rule of the group for everybody (RFC 9309, 2.2.2)."""
    group = robots.partition("User-agent: *\n")[2].partition("User-agent:")[0]
    rules = re.findall(r"(?m)^(Allow|Disallow): (\S+)$", group)
    matching = [
        (len(rule), verb == "Allow")
        for verb, rule in rules
        if re.match(re.escape(rule).replace(r"\*", ".*"), target)
    ]
    return max(matching, default=(0, True))[1]


async def _sitemap_urls(site: PracticeSite, url: str) -> list[str]:
    body = (await fetch(site, urlsplit(url).path)).body
    if body.startswith(b"\x1f\x8b"):
        body = gzip.decompress(body)
    root = ElementTree.fromstring(body)
    urls = [loc.text or "" for loc in root.iter(f"{NAMESPACE}loc")]
    if root.tag == f"{NAMESPACE}sitemapindex":
        return [found for part in urls for found in await _sitemap_urls(site, part)]
    return urls
