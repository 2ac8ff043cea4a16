"""Frames: bodies of one domain that are compressed together, and where each of them lies.

Bodies of one batch share frames of up to FRAME_BYTES, so that each is compressed with those before it at hand; a body
alone is a frame alone. At most one frame of a batch is less than half full.

Costs: reading a body decompresses its whole frame, 0.2 ms at most unless the body itself is larger than that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from resources.pages.compression import FRAME_BYTES, Codec

__all__ = ["SMALL_BYTES", "Frame", "Member", "Place", "cut", "squeeze"]

#: Frames that hold less than this are worth putting together. (Not half: that is what full ones may have.)
SMALL_BYTES = FRAME_BYTES // 3


class Place(NamedTuple):
    """Where a body is: its frame within a pack, and its part of the decompressed frame."""

    pack: int
    start: int
    length: int
    dictionary: int
    body_start: int
    body_length: int | None  # None: all of it (written by version 1)
    frame_length: int | None  # decompressed; None: not known (written by version 1)


class Member(NamedTuple):
    """A body in a decompressed frame."""

    content: bytes
    start: int
    length: int | None  # as in Place


class Frame(NamedTuple):
    """Compressed bodies and the dictionary they need."""

    dictionary: int
    data: bytes
    length: int | None  # as in Place
    members: tuple[Member, ...]


def squeeze(codec: Codec, dictionary: int, bodies: Mapping[bytes, bytes]) -> list[Frame]:
    """`bodies`, by content hash, as frames. The order of neighbours is kept."""
    frames = []
    for run in _runs((content, len(body)) for content, body in bodies.items()):
        members, start = [], 0
        for content in run:
            members.append(Member(content, start, len(bodies[content])))
            start += len(bodies[content])
        text = bodies[run[0]] if len(run) == 1 else b"".join(map(bodies.__getitem__, run))
        frames.append(Frame(dictionary, codec.compress(text), start, tuple(members)))
    return frames


def cut(text: bytes, place: Place) -> bytes:
    """The body at `place` in its decompressed frame. ValueError if the frame is not what it was."""
    if place.body_length is None:
        return text
    if len(text) != place.frame_length:
        raise ValueError(f"a frame of {len(text)} bytes where {place.frame_length} were written")
    return text[place.body_start : place.body_start + place.body_length]


def _runs(lengths: Iterable[tuple[bytes, int]]) -> Iterator[list[bytes]]:
    """Content hashes by frame. Numbered cases for a body that does not fit the open frame: 1. it would fill half of
    one: it gets its own, and the open one waits for others; 2. the open one, more than half full then, is closed."""
    run: list[bytes] = []
    filled = 0
    for content, length in lengths:
        if run and filled + length > FRAME_BYTES:
            if length * 2 >= FRAME_BYTES:
                yield [content]
                continue
            yield run
            run, filled = [], 0
        run.append(content)
        filled += length
    if run:
        yield run
