"""Housekeeping after a crawl: room that deletions left is given back, early bodies get the dictionary.

`maintain` rewrites, in small transactions, the packs worth it: with bodies that the newest dictionary does
not cover, with a quarter or more of dead bytes, or too short. A domain where nothing changed costs one
query; `retrain` before it makes all of them worth it. Bodies that are rewritten because of their dictionary are compressed at DENSE_LEVEL.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager

from resources.pages.compression import (
    DENSE_DICTIONARY_BYTES,
    DENSE_SAMPLE_BODIES,
    Codec,
    content_hash,
    train,
)
from resources.pages.sqlite.bodies import TAIL_BYTES, Bodies, Frames
from resources.pages.sqlite.domains import Domain, Domains
from resources.pages.sqlite.heads import Heads
from resources.pages.sqlite.statements import read_statements

__all__ = ["maintain", "prune", "retrain"]

_SQL = read_statements("bodies.sql")

#: A pack with a smaller share of dead bytes than this is left alone.
DEAD_SHARE = 0.25

#: Packs rewritten in one transaction: some 500 bodies, a quarter of a second of compressing.
PACKS = 16

#: Decoded bytes of a domain below which a dictionary of its own would not pay.
DENSE_FROM_BYTES = 1024 * 1024

#: A dense dictionary is at most this small a share of the bodies: stored it takes 2 % of the store then.
DENSE_SHARE = 64

Write = Callable[[], AbstractContextManager[sqlite3.Connection]]


def prune(domains: Domains, heads: Heads, name: str, keep: int) -> int:
    """Delete older versions beyond `keep`; returns how many. Within a write transaction."""
    domain = domains.find(name)
    return 0 if domain is None else heads.trim(domain.id, keep)


def maintain(domains: Domains, bodies: Bodies, name: str, write: Write) -> None:
    """See the module docstring. Readers and writers may go on meanwhile."""
    domain = domains.find(name)
    if domain is None:
        return
    with write() as connection:
        connection.execute(_SQL["unused"], {"domain": domain.id})
        rows = connection.execute(_SQL["packs"], (domain.id,)).fetchall()
        empty = [number for number, _, used, _ in rows if used is None]
        connection.executemany("DELETE FROM pack WHERE id = ?", [(number,) for number in empty])
    poor = [
        number
        for number, length, used, oldest in rows
        if used is not None
        and (oldest < domain.dictionary or used < length * (1 - DEAD_SHARE) or length < TAIL_BYTES)
    ]
    if len(poor) > 1 or any(row[0] in poor and row[3] < domain.dictionary for row in rows):
        codec = domains.dense_codec(domain.dictionary)
        for first in range(0, len(poor), PACKS):
            with write() as connection:
                _rewrite(connection, domain, domains, bodies, codec, poor[first : first + PACKS])
    with write():
        domains.drop_unused(domain)


def retrain(domains: Domains, bodies: Bodies, name: str, write: Write) -> None:
    """Give the domain a dictionary made from, and sized for, what it has now: all packs are poor then."""
    domain = domains.find(name)
    if domain is None or domain.body_bytes < DENSE_FROM_BYTES:
        return
    limit = min(DENSE_DICTIONARY_BYTES, domain.body_bytes // DENSE_SHARE)
    data = train(bodies.sample(domain, DENSE_SAMPLE_BODIES), limit)
    if data is not None:
        with write():
            now = domains.find_by_id(domain.id)
            if now is not None and now.dictionary == domain.dictionary:
                domains.use_dictionary(now, data)


def _rewrite(
    connection: sqlite3.Connection,
    domain: Domain,
    domains: Domains,
    bodies: Bodies,
    codec: Codec,
    packs: list[int],
) -> None:
    now = domains.find_by_id(domain.id)
    if now is None or now.dictionary != domain.dictionary:
        return  # forgotten, or trained anew: the next maintenance does it
    frames: Frames = {}
    for pack in packs:
        data = connection.execute("SELECT data FROM pack WHERE id = ?", (pack,)).fetchone()
        if data is None:
            continue
        for content, start, length, dictionary in connection.execute(
            "SELECT hash, start, length, dictionary FROM body WHERE domain_id = ? AND pack_id = ? ORDER BY start",
            (domain.id, pack),
        ).fetchall():
            frame = data[0][start : start + length]
            if dictionary >= domain.dictionary:
                frames[content] = (dictionary, frame)
                continue
            try:
                body = domains.bodies[dictionary].decompress(frame)
                intact = content_hash(body) == content
            except (ValueError, KeyError):
                intact = False
            # A damaged body moves as it is, so that `verify` still finds it under its name.
            frames[content] = (domain.dictionary, codec.compress(body)) if intact else (dictionary, frame)
    if frames:
        tail = bodies.write(domain, frames, 0)
        domains.grow(domain, 0, 0, tail)
    connection.executemany("DELETE FROM pack WHERE id = ?", [(pack,) for pack in packs])
