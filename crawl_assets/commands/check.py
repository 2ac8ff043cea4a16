"""`nightcrawl check`: are the site files right? Every problem of every file, none of the network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .exit_codes import ExitCode
from .failures import CommandFailed
from .terminal import say, say_json

__all__ = ["check"]


def check(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Site files or folders. Default: the installation's.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Validate site files and say what is wrong where, all at once."""
    from resources.installation import Installation
    from resources.site.load import Problem, SiteFileError, load_sites

    places = files or [Installation.from_environment().sites]
    problems: list[Problem] = []
    names: list[str] = []
    for place in places:
        if not place.exists():
            raise CommandFailed(f"{place}: no such file or folder")
    try:
        names = [site.name for site in load_sites(*places)]
    except SiteFileError as error:
        problems = list(error.problems)
    if as_json:
        say_json(
            {
                "ok": not problems,
                "sites": names,
                "problems": [
                    {"file": p.file, "line": p.line, "field": p.field, "message": p.message} for p in problems
                ],
            }
        )
    else:
        for problem in problems:
            say(str(problem))
        if not problems:
            say(
                f"{len(names)} site file{'s' * (len(names) != 1)} without a problem: {', '.join(names) or '–'}"
            )
    if problems:
        raise typer.Exit(ExitCode.USAGE)
