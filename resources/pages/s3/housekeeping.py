"""Merging packs: many small ones become few large ones, and what is said twice or no longer is dropped.

A merged pack repeats the versions that its sources were the last word on, each with its own place in the
order, so it does not matter what else is written meanwhile. The sources are deleted when it is durable.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any

from resources.pages.base import CorruptBody, PageHead
from resources.pages.compression import DENSE_SAMPLE_BODIES, SAMPLE_BODIES, TRAIN_AT, train
from resources.pages.s3.domains import Domains
from resources.pages.s3.index import Index, Version
from resources.pages.s3.journal import is_journal
from resources.pages.s3.pack import PackWriter

__all__ = ["merge", "repeat"]

#: Packs below this size are merged once there are `ENOUGH` of them.
SMALL_BYTES = 8 * 1024 * 1024
ENOUGH = 8
#: Decoded bytes of one merged pack.
MERGED_BYTES = 128 * 1024 * 1024
#: Events of one pack without bodies.
SMALL_EVENTS = 20_000


def merge(domains: Domains, domain: str, body: Callable[[Index, PageHead], bytes], *, dense: bool) -> None:
    """Merge the small packs of a domain, with `dense` all of them."""
    packs = {name: footer for name, footer in domains.index(domain).packs.items() if not is_journal(name)}
    small = {name for name, footer in packs.items() if dense or footer.size < SMALL_BYTES}
    if len(small) >= (2 if dense else ENOUGH):
        spoiled = repeat(domains, domain, small, body, dense=dense)
        domains.delete(domain, sorted(small - spoiled))


def repeat(
    domains: Domains,
    domain: str,
    sources: set[str],
    body: Callable[[Index, PageHead], bytes],
    *,
    dense: bool = False,
) -> set[str]:
    """Write anew what `sources` have the last word on; those that have to stay, because a body is damaged."""
    index = domains.index(domain)
    said: dict[bytes, list[Version]] = {}  # versions that a source has the last word on, or tells, by body
    needed: dict[bytes, Version] = {}  # bodies that lie in a source
    for chain in index.pages.values():
        for version in chain:
            # Who only touched it did not tell it whole.
            if version.home in sources or version.base in sources:
                said.setdefault(version.content, []).append(version)
            place = index.bodies.get(version.content)
            if place is not None and place.pack in sources:
                needed[version.content] = version
    merged = _Merged(domains, domain, dense)
    spoiled: set[str] = set()
    # In the order in which the bodies lie: each source is read from its beginning to its end.
    for content in sorted(needed, key=lambda each: (index.bodies[each].pack, index.bodies[each].start)):
        place = index.bodies[content]
        try:
            merged.add(content, body(index, index.head(needed[content])))
        except (CorruptBody, KeyError):
            # Its pack stays, so that the damage stays known until the page is fetched again.
            spoiled.add(place.pack)
        merged.events += _events(index, said.pop(content, ()))
    for versions in said.values():
        merged.events += _events(index, versions)
        merged.flush(SMALL_EVENTS)
    if sources != index.packs.keys():
        gone = sorted(each for each in index.dropped if each[2][0] not in sources)
        merged.events += [["d", kind, key.hex(), list(order)] for kind, key, order in gone]
    merged.flush()
    return spoiled


def _events(index: Index, versions: Iterable[Version]) -> list[list[Any]]:
    return [["v", list(each.order), list(each.revision), index.record(each)] for each in versions]


class _Merged:
    """The packs that are being written, one after the other."""

    def __init__(self, domains: Domains, domain: str, dense: bool) -> None:
        self._domains = domains
        self._domain = domain
        self._dense = dense
        self._bodies: dict[bytes, bytes] = {}
        self._size = 0
        self.events: list[list[Any]] = []

    def add(self, content: bytes, body: bytes) -> None:
        if self._size >= MERGED_BYTES:
            self.flush()
        self._bodies[content] = body
        self._size += len(body)

    def flush(self, at_least: int = 0) -> None:
        """Write a pack, if there are so many events for it; a body may be there for what another pack says."""
        if not (self.events or self._bodies) or len(self.events) < at_least:
            return
        wanted = DENSE_SAMPLE_BODIES if self._dense else SAMPLE_BODIES
        some = list(self._bodies.values())[:: max(1, len(self._bodies) // wanted)][:wanted]
        dictionary = train(some) if len(self._bodies) >= TRAIN_AT else None
        writer = PackWriter(dictionary, self._dense, self.events, self._bodies)
        name = f"{time.time_ns():020d}-{secrets.token_hex(4)}"
        self._domains.write(self._domain, name, writer.data())
        self._bodies, self._size, self.events = {}, 0, []
