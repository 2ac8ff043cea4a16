"""Moving stored pages between back-ends: what was fetched once is not fetched again on the new ground.

    for moved in move_pages(source, target): …

Every current page of every kind goes over with its head; the older version that is kept of some, in case the newer one
turns out to be a wall, does not. Then both sides are compared by counts and by a digest of all heads, which name the
hash of each body, and the target reads back every body and compares it with that hash. The source stays as it was.

*Resumable.* What the target has already, with an equal head, is not read again; started again after a crash or a cut
line, the move goes on where it was. A body that is damaged in the source cannot be moved: it is told, and the rest goes.

Costs: heads are read twice on both sides, bodies once here and once there; memory holds `BATCH_BYTES` of bodies and 16
bytes a page of one domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field
from itertools import islice

import xxhash

from resources.pages.base import Kind, PageHead, PageStore, PageStoreError, PageVersion

__all__ = ["DomainPages", "digest", "move_pages"]

#: Heads looked up at once, and bodies written at once: on an object store each write is one object.
BATCH, BATCH_BYTES = 1_000, 32 * 1024 * 1024


@dataclass(slots=True)
class DomainPages:
    """One domain: pages of all kinds, how many of them in this run, the digest both sides agree on."""

    domain: str
    pages: int = 0
    written: int = 0
    digest: str = ""
    #: URLs whose body is damaged in the source.
    damaged: list[str] = field(default_factory=list)


def move_pages(source: PageStore, target: PageStore) -> Iterator[DomainPages]:
    """Each domain when it is moved and verified. PageStoreError where the two sides do not agree."""
    for domain in source.domains():
        moved = DomainPages(domain)
        lost: set[tuple[Kind, bytes]] = set()
        for kind in Kind:
            _copy(source, target, domain, kind, moved, lost)
        target.maintain(domain)
        _verify(source, target, moved, lost)
        yield moved


def digest(heads: Iterable[PageHead]) -> tuple[int, str]:
    """(pages, digest) of heads in any order: the sum of their hashes, modulo 2^128."""
    pages, total = 0, 0
    for head in heads:
        pages += 1
        total += xxhash.xxh3_128_intdigest(repr(astuple(head)).encode("utf-8", "surrogatepass"))
    return pages, f"{total % (1 << 128):032x}"


def _copy(
    source: PageStore,
    target: PageStore,
    domain: str,
    kind: Kind,
    moved: DomainPages,
    lost: set[tuple[Kind, bytes]],
) -> None:
    batch: list[PageVersion] = []
    size = 0
    missing, pages = _missing(source, target, domain, kind)
    moved.written += len(missing)
    for head, body in _bodies(source, domain, kind, missing, pages):
        missing.remove(head.key)
        batch.append(PageVersion(head, body))
        size += len(body)
        if len(batch) >= BATCH or size >= BATCH_BYTES:
            target.put(batch)
            batch, size = [], 0
    if batch:
        target.put(batch)
    if missing:  # their bodies did not come
        moved.written -= len(missing)
        lost.update((kind, key) for key in missing)
        moved.damaged += [head.url for head in source.scan(domain, kind) if head.key in missing]


def _missing(source: PageStore, target: PageStore, domain: str, kind: Kind) -> tuple[set[bytes], int]:
    """Keys of pages that the target has not, or not so; how many pages there are."""
    missing: set[bytes] = set()
    pages = 0
    heads = source.scan(domain, kind)
    while some := list(islice(heads, BATCH)):
        there = target.heads([head.key for head in some], kind, domain=domain)
        missing.update(head.key for head in some if there.get(head.key) != head)
        pages += len(some)
    return missing, pages


def _bodies(
    source: PageStore, domain: str, kind: Kind, missing: set[bytes], pages: int
) -> Iterator[tuple[PageHead, bytes]]:
    """The missing pages, as far as their bodies can be read. Reading all of a domain in its own order is several
    times as fast as reading page by page, so it is done unless few are missing."""
    wanted = frozenset(missing)
    if len(wanted) * 4 >= pages:
        yield from ((head, body) for head, body in source.read(domain, kind) if head.key in wanted)
        return
    heads = [head for head in source.scan(domain, kind) if head.key in wanted]
    for head, body in zip(heads, source.bodies(heads), strict=True):
        if body is not None:
            yield head, body


def _verify(source: PageStore, target: PageStore, moved: DomainPages, lost: set[tuple[Kind, bytes]]) -> None:
    """Fill in counts and digest."""

    def heads(store: PageStore) -> Iterator[PageHead]:
        for kind in Kind:
            yield from (head for head in store.scan(moved.domain, kind) if (kind, head.key) not in lost)

    here, there = digest(heads(source)), digest(heads(target))
    if here != there:
        raise PageStoreError(
            f"{moved.domain}: {here[0]} pages here and {there[0]} there, or not the same ones ({here[1]}, {there[1]}): "
            "did somebody write meanwhile? Move again: what is there already is not read again"
        )
    damaged = target.verify(moved.domain)
    if damaged:
        raise PageStoreError(
            f"{moved.domain}: {len(damaged)} bodies cannot be read back from {target!r}, one is {damaged[0].url}: "
            "see that its storage is sound and begin with an empty one"
        )
    moved.pages, moved.digest = here
