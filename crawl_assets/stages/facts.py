"""What the checks are told: counts and samples read from the frontier, its log and the page store.

Everything here runs in the storage thread and costs at most a walk over one domain's rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from resources.frontier.base import FetchLogRow, Frontier, Source, State
from resources.pages.base import Kind, PageStore

__all__ = ["listed_by_state", "log_of_run", "next_due", "robots_bodies"]

#: URLs named as examples.
NAMED = 20
#: Log rows read at once.
CHUNK = 5_000
#: How exactly the next due page is told, and how far ahead is looked: nobody plans nights closer or farther.
DUE_WITHIN_S = 600.0
DUE_AHEAD_S = 400 * 86_400.0


def log_of_run(frontier: Frontier, domain: str, run_id: str) -> Iterator[FetchLogRow]:
    """The fetch log of one domain in one run."""
    after = 0
    while rows := frontier.read_log(after, CHUNK, domain):
        after = rows[-1][0]
        for _, row in rows:
            if row.run_id == run_id:
                yield row


def listed_by_state(frontier: Frontier, domain: str) -> tuple[Mapping[State, int], list[tuple[str, str]]]:
    """URLs of the domain that were first met in a sitemap: (how many by state, some that are no page: URL and why).

    Named are failed ones first, then those that wait, then excluded ones.
    """
    counts: Counter[State] = Counter()
    samples: dict[State, list[tuple[str, str]]] = {
        s: [] for s in (State.FAILED, State.PENDING, State.EXCLUDED)
    }
    for record in frontier.records(domain, source=Source.SITEMAP):
        counts[record.state] += 1
        named = samples.get(record.state)
        if named is not None and len(named) < NAMED:
            why = record.cause or "not fetched yet"
            named.append((record.url, f"{record.state.name.lower()}: {why}"))
    return counts, [one for named in samples.values() for one in named][:NAMED]


def next_due(frontier: Frontier, domain: str, now: float) -> float | None:
    """When there is something to do again, as an instant: what is pending, else the first page that is due again.

    None: nothing within a year. Found by asking the index of due pages, doubling the distance and then halving it.
    """
    if (ready := frontier.next_ready_at(domain, now)) is not None:
        return ready
    nothing, something = 0.0, DUE_WITHIN_S
    while not frontier.due(domain, now + something):
        nothing, something = something, something * 2
        if nothing > DUE_AHEAD_S:
            return None
    while something - nothing > DUE_WITHIN_S:
        middle = (nothing + something) / 2
        if frontier.due(domain, now + middle):
            something = middle
        else:
            nothing = middle
    return now + something


def robots_bodies(frontier: Frontier, pages: PageStore, domain: str) -> tuple[bytes | None, bytes | None]:
    """(robots.txt of the last look, that of now); remembers the one of now for the next look."""
    name = f"robots:{domain}"
    head = next(iter(pages.scan(domain, Kind.ROBOTS)), None)
    now = pages.body(head) if head is not None else None
    before = frontier.get_value(name)
    frontier.set_value(name, (now or b"").decode("latin-1"))
    return before.encode("latin-1") if before is not None else None, now
