"""`S3Pages`: the contract of `resources.pages.base` on objects that are written once.

Each `put` of a batch is one pack a domain (`pack`), and one journal for all domains that bring a few pages only
(`journal`), which a process repeats in packs after `SETTLE_S` or when it ends: a page costs the fiftieth part of a
write request instead of one or two. Nothing is listed while a domain is crawled, except once when it is first touched; then its index
(`index`) is in memory and follows what this worker writes. What other workers write in the meantime is seen by
scans, reads and counts, which look at the list of packs first, and after `STALE_S` by look-ups that find nothing.

* *Durable and idempotent.* A pack is complete or not there. The same batch again is another pack that says the
  same; `maintain` merges packs and drops what is said twice.
* *Checked.* SHA-256 on the way in, the content hash of each body on the way out.
* *Concurrent.* Packs are written, and read ahead, several at a time.

Who deletes: `maintain` and `settle` after what they repeat is durable, and `forget`. A reader that misses a pack looks at the
list again; a writer that referred to a body in a pack that has gone since writes the body again.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from resources.object_store.bucket import Bucket
from resources.pages.base import (
    CorruptBody,
    Kind,
    PageHead,
    PageStoreError,
    PageVersion,
    count_new,
    one_by_one,
)
from resources.pages.incoming import check_versions
from resources.pages.s3.bodies import Bodies
from resources.pages.s3.domains import Domains
from resources.pages.s3.housekeeping import merge, repeat
from resources.pages.s3.index import Index
from resources.pages.s3.journal import FEW, FEW_BYTES, Unsettled
from resources.pages.s3.pack import PackWriter, Place, head_record

__all__ = ["S3Pages"]

log = logging.getLogger(__name__)

#: A look-up that finds nothing looks at the list of packs again if it is older than that.
STALE_S = 60.0
#: Decoded bytes of one pack: bounds memory, and what is written again when a request fails.
PACK_BYTES = 32 * 1024 * 1024
#: Decoded bytes that a process has in journals before it settles them, and how long: bounds its memory, the journals
#: that readers of any domain look at, and makes the packs worth their price.
SETTLE_BYTES = 64 * 1024 * 1024
SETTLE_S = 300.0
#: Packs read ahead.
AHEAD = 4


class S3Pages:
    """See the module docstring. `address`: see `resources.object_store.bucket`."""

    #: A write request costs as much as storing 5 MB for a month: a crash may cost two seconds of work.
    gather_s = 2.0

    def __init__(self, address: str, *, read_only: bool = False) -> None:
        self._bucket = Bucket(address, PageStoreError)
        self._domains = Domains(self._bucket)
        self._read_only = read_only
        #: Domains written at once. Not the bucket's threads: those carry out what these wait for.
        self._threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="nightcrawl-pages")
        self._bodies = Bodies(self._domains)
        self._unsettled = Unsettled()
        self._bucket.folders()  # a wrong address or key is told now, not after the first page

    def __repr__(self) -> str:
        return f"<S3Pages {self._bucket.shown}>"

    # -- writing ---------------------------------------------------------------------------------
    def put(self, versions: Sequence[PageVersion]) -> None:
        check_versions(versions)
        by_domain: dict[str, list[PageVersion]] = {}
        for version in versions:
            by_domain.setdefault(version.head.domain, []).append(version)
        few = {
            domain: some for domain, some in by_domain.items()
            if len(some) < FEW and sum(len(each.body) for each in some) < FEW_BYTES
        }  # fmt: skip
        many = [(domain, some) for domain, some in by_domain.items() if domain not in few]
        for _ in self._threads.map(lambda item: self._put(*item), many):
            pass
        self._put_few(few)

    def _put(self, domain: str, versions: Sequence[PageVersion]) -> None:
        """As packs of the domain."""
        writer, size = PackWriter(), 0
        referred: set[str] = set()
        for version in versions:
            size += self._take_in(writer, referred, domain, version)
            if size >= PACK_BYTES:
                self._write(domain, writer)
                writer, size = PackWriter(), 0
        self._write(domain, writer)
        self._look_after(domain, versions, referred)

    def _put_few(self, by_domain: dict[str, list[PageVersion]]) -> None:
        """As one journal of all these domains."""
        if not by_domain:
            return
        writers = {domain: PackWriter() for domain in by_domain}
        referred: dict[str, set[str]] = {domain: set() for domain in by_domain}
        for domain, versions in by_domain.items():
            for version in versions:
                self._take_in(writers[domain], referred[domain], domain, version)
        self._journal(writers, [version for versions in by_domain.values() for version in versions])
        for domain, versions in by_domain.items():
            self._look_after(domain, versions, referred[domain])

    def _take_in(self, writer: PackWriter, referred: set[str], domain: str, version: PageVersion) -> int:
        """Add a version to what will be written; the bytes of its body, if that is not stored yet."""
        content = version.head.content_hash
        place = self._domains.index(domain).bodies.get(content)
        added = 0
        if place is not None and not self._bodies.is_damaged(domain, content):
            referred.add(place.pack)
        elif content not in writer.bodies:
            writer.bodies[content] = version.body
            added = len(version.body)
        writer.events.append(["v", None, None, head_record(version.head)])
        return added

    def _look_after(self, domain: str, versions: Sequence[PageVersion], referred: set[str]) -> None:
        """Write bodies again that were referred to and have gone since; forget damage that has been made good."""
        paths = [self._domains.path(domain, pack) for pack in sorted(referred)]
        if not all(self._bucket.many(self._bucket.exists, paths)):
            index = self._domains.refresh(domain)
            lost = [each for each in versions if each.head.content_hash not in index.bodies]
            if lost:
                self._put(domain, lost)
        self._bodies.made_good(domain, {version.head.content_hash for version in versions})

    def _write(self, domain: str, writer: PackWriter) -> None:
        self._need_writing()
        if writer.events:
            # Ascending in time, and nobody else's.
            name = f"{time.time_ns():020d}-{secrets.token_hex(4)}"
            self._domains.write(domain, name, writer.data())

    def _need_writing(self) -> None:
        if self._read_only:
            raise PageStoreError(f"{self._bucket.shown} was opened read-only")

    def touch(self, heads: Sequence[PageHead]) -> None:
        by_domain: dict[str, PackWriter] = {}
        for head in heads:
            index = self._domains.index(head.domain)
            versions = index.pages.get((head.kind, head.key))
            if versions and versions[0].content == head.content_hash:
                by_domain.setdefault(head.domain, PackWriter()).events.append(["t", head_record(head)])
        few = {domain: writer for domain, writer in by_domain.items() if len(writer.events) < FEW}
        for domain, writer in by_domain.items():
            if domain not in few:
                self._write(domain, writer)
        if few:
            self._journal(few, [])

    # -- journals --------------------------------------------------------------------------------
    def _journal(self, writers: dict[str, PackWriter], versions: list[PageVersion]) -> None:
        self._need_writing()
        self._unsettled.add(self._domains.write_journal(writers), versions)
        age = time.monotonic() - self._unsettled.since
        if self._unsettled.size >= SETTLE_BYTES or age >= SETTLE_S:
            self.settle()

    def settle(self) -> None:
        """Repeat the journals of this process in packs of their domains, then delete them."""
        mine, self._unsettled = self._unsettled, Unsettled()
        try:
            self._settle(mine.names, mine.bodies)
        except PageStoreError as wrong:
            log.warning("journals stay, until `maintain` comes to their domains: %s", wrong)

    def _settle_all(self, domain: str) -> None:
        """Before versions of a domain are dropped or moved: a journal has no say any more in what that leaves."""
        self._settle({name for name, of in self._domains.journals().items() if domain in of}, {})

    def _settle(self, names: set[str], bodies: dict[bytes, bytes]) -> None:
        if not names:
            return
        journals = self._domains.journals()
        there = names & journals.keys()  # others have been settled, or forgotten, by somebody else
        by_domain: dict[str, set[str]] = {}
        for name in there:
            for domain in journals[name]:
                by_domain.setdefault(domain, set()).add(name)

        def move(item: tuple[str, set[str]]) -> set[str]:
            domain, sources = item
            if not sources <= self._domains.index(domain).packs.keys():
                self._domains.refresh(domain)
            return repeat(
                self._domains, domain, sources,
                lambda index, head: bodies.get(head.content_hash) or self._bodies.read(index, head),
            )  # fmt: skip

        spoiled = set[str]().union(*self._threads.map(move, by_domain.items()))
        self._domains.delete_journals(there - spoiled)

    def quarantine(self, head: PageHead, verdict: str, version: str, note: str) -> None:
        self._settle_all(head.domain)
        index = self._domains.index(head.domain)
        self._write(head.domain, PackWriter(events=index.quarantining(head, verdict, version, note)))

    def prune(self, domain: str, keep: int) -> int:
        self._settle_all(domain)
        self._domains.refresh(domain)
        events = self._domains.index(domain).pruning(keep)
        self._write(domain, PackWriter(events=events))
        return len(events)

    def forget(self, domain: str) -> int:
        self._settle_all(domain)
        self._domains.refresh(domain)
        count = sum(1 for _ in self._domains.index(domain).current(Kind.PAGE))
        self._domains.delete(domain)
        self._bodies.forget(domain)
        return count

    def maintain(self, domain: str, *, dense: bool = False) -> None:
        self._settle_all(domain)
        self._domains.refresh(domain)
        merge(self._domains, domain, self._bodies.read, dense=dense)

    # -- heads -----------------------------------------------------------------------------------
    def head(self, key: bytes, kind: Kind = Kind.PAGE, *, domain: str | None = None) -> PageHead | None:
        return self.heads([key], kind, domain=domain).get(key)

    def heads(
        self, keys: Sequence[bytes], kind: Kind = Kind.PAGE, *, domain: str | None = None
    ) -> dict[bytes, PageHead]:
        """With `domain`, in memory; without, every domain of the store may have to be looked at."""
        found: dict[bytes, PageHead] = {}
        left = list(dict.fromkeys(keys))
        for index in self._domains.likely(domain, STALE_S):
            for key in left:
                versions = index.pages.get((kind, key))
                if versions:
                    found[key] = index.head(versions[0])
            left = [key for key in left if key not in found]
            if not left:
                break
        return found

    def scan(self, domain: str, kind: Kind = Kind.PAGE, after: bytes = b"") -> Iterator[PageHead]:
        self._domains.refresh(domain)
        index = self._domains.index(domain)
        for key in sorted(key for key, _ in index.current(kind) if key > after):
            versions = index.pages.get((kind, key))
            if versions:
                yield index.head(versions[0])

    def history(self, key: bytes, kind: Kind = Kind.PAGE) -> list[PageHead]:
        for index in self._domains.likely(None, STALE_S):
            versions = index.pages.get((kind, key))
            if versions:
                return [index.head(version) for version in versions]
        return []

    def counts(self, domain: str, kind: Kind = Kind.PAGE) -> tuple[int, int, int]:
        self._domains.refresh(domain)
        index = self._domains.index(domain)
        current = [version for _, version in index.current(kind)]
        places = [index.bodies.get(content) for content in {version.content for version in current}]
        stored = sum(place.length for place in places if place is not None)
        return len(current), sum(version.size for version in current), stored

    def new_bodies(self, domain: str, since: float) -> tuple[int, int]:
        return count_new(self, domain, since)

    def domains(self) -> list[str]:
        return self._domains.names()

    # -- bodies ----------------------------------------------------------------------------------
    def body(self, head: PageHead) -> bytes:
        index = self._domains.index(head.domain)
        if not index.has(head.content_hash, head.kind, head.key):
            self._domains.refresh(head.domain)
            index = self._domains.index(head.domain)
            if not any(head.content_hash == version.content for version in _all(index)):
                raise KeyError(head.url)
        return self._bodies.read(index, head)

    def bodies(self, heads: Sequence[PageHead]) -> Iterator[bytes | None]:
        return one_by_one(self, heads)

    def stored_order(self, heads: Sequence[PageHead]) -> list[PageHead]:
        return list(heads)  # each body is read by itself

    def read(
        self, domain: str, kind: Kind = Kind.PAGE, part: int = 0, parts: int = 1
    ) -> Iterator[tuple[PageHead, bytes]]:
        self._domains.refresh(domain)
        index = self._domains.index(domain)
        nowhere = Place("", 0, 0)
        located = sorted(
            (place.pack, place.start, place.length, key)
            for key, version in index.current(kind)
            for place in [index.bodies.get(version.content, nowhere)]
        )
        own = located[len(located) * part // parts : len(located) * (part + 1) // parts]
        by_pack: dict[str, list[tuple[str, int, int, bytes]]] = {}
        for each in own:
            by_pack.setdefault(each[0], []).append(each)

        def fetch(pack: str) -> tuple[str, int, bytes | None]:
            if not pack:
                return pack, 0, None
            first = by_pack[pack][0][1]
            last = max(start + length for _, start, length, _ in by_pack[pack])
            try:
                return pack, first, self._bucket.range(self._domains.path(domain, pack), first, last - first)
            except KeyError:
                return pack, 0, None

        packs = list(by_pack)
        for at in range(0, len(packs), AHEAD):
            for pack, base, data in self._bucket.many(fetch, packs[at : at + AHEAD]):
                for *_, key in by_pack[pack]:
                    versions = index.pages.get((kind, key))
                    if not versions:
                        continue
                    head = index.head(versions[0])
                    try:
                        yield head, self._bodies.read(index, head, data, base)
                    except (CorruptBody, KeyError):
                        self._bodies.damaged(head)

    def corrupt(self, domain: str) -> list[PageHead]:
        return self._bodies.all_damaged(domain)

    def verify(self, domain: str) -> list[PageHead]:
        self._domains.refresh(domain)
        index = self._domains.index(domain)
        found = []
        for versions in list(index.pages.values()):
            for version in versions:
                head = index.head(version)
                try:
                    self._bodies.read(index, head)
                except (CorruptBody, KeyError):
                    found.append(head)
        return found

    def close(self) -> None:
        self.settle()
        self._threads.shutdown(wait=True)
        self._bucket.close()


def _all(index: Index) -> Iterator[Any]:
    for versions in index.pages.values():
        yield from versions
