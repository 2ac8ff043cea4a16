"""`nightcrawl retry`: failed URLs get another chance, now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .exit_codes import ExitCode
from .failures import CommandFailed
from .terminal import count, say

if TYPE_CHECKING:
    from resources.frontier.base import Frontier

__all__ = ["retry"]


def retry(
    cause: Annotated[
        list[str] | None, typer.Option(help="Only failures of this cause; may be repeated.")
    ] = None,
    domain: Annotated[list[str] | None, typer.Option(help="Only this domain; may be repeated.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Also those that are not eligible yet.")] = False,
) -> None:
    """Try failed URLs again, gently; what succeeds leaves the list of failures."""
    from resources.installation import Installation

    from .night_run import NightOrder, run_night
    from .night_summary import print_summary

    installation = Installation.from_environment()
    catalog = installation.catalog()
    with_failures = _failures(installation.prepare().open_frontier(), domain, cause)
    covered = tuple(d for d in with_failures if catalog.for_domain(d) is not None)
    for name in with_failures.keys() - set(covered):
        say(f"note: no site file covers {name} any more; its failures stay")
    if not covered:
        say(f"no failure{' of ' + ', '.join(cause) if cause else ''} to try again")
        return
    for name in covered:
        what = ", ".join(f"{c} {count(n)}" for c, n in with_failures[name].items())
        say(f"{name}: {what}")
    outcome = run_night(
        installation, NightOrder(covered, force=force, retry_only=True, causes=tuple(cause or ()))
    )
    failed = print_summary(installation, covered, outcome)
    if (code := outcome.watch.exit_code) is not None:
        raise typer.Exit(code)
    if failed:
        raise typer.Exit(ExitCode.BAD_NEWS)


def _failures(store: Frontier, only: list[str] | None, causes: list[str] | None) -> dict[str, dict[str, int]]:
    """Failures of the wanted causes by domain and cause."""
    try:
        counts = store.all_counts()
        if only and (unknown := [d for d in only if d not in counts]):
            raise CommandFailed(
                f"no such domain: {', '.join(unknown)}; there are {', '.join(sorted(counts)) or 'none'}"
            )
        found: dict[str, dict[str, int]] = {}
        met: set[str] = set()
        for name, state in sorted(counts.items()):
            if state.failed and (not only or name in only):
                by_cause = {c: n for c, (n, _) in store.failures(name).items()}
                met |= by_cause.keys()
                wanted = {c: n for c, n in by_cause.items() if not causes or c in causes}
                if wanted:
                    found[name] = wanted
    finally:
        store.close()
    for strange in (c for c in causes or () if c not in met):
        say(f"note: no failure has the cause {strange!r}; there are {', '.join(sorted(met)) or 'none'}")
    return found
