"""`nightcrawl export-warc`: stored pages as one WARC file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .exit_codes import ExitCode
from .failures import CommandFailed
from .terminal import count, say, say_json, size

__all__ = ["export_warc"]


def export_warc(
    output: Annotated[Path, typer.Argument(help="File to write; .gz compresses each record.")],
    domain: Annotated[list[str] | None, typer.Option(help="Only this domain; may be repeated.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Write stored pages, with their kept versions, as WARC 1.1."""
    from importlib.metadata import version

    from resources.archive.export import export_warc as carry_out
    from resources.installation import Installation

    if output.exists() and not force:
        raise CommandFailed(f"{output} exists already: --force overwrites it")
    pages = Installation.from_environment().prepare().open_pages()
    try:
        known = pages.domains()
        if unknown := [d for d in domain or () if d not in known]:
            raise CommandFailed(
                f"no page of {', '.join(unknown)} is stored; there are {', '.join(known) or 'none'}"
            )
        report = carry_out(pages, domain or known, output, software=f"Nightcrawl/{version('nightcrawl')}")
    finally:
        pages.close()
    if as_json:
        say_json({"file": str(output), "responses": report.responses, "revisits": report.revisits,
                  "bytes": report.bytes, "problems": report.problems})  # fmt: skip
    else:
        for problem in report.problems:
            say(f"note: {problem}")
        say(
            f"{output}: {count(report.responses)} responses, {count(report.revisits)} revisits, {size(report.bytes)}"
        )
    if report.problems:
        raise typer.Exit(ExitCode.BAD_NEWS)
