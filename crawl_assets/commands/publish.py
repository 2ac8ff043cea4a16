"""`nightcrawl publish`: audit and publish what is loaded, by hand."""

from __future__ import annotations

from typing import Annotated

import typer

from .exit_codes import ExitCode
from .failures import CommandFailed
from .terminal import count, say, say_json, size, span

__all__ = ["publish"]


def publish(
    domain: Annotated[
        list[str] | None, typer.Argument(help="Only these domains. Default: all that are loaded.")
    ] = None,
    force: Annotated[
        list[str] | None, typer.Option(help="Publish this domain although its audit fails; may be repeated.")
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Only show what would change.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Put tonight's rows in the place of the published ones, domain by domain, if their audit passes."""
    from resources.installation import Installation
    from resources.warehouse.publish import PublishError
    from resources.warehouse.publish import publish as carry_out

    installation = Installation.from_environment()
    if diff:
        _show_diff(installation, domain or force or installation.catalog().domains(), as_json)
        return
    wanted = [*(domain or []), *(force or [])] if domain or force else None
    try:
        report = carry_out(installation, wanted, force or ())
    except PublishError as error:
        raise CommandFailed(str(error), ExitCode.STORAGE) from None
    unknown = sorted({*(wanted or ())} - {*report.published, *report.stale, *report.withheld})
    if as_json:
        say_json(
            {"published": report.published, "unknown": unknown, "forced": report.forced, "stale": report.stale, "withheld": report.withheld,
             "problems": {d: [str(p) for p in ps] for d, ps in report.problems.items()}, "tables": report.tables,
             "bytes": report.bytes, "seconds": report.seconds}
        )  # fmt: skip
    else:
        for name in report.published:
            say(f"{name}: published{' by force' if name in report.forced else ''}")
        for name, why in report.stale.items():
            say(f"{name}: keeps its earlier rows, marked stale: {why}")
        for name, why in report.withheld.items():
            say(f"{name}: has no published rows: {why}")
        for name in unknown:
            say(f"{name}: nothing of it is loaded; 'nightcrawl status' lists the domains there are")
        rows = ", ".join(f"{name} {count(n)}" for name, n in sorted(report.tables.items()))
        say(f"{installation.published}: {rows} ({size(report.bytes)}, {span(report.seconds)})")
    if report.stale or report.withheld or unknown:
        raise typer.Exit(ExitCode.BAD_NEWS)


def _show_diff(installation: object, domains: list[str], as_json: bool) -> None:
    from dataclasses import asdict

    from resources.installation import Installation
    from resources.warehouse.publish import diff

    assert isinstance(installation, Installation)
    found = {domain: diff(installation, domain) for domain in domains}
    if as_json:
        say_json({domain: [asdict(table) for table in tables] for domain, tables in found.items()})
        return
    for domain, tables in found.items():
        for t in tables:
            if t.new or t.gone or t.changed:
                say(
                    f"{domain}: {t.table}: {count(t.new)} new, {count(t.gone)} gone, {count(t.changed)} changed"
                )
                for key, column, before, after in t.changed_examples[:3]:
                    say(f"    {', '.join(map(str, key))}: {column}: {before} → {after}")
        if not any(t.new or t.gone or t.changed for t in tables):
            say(f"{domain}: nothing would change")
