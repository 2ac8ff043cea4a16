"""`nightcrawl init URL`: a commented site file after a first look at the site."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .failures import CommandFailed
from .terminal import say

if TYPE_CHECKING:
    from resources.crawler.first_look import FirstLook
    from resources.installation import Installation
    from resources.web.urls import Url

__all__ = ["init", "write_site_file"]


def init(
    url: Annotated[str, typer.Argument(help="Front page of the site.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write. Default: the sites folder.")
    ] = None,
    contact: Annotated[
        str | None,
        typer.Option(envvar="NIGHTCRAWL_CONTACT", help="URL or mail address where the owner reaches you."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Read a site's robots.txt, sitemap and front page, and write a commented site file."""
    from resources.installation import Installation

    path = write_site_file(
        Installation.from_environment(), url, contact, output, force=force, ask_for_contact=False
    )
    say(f"wrote {path}")
    from resources.site.load import read_sites

    _, problems = read_sites(path)
    for problem in problems:
        say(f"to fill in: {problem}")
    say(f"look at it, then: nightcrawl crawl --site {path}")


def write_site_file(
    installation: Installation,
    url: str,
    contact: str | None,
    output: Path | None = None,
    *,
    force: bool = False,
    ask_for_contact: bool = True,
) -> Path:
    """Look at the site and write its file; where. Existing files are kept unless `force`."""
    from resources.site.draft import Draft, DraftItem
    from resources.site.load import default_name
    from resources.site.model import is_public_host
    from resources.web.urls import parse, redact

    parsed = parse(url if "://" in url else f"https://{url}")
    if parsed is None:
        raise CommandFailed(f"{redact(url)!r} is no http(s) URL: write it whole, as in https://shop.example/")
    public = is_public_host(parsed.domain)
    if public and not contact and ask_for_contact:
        raise CommandFailed(
            f"{parsed.domain} is a public host: say who crawls it with --contact URL-or-mail (or NIGHTCRAWL_CONTACT); "
            "its owner needs a way to reach you"
        )
    path = (
        output
        or installation.sites / f"{default_name(parsed.domain.replace('.', '-').replace(':', '-'))}.yaml"
    )
    if path.exists() and not force:
        raise CommandFailed(f"{path} exists already: --force overwrites it")
    private = _private_address(parsed.host)
    look = _look(parsed, contact, private)
    draft = Draft(
        name=default_name(path.stem),
        domain=parsed.domain,
        url=look.url,
        contact=contact,
        public=public,
        private=private,
        title=look.title,
        crawl_delay=look.crawl_delay,
        robots=look.robots_words,
        sitemaps=look.sitemaps_found or look.named_sitemaps,
        sitemap_urls=look.sitemap_urls,
        problem=look.problem,
        items=[DraftItem(i.kind, i.page, i.properties) for i in look.items],
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(draft.to_yaml(), encoding="utf-8")
    return path


def _private_address(host: str) -> str | None:
    """The address, if the user named a private or loopback one: naming it is the permission. A name is none."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
    return None if address.is_global else str(address)


def _look(parsed: Url, contact: str | None, private: str | None) -> FirstLook:
    import asyncio
    import time

    from resources.crawler.first_look import look_at
    from resources.fetcher.base import FetchProfile
    from resources.fetcher.web import WebFetcher
    from resources.site.model import PRODUCT

    agent = f"{PRODUCT}/0.1 (+{contact})" if contact else f"{PRODUCT}/0.1"
    profile = FetchProfile(headers=(("user-agent", agent),), allow_networks=(private,) if private else ())

    async def look() -> FirstLook:
        fetcher = WebFetcher()
        try:
            return await look_at(parsed.href, fetcher, profile, agent, now=time.time())
        finally:
            await fetcher.close()

    return asyncio.run(look())
