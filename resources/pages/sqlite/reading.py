"""Reading a whole domain: pack after pack, so each is loaded once and bodies come as they lie on the disk.

Costs: the order is made by a sort of the heads, which SQLite spills to its temporary folder when it is
large; after that memory is one pack and one frame, which is decompressed once for all its bodies. A part of several reads its share of the packs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from resources.pages.base import Kind, PageHead
from resources.pages.compression import content_hash
from resources.pages.sqlite.domains import Domains
from resources.pages.sqlite.frames import Place, cut
from resources.pages.sqlite.heads import Heads
from resources.pages.sqlite.statements import read_statements

__all__ = ["read_bodies"]

_SQL = read_statements("reading.sql")


def read_bodies(
    connection: sqlite3.Connection,
    domain: str,
    kind: Kind,
    part: int = 0,
    parts: int = 1,
    table: str = "page",
) -> Iterator[tuple[PageHead, bytes | None]]:
    """Heads with their bodies, None for a body that is missing or damaged."""
    domains = Domains(connection)
    heads = Heads(connection, domains)
    found = domains.find(domain)
    if found is None:
        return
    query = _SQL["read"].format(table=table)
    loaded, pack = 0, b""
    frame, text = (0, 0), b""
    for row in connection.execute(
        query, {"domain": found.id, "kind": int(kind), "part": part, "parts": parts}
    ):
        head = heads.head(row[:15])
        if row[15] is None:
            yield head, None
            continue
        place = Place(*row[15:])
        if place.pack != loaded:
            data = connection.execute("SELECT data FROM pack WHERE id = ?", (place.pack,)).fetchone()
            loaded, pack = place.pack, data[0] if data else b""
        try:
            if frame != (place.pack, place.start):
                some = pack[place.start : place.start + place.length]
                text = domains.bodies[place.dictionary].decompress(some)
                frame = (place.pack, place.start)
            body = cut(text, place)
        except (ValueError, KeyError):
            yield head, None
            continue
        yield head, body if content_hash(body) == head.content_hash else None
