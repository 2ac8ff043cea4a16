"""`nightcrawl pace`: orders to the pace of a domain. A running crawl obeys within seconds, a later one begins with them."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from .exit_codes import ExitCode
from .failures import CommandFailed
from .terminal import say

__all__ = ["pace"]


def pace(
    domain: Annotated[list[str], typer.Argument(help="host[:port], as `nightcrawl status` shows it.")],
    resume: Annotated[
        bool, typer.Option("--resume", help="End a pause, a slowdown or an open circuit breaker.")
    ] = False,
    pause: Annotated[bool, typer.Option("--pause", help="Send nothing until it is resumed.")] = False,
    slow: Annotated[
        float | None, typer.Option(min=0.01, max=1.0, help="Go at this share of the rate, as in 0.5.")
    ] = None,
    hours: Annotated[float, typer.Option(min=0.01, help="How long --slow holds.")] = 24.0,
    reason: Annotated[str, typer.Option(help="Shown wherever the pace is explained.")] = "",
) -> None:
    """Pause, slow down or resume domains. What was learned of their limits stays."""
    from resources.installation import Installation
    from resources.pacing.ledger.base import Command, CommandKind

    if sum((resume, pause, slow is not None)) != 1:
        raise CommandFailed("say one of --resume, --pause and --slow", ExitCode.USAGE)
    installation = Installation.from_environment()
    catalog = installation.catalog()
    if unknown := [d for d in domain if catalog.for_domain(d) is None]:
        raise CommandFailed(f"no site file covers {', '.join(unknown)}", ExitCode.USAGE)
    now = time.time()
    kind: CommandKind = "resume" if resume else "pause" if pause else "slow_down"
    words = reason or f"{kind.replace('_', ' ')} by an operator"
    ledger = installation.prepare().open_ledger()
    try:
        for name in domain:
            ledger.send(Command(name, kind, now, factor=slow or 1.0, until=now + hours * 3600, reason=words))
            say(f"{name}: {kind.replace('_', ' ')}, from the next look of its crawl on")
    finally:
        ledger.close()
