"""`nightcrawl practice-site`: the bundled web shop that misbehaves on request. Arguments pass through."""

from __future__ import annotations

import typer

__all__ = ["practice_site"]


def practice_site(context: typer.Context) -> None:
    """Serve the practice site on loopback until Ctrl-C. `practice-site --help` lists its many switches."""
    from practice_site.command import main

    raise typer.Exit(main(context.args, prog="nightcrawl practice-site"))
