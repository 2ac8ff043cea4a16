"""`nightcrawl seed DOMAIN [FILE|-]`: URLs by hand, one a line, ranges such as {1..500} allowed."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .exit_codes import ExitCode
from .failures import CommandFailed
from .terminal import count, say, say_json

if TYPE_CHECKING:
    from resources.crawler.territory import DomainRules
    from resources.frontier.base import Discovery

__all__ = ["seed"]

#: URLs per transaction: cheap, and an interrupted command keeps all but the last of them.
CHUNK = 5_000
#: Refused lines told one by one; the rest is counted.
TOLD = 20


def seed(
    domain: Annotated[str, typer.Argument(help="host[:port]; a site file must cover it.")],
    file: Annotated[str, typer.Argument(help="File of URLs, or - for standard input.")] = "-",
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Add URLs to a domain's frontier; the next crawl fetches them first."""
    from resources.crawler.territory import Territory
    from resources.frontier.base import EnqueueResult
    from resources.installation import Installation

    installation = Installation.from_environment()
    rules = Territory(installation.catalog()).rules(domain)
    if rules is None:
        raise CommandFailed(f"no site file covers {domain}: write one with 'nightcrawl init'")
    refused: list[str] = []
    total = EnqueueResult()
    frontier = installation.prepare().open_frontier()
    try:
        for chunk in _chunks(_discoveries(_lines(file), rules, refused)):
            result = frontier.enqueue(chunk, time.time())
            total.new += result.new
            total.known += result.known
            total.excluded += result.excluded
    finally:
        frontier.close()
    if as_json:
        say_json(
            {
                "domain": domain,
                "new": total.new,
                "known": total.known,
                "excluded": total.excluded,
                "refused": refused,
            }
        )
    else:
        for line in refused[:TOLD]:
            say(f"refused: {line}")
        if len(refused) > TOLD:
            say(f"refused: {count(len(refused) - TOLD)} more lines")
        say(
            f"{domain}: {count(total.new)} new, {count(total.known)} already known, "
            f"{count(total.excluded)} out of scope, {count(len(refused))} refused"
        )
    if refused:
        raise typer.Exit(ExitCode.BAD_NEWS)


def _lines(file: str) -> Iterator[tuple[str, str]]:
    """(place, text) of every line that says something."""
    name = "standard input" if file == "-" else Path(file).name
    with contextlib.nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
        for number, raw in enumerate(stream, 1):
            text = raw.decode("utf-8", "replace").strip().removeprefix("\ufeff")
            if text and not text.startswith("#"):
                yield f"{name}:{number}", text


def _discoveries(
    lines: Iterable[tuple[str, str]], rules: DomainRules, refused: list[str]
) -> Iterator[Discovery]:
    """What can be enqueued; the rest goes to `refused` with the reason."""
    from resources.frontier.base import Discovery, Source
    from resources.site.seeds import SeedError, expand
    from resources.web.urls import canonical, domain_of, key, redact

    for place, text in lines:
        try:
            for url in expand(text):
                form = canonical(url, rules.policy)
                if form is None:
                    refused.append(f"{place}: {redact(url)}: no http(s) URL")
                elif (found := domain_of(form)) != rules.domain:
                    refused.append(f"{place}: {redact(url)}: is on {found}, not on {rules.domain}")
                else:
                    out = rules.exclusion(form, 0)
                    reason = f"{out[0]}: {out[1]}" if out is not None else ""
                    yield Discovery(key(form), form, rules.domain, 0, 0, Source.MANUAL, excluded=reason)
        except SeedError as error:
            refused.append(f"{place}: {error}")


def _chunks(found: Iterable[Discovery]) -> Iterator[list[Discovery]]:
    chunk: list[Discovery] = []
    for discovery in found:
        chunk.append(discovery)
        if len(chunk) >= CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
