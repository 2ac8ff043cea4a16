"""The fetch log: one order for all domains, although each domain writes on its own shard.

An ack puts its row into the domain's outbox, in the same script. Whoever reads the log first moves what is in
the outboxes to one stream, where it gets its number; numbers of rows moved earlier are smaller, so a reader
that remembers a number misses nothing. Moving twice changes nothing (`log_append.lua` counts per domain).

Costs: about 300 bytes a row until it is trimmed; moving is 2 µs a row, paid by the reader.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import astuple, fields

from resources.frontier.base import FetchLogRow
from resources.frontier.redis.store import CHUNK, SCRIPTS, Store
from resources.shared_redis.connection import Call

__all__ = ["read_log", "row_bytes", "telling", "trim_log"]

_WIDTH = len(fields(FetchLogRow))
#: An outbox that is empty and was not written to for so long is no longer looked at.
QUIET_S = 3_600.0


def row_bytes(row: FetchLogRow) -> bytes:
    """The fields as a JSON array, in ASCII: any string survives."""
    return json.dumps(astuple(row), separators=(",", ":")).encode()


def _row(raw: bytes) -> FetchLogRow:
    # Fields that a newer version added are left out; those an older one did not know have their default.
    return FetchLogRow(*json.loads(raw)[:_WIDTH])


def telling(store: Store, domains: Iterable[str]) -> list[Call]:
    """What says that these domains have rows in their outbox; goes ahead of the commit."""
    now = time.time()
    words = [word for domain in domains for word in (now, store.name(domain))]
    return [("ZADD", store.common("logged"), *words)] if words else []


def _collect(store: Store) -> None:
    """Move what is in the outboxes to the stream."""
    logged = store.common("logged")
    flat = store.connection.one("ZRANGE", logged, 0, -1, "WITHSCORES")
    waiting = {
        name.decode("utf-8", "surrogatepass"): float(at)
        for name, at in zip(flat[::2], flat[1::2], strict=True)
    }
    keys = (store.common("log"), store.common("log:taken"), store.common("log:number"))
    quiet: list[bytes] = []
    while waiting:
        domains = list(waiting)
        boxes = store.run([store.on("log_outbox", domain, CHUNK) for domain in domains])
        full = [(domain, first, rows) for domain, (first, *rows) in zip(domains, boxes, strict=True) if rows]
        limit = time.time() - QUIET_S
        empty = set(domains) - {domain for domain, _, _ in full}
        quiet += [store.name(domain) for domain in empty if waiting[domain] < limit]
        taken = store.run(
            [
                (SCRIPTS["log_append"], keys, (store.name(domain), first, *rows))
                for domain, first, rows in full
            ]
        )
        left = store.run(
            [store.on("log_trim", domain, upto) for (domain, _, _), upto in zip(full, taken, strict=True)]
        )
        waiting = {domain: waiting[domain] for (domain, _, _), rest in zip(full, left, strict=True) if rest}
    if quiet:
        store.run([("ZREM", logged, *quiet)])


def read_log(store: Store, after: int, limit: int, domain: str | None) -> list[tuple[int, FetchLogRow]]:
    """See `Frontier.read_log`. With a domain, rows of others are read and passed by."""
    _collect(store)
    found: list[tuple[int, FetchLogRow]] = []
    own = None if domain is None else store.name(domain)
    while len(found) < limit:
        some = min(10_000, limit if own is None else max(limit, 1_000))
        (entries,) = store.run([("XRANGE", store.common("log"), f"({after}-0", "+", "COUNT", some)])
        for name, fields_ in entries:
            after = int(name.partition(b"-")[0])
            for of, raw in fields_.items():
                if own in (None, of) and len(found) < limit:
                    found.append((after, _row(raw)))
        if len(entries) < some:
            break
    return found


def trim_log(store: Store, up_to: int) -> int:
    """See `Frontier.trim_log`."""
    (count,) = store.run([("XTRIM", store.common("log"), "MINID", f"{up_to + 1}-0")])
    return int(count)
