"""What a night came to, told at its end: states that balance, statuses, what the cache saved, items, where to look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .terminal import count, say, share, size, span, table

if TYPE_CHECKING:
    from resources.crawler.order import DomainReport
    from resources.installation import Installation

    from .night_run import NightOutcome

__all__ = ["print_summary"]

#: Ends of a domain's part that mean: somebody should look.
BAD_ENDS = frozenset({"paused", "leased", "lost_lease", "error"})


@dataclass(slots=True)
class _Sum:
    """All crawls of one domain tonight, added up."""

    end: str = ""
    detail: str = ""
    requests: int = 0
    ok: int = 0
    not_modified: int = 0
    redirects: int = 0
    throttled: int = 0
    changed: int = 0
    new: int = 0
    wire: int = 0
    rate: float | None = None
    statuses: Counter[int] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, reports: Iterable[DomainReport]) -> _Sum:
        total = cls()
        for r in reports:
            if not total.end or r.end != "finished":
                total.end, total.detail = r.end, r.detail
            total.requests += r.requests
            total.ok += r.ok
            total.not_modified += r.not_modified
            total.redirects += r.redirects
            total.throttled += r.throttled
            total.changed += r.changed
            total.new += r.new_urls
            total.wire += r.wire_bytes
            total.rate = r.rate if r.rate is not None else total.rate
            total.statuses.update(r.statuses)
            total.causes.update(r.causes)
        return total


def print_summary(
    installation: Installation, domains: tuple[str, ...], outcome: NightOutcome
) -> dict[str, str]:
    """Print it; the domains that failed, with the reason."""
    reports = outcome.watch.reports()
    sums = {d: _Sum.of(reports.get(d, ())) for d in domains}
    failed = dict(outcome.failed)
    for domain, total in sums.items():
        if total.end in BAD_ENDS:
            failed.setdefault(domain, f"{total.end}: {total.detail}")
    frontier = installation.open_frontier()
    try:
        counts = {d: frontier.counts(d) for d in domains}
    finally:
        frontier.close()
    say()
    rows = []
    for domain in domains:
        c, s = counts[domain], sums[domain]
        balanced = c.discovered == c.pending + c.leased + c.done + c.failed + c.excluded and not c.leased
        rows.append(
            [domain, s.end or "not started", *map(count, (c.discovered, c.pending, c.leased, c.done, c.failed, c.excluded)),
             "balanced" if balanced else "NOT balanced"]
        )  # fmt: skip
    states = ("discovered", "pending", "leased", "done", "failed", "excluded")
    table(("domain", "end", *states, ""), rows, right=states)
    say()
    numbers = (
        "requests",
        "pages",
        "changed",
        "304",
        "still fresh",
        "redirects",
        "429/503",
        "new URLs",
        "received",
    )
    rows = []
    for domain in domains:
        s, done = sums[domain], counts[domain].done
        fresh = max(0, done - s.ok - s.not_modified - s.redirects)
        rows.append(
            [domain, *map(count, (s.requests, s.ok, s.changed, s.not_modified, fresh, s.redirects, s.throttled, s.new)),
             size(s.wire)]
        )  # fmt: skip
    table(("domain", *numbers), rows, right=numbers)
    say()
    _totals(sums, outcome)
    _tables(installation)
    for problem in outcome.problems[:10]:
        say(f"note: {problem}")
    for domain, why in failed.items():
        say(f"failed: {domain}: {why}")
    return failed


def _totals(sums: dict[str, _Sum], outcome: NightOutcome) -> None:
    statuses: Counter[int] = Counter()
    causes: Counter[str] = Counter()
    for s in sums.values():
        statuses.update(s.statuses)
        causes.update(s.causes)
    requests = sum(s.requests for s in sums.values())
    unchanged = sum(s.not_modified for s in sums.values())
    throttled = sum(s.throttled for s in sums.values())
    say(f"statuses    {', '.join(f'{status}: {count(n)}' for status, n in sorted(statuses.items())) or '–'}")
    if causes:
        say(f"causes      {', '.join(f'{cause}: {count(n)}' for cause, n in causes.most_common(12))}")
    say(
        f"cache hits  {count(unchanged)} of {count(requests)} requests answered 304 ({share(unchanged, requests)})"
    )
    say(f"429/503     {count(throttled)} ({share(throttled, requests)})")
    pace = f", {requests / outcome.seconds:.1f} requests/s" if outcome.seconds else ""
    say(f"time        {span(outcome.seconds)}{pace}")


def _tables(installation: Installation) -> None:
    """Rows of the published tables, where they are, and how to go on."""
    from resources.warehouse.read import NothingPublished, table_counts

    try:
        rows = table_counts(installation)
    except NothingPublished:
        say("tables      none published yet")
        return
    say(f"tables      {', '.join(f'{name} {count(n)}' for name, n in rows.items())}")
    say(f'            in {_near(installation.published)}: nightcrawl sql "select * from pages limit 5"')
    say("look        make ui (or: nightcrawl ui), then http://127.0.0.1:3000")


def _near(path: Path) -> str:
    """Relative to the working directory where that is shorter."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
