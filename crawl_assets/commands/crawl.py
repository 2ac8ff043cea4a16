"""`nightcrawl crawl`: one complete night, here and now."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .exit_codes import ExitCode
from .failures import CommandFailed
from .terminal import say

if TYPE_CHECKING:
    from resources.installation import Installation

__all__ = ["crawl"]


def crawl(
    url: Annotated[
        str | None,
        typer.Argument(help="Crawl the site of this URL; a site file is written if there is none."),
    ] = None,
    site: Annotated[Path | None, typer.Option(help="Crawl the domains of this site file.")] = None,
    practice: Annotated[bool, typer.Option("--practice", help="Crawl the bundled practice site.")] = False,
    domain: Annotated[list[str] | None, typer.Option(help="Only this domain; may be repeated.")] = None,
    max_pages: Annotated[int | None, typer.Option(min=1, help="Most pages per domain tonight.")] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.0, help="Stop after this long; the rest waits.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Fetch every known page again, due or not.")] = False,
    contact: Annotated[
        str | None,
        typer.Option(envvar="NIGHTCRAWL_CONTACT", help="URL or mail address, for a new site file."),
    ] = None,
    practice_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port of the practice site.")
    ] = None,
    practice_products: Annotated[int | None, typer.Option(min=1, help="Books of the practice site.")] = None,
) -> None:
    """Run one complete night: seed, fetch, retry, tables. Without arguments over all sites."""
    from resources.installation import Installation

    from .night_run import NightOrder, run_night
    from .night_summary import print_summary

    if sum((url is not None, site is not None, practice)) > 1:
        raise CommandFailed("choose one of URL, --site and --practice")
    with ExitStack() as stack:
        installation = Installation.from_environment()
        night = None
        if practice:
            from .practice_night import practice_night

            night = stack.enter_context(practice_night(installation, practice_port, practice_products))
            wanted = [night.domain]
            say(f"night {night.night} at the practice site, {night.url} ({night.products} books)")
        elif site is not None:
            installation, wanted = _of_file(installation, site)
        elif url is not None:
            wanted = [_of_url(installation, url, contact)]
        else:
            from crawl_assets.partitions import known_domains

            wanted = known_domains(installation, installation.catalog())
        domains = _chosen(wanted, domain)
        say(f"crawling {', '.join(domains[:5])}{f' and {len(domains) - 5} more' if len(domains) > 5 else ''}")
        outcome = run_night(installation, NightOrder(domains, max_pages, minutes, force))
        failed = print_summary(installation, domains, outcome)
        if night is not None and outcome.watch.stopped_by is None and not failed:
            night.complete = True
    if (code := outcome.watch.exit_code) is not None:
        say("stopped as asked: everything fetched is kept, the rest is pending; the same command goes on")
        raise typer.Exit(code)
    if failed:
        raise typer.Exit(ExitCode.BAD_NEWS)


def _of_file(installation: Installation, path: Path) -> tuple[Installation, list[str]]:
    """The domains of one site file; a file outside the sites folder is used by itself."""
    import os
    from dataclasses import replace

    from resources.site.catalog import Catalog
    from resources.site.load import load_site

    if not path.is_file():
        raise CommandFailed(f"{path}: no such site file")
    found = load_site(path)
    if path.resolve().parent != installation.sites.resolve():
        installation = replace(installation, sites=path.absolute())
        os.environ["NIGHTCRAWL_SITES"] = str(path.absolute())
    from crawl_assets.partitions import known_domains

    return installation, known_domains(installation, Catalog([found], path.absolute().parent))


def _of_url(installation: Installation, url: str, contact: str | None) -> str:
    """The domain of `url`, after a site file was written for it if none covers it."""
    from resources.web.urls import parse, redact

    parsed = parse(url if "://" in url else f"https://{url}")
    if parsed is None:
        raise CommandFailed(f"{redact(url)!r} is no http(s) URL: write it whole, as in https://shop.example/")
    if installation.catalog().for_domain(parsed.domain) is None:
        from .init import write_site_file

        path = write_site_file(installation, parsed.href, contact)
        say(f"wrote {path}: look at it before the next night")
        installation.catalog()
    return parsed.domain


def _chosen(wanted: list[str], only: list[str] | None) -> tuple[str, ...]:
    if only:
        unknown = [d for d in only if d not in wanted]
        if unknown:
            raise CommandFailed(
                f"no such domain here: {', '.join(unknown)}; there are {', '.join(wanted) or 'none'}"
            )
        wanted = [d for d in wanted if d in only]
    if not wanted:
        raise CommandFailed(
            "there is nothing to crawl: write a site file with 'nightcrawl init URL', or try 'nightcrawl crawl --practice'"
        )
    return tuple(wanted)
