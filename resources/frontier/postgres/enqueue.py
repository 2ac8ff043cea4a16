"""Adding URLs. Cost: three statements for a batch; a known URL costs no write unless it brings a newer `lastmod`."""

from __future__ import annotations

from collections.abc import Sequence

from resources.frontier.base import Discovery, EnqueueResult, State
from resources.frontier.postgres.database import Database, Writing, clean
from resources.frontier.postgres.statements import read_statements

__all__ = ["add_urls"]

_SQL = read_statements("enqueue.sql")


def add_urls(
    database: Database, writing: Writing, urls: Sequence[Discovery], now: float
) -> tuple[EnqueueResult, dict[str, int]]:
    """Enqueue within a transaction; returns the result and the new pending URLs by domain."""
    result = EnqueueResult()
    new_by_domain: dict[str, int] = {}
    if not urls:
        return result, new_by_domain
    run = writing.connection.execute
    keys = [each.key for each in urls]
    known = {row[0] for row in run(_SQL["known"].encode(), {"keys": list(dict.fromkeys(keys))})}
    fresh: dict[bytes, Discovery] = {}
    dated: dict[bytes, Discovery] = {}
    for each in urls:
        if each.key not in known and each.key not in fresh:
            fresh[each.key] = each
        elif each.lastmod is not None:
            dated[each.key] = each
    inserted = _insert(database, writing, list(fresh.values()), now) if fresh else set()
    for key in inserted:
        found = fresh[key]
        dated.pop(key, None)
        if found.excluded:
            result.excluded += 1
        else:
            result.new += 1
            new_by_domain[found.domain] = new_by_domain.get(found.domain, 0) + 1
    if dated:
        words = {"keys": sorted(dated), "dates": [dated[key].lastmod for key in sorted(dated)]}
        for (domain_id,) in run(_SQL["make_due"].encode(), words).fetchall():
            writing.move(domain_id, State.DONE, State.PENDING)
            result.due_again += 1
        run(_SQL["note_lastmod"].encode(), words)
    result.known = len(urls) - result.new - result.excluded - result.due_again
    return result, new_by_domain


def _insert(database: Database, writing: Writing, found: Sequence[Discovery], now: float) -> set[bytes]:
    """Write the rows, as old as their place in the batch; returns the keys nobody else has added meanwhile."""
    run = writing.connection.execute
    domains = database.intern(writing.connection, {each.domain for each in found})
    ids = [
        row[0]
        for row in run("SELECT nextval('url_id') FROM generate_series(1, %s)", (len(found),)).fetchall()
    ]
    numbered = sorted(zip(ids, found, strict=True), key=lambda each: each[1].key)
    rows = [each for _, each in numbered]
    words = {
        "key": [each.key for each in rows],
        "id": [number for number, _ in numbered],
        "domain": [domains[each.domain] for each in rows],
        "state": [int(State.EXCLUDED if each.excluded else State.PENDING) for each in rows],
        "priority": [each.priority for each in rows],
        "depth": [each.depth for each in rows],
        "source": [int(each.source) for each in rows],
        "redirects": [each.redirects for each in rows],
        "lastmod": [each.lastmod for each in rows],
        "discovered_at": [now] * len(rows),
        "cause": [clean(each.excluded) for each in rows],
        "parent": [each.parent for each in rows],
        "url": [clean(each.url) for each in rows],
    }
    inserted = {row[0] for row in run(_SQL["insert"].encode(), words)}
    for each in rows:
        if each.key in inserted:
            state = State.EXCLUDED if each.excluded else State.PENDING
            writing.add(domains[each.domain], state)
    return inserted
