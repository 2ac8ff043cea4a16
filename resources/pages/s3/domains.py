"""The domains of a bucket: their folders, their packs, what journals have of them, and the indexes in memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from threading import Lock

from resources.object_store.bucket import Bucket
from resources.object_store.folder_names import domain_name, folder_name
from resources.pages.s3.index import Index
from resources.pages.s3.journal import (
    FOLDER,
    is_journal,
    journal_data,
    journal_footer_length,
    journal_name,
    read_journal,
)
from resources.pages.s3.pack import Footer, PackWriter, footer_length, read_footer

__all__ = ["Domains"]

#: Domains whose index is kept; of those touched longest ago it is read again.
KEPT = 256
#: A domain that is met for the first time may take a list of journals that is so old.
JOURNALS_STALE_S = 2.0
#: The end of a pack that is read at first: the footers of most batches are shorter.
END_BYTES = 64 * 1024


class Domains:
    """See the module docstring. Safe in several threads as long as each works on other domains."""

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket
        self._kept: OrderedDict[str, Index] = OrderedDict()
        self._listed: dict[str, float] = {}
        self._journals: dict[str, dict[str, Footer]] = {}
        self._journals_at = 0.0
        self._lock = Lock()
        self._journal_lock = Lock()

    def path(self, domain: str, pack: str) -> str:
        return f"{FOLDER if is_journal(pack) else folder_name(domain)}/{pack}"

    def names(self) -> list[str]:
        """Domains that have a page, of any kind."""
        journaled = {domain for footers in self.journals().values() for domain in footers}
        folders = [folder for folder in self.bucket.folders() if folder != FOLDER]
        held = self.bucket.many(self.bucket.holds, folders)
        found = {domain_name(folder) for folder, any_ in zip(folders, held, strict=True) if any_}
        return sorted(found | journaled)

    def journals(self, stale_s: float = 0.0) -> dict[str, dict[str, Footer]]:
        """What every journal has, by its name and domain: one request, and one for each that is new."""
        with self._journal_lock:
            if time.monotonic() - self._journals_at >= stale_s:
                sizes = {name.rpartition("/")[2]: size for name, size in self.bucket.names(FOLDER)}
                known = {name: footers for name, footers in self._journals.items() if name in sizes}
                new = sorted(sizes.keys() - known.keys())
                read = self.bucket.many(lambda name: self._journal(name, sizes[name]), new)
                known |= {
                    name: footers for name, footers in zip(new, read, strict=True) if footers is not None
                }
                self._journals, self._journals_at = known, time.monotonic()
            return dict(self._journals)

    def index(self, domain: str) -> Index:
        """The index as it is in memory, read now if it is not."""
        with self._lock:
            index = self._kept.get(domain)
            if index is not None:
                self._kept.move_to_end(domain)
                return index
        return self.refresh(domain, JOURNALS_STALE_S)

    def refresh(self, domain: str, stale_s: float = 0.0) -> Index:
        """The index with what the lists of packs and journals say now: two requests, and one for each not yet read.

        `stale_s`: how old the list of journals may be.
        """
        with self._lock:
            index = self._kept.get(domain)
        # Journals first: what leaves one is in the folder before.
        parts = {
            name: footers[domain] for name, footers in self.journals(stale_s).items() if domain in footers
        }
        sizes = {name.rpartition("/")[2]: size for name, size in self.bucket.names(folder_name(domain))}
        if index is None:
            index = Index(domain)
        elif not sizes.keys() | parts.keys() >= index.packs.keys():
            # Packs were merged or forgotten: begin anew, with the footers that are known.
            known = {name: footer for name, footer in index.packs.items() if name in sizes or name in parts}
            index.clear()
            for name in sorted(known):
                index.apply(name, known[name])
        new = sorted(sizes.keys() - index.packs.keys())
        footers = self.bucket.many(lambda name: self._footer(domain, name, sizes[name]), new)
        for name, footer in zip(new, footers, strict=True):
            if footer is not None:
                index.apply(name, footer)
        for name in sorted(parts.keys() - index.packs.keys()):
            index.apply(name, parts[name])
        with self._lock:
            self._listed[domain] = time.monotonic()
            self._kept[domain] = index
            self._kept.move_to_end(domain)
            while len(self._kept) > KEPT:
                old, _ = self._kept.popitem(last=False)
                self._listed.pop(old, None)
        return index

    def _footer(self, domain: str, name: str, size: int) -> Footer | None:
        end = self._end(self.path(domain, name), footer_length)
        return None if end is None else read_footer(end, name, size)

    def _journal(self, name: str, size: int) -> dict[str, Footer] | None:
        end = self._end(self.path("", name), journal_footer_length)
        return None if end is None else read_journal(end, name, size)

    def _end(self, path: str, length_of: Callable[[bytes, str], int]) -> bytes | None:
        """The end of an object with its whole footer; None if it was merged or forgotten since it was listed."""
        try:
            end, _ = self.bucket.end(path, END_BYTES)
            length = length_of(end, f"{self.bucket.shown}/{path}")
            if length > len(end):
                end, _ = self.bucket.end(path, length)
        except KeyError:
            return None
        return end

    def write(self, domain: str, name: str, data: bytes) -> None:
        """Write a pack and take it into the index."""
        self.bucket.put(self.path(domain, name), data)
        self.index(domain).apply(name, read_footer(data, name, len(data)))

    def write_journal(self, parts: dict[str, PackWriter]) -> str:
        """Write what each domain has to say into one journal, take it into the indexes, and give its name."""
        name, data = journal_name(), journal_data(parts)
        self.bucket.put(self.path("", name), data)
        footers = read_journal(data, name, len(data))
        with self._journal_lock:
            self._journals[name] = footers
        for domain, footer in footers.items():
            self.index(domain).apply(name, footer)
        return name

    def delete_journals(self, names: set[str]) -> None:
        """Delete journals whose every word has been repeated in packs."""
        self.bucket.delete([self.path("", name) for name in sorted(names)])
        with self._journal_lock:
            for name in names:
                self._journals.pop(name, None)
        with self._lock:
            indexes = list(self._kept.values())
        for index in indexes:
            index.without(names)

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
