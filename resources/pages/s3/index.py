"""What is known of one domain: the versions of each page and where each body is, read from the packs' footers.

The order of packs decides which version is the current one, so all workers come to the same end, whoever
reads what first. Costs: about 300 bytes of memory a page while the domain is being worked on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from resources.pages.base import Kind, PageHead
from resources.pages.compression import HEAD_LEVEL, Codec
from resources.pages.incoming import KEEP
from resources.pages.s3.pack import Footer, Order, Place, head_from, head_record

__all__ = ["Index", "Version"]


@dataclass(slots=True)
class Version:
    """One version of one page. `home`: the pack whose event is the last word on its head; `base`: the latest pack
    that tells the version whole, which a touch does not."""

    order: Order
    revision: Order
    home: str
    base: str
    content: bytes
    size: int
    packed: bytes


class Index:
    """See the module docstring. `packs`: every pack that has been read."""

    def __init__(self, domain: str) -> None:
        self.domain = domain
        self.clear()

    def clear(self) -> None:
        """As before any pack was read."""
        self.packs: dict[str, Footer] = {}
        #: Versions of each page, newest first.
        self.pages: dict[tuple[int, bytes], list[Version]] = {}
        self.bodies: dict[bytes, Place] = {}
        self.dropped: set[tuple[int, bytes, Order]] = set()
        self._codec: Codec | None = None

    # -- reading ---------------------------------------------------------------------------------
    def head(self, version: Version) -> PageHead:
        assert self._codec is not None
        return head_from(json.loads(self._codec.decompress(version.packed)), self.domain)

    def record(self, version: Version) -> list[Any]:
        assert self._codec is not None
        record: list[Any] = json.loads(self._codec.decompress(version.packed))
        return record

    def current(self, kind: Kind) -> Iterator[tuple[bytes, Version]]:
        for (of, key), versions in self.pages.items():
            if of == kind:
                yield key, versions[0]

    def live(self) -> set[bytes]:
        """Hashes of the bodies that some version has."""
        return {version.content for versions in self.pages.values() for version in versions}

    def has(self, content: bytes, kind: Kind, key: bytes) -> bool:
        return any(version.content == content for version in self.pages.get((kind, key), ()))

    # -- writing ---------------------------------------------------------------------------------
    def apply(self, pack: str, footer: Footer) -> None:
        """Take in a pack; in whatever order they come, the outcome is the same."""
        self.packs[pack] = footer
        for content, place in footer.bodies.items():
            known = self.bodies.get(content)
            if known is None or known.pack <= pack:
                self.bodies[content] = place
        for number, event in enumerate(footer.events):
            place_of_event = (pack, number)
            match event:
                case ["v", None, _, record]:
                    self._version(place_of_event, place_of_event, pack, record, repeated=False)
                case ["v", order, revision, record]:
                    self._version(tuple(order), tuple(revision), pack, record, repeated=True)
                case ["t", record]:
                    self._touch(place_of_event, pack, record)
                case ["d", kind, key, order]:
                    self._drop(kind, bytes.fromhex(key), (order[0], order[1]))

    def _version(
        self, order: Order, revision: Order, pack: str, record: list[Any], *, repeated: bool
    ) -> None:
        """Take in a version. `repeated`: by who knew all that stood before it, which may be gone by now: its dates
        hold. Else they follow from the version before."""
        key, kind, content, size = bytes.fromhex(record[0]), record[1], bytes.fromhex(record[2]), record[4]
        if (kind, key, order) in self.dropped:
            return
        versions = self.pages.setdefault((kind, key), [])
        new = Version(order, revision, pack, pack, content, size, b"")
        # 1. a version that is known: the later word on it holds; 2. by its order among the others
        for at, known in enumerate(versions):
            if known.order == order:
                # The same word in two packs is the later one's: the earlier may go when it has been repeated.
                if (known.revision, known.home) < (revision, pack):
                    if not repeated:
                        record = [*record[:7], *self.record(known)[7:9], *record[9:]]
                    new.packed = self._pack(record)
                    new.base = max(known.base, pack)
                    versions[at] = new
                else:
                    known.base = max(known.base, pack)
                return
        at = sum(known.order > order for known in versions)
        older = versions[at] if at < len(versions) else None
        if older is not None:
            seen, changed = self.record(older)[7:9]
            record = list(record)
            record[7] = min(record[7], seen) if repeated else seen
            if older.content == content and not repeated:
                record[8] = changed
        new.packed = self._pack(record)
        if older is not None and older.content == content:
            versions[at] = new
        else:
            versions.insert(at, new)
        self._seen_since(versions[:at], record[7])
        if at and versions[at - 1].content == content:
            del versions[at]  # the newer one is about the same body
        del versions[KEEP + 1 :]

    def _seen_since(self, newer: list[Version], seen: float) -> None:
        """Versions of other workers, taken in before this older one: the page was first seen when it was."""
        for version in newer:
            record = self.record(version)
            if record[7] > seen:
                record[7] = seen
                version.packed = self._pack(record)

    def _touch(self, place: Order, pack: str, record: list[Any]) -> None:
        versions = self.pages.get((record[1], bytes.fromhex(record[0])))
        if not versions or versions[0].content != bytes.fromhex(record[2]) or versions[0].revision >= place:
            return
        old = versions[0]
        versions[0] = Version(old.order, place, pack, old.base, old.content, old.size, self._pack(record))

    def _drop(self, kind: int, key: bytes, order: Order) -> None:
        self.dropped.add((kind, key, order))
        versions = self.pages.get((kind, key), [])
        versions[:] = [version for version in versions if version.order != order]
        if not versions:
            self.pages.pop((kind, key), None)

    def _pack(self, record: list[Any]) -> bytes:
        text = json.dumps(record, separators=(",", ":")).encode("ascii")
        if self._codec is None:
            self._codec = Codec(text, HEAD_LEVEL, raw=True)
        return self._codec.compress(text)

    def without(self, packs: set[str]) -> None:
        """These packs are going, and what they said has been repeated by others that were taken in."""
        for pack in packs & self.packs.keys():
            for content in self.packs.pop(pack).bodies:
                place = self.bodies.get(content)
                if place is not None and place.pack == pack:
                    del self.bodies[content]

    # -- what calls come to ----------------------------------------------------------------------
    def quarantining(self, head: PageHead, verdict: str, version: str, note: str) -> list[list[Any]]:
        """The events that move the version with this body; none if no version has it."""
        for known in self.pages.get((Kind.PAGE, head.key), ()):
            if known.content == head.content_hash:
                stored = self.head(known)
                moved = replace(
                    head, kind=Kind.QUARANTINE, verdict=verdict, verdict_version=version, note=note,
                    first_seen_at=stored.first_seen_at, changed_at=stored.changed_at,
                )  # fmt: skip
                return [
                    ["d", int(Kind.PAGE), head.key.hex(), list(known.order)],
                    ["v", None, None, head_record(moved)],
                ]
        return []

    def pruning(self, keep: int) -> list[list[Any]]:
        """The events that drop versions beyond the newest `keep` older ones."""
        return [
            ["d", kind, key.hex(), list(version.order)]
            for (kind, key), versions in self.pages.items()
            for version in versions[keep + 1 :]
        ]
