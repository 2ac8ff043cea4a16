"""Housekeeping after a crawl: room that deletions left is given back, early bodies get the dictionary and company.

`maintain` rewrites, in small transactions, the packs worth it: with frames that the newest dictionary does not cover,
with a quarter or more of dead bytes, with several small frames, or too short. In them, a frame that is full, alive and
of the newest dictionary moves as it is; the bodies of all others that are still needed are put together in new frames,
compressed at DENSE_LEVEL. So a version that was pruned leaves room as soon as a quarter of its pack is such; until then
its neighbours keep it. A domain where nothing changed costs one query; `retrain` before it makes all packs worth it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from resources.pages.compression import (
    DENSE_DICTIONARY_BYTES,
    DENSE_SAMPLE_BODIES,
    Codec,
    content_hash,
    train,
)
from resources.pages.sqlite.bodies import TAIL_BYTES, Bodies
from resources.pages.sqlite.domains import Domain, Domains
from resources.pages.sqlite.frames import SMALL_BYTES, Frame, Member, Place, cut, squeeze
from resources.pages.sqlite.heads import Heads
from resources.pages.sqlite.statements import read_statements

__all__ = ["maintain", "prune", "retrain"]

_SQL = read_statements("bodies.sql")

#: A pack with a smaller share of dead bytes than this is left alone.
DEAD_SHARE = 0.25

#: A pack with this many small frames has some that can be put together: each transaction leaves one at most.
SMALL_FRAMES = 3

#: Packs rewritten in one transaction: some 300 bodies, a quarter of a second of compressing.
PACKS = 16

#: Bodies held decompressed while their packs are rewritten: twenty frames, or one body that is larger.
LOOSE_BYTES = 8 * 1024 * 1024

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
        rows = connection.execute(_SQL["packs"], {"domain": domain.id, "small": SMALL_BYTES}).fetchall()
        empty = [row[0] for row in rows if row[2] is None]
        connection.executemany("DELETE FROM pack WHERE id = ?", [(number,) for number in empty])
    # Numbered cases: 1. worth it by itself; 2. short: stays as it is until there is another to put it together with.
    worth = [
        number
        for number, length, used, oldest, small in rows
        if used is not None
        and (oldest < domain.dictionary or used < length * (1 - DEAD_SHARE) or small >= SMALL_FRAMES)
    ]
    short = [row[0] for row in rows if row[2] is not None and row[1] < TAIL_BYTES]
    packs = sorted({*worth, *short})
    if worth or len(short) > 1:
        codec = domains.dense_codec(domain.dictionary)
        for first in range(0, len(packs), PACKS):
            with write() as connection:
                _rewrite(connection, domain, domains, bodies, codec, packs[first : first + PACKS])
    with write():
        domains.drop_poor_head_dictionary(domain.id)
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
    frames: list[Frame] = []
    loose: dict[bytes, bytes] = {}
    for pack in packs:
        data = connection.execute("SELECT data FROM pack WHERE id = ?", (pack,)).fetchone()
        if data is None:
            continue
        by_frame: dict[int, dict[bytes, Place]] = {}
        for content, *place in connection.execute(_SQL["in_pack"], (domain.id, pack)).fetchall():
            by_frame.setdefault(place[1], {})[content] = Place(*place)
        for members in by_frame.values():
            first = next(iter(members.values()))
            stored = data[0][first.start : first.start + first.length]
            found = None if _stays(domain, members) else _opened(domains, stored, members)
            if found is None:
                frames.append(_as_it_is(stored, members))
                continue
            loose |= found
            if sum(map(len, loose.values())) >= LOOSE_BYTES:
                frames += squeeze(codec, domain.dictionary, loose)
                loose.clear()
    frames += squeeze(codec, domain.dictionary, loose)
    if frames:
        tail = bodies.write(domain, frames, 0)
        domains.grow(domain, 0, 0, tail)
    connection.executemany("DELETE FROM pack WHERE id = ?", [(pack,) for pack in packs])


def _stays(domain: Domain, members: Mapping[bytes, Place]) -> bool:
    """Whether a frame is full, wholly needed, and of the newest dictionary."""
    first = next(iter(members.values()))
    if first.frame_length is None or first.frame_length < SMALL_BYTES:
        return False
    needed = sum(place.body_length or 0 for place in members.values())
    return first.dictionary >= domain.dictionary and needed == first.frame_length


def _opened(domains: Domains, stored: bytes, members: Mapping[bytes, Place]) -> dict[bytes, bytes] | None:
    """The bodies in a frame, None if any is damaged: then all move as they are, so that `verify` finds it."""
    first = next(iter(members.values()))
    try:
        text = domains.bodies[first.dictionary].decompress(stored)
        found = {content: cut(text, place) for content, place in members.items()}
    except (ValueError, KeyError):
        return None
    return found if all(content_hash(body) == content for content, body in found.items()) else None


def _as_it_is(stored: bytes, members: Mapping[bytes, Place]) -> Frame:
    first = next(iter(members.values()))
    parts = tuple(Member(content, place.body_start, place.body_length) for content, place in members.items())
    return Frame(first.dictionary, stored, first.frame_length, parts)
