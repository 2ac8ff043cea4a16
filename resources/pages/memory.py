"""Pages in this process's memory: for tests and tiny crawls. Nothing outlives the process.

Guarantees: the contract, durability apart. Bodies are not compressed: `counts` says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from resources.pages.base import CorruptBody, Kind, PageHead, PageVersion, count_new, one_by_one
from resources.pages.compression import content_hash
from resources.pages.incoming import KEEP, check_versions

__all__ = ["MemoryPages"]


class MemoryPages:
    """PageStore on dictionaries. See `resources.pages.base` for the contract."""

    gather_s = 0.4

    def __init__(self, *, keep: int = KEEP) -> None:
        self._keep = keep
        #: Versions of each URL and kind, newest first.
        self._versions: dict[tuple[Kind, bytes], list[PageHead]] = {}
        self._bodies: dict[tuple[str, bytes], bytes] = {}
        self._corrupt: dict[str, dict[tuple[bytes, bytes], PageHead]] = {}

    def put(self, versions: Sequence[PageVersion]) -> None:
        check_versions(versions)
        for version in versions:
            head = version.head
            self._bodies[head.domain, head.content_hash] = version.body
            damaged = self._corrupt.get(head.domain, {})
            for each in [each for each in damaged if each[1] == head.content_hash]:
                del damaged[each]
            self._place(head)

    def _place(self, head: PageHead) -> None:
        known = self._versions.setdefault((head.kind, head.key), [])
        # 1. a URL never seen; 2. its body as before; 3. a new body: the old version is kept.
        if not known:
            known.append(head)
        elif known[0].content_hash == head.content_hash:
            known[0] = replace(head, first_seen_at=known[0].first_seen_at, changed_at=known[0].changed_at)
        else:
            known.insert(0, replace(head, first_seen_at=known[0].first_seen_at))
            del known[self._keep + 1 :]

    def touch(self, heads: Sequence[PageHead]) -> None:
        for head in heads:
            known = self._versions.get((head.kind, head.key))
            if known and known[0].content_hash == head.content_hash:
                known[0] = head

    def head(self, key: bytes, kind: Kind = Kind.PAGE, *, domain: str | None = None) -> PageHead | None:
        known = self._versions.get((kind, key))
        return known[0] if known else None

    def heads(
        self, keys: Sequence[bytes], kind: Kind = Kind.PAGE, *, domain: str | None = None
    ) -> dict[bytes, PageHead]:
        return {key: head for key in keys if (head := self.head(key, kind)) is not None}

    def body(self, head: PageHead) -> bytes:
        body = self._bodies.get((head.domain, head.content_hash))
        if body is None:
            raise KeyError(head.url)
        if content_hash(body) != head.content_hash:
            self._corrupt.setdefault(head.domain, {})[head.key, head.content_hash] = head
            raise CorruptBody(f"the body of {head.url} in memory is damaged; fetch the page again")
        return body

    def bodies(self, heads: Sequence[PageHead]) -> Iterator[bytes | None]:
        return one_by_one(self, heads)

    def stored_order(self, heads: Sequence[PageHead]) -> list[PageHead]:
        return list(heads)  # each body is read by itself

    def scan(self, domain: str, kind: Kind = Kind.PAGE, after: bytes = b"") -> Iterator[PageHead]:
        current = [known[0] for (of, _), known in self._versions.items() if of == kind]
        found = [head for head in current if head.domain == domain and head.key > after]
        yield from sorted(found, key=lambda head: head.key)

    def read(
        self, domain: str, kind: Kind = Kind.PAGE, part: int = 0, parts: int = 1
    ) -> Iterator[tuple[PageHead, bytes]]:
        for head in self.scan(domain, kind):
            if head.content_hash[-1] % parts != part:
                continue
            try:
                yield head, self.body(head)
            except (CorruptBody, KeyError):
                self._corrupt.setdefault(domain, {})[head.key, head.content_hash] = head

    def corrupt(self, domain: str) -> list[PageHead]:
        return list(self._corrupt.get(domain, {}).values())

    def history(self, key: bytes, kind: Kind = Kind.PAGE) -> list[PageHead]:
        return list(self._versions.get((kind, key), ()))

    def counts(self, domain: str, kind: Kind = Kind.PAGE) -> tuple[int, int, int]:
        heads = list(self.scan(domain, kind))
        stored = {head.content_hash: head.body_bytes for head in heads}
        return len(heads), sum(head.body_bytes for head in heads), sum(stored.values())

    def new_bodies(self, domain: str, since: float) -> tuple[int, int]:
        return count_new(self, domain, since)

    def domains(self) -> list[str]:
        return sorted({known[0].domain for known in self._versions.values()})

    def quarantine(self, head: PageHead, verdict: str, version: str, note: str) -> None:
        known = self._versions.get((Kind.PAGE, head.key), [])
        stored = next((each for each in known if each.content_hash == head.content_hash), None)
        if stored is None:
            return
        known.remove(stored)
        if not known:
            del self._versions[Kind.PAGE, head.key]
        self._place(
            replace(
                head,
                kind=Kind.QUARANTINE,
                verdict=verdict,
                verdict_version=version,
                note=note,
                first_seen_at=stored.first_seen_at,
                changed_at=stored.changed_at,
            )
        )

    def verify(self, domain: str) -> list[PageHead]:
        found = []
        for known in self._versions.values():
            for head in known:
                if head.domain == domain:
                    try:
                        self.body(head)
                    except (CorruptBody, KeyError):
                        found.append(head)
        return found

    def maintain(self, domain: str, *, dense: bool = False) -> None:
        used = {head.content_hash for known in self._versions.values() for head in known}
        for place in [place for place in self._bodies if place[0] == domain and place[1] not in used]:
            del self._bodies[place]

    def prune(self, domain: str, keep: int) -> int:
        count = 0
        for known in self._versions.values():
            if known[0].domain == domain:
                count += len(known[keep + 1 :])
                del known[keep + 1 :]
        return count

    def forget(self, domain: str) -> int:
        gone = [identity for identity, known in self._versions.items() if known[0].domain == domain]
        for identity in gone:
            del self._versions[identity]
        for place in [place for place in self._bodies if place[0] == domain]:
            del self._bodies[place]
        self._corrupt.pop(domain, None)
        return sum(kind == Kind.PAGE for kind, _ in gone)

    def close(self) -> None:
        """Nothing to do: the memory goes with the object."""
