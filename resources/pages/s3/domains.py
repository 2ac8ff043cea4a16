"""The domains of a bucket: their folders, their packs, and the indexes that are in memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock

from resources.object_store.bucket import Bucket
from resources.object_store.folder_names import domain_name, folder_name
from resources.pages.s3.index import Index
from resources.pages.s3.pack import Footer, footer_length, read_footer

__all__ = ["Domains"]

#: Domains whose index is kept; of those touched longest ago it is read again.
KEPT = 256
#: The end of a pack that is read at first: the footers of most batches are shorter.
END_BYTES = 64 * 1024


class Domains:
    """See the module docstring. Safe in several threads as long as each works on other domains."""

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket
        self._kept: OrderedDict[str, Index] = OrderedDict()
        self._listed: dict[str, float] = {}
        self._lock = Lock()

    def path(self, domain: str, pack: str) -> str:
        return f"{folder_name(domain)}/{pack}"

    def names(self) -> list[str]:
        """Domains that have a page, of any kind."""
        folders = self.bucket.folders()
        held = self.bucket.many(self.bucket.holds, folders)
        return sorted(domain_name(folder) for folder, any_ in zip(folders, held, strict=True) if any_)

    def index(self, domain: str) -> Index:
        """The index as it is in memory, read now if it is not."""
        with self._lock:
            index = self._kept.get(domain)
            if index is not None:
                self._kept.move_to_end(domain)
                return index
        return self.refresh(domain)

    def refresh(self, domain: str) -> Index:
        """The index with what the list of packs says now: one request, and one for each pack not yet read."""
        with self._lock:
            index = self._kept.get(domain)
        sizes = {name.rpartition("/")[2]: size for name, size in self.bucket.names(folder_name(domain))}
        if index is None:
            index = Index(domain)
        elif not sizes.keys() >= index.packs.keys():
            # Packs were merged or forgotten: begin anew, with the footers that are known.
            known = {name: footer for name, footer in index.packs.items() if name in sizes}
            index.clear()
            for name in sorted(known):
                index.apply(name, known[name])
        new = sorted(sizes.keys() - index.packs.keys())
        footers = self.bucket.many(lambda name: self._footer(domain, name, sizes[name]), new)
        for name, footer in zip(new, footers, strict=True):
            if footer is not None:
                index.apply(name, footer)
        with self._lock:
            self._listed[domain] = time.monotonic()
            self._kept[domain] = index
            self._kept.move_to_end(domain)
            while len(self._kept) > KEPT:
                old, _ = self._kept.popitem(last=False)
                self._listed.pop(old, None)
        return index

    def _footer(self, domain: str, name: str, size: int) -> Footer | None:
        path = self.path(domain, name)
        try:
            end, _ = self.bucket.end(path, END_BYTES)
            length = footer_length(end, path)
            if length > len(end):
                end, _ = self.bucket.end(path, length)
        except KeyError:
            return None  # merged or forgotten since it was listed
        footer = read_footer(end, path, size)
        footer.bodies = {
            content: type(place)(name, place.start, place.length) for content, place in footer.bodies.items()
        }
        return footer

    def write(self, domain: str, name: str, data: bytes) -> None:
        """Write a pack and take it into the index."""
        self.bucket.put(self.path(domain, name), data)
        self.index(domain).apply(name, read_footer(data, name, len(data)))

    def delete(self, domain: str, packs: list[str] | None = None) -> None:
        """Delete some packs, or all."""
        if packs is None:
            paths = [name for name, _ in self.bucket.names(folder_name(domain))]
        else:
            paths = [self.path(domain, pack) for pack in packs]
        self.bucket.delete(paths)
        self.refresh(domain)

    def likely(self, domain: str | None, stale_s: float) -> Iterator[Index]:
        """Indexes to look a key up in, as long as it is not found: the domain's, and read again if it is stale;
        without a name those in memory, and then all there are."""
        if domain is not None:
            yield self.index(domain)
            if time.monotonic() - self._listed.get(domain, 0.0) > stale_s:
                yield self.refresh(domain)
            return
        with self._lock:
            kept = list(self._kept.values())
        yield from kept
        for name in self.names():
            yield self.refresh(name)
