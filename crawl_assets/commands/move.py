"""`nightcrawl move --to ADDRESS`: frontier and ledger to another back-end, and back; nothing is fetched again."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from .failures import CommandFailed
from .terminal import count, say, say_json

if TYPE_CHECKING:
    from resources.frontier.move import DomainMoved
    from resources.installation import Installation

__all__ = ["move"]

#: Named values that belong to the URLs. What counts rows of the fetch log stays: numbers begin anew over there.
_OF_DOMAIN = ("traps:{}", "robots:{}")
_OF_ALL = ("parser_suspects",)


def move(
    to: Annotated[str, typer.Option(help="redis://…, postgresql://… or a SQLite path.")],
    ledger_to: Annotated[
        str | None, typer.Option(help="Where the ledger goes; by default beside the frontier, as at start.")
    ] = None,
    without_log: Annotated[
        bool, typer.Option("--without-log", help="Leave fetch log rows behind that are in no table yet.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Carry every URL with its state, and every domain's pace, to another back-end. Interrupted, it goes on.

    Stop everything that crawls first. Pages and tables stay where they are.
    """
    from resources.frontier.move import move as move_frontier
    from resources.installation import Installation
    from resources.pacing.ledger.move import move_ledger

    here = Installation.from_environment().prepare()
    there = _target(here, to, ledger_to)
    source, target = here.open_frontier(), there.open_frontier()
    try:
        names = [form.format(domain) for domain in source.all_counts() for form in _OF_DOMAIN]

        def tell(moved: DomainMoved) -> None:
            if not as_json:
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
    if as_json:
        say_json(
            {
                "urls": report.rows,
                "domains": {d.domain: {"urls": d.rows, "digest": d.digest} for d in report.domains},
                "paces": ledger.rows if ledger is not None else 0,
                "nights": ledger.nights if ledger is not None else 0,
            }
        )
        return
    paces = f", {count(ledger.rows)} paces, {count(ledger.nights)} nights" if ledger is not None else ""
    say(f"moved and verified: {count(report.rows)} URLs of {count(len(report.domains))} domains{paces}")
    say(f"from now on: NIGHTCRAWL_FRONTIER={to}" + (f" NIGHTCRAWL_LEDGER={ledger_to}" if ledger_to else ""))
    say("the old frontier is as it was; delete it when the first night over there was well")


def _target(here: Installation, to: str, ledger_to: str | None) -> Installation:
    from resources.installation import Installation

    words = {"NIGHTCRAWL_DATA": str(here.data), "NIGHTCRAWL_SITES": str(here.sites)}
    there = Installation.from_environment(
        words | {"NIGHTCRAWL_FRONTIER": to, "NIGHTCRAWL_LEDGER": ledger_to or ""}
    )
    if there.frontier == here.frontier:
        raise CommandFailed("the frontier is there already: --to names the one in use")
    if not ledger_to and os.environ.get("NIGHTCRAWL_LEDGER"):
        there = replace(there, ledger=here.ledger)  # it was put somewhere by name: there it stays
    return there
