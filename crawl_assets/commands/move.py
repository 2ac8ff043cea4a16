"""`nightcrawl move`: frontier and ledger, pages, tables to another place, and back; nothing is fetched again."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .exit_codes import ExitCode
from .failures import CommandFailed
from .terminal import count, say, say_json, size

if TYPE_CHECKING:
    from resources.frontier.move import DomainMoved
    from resources.installation import Installation

__all__ = ["move"]

#: Named values that belong to the URLs. What counts rows of the fetch log stays: numbers begin anew over there.
_OF_DOMAIN = ("traps:{}", "robots:{}", "seeding:{}")
_OF_ALL = ("parser_suspects",)
#: URLs of damaged pages told one by one; the rest is counted.
_TOLD = 20


def move(
    to: Annotated[
        str | None, typer.Option(help="Frontier and ledger: redis://…, postgresql://… or a SQLite path.")
    ] = None,
    pages: Annotated[
        str | None, typer.Option(help="Stored pages: s3://…, files:///… or a SQLite path.")
    ] = None,
    tables: Annotated[
        str | None, typer.Option(help="Tables: s3://… from a folder, or a folder from s3://….")
    ] = None,
    ledger_to: Annotated[
        str | None, typer.Option(help="Where the ledger goes; by default beside the frontier, as at start.")
    ] = None,
    without_log: Annotated[
        bool, typer.Option("--without-log", help="Leave fetch log rows behind that are in no table yet.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Carry URLs with their states and paces, pages, or tables to another place. Interrupted, it goes on.

    Stop everything that crawls first. What is not named stays where it is, and is said at the end.
    """
    from resources.installation import Installation

    here = Installation.from_environment().prepare()
    there = _target(here, to, ledger_to, pages, tables)
    said: dict[str, Any] = {}
    damaged: list[str] = []
    if pages is not None:
        said["pages"], damaged = _pages(here, there, quiet=as_json)
    if tables is not None:
        said["tables"] = _tables(here, there, quiet=as_json)
    if to is not None:
        said |= _frontier(here, there, without_log, quiet=as_json)
    left = _left(here, there)
    if as_json:
        say_json(said | {"not_moved": left})
    else:
        given = {"FRONTIER": to, "LEDGER": ledger_to, "PAGES": pages, "TABLES": tables}
        say(
            "from now on: " + " ".join(f"NIGHTCRAWL_{name}={value}" for name, value in given.items() if value)
        )
        say("what was moved is still here as it was; delete it when the first night over there was well")
        for words in left:
            say(f"not moved: {words}")
    if damaged:
        raise typer.Exit(ExitCode.BAD_NEWS)


def _target(
    here: Installation, to: str | None, ledger_to: str | None, pages: str | None, tables: str | None
) -> Installation:
    from resources.installation import Installation

    if to is None and pages is None and tables is None:
        raise CommandFailed("nothing to move: --to for the frontier, --pages, --tables, or several of them")
    if ledger_to is not None and to is None:
        raise CommandFailed("the ledger moves with the frontier: --ledger-to needs --to")
    words = {"NIGHTCRAWL_DATA": str(here.data), "NIGHTCRAWL_SITES": str(here.sites)}
    words["NIGHTCRAWL_PAGES"], words["NIGHTCRAWL_TABLES"] = pages or here.pages, tables or here.tables
    words["NIGHTCRAWL_FRONTIER"] = to or here.frontier
    words["NIGHTCRAWL_LEDGER"] = ledger_to or "" if to is not None else here.ledger
    there = Installation.from_environment(words)
    for option, name in (("to", "frontier"), ("pages", "pages"), ("tables", "tables")):
        if {"to": to, "pages": pages, "tables": tables}[option] and getattr(there, name) == getattr(
            here, name
        ):
            raise CommandFailed(f"--{option} names the place in use: there is nothing to move")
    if to is not None and not ledger_to and os.environ.get("NIGHTCRAWL_LEDGER"):
        there = replace(there, ledger=here.ledger)  # it was put somewhere by name: there it stays
    return there


