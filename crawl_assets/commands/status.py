"""`nightcrawl status`: where every domain stands, from the frontier and the ledger. Half a second, no network."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .terminal import count, instant, say, say_json, span, table

if TYPE_CHECKING:
    from resources.frontier.base import Frontier
    from resources.installation import Installation
    from resources.pacing.ledger.base import LedgerRow

__all__ = ["status"]


def status(
    domain: Annotated[list[str] | None, typer.Argument(help="Only these domains.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Show every domain: URLs by state, its pace, who crawls it, what failed."""
    from resources.installation import Installation

    installation = Installation.from_environment()
    found = _facts(installation, domain or [])
    if as_json:
        say_json(found)
        return
    if not found["domains"]:
        say("nothing has been crawled yet: nightcrawl crawl URL, or nightcrawl crawl --practice")
        return
    states = ("discovered", "pending", "leased", "done", "failed", "excluded")
    rows = [
        [d["domain"], *(count(d[s]) for s in states), _rate(d), _busy(d), _failures(d)]
        for d in found["domains"]
    ]
    table(("domain", *states, "pace", "crawled by", "failures by cause"), rows, right=states)
    for worker in found["workers"]:
        say(f"worker {worker['worker']}: {worker['doing'] or 'idle'}, {count(worker['pages'])} pages")
    say(f"published {found['published_at'] or 'nothing yet'}")


def _published(installation: Installation) -> Path | None:
    if "://" in installation.tables:
        from resources.warehouse.read import published_path

        return published_path(installation)
    # In a folder it is a file: whoever only asks for its age need not load DuckDB.
    return installation.published if installation.published.exists() else None


def _facts(installation: Installation, only: list[str]) -> dict[str, Any]:
    now = time.time()
    known: dict[str, Any] = {
        "data": str(installation.data),
        "domains": [],
        "workers": [],
        "published_at": None,
    }
    if published := _published(installation):
        known["published_at"] = instant(published.stat().st_mtime)
    if not installation.shared and not Path(installation.frontier).exists():
        return known
    frontier = installation.open_frontier()
    try:
        paces = _paces(installation)
        for name, counts in sorted(frontier.all_counts().items()):
            if not only or name in only:
                known["domains"].append(_domain(frontier, name, counts, paces.get(name), now))
        known["workers"] = [
            {"worker": w.worker, "host": w.host, "pid": w.pid, "since": instant(w.started_at), "doing": w.doing,
             "pages": w.pages, "run_id": w.run_id}
            for w in frontier.workers(now)
        ]  # fmt: skip
    finally:
        frontier.close()
    return known


def _paces(installation: Installation) -> dict[str, LedgerRow]:
    if not installation.shared and not Path(installation.ledger).exists():
        return {}
    ledger = installation.open_ledger()
    try:
        return {row.domain: row for row in ledger.all()}
    finally:
        ledger.close()


def _domain(frontier: Frontier, name: str, counts: Any, pace: LedgerRow | None, now: float) -> dict[str, Any]:
    lease = frontier.domain_lease(name, now)
    failures = frontier.failures(name) if counts.failed else {}
    return {
        "domain": name,
        "discovered": counts.discovered,
        "pending": counts.pending,
        "leased": counts.leased,
        "done": counts.done,
        "failed": counts.failed,
        "excluded": counts.excluded,
        "failures": {cause: {"all": n, "eligible": ready} for cause, (n, ready) in failures.items()},
        "rate": pace.rate if pace else None,
        "paused": pace.paused_cause if pace else "",
        "owed_until": pace.owed_until if pace and pace.owed_until > now else None,
        "reasons": list(pace.reasons) if pace else [],
        "crawled_by": lease.owner if lease else None,
    }


def _rate(d: dict[str, Any]) -> str:
    """Numbered cases: 1. paused; 2. owed a wait; 3. a rate; 4. never paced."""
    if d["paused"]:
        return f"paused: {d['paused']}"
    if d["owed_until"]:
        return f"waits {span(d['owed_until'] - time.time())}"
    return f"{d['rate']:.2f}/s" if d["rate"] is not None else "–"


def _busy(d: dict[str, Any]) -> str:
    return str(d["crawled_by"] or "–")


def _failures(d: dict[str, Any]) -> str:
    return ", ".join(f"{cause} {count(n['all'])}" for cause, n in d["failures"].items()) or "–"
