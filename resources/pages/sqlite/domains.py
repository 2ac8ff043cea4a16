"""Domains by number, and their dictionaries.

Numbers of domains and dictionaries are never used twice once committed, so what is remembered of them stays true even
when another process forgets the domain: a lookup by a forgotten number finds nothing.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

import zstandard

from resources.pages.compression import DENSE_LEVEL, HEAD_LEVEL, LEVEL, Codec, Codecs
from resources.pages.sqlite.statements import read_statements

__all__ = ["Domain", "Domains"]

_SQL = read_statements("domains.sql")

#: A first head longer than this makes a dictionary of its beginning: more would not pay for itself.
HEAD_DICTIONARY_BYTES = 4096


class Domain(NamedTuple):
    """A row of `domain`; see schema.sql."""

    id: int
    dictionary: int
    head_dictionary: int
    bodies: int
    body_bytes: int
    trained_at: int
    tail_pack: int


class Domains:
    """The domain rows of one connection, and codecs for their dictionaries."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._names: dict[int, str] = {}
        self.bodies = Codecs(self.dictionary, LEVEL, shared=True)
        self.heads = Codecs(self.dictionary, HEAD_LEVEL, raw=True)

    def find(self, name: str) -> Domain | None:
        row = self._connection.execute(_SQL["find"], (name,)).fetchone()
        return None if row is None else Domain(*row)

    def find_by_id(self, number: int) -> Domain | None:
        row = self._connection.execute(_SQL["find_by_id"], (number,)).fetchone()
        return None if row is None else Domain(*row)

    def ensure(self, name: str) -> Domain:
        """The domain's row, made if need be. Within a write transaction."""
        domain = self.find(name)
        if domain is None:
            self._connection.execute(_SQL["add"], (name,))
            domain = self.find(name)
            assert domain is not None
        return domain

    def name(self, number: int) -> str:
        name = self._names.get(number)
        if name is None:
            row = self._connection.execute("SELECT name FROM domain WHERE id = ?", (number,)).fetchone()
            name = self._names[number] = str(row[0])
        return name

    def dictionary(self, number: int) -> bytes:
        """The bytes of a dictionary; KeyError if its domain was forgotten."""
        row = self._connection.execute("SELECT data FROM dictionary WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise KeyError(number)
        return zstandard.ZstdDecompressor().decompress(row[0])

    def exists(self, dictionary: int) -> bool:
        found = self._connection.execute("SELECT 1 FROM dictionary WHERE id = ?", (dictionary,)).fetchone()
        return not dictionary or found is not None

    def grow(self, domain: Domain, bodies: int, body_bytes: int, tail_pack: int) -> None:
        self._connection.execute(_SQL["grow"], (bodies, body_bytes, tail_pack, domain.id))

    def head_dictionary(self, domain: Domain, page: bytes | None) -> int:
        """The number of the domain's dictionary for heads, made of the fields of a `page` if it has none; 0 if there is
        no page: the first head of a crawl is that of robots.txt, which is like no other."""
        if domain.head_dictionary or page is None:
            return domain.head_dictionary
        number = self._add(domain, page[:HEAD_DICTIONARY_BYTES])
        self._connection.execute(_SQL["use_head_dictionary"], (number, domain.id))
        return number

    def drop_poor_head_dictionary(self, number: int) -> None:
        """Leave it to the domain's next page to give a dictionary, if the one it has was made of the head of robots.txt,
        as it once always was. Within a write transaction."""
        domain = self.find_by_id(number)
        if domain is None or not domain.head_dictionary:
            return
        url = self.dictionary(domain.head_dictionary).partition(b'",')[0]
        if url.endswith(b"/robots.txt"):
            self._connection.execute(_SQL["use_head_dictionary"], (0, number))

    def use_dictionary(self, domain: Domain, data: bytes) -> int:
        """Make `data` the dictionary of new bodies. Within a write transaction."""
        number = self._add(domain, data)
        self._connection.execute(_SQL["use_dictionary"], (number, domain.id))
        self.bodies.drop(domain.dictionary)  # nothing is written with it any more, and its tables are 3 MB
        return number

    def trained(self, domain: Domain, bodies: int) -> None:
        """Note at how many bodies the domain was trained, whether or not a dictionary came of it."""
        self._connection.execute(_SQL["trained"], (bodies, domain.id))

    def dense_codec(self, dictionary: int) -> Codec:
        return Codec(self.dictionary(dictionary) if dictionary else None, DENSE_LEVEL, shared=True)

    def drop_unused(self, domain: Domain) -> None:
        """Delete the dictionaries that nothing needs any more. Within a write transaction."""
        for (number,) in self._connection.execute(
            _SQL["unused_dictionaries"], {"domain": domain.id}
        ).fetchall():
            self._connection.execute("DELETE FROM dictionary WHERE id = ?", (number,))
            self.bodies.drop(number)
            self.heads.drop(number)

    def rolled_back(self) -> None:
        """Forget what is remembered by number: numbers given out in a failed transaction come again."""
        self._names.clear()
        self.bodies.clear()
        self.heads.clear()

    def _add(self, domain: Domain, data: bytes) -> int:
        frame = zstandard.ZstdCompressor(level=LEVEL).compress(data)
        number = self._connection.execute(_SQL["add_dictionary"], (domain.id, frame)).lastrowid
        assert number is not None
        return number
