"""`nightcrawl reset DOMAIN`: forget what was crawled of a domain."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from .exit_codes import ExitCode
from .failures import CommandFailed
from .terminal import count, say

__all__ = ["reset"]


def reset(
    domain: Annotated[str, typer.Argument(help="host[:port]")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Forget a domain's URLs and stored pages. Published rows, its pace and its site file stay."""
    from resources.installation import Installation

    installation = Installation.from_environment().prepare()
    frontier = installation.open_frontier()
    pages = installation.open_pages()
    try:
        counts, stored = frontier.counts(domain), pages.counts(domain)[0]
        if not counts.discovered and not stored:
            known = ", ".join(sorted(frontier.all_counts())) or "none"
            raise CommandFailed(f"{domain}: nothing is known of this domain; there are {known}")
        lease = frontier.domain_lease(domain, time.time())
        if lease is not None:
            raise CommandFailed(
                f"{domain} is being crawled by {lease.owner}: stop that first", ExitCode.BAD_NEWS
            )
        if not yes:
            say(
                f"{domain}: {count(counts.discovered)} URLs and {count(stored)} stored pages will be forgotten."
            )
            if not typer.confirm("They would have to be fetched again. Go on?"):
                say("nothing was changed")
                raise typer.Exit(ExitCode.BAD_NEWS)
        urls, bodies = frontier.reset(domain), pages.forget(domain)
    finally:
        frontier.close()
        pages.close()
    say(f"{domain}: forgot {count(urls)} URLs and {count(bodies)} stored pages")