def _frontier(here: Installation, there: Installation, without_log: bool, *, quiet: bool) -> dict[str, Any]:
    from resources.frontier.move import move as move_frontier
    from resources.pacing.ledger.move import move_ledger

    source, target = here.open_frontier(), there.open_frontier()
    try:
        names = [form.format(domain) for domain in source.all_counts() for form in _OF_DOMAIN]

        def tell(moved: DomainMoved) -> None:
            if not quiet:
                say(f"{moved.domain}: {count(moved.rows)} URLs, checked ({moved.digest[:12]})")

        report = move_frontier(
            source, target, time.time(), values=[*names, *_OF_ALL], without_log=without_log, on_domain=tell
        )
    finally:
        source.close()
        target.close()
    ledger = None
    if here.ledger != there.ledger:
        old, new = here.open_ledger(), there.open_ledger()
        try:
            ledger = move_ledger(old, new)
        finally:
            old.close()
            new.close()
    if not quiet:
        paces = f", {count(ledger.rows)} paces, {count(ledger.nights)} nights" if ledger is not None else ""
        say(f"moved and verified: {count(report.rows)} URLs of {count(len(report.domains))} domains{paces}")
    return {
        "urls": report.rows,
        "domains": {d.domain: {"urls": d.rows, "digest": d.digest} for d in report.domains},
        "paces": ledger.rows if ledger is not None else 0,
        "nights": ledger.nights if ledger is not None else 0,
    }


def _domains(here: Installation, deed: str) -> list[str]:
    """Domains of the frontier; nobody may be working on them."""
    from resources.frontier.move import check_quiet

    frontier = here.open_frontier()
    try:
        check_quiet(frontier, time.time(), deed)
        return sorted(frontier.all_counts())
    finally:
        frontier.close()


def _pages(here: Installation, there: Installation, *, quiet: bool) -> tuple[dict[str, Any], list[str]]:
    """(for programs, URLs of damaged pages)."""
    from resources.pages.move import move_pages

    _domains(here, "to move the pages of")
    source, target = here.open_pages(), there.open_pages()
    found: dict[str, dict[str, Any]] = {}
    damaged: list[str] = []
    total = 0
    try:
        for moved in move_pages(source, target):
            damaged += moved.damaged
            total += moved.pages
            found[moved.domain] = {
                "pages": moved.pages, "written": moved.written, "digest": moved.digest, "damaged": moved.damaged,
            }  # fmt: skip
            if not quiet:
                was = f", {count(moved.pages - moved.written)} there already" * (moved.written < moved.pages)
                say(f"{moved.domain}: {count(moved.pages)} pages{was}, checked ({moved.digest[:12]})")
    finally:
        source.close()
        target.close()
    if not quiet:
        for url in damaged[:_TOLD]:
            say(f"damaged, to be fetched again: {url}")
        if len(damaged) > _TOLD:
            say(f"damaged, to be fetched again: {count(len(damaged) - _TOLD)} more")
        say(f"moved and verified: {count(total)} pages of {count(len(found))} domains")
    return found, damaged


def _tables(here: Installation, there: Installation, *, quiet: bool) -> dict[str, Any]:
    from resources.warehouse.storage.move import move_tables

    moved = move_tables(here.open_tables(), there.open_tables(), _domains(here, "to move the tables of"))
    if not quiet:
        say(f"moved and verified: {count(moved.rows)} rows of {moved.tables} tables, {size(moved.size)}")
    return {"tables": moved.tables, "rows": moved.rows, "bytes": moved.size, "domains": moved.domains}


def _left(here: Installation, there: Installation) -> list[str]:
    """What other machines still cannot reach, or what was left behind, with the command that changes it."""
    words = []
    shared = there.shared
    if there.frontier == here.frontier and not shared:
        words.append(f"URLs and paces in {here.frontier}: nightcrawl move --to redis://HOST:6379/0")
    if there.pages == here.pages and (shared and not here.pages.startswith("s3://")):
        words.append(f"pages in {here.pages}: nightcrawl move --pages s3://BUCKET/pages")
    if there.tables == here.tables and (shared and not here.tables.startswith("s3://")):
        words.append(f"tables in {here.tables}: nightcrawl move --tables s3://BUCKET/tables")
    if there.pages == here.pages and (not shared and here.pages.startswith("s3://")):
        words.append(
            f"pages in {here.pages.partition('?')[0]}: nightcrawl move --pages {here.data / 'pages.sqlite'}"
        )
    if there.tables == here.tables and (not shared and here.tables.startswith("s3://")):
        words.append(
            f"tables in {here.tables.partition('?')[0]}: nightcrawl move --tables {here.data / 'tables'}"
        )
    words.append(
        f"reports in {here.reports}, site files and Dagster's history: copy the folders, or leave them here"
    )
    return words
