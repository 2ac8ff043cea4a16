"""Bodies in packs: compressed frames of one domain, one after the other in one row.

A 3 KB frame in a row of its own would waste a quarter of SQLite's page; twenty to a row waste next to
nothing. Batches make packs of up to PACK_BYTES; small batches are added to the domain's last pack until it
has TAIL_BYTES. A body with a hash that the domain has already is compared with the stored one and not
written again, unless the stored one turns out to be damaged: then it is replaced.

Costs: reading one body loads at most a pack (20 µs) and decompresses one frame.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from resources.pages.compression import SAMPLE_BODIES, content_hash
from resources.pages.sqlite.domains import Domain, Domains
from resources.pages.sqlite.statements import marks, read_statements

__all__ = ["Bodies", "Frames", "Place"]

_SQL = read_statements("bodies.sql")

#: A pack is closed when it reaches this: large enough to waste little, small enough to load for one body.
PACK_BYTES = 64 * 1024

#: A pack shorter than this is added to. Adding rewrites it: more would make slow crawls write much.
TAIL_BYTES = 16 * 1024

#: pack id, first byte, length, dictionary
Place = tuple[int, int, int, int]

#: Compressed bodies by content hash, each with the dictionary it needs.
Frames = dict[bytes, tuple[int, bytes]]


class Bodies:
    """Reads and writes bodies on one connection."""

    def __init__(self, connection: sqlite3.Connection, domains: Domains) -> None:
        self._connection = connection
        self._domains = domains

    def places(self, domain: int, hashes: list[bytes]) -> dict[bytes, Place]:
        """Where each of these contents is, for those the domain has."""
        found: dict[bytes, Place] = {}
        for first in range(0, len(hashes), 500):
            some = hashes[first : first + 500]
            query = _SQL["known"].format(marks=marks(len(some)))
            for row in self._connection.execute(query, (domain, *some)):
                found[row[0]] = row[1:]
        return found

    def load(self, place: Place) -> bytes:
        """The body at a place. ValueError if what is there is no body; KeyError if there is nothing."""
        pack, start, length, dictionary = place
        row = self._connection.execute(_SQL["frame"], (start + 1, length, pack)).fetchone()
        if row is None:
            raise KeyError(pack)
        return self._domains.bodies[dictionary].decompress(row[0])

    def frames(self, domain: int, hashes: list[bytes]) -> Frames:
        """The stored frames of those of these contents that are there. Loads each pack once."""
        by_pack: dict[int, list[tuple[bytes, Place]]] = {}
        for content, place in self.places(domain, hashes).items():
            by_pack.setdefault(place[0], []).append((content, place))
        found: Frames = {}
        for pack, wanted in by_pack.items():
            row = self._connection.execute("SELECT data FROM pack WHERE id = ?", (pack,)).fetchone()
            for content, (_, start, length, dictionary) in wanted if row is not None else ():
                found[content] = (dictionary, row[0][start : start + length])
        return found

    def find(self, domain: int, content: bytes) -> Place | None:
        row: Place | None = self._connection.execute(_SQL["find"], (domain, content)).fetchone()
        return row

    def compress(self, domain: Domain | None, bodies: Mapping[bytes, bytes]) -> Frames:
        """Frames for those of `bodies` that are not stored intact. Outside of a transaction."""
        known = self.places(domain.id, list(bodies)) if domain else {}
        dictionary = domain.dictionary if domain else 0
        try:
            codec = self._domains.bodies[dictionary]
        except KeyError:  # another process has just forgotten the domain
            dictionary, codec = 0, self._domains.bodies[0]
        return {
            content: (dictionary, codec.compress(body))
            for content, body in bodies.items()
            if content not in known or not self._intact(known[content], content)
        }

    def _intact(self, place: Place, content: bytes) -> bool:
        try:
            return content_hash(self.load(place)) == content
        except (ValueError, KeyError):
            return False

    def insert(self, domain: Domain, bodies: Mapping[bytes, bytes], frames: Frames) -> None:
        """Write `frames`, and whatever else of `bodies` the domain does not have (any more)."""
        known = self.places(domain.id, list(bodies))
        plain = self._domains.bodies[0]
        gone = {
            number for number in {each for each, _ in frames.values()} if not self._domains.exists(number)
        }
        for content, body in bodies.items():
            # Rare: another process forgot or pruned between `compress` and this transaction.
            if (content in frames and frames[content][0] in gone) or (
                content not in frames and content not in known
            ):
                frames[content] = (0, plain.compress(body))
        if not frames:
            return
        tail = self.write(domain, frames, domain.tail_pack)
        new = [content for content in frames if content not in known]
        self._domains.grow(domain, len(new), sum(len(bodies[content]) for content in new), tail)

    def write(self, domain: Domain, frames: Frames, tail: int) -> int:
        """Write frames into packs, the first ones into `tail` if it has room; returns the last pack."""
        run = self._connection.execute
        row = run("SELECT length(data) FROM pack WHERE id = ?", (tail,)).fetchone() if tail else None
        pack, start = (tail, row[0]) if row and row[0] < TAIL_BYTES else (0, 0)
        parts: list[bytes] = []
        rows: list[tuple[bytes, int, int, int]] = []

        def close() -> int:
            data = b"".join(parts)
            if pack:
                run(_SQL["append"], (data, pack))
                number = pack
            else:
                number = (
                    run("INSERT INTO pack (domain_id, data) VALUES (?, ?)", (domain.id, data)).lastrowid or 0
                )
            self._connection.executemany(
                _SQL["insert"],
                [
                    (domain.id, content, number, at, size, dictionary)
                    for content, at, size, dictionary in rows
                ],
            )
            parts.clear()
            rows.clear()
            return number

        for content, (dictionary, frame) in frames.items():
            if rows and start + len(frame) > PACK_BYTES:
                close()
                pack, start = 0, 0
            parts.append(frame)
            rows.append((content, start, len(frame), dictionary))
            start += len(frame)
        return close()

    def sample(self, domain: Domain, count: int = SAMPLE_BODIES) -> list[bytes]:
        """Up to `count` bodies from all over the domain to train on; damaged ones are left out."""
        run = self._connection.execute
        # A pack holds several bodies: a quarter as many packs spread the sample widely enough.
        places = run(_SQL["spread"], (domain.id, domain.id, count // 4)).fetchall()
        bodies = []
        for place in places[:: max(1, len(places) // count)][:count]:
            try:
                bodies.append(self.load(place))
            except (ValueError, KeyError):
                continue  # `verify` and `read` report it; for training it is simply no sample
        return bodies
