"""`nightcrawl import-warc`: pages from WARC files into page store and frontier, without a request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .exit_codes import ExitCode
from .failures import CommandFailed
from .terminal import count, say, say_json

if TYPE_CHECKING:
    from resources.archive.intake import IntakeReport
    from resources.installation import Installation

__all__ = ["import_warc"]

#: Pieces of damage told one by one; the rest is counted.
TOLD = 20


def import_warc(
    files: Annotated[list[Path], typer.Argument(help="WARC or ARC files, plain or gzip.")],
    salvage: Annotated[bool, typer.Option(help="Search for whole records behind damage.")] = True,
    tables: Annotated[bool, typer.Option(help="Make and publish the tables of the domains at once.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Fill the page store from archives; the tables then come from them without one request."""
    import uuid

    from resources.archive.intake import import_warc as carry_out
    from resources.crawler.territory import Territory
    from resources.installation import Installation

    if missing := [str(path) for path in files if not path.is_file()]:
        raise CommandFailed(f"no such file: {', '.join(missing)}")
    installation = Installation.from_environment().prepare()
    territory = Territory(installation.catalog())
    frontier, pages = installation.open_frontier(), installation.open_pages()
    reports: dict[Path, IntakeReport] = {}
    try:
        for path in files:
            reports[path] = carry_out(path, frontier, pages, territory, str(uuid.uuid4()), salvage=salvage)
    finally:
        frontier.close()
        pages.close()
    if as_json:
        say_json({str(path): _as_json(report) for path, report in reports.items()})
    else:
        for path, report in reports.items():
            _tell(path, report)
    domains = sorted({d for report in reports.values() for d in report.domains})
    if tables and domains:
        _make_tables(installation, domains, quiet=as_json)
    if any(report.damage or not report.records for report in reports.values()):
        raise typer.Exit(ExitCode.BAD_NEWS)


def _as_json(r: IntakeReport) -> dict[str, Any]:
    return {
        "records": r.records, "pages": r.pages, "redirects": r.redirects, "failed": r.failed, "walls": r.walls,
        "revisits": r.revisits, "older": r.older, "skipped": dict(r.skipped), "damage": r.damage,
        "domains": sorted(r.domains),
    }  # fmt: skip


def _tell(path: Path, r: IntakeReport) -> None:
    say(
        f"{path}: {count(r.records)} records: {count(r.pages)} pages, {count(r.redirects)} redirects, "
        f"{count(r.failed)} failures, {count(r.walls)} walls, {count(r.revisits)} revisits, "
        f"{count(r.older)} older than what is known"
    )
    for reason, n in r.skipped.most_common(10):
        say(f"  passed over: {count(n)}: {reason}")
    for damage in r.damage[:TOLD]:
        say(f"  damage: {damage}")
    if len(r.damage) > TOLD:
        say(f"  damage: {count(len(r.damage) - TOLD)} more places")
    if not r.records:
        say("  no whole record: is it a WARC or ARC file?")


def _make_tables(installation: Installation, domains: list[str], *, quiet: bool) -> None:
    """The job `reparse`: tables, audit and publish from the page store. Nothing is requested."""
    from .graph_run import run_graph

    found = run_graph(installation, "reparse", domains, {})
    if not quiet:
        for words in (*found.findings, *(f"failed: {d}: {why}" for d, why in found.fallen.items())):
            say(f"  {words}")
        say(f"tables of {', '.join(domains)} are in {installation.published}")
    if found.fallen:
        raise typer.Exit(ExitCode.BAD_NEWS)
