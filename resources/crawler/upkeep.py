"""Housekeeping of stored pages after a crawl: better compression, room given back; nothing that is read changes.

Domain by domain and under each domain's lease, so that a crawl which begins meanwhile is left alone. What was not come
to is remembered in the frontier and done the next time: a limit in time, a stop or a kill loses nothing. Costs about
1 ms of CPU a page that is compressed anew, some milliseconds for a domain in which nothing is to do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from resources.frontier.base import Frontier
from resources.pages.base import PageStore, PageStoreError

from .liveness import take_domain

__all__ = ["Kept", "due_for_upkeep", "keep_up"]

#: Longer than the housekeeping of any ordinary domain. The lease only keeps crawls from being slowed down: that it
#: runs out harms nobody, because the page store lets writers go on.
LEASE_S = 900.0
_DUE = "upkeep due:"


@dataclass(frozen=True, slots=True)
class Kept:
    """What housekeeping did for a domain. Bytes are those of stored bodies."""

    domain: str
    pages: int
    before: int
    after: int
    seconds: float

    @property
    def saved(self) -> int:
        return self.before - self.after


def due_for_upkeep(frontier: Frontier, domains: Iterable[str], changed: Callable[[str], bool]) -> list[str]:
    """The domains whose turn it is: those with new bodies, and those not come to the last time. Both are remembered
    until `keep_up` has done them."""
    due = []
    for domain in domains:
        waiting = bool(frontier.get_value(_DUE + domain))
        if changed(domain) and not waiting:
            frontier.set_value(_DUE + domain, "1")
        if changed(domain) or waiting:
            due.append(domain)
    return due


def keep_up(
    frontier: Frontier,
    pages: PageStore,
    domains: Iterable[str],
    owner: str,
    *,
    dense: bool = False,
    go_on: Callable[[], bool] = lambda: True,
) -> Iterator[Kept | str]:
    """Do `domains` one after another while `go_on()`; those under somebody else's lease are told as words.

    `owner`: as of `worker_name`. `dense` compresses every body anew, as small as the back-end can.
    """
    for domain in domains:
        if not go_on():
            return
        lease = take_domain(frontier, domain, owner, LEASE_S, time.time())
        if isinstance(lease, str):
            yield f"{domain}: left for the next time, {lease}"
            continue
        try:
            begin = time.monotonic()
            count, _, before = pages.counts(domain)
            pages.maintain(domain, dense=dense)
            after = pages.counts(domain)[2]
            frontier.set_value(_DUE + domain, "")
        except PageStoreError as error:  # it can wait: what is stored can be read as before
            yield f"{domain}: left for the next time, {error}"
            continue
        finally:
            frontier.unlease_domain(lease)
        yield Kept(domain, count, before, after, time.monotonic() - begin)
