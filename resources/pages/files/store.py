"""The page store as files; see folders.py for the layout. Any number of processes of one machine.

Bodies are durable before the head that names them, so a head never names a body that is not there. Writers
to one domain take turns (flock); readers never wait.

Costs: two synced files per new page and one per touch, some ten times what SQLite takes; heads are plain
JSON (600 bytes a page), and each file takes at least a block of the file system. `heads` opens two files a
key. Choose it where the files themselves are wanted.
"""

from __future__ import annotations

import shutil
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from resources.pages.base import CorruptBody, Kind, PageHead, PageVersion, count_new, one_by_one
from resources.pages.compression import (
    DENSE_DICTIONARY_BYTES,
    DENSE_LEVEL,
    DENSE_SAMPLE_BODIES,
    train,
)
from resources.pages.files.body_files import BodyFiles
from resources.pages.files.folders import Batch, Folders, explained
from resources.pages.files.head_file import encode_versions, read_versions
from resources.pages.incoming import KEEP, check_versions

__all__ = ["FilePages"]

#: Domains whose codecs are kept ready.
OPEN_DOMAINS = 16

#: A dense dictionary is at most this small a share of the stored bodies.
DENSE_SHARE = 8


class FilePages:
    """PageStore on files. See `resources.pages.base` for the contract."""

    #: A write costs a sync of the disk: a crash may cost less than half a second of work.
    gather_s = 0.4

    def __init__(self, root: Path, *, keep: int = KEEP, read_only: bool = False) -> None:
        self._folders = Folders(root, read_only=read_only)
        self._keep = keep
        self._open: OrderedDict[Path, BodyFiles] = OrderedDict()
        self._corrupt: dict[str, dict[tuple[bytes, bytes], PageHead]] = {}

    def __repr__(self) -> str:
        return f"<FilePages {self._folders.root}>"

    # -- writing

    def put(self, versions: Sequence[PageVersion]) -> None:
        check_versions(versions)
        groups: dict[str, list[PageVersion]] = {}
        for version in versions:
            groups.setdefault(version.head.domain, []).append(version)
        for name, group in groups.items():
            bodies = {version.head.content_hash: version.body for version in group}
            with explained(self._folders.root), self._folders.locked(name) as folder:
                batch = Batch()
                self._bodies(folder).write(batch, bodies)
                batch.sync()
                for version in group:
                    self._place(batch, folder, version.head)
                batch.sync()
            damaged = self._corrupt.get(name, {})
            for each in [each for each in damaged if each[1] in bodies]:
                del damaged[each]

    def _place(self, batch: Batch, folder: Path, head: PageHead) -> None:
        """Make `head` the current version of its URL."""
        path = _head_path(folder, head.kind, head.key)
        known = read_versions(path)
        # 1. a URL never seen; 2. its body as before; 3. a new body: the old version is kept.
        if not known:
            known = [head]
        elif known[0].content_hash == head.content_hash:
            known[0] = replace(head, first_seen_at=known[0].first_seen_at, changed_at=known[0].changed_at)
        else:
            known = [replace(head, first_seen_at=known[0].first_seen_at), *known[: self._keep]]
        batch.write(path, encode_versions(known))
        pointer = self._folders.pointer(head.key)
        if not pointer.exists() or pointer.read_text(encoding="ascii") != folder.name:
            batch.write(pointer, folder.name.encode())

    def touch(self, heads: Sequence[PageHead]) -> None:
        groups: dict[str, list[PageHead]] = {}
        for head in heads:
            groups.setdefault(head.domain, []).append(head)
        for name, group in groups.items():
            with explained(self._folders.root):
                if not self._folders.domain(name).exists():
                    continue
                with self._folders.locked(name) as folder:
                    batch = Batch()
                    for head in group:
                        path = _head_path(folder, head.kind, head.key)
                        known = read_versions(path)
                        if known and known[0].content_hash == head.content_hash:
                            batch.write(path, encode_versions([head, *known[1:]]))
                    batch.sync()

    def quarantine(self, head: PageHead, verdict: str, version: str, note: str) -> None:
        with explained(self._folders.root), self._folders.locked(head.domain) as folder:
            path = _head_path(folder, Kind.PAGE, head.key)
            known = read_versions(path)
            stored = next((each for each in known if each.content_hash == head.content_hash), None)
            if stored is None:
                return
            judged = replace(
                head,
                kind=Kind.QUARANTINE,
                verdict=verdict,
                verdict_version=version,
                note=note,
                first_seen_at=stored.first_seen_at,
                changed_at=stored.changed_at,
            )
            batch = Batch()
            # In quarantine before it is gone from the pages: a crash between leaves it in both, not in none.
            self._place(batch, folder, judged)
            batch.sync()
            known.remove(stored)
            if known:
                batch.write(path, encode_versions(known))
                batch.sync()
            else:
                path.unlink()

    def prune(self, domain: str, keep: int) -> int:
        count = 0
        with explained(self._folders.root), self._folders.locked(domain) as folder:
            batch = Batch()
            for path in _head_paths(folder):
                known = read_versions(path)
                if len(known) > keep + 1:
                    count += len(known) - keep - 1
                    batch.write(path, encode_versions(known[: keep + 1]))
            batch.sync()
        return count

    def maintain(self, domain: str, *, dense: bool = False) -> None:
        """See the contract. Bodies are rewritten one by one; the domain is locked meanwhile."""
        with explained(self._folders.root):
            if not self._folders.domain(domain).exists():
                return
            with self._folders.locked(domain) as folder:
                bodies = self._bodies(folder)
                used = {head.content_hash for path in _head_paths(folder) for head in read_versions(path)}
                bodies.clean(used)
                batch = Batch()
                if dense:
                    samples = bodies.sample(DENSE_SAMPLE_BODIES)
                    limit = min(
                        DENSE_DICTIONARY_BYTES, sum(p.stat().st_size for p in bodies.paths()) // DENSE_SHARE
                    )
                    data = train(samples, limit)
                    if data is not None:
                        bodies.use(batch, data)
                current = bodies.current()
                codec = bodies.dictionary_codec(DENSE_LEVEL)
                for path in list(bodies.paths()):
                    # A damaged body stays as it is, so that `verify` finds it.
                    with suppress(ValueError):
                        if dense or bodies.number_of(path) != current:
                            bodies.rewrite(batch, bytes.fromhex(path.stem), codec)
                batch.sync()
                bodies.clean(used)

    def forget(self, domain: str) -> int:
        self._corrupt.pop(domain, None)
        with explained(self._folders.root):
            if not self._folders.domain(domain).exists():
                return 0
            with self._folders.locked(domain) as folder:
                aside = self._folders.remove(folder)
                self._open.pop(folder, None)
            # A kill from here on leaves pointers to nothing, which read as nothing, and a folder out of use.
            pages = 0
            for path in _head_paths(aside):
                pages += path.parent.parent.name == Kind.PAGE.name.lower()
                self._forget_pointer(bytes.fromhex(path.stem), folder.name)
            for left in folder.parent.glob(f"{folder.name}.*"):
                shutil.rmtree(left, ignore_errors=left != aside)
            return pages

    def _forget_pointer(self, key: bytes, name: str) -> None:
        pointer = self._folders.pointer(key)
        with suppress(FileNotFoundError):
            if (
                pointer.read_text(encoding="ascii") == name
                and not self._folders.root.joinpath("domains", name[:2], name).exists()
            ):
                pointer.unlink()

    # -- reading

    def head(self, key: bytes, kind: Kind = Kind.PAGE, *, domain: str | None = None) -> PageHead | None:
        known = self.history(key, kind)
        return known[0] if known else None

    def heads(
        self, keys: Sequence[bytes], kind: Kind = Kind.PAGE, *, domain: str | None = None
    ) -> dict[bytes, PageHead]:
        return {key: head for key in keys if (head := self.head(key, kind)) is not None}

    def history(self, key: bytes, kind: Kind = Kind.PAGE) -> list[PageHead]:
        with explained(self._folders.root):
            try:
                name = self._folders.pointer(key).read_text(encoding="ascii")
            except FileNotFoundError:
                return []
            return read_versions(_head_path(self._folders.root / "domains" / name[:2] / name, kind, key))

    def body(self, head: PageHead) -> bytes:
        with explained(self._folders.root):
            try:
                return self._bodies(self._folders.domain(head.domain)).read(head.content_hash)
            except FileNotFoundError as error:
                raise KeyError(head.url) from error
            except ValueError as error:
                self._corrupt.setdefault(head.domain, {})[head.key, head.content_hash] = head
                raise CorruptBody(
                    f"page store {self._folders.root}: the stored body of {head.url} is damaged ({error}); "
                    "fetch the page again to replace it"
                ) from error

    def bodies(self, heads: Sequence[PageHead]) -> Iterator[bytes | None]:
        return one_by_one(self, heads)

    def stored_order(self, heads: Sequence[PageHead]) -> list[PageHead]:
        return list(heads)  # each body is read by itself

    def scan(self, domain: str, kind: Kind = Kind.PAGE, after: bytes = b"") -> Iterator[PageHead]:
        with explained(self._folders.root):
            top = self._folders.domain(domain) / "heads" / kind.name.lower()
            for shard in sorted(top.glob("*")):
                if shard.name < after.hex()[:2]:
                    continue
                for path in sorted(shard.glob("*.json")):
                    if bytes.fromhex(path.stem) > after:
                        yield from read_versions(path)[:1]

    def read(
        self, domain: str, kind: Kind = Kind.PAGE, part: int = 0, parts: int = 1
    ) -> Iterator[tuple[PageHead, bytes]]:
        for head in self.scan(domain, kind):
            if int.from_bytes(head.key[-2:]) % parts == part:
                try:
                    yield head, self.body(head)
                except (CorruptBody, KeyError):
                    self._corrupt.setdefault(domain, {})[head.key, head.content_hash] = head

    def corrupt(self, domain: str) -> list[PageHead]:
        return list(self._corrupt.get(domain, {}).values())

    def counts(self, domain: str, kind: Kind = Kind.PAGE) -> tuple[int, int, int]:
        pages, decoded, contents = 0, 0, set()
        for head in self.scan(domain, kind):
            pages, decoded = pages + 1, decoded + head.body_bytes
            contents.add(head.content_hash)
        bodies, stored = self._bodies(self._folders.domain(domain)), 0
        for content in contents:
            with suppress(FileNotFoundError):
                stored += bodies.path(content).stat().st_size
        return pages, decoded, stored

    def new_bodies(self, domain: str, since: float) -> tuple[int, int]:
        return count_new(self, domain, since)

    def domains(self) -> list[str]:
        with explained(self._folders.root):
            names = [(folder / "name").read_bytes() for folder in self._folders.all_domains()]
        return sorted(name.decode("utf-8", "surrogatepass") for name in names)

    def verify(self, domain: str) -> list[PageHead]:
        found = []
        for path in _head_paths(self._folders.domain(domain)):
            for head in read_versions(path):
                try:
                    self.body(head)
                except (CorruptBody, KeyError):
                    found.append(head)
        return found

    def close(self) -> None:
        self._open.clear()

    def _bodies(self, folder: Path) -> BodyFiles:
        bodies = self._open.get(folder)
        if bodies is None:
            bodies = self._open[folder] = BodyFiles(folder)
            if len(self._open) > OPEN_DOMAINS:
                self._open.popitem(last=False)
        return bodies


def _head_path(folder: Path, kind: Kind, key: bytes) -> Path:
    text = key.hex()
    return folder / "heads" / kind.name.lower() / text[:2] / f"{text}.json"


def _head_paths(folder: Path) -> list[Path]:
    return sorted(folder.glob("heads/*/*/*.json"))
