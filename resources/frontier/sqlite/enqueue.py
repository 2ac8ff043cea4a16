"""Adding URLs: the dedup of a batch and the rows of what is new.

Cost: a batch is looked up as a whole; a known URL costs no write unless it brings a newer `lastmod`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

from resources.frontier.base import Discovery, EnqueueResult, State
from resources.frontier.sqlite.session import Session, Writing
from resources.frontier.sqlite.statements import read_statements

__all__ = ["add_urls"]

_SQL = read_statements("enqueue.sql")
_KEY, _DOMAIN = attrgetter("key"), attrgetter("domain")
_PENDING, _EXCLUDED = int(State.PENDING), int(State.EXCLUDED)


def add_urls(
    session: Session, writing: Writing, urls: Sequence[Discovery], now: float
) -> tuple[EnqueueResult, dict[str, int]]:
    """Enqueue within a transaction; returns the result and the new pending URLs by domain."""
    new, dated = _sort_out(session, urls)
    new_by_domain: dict[str, int] = {}
    excluded = _insert(session, writing, new, now, new_by_domain)
    due_again = 0
    for discovery, row_id in dated:
        due_again += _apply_lastmod(writing, row_id, discovery.lastmod)
    result = EnqueueResult(
        new=len(new) - excluded,
        known=len(urls) - len(new) - due_again,
        due_again=due_again,
        excluded=excluded,
    )
    return result, new_by_domain


def _sort_out(
    session: Session, urls: Sequence[Discovery]
) -> tuple[list[Discovery], list[tuple[Discovery, int]]]:
    """Which URLs are new (each key once, the first wins), and which known ones bring a `lastmod`."""
    keys = list(map(_KEY, urls))
    unmet = session.keys.unmet(keys)
    dated = {discovery.key: discovery for discovery in urls if discovery.lastmod is not None}
    new: list[Discovery] = []
    if unmet:
        for key, discovery in zip(keys, urls, strict=True):
            if key in unmet:
                unmet.remove(key)
                dated.pop(key, None)
                new.append(discovery)
    found = session.keys.find(dated) if dated else {}
    return new, [(discovery, found[key]) for key, discovery in dated.items()]


def _insert(
    session: Session, writing: Writing, new: Sequence[Discovery], now: float, new_by_domain: dict[str, int]
) -> int:
    """Write the rows; returns how many of them are EXCLUDED."""
    if not new:
        return 0
    # Counted by domain first: the loop over the rows then calls nothing of Python's.
    met = Counter(map(_DOMAIN, new))
    excluded = Counter(discovery.domain for discovery in new if discovery.excluded)
    domain_ids = {domain: session.domains.intern(domain) for domain in met}
    for domain, count in met.items():
        writing.moves.add(domain_ids[domain], State.EXCLUDED, excluded[domain])
        if pending := count - excluded[domain]:
            writing.moves.add(domain_ids[domain], State.PENDING, pending)
            new_by_domain[domain] = pending
    ids = session.next_numbers("url_id", len(new))
    rows = [
        (
            row_id, _EXCLUDED if discovery.excluded else _PENDING, domain_ids[discovery.domain],
            discovery.priority, discovery.depth, int(discovery.source), discovery.redirects, discovery.lastmod,
            now, discovery.excluded, discovery.key, discovery.parent, discovery.url,
        )
        for row_id, discovery in zip(ids, new, strict=True)
    ]  # fmt: skip
    writing.connection.executemany(_SQL["insert_url"], rows)
    session.keys.add(list(zip(map(_KEY, new), ids, strict=True)))
    return excluded.total()


def _apply_lastmod(writing: Writing, row_id: int, lastmod: float | None) -> int:
    """1 if the row was DONE before `lastmod` and is PENDING now; else the date is only noted."""
    row = writing.connection.execute(_SQL["make_due"], (row_id, lastmod)).fetchone()
    if row is None:
        writing.connection.execute(_SQL["note_lastmod"], (row_id, lastmod))
        return 0
    writing.moves.move(row[0], State.DONE, State.PENDING)
    return 1
