"""The page store in one SQLite file: any number of processes of one machine, one of them writing at a time.

Bodies of one domain and batch are compressed together (`frames.py`), outside of the write transaction, so that other
writers do not wait for it. The `put` that brings a domain to TRAIN_AT bodies first trains a dictionary (0.02 s, in the
storage thread; a domain with nothing in common stays without), and once more when it has grown very much. `maintain`
brings bodies stored before up to the newest dictionary, and those that came alone together.

Costs (CPU, pages of 30 KB, batches of 200): put 0.2 ms, of which 0.15 compression; `heads` 15 µs and
`touch` 25 µs a page; a random body 0.2 ms; `read` 40 µs a page. Beside its body a page takes some 300
bytes, indexes included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from sqlite3 import Connection

from resources.pages.base import CorruptBody, Kind, PageHead, PageVersion
from resources.pages.compression import SAMPLE_BODIES, TRAIN_AT, TRAIN_AT_BYTES, content_hash, train
from resources.pages.head_fields import encode_fields
from resources.pages.incoming import KEEP, check_versions
from resources.pages.sqlite.bodies import Bodies
from resources.pages.sqlite.database import BUSY_S, Database
from resources.pages.sqlite.domains import Domain, Domains
from resources.pages.sqlite.frames import Frame
from resources.pages.sqlite.heads import Heads, Row
from resources.pages.sqlite.maintenance import maintain, prune, retrain
from resources.pages.sqlite.reading import read_bodies
from resources.pages.sqlite.statements import read_statements

__all__ = ["SqlitePages"]

_SQL = read_statements("store.sql")

#: Decoded bytes of a domain before its first dictionary. Twice what would do: bodies that share frames need it later,
#: and it is made from more of the site's kinds of pages (0.3 % smaller).
FIRST_DICTIONARY_BYTES = 2 * TRAIN_AT_BYTES

#: Train again when a domain has grown this many times, up to TRAIN_UNTIL bodies: by then it has shown all its kinds of
#: pages. At fourfold growth the frames of 5,400 pages of documentation take 1.5 % less, the dictionaries as much more,
#: and it costs 15 µs a page.
TRAIN_GROWTH = 64
TRAIN_UNTIL = 4096

#: Bodies that `bodies` holds: as many as have this many bytes, so that each frame is decompressed once for all of them.
AT_ONCE = 500
AT_ONCE_BYTES = 16 * 1024 * 1024


class SqlitePages:
    """PageStore on one SQLite file. See `resources.pages.base` for the contract."""

    #: A write costs a sync of the disk: a crash may cost less than half a second of work.
    gather_s = 0.4

    def __init__(
        self, path: Path, *, keep: int = KEEP, read_only: bool = False, busy_s: float = BUSY_S
    ) -> None:
        self._database = Database(path, read_only=read_only, busy_s=busy_s)
        self._keep = keep
        self._domains = Domains(self._database.connection)
        self._heads = Heads(self._database.connection, self._domains)
        self._bodies = Bodies(self._database.connection, self._domains)
        self._corrupt: dict[str, dict[tuple[bytes, bytes], PageHead]] = {}

    def __repr__(self) -> str:
        return f"<SqlitePages {self._database.path}>"

    # -- writing

    def put(self, versions: Sequence[PageVersion]) -> None:
        check_versions(versions)
        rest = list(versions)
        # Versions of one URL in one batch follow each other as they would in several.
        while rest:
            batch: dict[tuple[bytes, Kind], PageVersion] = {}
            later: list[PageVersion] = []
            for version in rest:
                identity = (version.head.key, version.head.kind)
                if identity in batch:
                    later.append(version)
                else:
                    batch[identity] = version
            self._put(list(batch.values()))
            rest = later

    def _put(self, batch: list[PageVersion]) -> None:
        groups: dict[str, list[PageVersion]] = {}
        for version in batch:
            groups.setdefault(version.head.domain, []).append(version)
        # By address: pages of one folder are most alike, and find each other in one frame (0.3 % smaller).
        bodies = {
            name: {
                version.head.content_hash: version.body
                for version in sorted(group, key=lambda version: version.head.url)
            }
            for name, group in groups.items()
        }
        frames: dict[str, list[Frame]] = {}
        with self._database.explained():
            for name, contents in bodies.items():
                self._train_if_due(name, list(contents.values()))
                frames[name] = self._bodies.compress(self._domains.find(name), contents)
        with self._write():
            current = self._current([version.head for version in batch])
            for name, group in groups.items():
                domain = self._domains.ensure(name)
                self._bodies.insert(domain, bodies[name], frames[name])
                self._put_heads(domain, [version.head for version in group], current)
        for name, contents in bodies.items():
            for content in contents:
                for damaged in [each for each in self._corrupt.get(name, ()) if each[1] == content]:
                    del self._corrupt[name][damaged]

    def _put_heads(
        self, domain: Domain, heads: list[PageHead], current: dict[tuple[bytes, int], Row]
    ) -> None:
        fields = [encode_fields(head) for head in heads]
        dictionary = self._head_dictionary(domain, heads, fields)
        new: list[Row] = []
        for head, text in zip(heads, fields, strict=True):
            row = current.get((head.key, head.kind))
            # 1. a URL never seen; 2. its body as before; 3. a new body: the old version is kept.
            if row is None:
                new.append(
                    self._heads.columns(
                        head, text, domain.id, dictionary, head.first_seen_at, head.changed_at
                    )
                )
                continue
            first_seen = row[9] if row[10] is None else row[10]
            changed = row[9] if row[11] is None else row[11]
            if row[5] != head.content_hash:
                self._heads.archive(row, self._keep)
                changed = head.changed_at
            columns = self._heads.columns(head, text, domain.id, dictionary, first_seen, changed)
            self._heads.replace(row[0], columns)
        self._heads.insert(new)

    def touch(self, heads: Sequence[PageHead]) -> None:
        groups: dict[str, list[PageHead]] = {}
        for head in heads:
            groups.setdefault(head.domain, []).append(head)
        with self._write():
            for name, group in groups.items():
                domain = self._domains.find(name)
                if domain is None:
                    continue
                fields = [encode_fields(head) for head in group]
                dictionary = self._head_dictionary(domain, group, fields)
                self._heads.touch(
                    self._heads.columns(
                        head, text, domain.id, dictionary, head.first_seen_at, head.changed_at
                    )
                    for head, text in zip(group, fields, strict=True)
                )

    def _head_dictionary(self, domain: Domain, heads: list[PageHead], fields: list[bytes]) -> int:
        pages = (text for head, text in zip(heads, fields, strict=True) if head.kind is Kind.PAGE)
        return self._domains.head_dictionary(domain, next(pages, None))

    def quarantine(self, head: PageHead, verdict: str, version: str, note: str) -> None:
        judged = replace(head, kind=Kind.QUARANTINE, verdict=verdict, verdict_version=version, note=note)
        with self._write():
            current = self._heads.rows([head.key], Kind.PAGE).get(head.key, [])
            older = self._heads.rows([head.key], Kind.PAGE, "version").get(head.key, [])
            # 1. the current version; 2. an older one; 3. moved already, or gone: nothing to do.
            if current and current[0][5] == head.content_hash:
                stored = current[0]
                if older:
                    self._heads.replace(stored[0], older[0][1:])
                    self._heads.delete(older[0][0], "version")
                else:
                    self._heads.delete(stored[0])
            else:
                matching = [row for row in older if row[5] == head.content_hash]
                if not matching:
                    return
                stored = matching[0]
                self._heads.delete(stored[0], "version")
            kept = self._heads.head(stored)
            judged = replace(judged, first_seen_at=kept.first_seen_at, changed_at=kept.changed_at)
            domain = self._domains.ensure(head.domain)
            self._put_heads(domain, [judged], self._current([judged]))

    def forget(self, domain: str) -> int:
        self._corrupt.pop(domain, None)
        with self._write() as connection:
            row = self._domains.find(domain)
            if row is None:
                return 0
            (pages,) = connection.execute(_SQL["pages"], (row.id, int(Kind.PAGE))).fetchone()
            for table in ("page", "version", "body", "pack", "dictionary"):
                connection.execute(f"DELETE FROM {table} WHERE domain_id = ?", (row.id,))
            connection.execute("DELETE FROM domain WHERE id = ?", (row.id,))
            return int(pages)

    def prune(self, domain: str, keep: int) -> int:
        """Delete all but the newest `keep` older versions; returns how many went. `maintain` frees the room."""
        with self._write():
            return prune(self._domains, self._heads, domain, keep)

    def maintain(self, domain: str, *, dense: bool = False) -> None:
        with self._database.explained():
            if dense:
                retrain(self._domains, self._bodies, domain, self._write)
            maintain(self._domains, self._bodies, domain, self._write)
        self._database.give_back()

    def _train_if_due(self, name: str, bodies: list[bytes]) -> None:
        """Train a dictionary in time for `bodies`, which are about to be stored."""
        domain = self._domains.find(name)
        count = len(bodies) + (domain.bodies if domain else 0)
        size = sum(map(len, bodies)) + (domain.body_bytes if domain else 0)
        # 1. too little to learn from; 2. the first dictionary; 3. grown so much that a new one pays.
        if count < TRAIN_AT or size < FIRST_DICTIONARY_BYTES:
            return
        trained_at = domain.trained_at if domain else 0
        if trained_at and (count < trained_at * TRAIN_GROWTH or trained_at >= TRAIN_UNTIL):
            return
        # Both halves are represented: a site's first pages are not like those deep inside.
        wanted = SAMPLE_BODIES - min(len(bodies), SAMPLE_BODIES // 2)
        stored = self._bodies.sample(domain, wanted) if domain else []
        data = train(bodies[: SAMPLE_BODIES - len(stored)] + stored)
        with self._write():
            now = self._domains.ensure(name)
            if now.trained_at == trained_at:  # else another process has just trained
                if data is not None:
                    self._domains.use_dictionary(now, data)
                self._domains.trained(now, count)

    # -- reading

    def head(self, key: bytes, kind: Kind = Kind.PAGE, *, domain: str | None = None) -> PageHead | None:
        return self.heads([key], kind).get(key)

    def heads(
        self, keys: Sequence[bytes], kind: Kind = Kind.PAGE, *, domain: str | None = None
    ) -> dict[bytes, PageHead]:
        with self._database.read():
            return {key: self._heads.head(rows[0]) for key, rows in self._heads.rows(keys, kind).items()}

    def body(self, head: PageHead) -> bytes:
        with self._database.read():
            domain = self._domains.find(head.domain)
            place = self._bodies.find(domain.id, head.content_hash) if domain else None
            if place is None:
                raise KeyError(head.url)
            try:
                body = self._bodies.load(place)
            except (ValueError, KeyError) as error:
                raise self._damaged(head, str(error)) from error
        if content_hash(body) != head.content_hash:
            raise self._damaged(head, "its hash is another")
        return body

    def bodies(self, heads: Sequence[PageHead]) -> Iterator[bytes | None]:
        for domain, some in _portions(heads):
            with self._database.read():
                row = self._domains.find(domain)
                places = self._bodies.places(row.id, [head.content_hash for head in some]) if row else {}
                found = dict(self._bodies.read(places))
            for head in some:
                body = found.get(head.content_hash)
                if body is None and head.content_hash in found:
                    self._damaged(head, "")
                yield body

    def stored_order(self, heads: Sequence[PageHead]) -> list[PageHead]:
        ordered: list[PageHead] = []
        for domain, group in groupby(heads, lambda head: head.domain):
            some = list(group)
            with self._database.read():
                row = self._domains.find(domain)
                places = self._bodies.places(row.id, [head.content_hash for head in some]) if row else {}
            # Whatever is not there is told first; sorting is stable.
            some.sort(
                key=lambda head: places[head.content_hash][:2] if head.content_hash in places else (0, 0)
            )
            ordered += some
        return ordered

    def scan(self, domain: str, kind: Kind = Kind.PAGE, after: bytes = b"") -> Iterator[PageHead]:
        with self._database.snapshot() as connection:
            domains = Domains(connection)
            found = domains.find(domain)
            if found is not None:
                heads = Heads(connection, domains)
                for row in heads.scan(connection, found.id, kind, after):
                    yield heads.head(row)

    def read(
        self, domain: str, kind: Kind = Kind.PAGE, part: int = 0, parts: int = 1
    ) -> Iterator[tuple[PageHead, bytes]]:
        with self._database.snapshot() as connection:
            for head, body in read_bodies(connection, domain, kind, part, parts):
                if body is None:
                    self._damaged(head, "")
                else:
                    yield head, body

    def corrupt(self, domain: str) -> list[PageHead]:
        return list(self._corrupt.get(domain, {}).values())

    def history(self, key: bytes, kind: Kind = Kind.PAGE) -> list[PageHead]:
        with self._database.read():
            rows = [
                *self._heads.rows([key], kind).get(key, []),
                *self._heads.rows([key], kind, "version").get(key, []),
            ]
            return [self._heads.head(row) for row in rows]

    def counts(self, domain: str, kind: Kind = Kind.PAGE) -> tuple[int, int, int]:
        with self._database.read() as connection:
            found = self._domains.find(domain)
            if found is None:
                return 0, 0, 0
            pages, decoded, stored = connection.execute(
                _SQL["counts"], {"domain": found.id, "kind": int(kind)}
            ).fetchone()
            return pages, decoded, stored

    def new_bodies(self, domain: str, since: float) -> tuple[int, int]:
        with self._database.read() as connection:
            found = self._domains.find(domain)
            if found is None:
                return 0, 0
            values = {"domain": found.id, "kind": int(Kind.PAGE), "since": since}
            pages, different = connection.execute(_SQL["new_bodies"], values).fetchone()
            return pages, different

    def domains(self) -> list[str]:
        with self._database.read() as connection:
            return [name for (name,) in connection.execute("SELECT name FROM domain ORDER BY name")]

    def verify(self, domain: str) -> list[PageHead]:
        found: list[PageHead] = []
        with self._database.snapshot() as connection:
            for kind in Kind:
                for table in ("page", "version"):
                    for head, body in read_bodies(connection, domain, kind, table=table):
                        if body is None:
                            found.append(head)
                            self._damaged(head, "")
        return found

    def close(self) -> None:
        self._database.close()

    # -- inside

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        try:
            with self._database.write() as connection:
                yield connection
        except BaseException:
            self._domains.rolled_back()
            raise

    def _current(self, heads: Sequence[PageHead]) -> dict[tuple[bytes, int], Row]:
        current: dict[tuple[bytes, int], Row] = {}
        for kind in {head.kind for head in heads}:
            keys = [head.key for head in heads if head.kind == kind]
            for key, rows in self._heads.rows(keys, kind).items():
                current[key, kind] = rows[0]
        return current

    def _damaged(self, head: PageHead, detail: str) -> CorruptBody:
        self._corrupt.setdefault(head.domain, {})[head.key, head.content_hash] = head
        return CorruptBody(
            f"page store {self._database.path}: the stored body of {head.url} is damaged"
            f"{f' ({detail})' if detail else ''}; fetch the page again to replace it"
        )


def _portions(heads: Sequence[PageHead]) -> Iterator[tuple[str, list[PageHead]]]:
    """Heads of one domain each, as many as may be held with their bodies."""
    for domain, group in groupby(heads, lambda head: head.domain):
        some: list[PageHead] = []
        size = 0
        for head in group:
            if some and (len(some) == AT_ONCE or size + head.body_bytes > AT_ONCE_BYTES):
                yield domain, some
                some, size = [], 0
            some.append(head)
            size += head.body_bytes
        yield domain, some
