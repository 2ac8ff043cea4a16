"""Bodies in packs: compressed frames of one domain, one after the other in one row.

A 3 KB frame in a row of its own would waste a quarter of SQLite's page; several to a row waste next to nothing. Batches
make packs of up to PACK_BYTES; small batches are added to the domain's last pack until it has TAIL_BYTES. A body with a
hash that the domain has already is compared with the stored one and not written again, unless the stored one turns out
to be damaged: then it is replaced.

Costs: reading one body loads at most a pack (25 µs) and decompresses its frame as far as the body reaches; reading many
loads each pack and decompresses each frame once, and holds one of either.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

from resources.pages.compression import SAMPLE_BODIES, content_hash
from resources.pages.sqlite.domains import Domain, Domains
from resources.pages.sqlite.frames import Frame, Place, cut, squeeze
from resources.pages.sqlite.statements import marks, read_statements

__all__ = ["Bodies"]

_SQL = read_statements("bodies.sql")

#: A pack is closed when it reaches this: large enough to waste little, small enough to load for one body.
PACK_BYTES = 64 * 1024

#: A pack shorter than this is added to. Adding rewrites it: more would make slow crawls write much.
TAIL_BYTES = 16 * 1024

#: Bodies of a sample to the pack: spreads it widely enough, and decompresses few frames for it.
SAMPLE_PER_PACK = 8


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
                found[row[0]] = Place(*row[1:])
        return found

    def load(self, place: Place) -> bytes:
        """The body at a place. ValueError if what is there is no body; KeyError if there is nothing."""
        row = self._connection.execute(_SQL["frame"], (place.start + 1, place.length, place.pack)).fetchone()
        if row is None:
            raise KeyError(place.pack)
        codec = self._domains.bodies[place.dictionary]
        end = place.body_start + (place.body_length or 0)
        # Others after it in the frame need not be decompressed; their absence must not look like damage.
        if place.frame_length is not None and end < place.frame_length:
            return cut(codec.beginning(row[0], end), place._replace(frame_length=end))
        return cut(codec.decompress(row[0]), place)

    def read(self, places: Mapping[bytes, Place]) -> Iterator[tuple[bytes, bytes | None]]:
        """Contents with their bodies, in the order in which they lie on the disk; None for a damaged one."""
        pack, data = 0, b""
        frame, text = (0, 0), b""
        for content, place in sorted(
            places.items(), key=lambda each: (each[1].pack, each[1].start, each[1].body_start)
        ):
            if place.pack != pack:
                row = self._connection.execute("SELECT data FROM pack WHERE id = ?", (place.pack,)).fetchone()
                pack, data = place.pack, row[0] if row else b""
            try:
                if frame != (place.pack, place.start):
                    some = data[place.start : place.start + place.length]
                    text = self._domains.bodies[place.dictionary].decompress(some)
                    frame = (place.pack, place.start)
                body = cut(text, place)
            except (ValueError, KeyError):
                yield content, None
                continue
            yield content, body if content_hash(body) == content else None

    def find(self, domain: int, content: bytes) -> Place | None:
        row = self._connection.execute(_SQL["find"], (domain, content)).fetchone()
        return None if row is None else Place(*row)

    def compress(self, domain: Domain | None, bodies: Mapping[bytes, bytes]) -> list[Frame]:
        """Frames for those of `bodies` that are not stored intact. Outside of a transaction."""
        known = self.places(domain.id, list(bodies)) if domain else {}
        intact = {content for content, body in self.read(known) if body is not None}
        dictionary = domain.dictionary if domain else 0
        try:
            codec = self._domains.bodies[dictionary]
        except KeyError:  # another process has just forgotten the domain
            dictionary, codec = 0, self._domains.bodies[0]
        new = {content: body for content, body in bodies.items() if content not in intact}
        return squeeze(codec, dictionary, new)

    def insert(self, domain: Domain, bodies: Mapping[bytes, bytes], frames: list[Frame]) -> None:
        """Write `frames`, and whatever else of `bodies` the domain does not have (any more)."""
        known = self.places(domain.id, list(bodies))
        gone = {
            number for number in {frame.dictionary for frame in frames} if not self._domains.exists(number)
        }
        written = [frame for frame in frames if frame.dictionary not in gone]
        lost = {member.content for frame in frames if frame.dictionary in gone for member in frame.members}
        covered = {member.content for frame in written for member in frame.members}
        # Rare: another process forgot or pruned between `compress` and this transaction.
        again = {
            content: body
            for content, body in bodies.items()
            if content in lost or (content not in covered and content not in known)
        }
        written += squeeze(self._domains.bodies[0], 0, again)
        if not written:
            return
        tail = self.write(domain, written, domain.tail_pack)
        new = [content for content in (*covered, *again) if content not in known]
        self._domains.grow(domain, len(new), sum(len(bodies[content]) for content in new), tail)

    def write(self, domain: Domain, frames: list[Frame], tail: int) -> int:
        """Write frames into packs, the first ones into `tail` if it has room; returns the last pack."""
        run = self._connection.execute
        row = run("SELECT length(data) FROM pack WHERE id = ?", (tail,)).fetchone() if tail else None
        pack, start = (tail, row[0]) if row and row[0] < TAIL_BYTES else (0, 0)
        waiting: list[tuple[int, Frame]] = []

        def close() -> int:
            data = b"".join(frame.data for _, frame in waiting)
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
                    (
                        domain.id, member.content, number, at, len(frame.data), frame.dictionary,
                        member.start, member.length, frame.length,
                    )
                    for at, frame in waiting
                    for member in frame.members
                ],
            )  # fmt: skip
            waiting.clear()
            return number

        for frame in frames:
            if waiting and start + len(frame.data) > PACK_BYTES:
                close()
                pack, start = 0, 0
            waiting.append((start, frame))
            start += len(frame.data)
        return close()

    def sample(self, domain: Domain, count: int = SAMPLE_BODIES) -> list[bytes]:
        """Up to `count` bodies from all over the domain to train on; damaged ones are left out."""
        packs = max(1, count // SAMPLE_PER_PACK)
        rows = self._connection.execute(_SQL["spread"], (domain.id, domain.id, packs)).fetchall()
        chosen = {row[0]: Place(*row[1:]) for row in rows[:: max(1, len(rows) // max(1, count))][:count]}
        # `verify` and `read` report damaged ones; for training they are simply no sample.
        return [body for _, body in self.read(chosen) if body is not None]
