"""What parent and children of the parse step say to each other, over pipes: pickles with their length in front.

Both ends are this very program; nothing from outside is ever unpickled.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO

from resources.installation import Installation
from resources.pages.base import PageHead
from resources.site.catalog import Catalog

__all__ = ["PROGRESS", "Chunk", "ChunkDone", "LostPage", "Start", "receive", "send"]

#: What a child shares while it works: which page of its chunk (from 0; -1: none), and since when (monotonic).
PROGRESS = struct.Struct("<qd")
_LENGTH = struct.Struct("<Q")
#: Headers that rows follow from (`page_row`, `signature_of`).
_READ_HEADERS = frozenset(("content-type",))
_NAMES = tuple(each.name for each in fields(PageHead))
_VALUES_OF_HEAD = attrgetter(*_NAMES)
_HEADERS = _NAMES.index("headers")


@dataclass(slots=True)
class Start:
    """The first message to a child."""

    installation: Installation
    catalog: Catalog


@dataclass(slots=True)
class LostPage:
    """A page that cost its parser its life."""

    head: PageHead
    reason: str  # parser_crash, parser_hang
    detail: str


@dataclass(slots=True)
class Chunk:
    """Pages of one domain to parse into `folder`."""

    number: int
    domain: str
    run_id: str
    folder: Path
    heads: list[PageHead]
    """The child gets them with the headers alone that rows follow from."""
    lost: list[LostPage] = field(default_factory=list)
    """Pages of this chunk that killed a worker: written as rejects, not parsed again."""

    def __reduce__(self) -> tuple[Callable[..., Chunk], tuple[Any, ...]]:
        """Heads as plain tuples, without the headers that nobody reads there: half of what they cost, on both sides,
        name by name and whole."""
        heads = []
        for values in map(_VALUES_OF_HEAD, self.heads):
            read = tuple(pair for pair in values[_HEADERS] if pair[0].lower() in _READ_HEADERS)
            heads.append((*values[:_HEADERS], read, *values[_HEADERS + 1 :]))
        return _chunk, (self.number, self.domain, self.run_id, self.folder, heads, self.lost)


def _chunk(
    number: int, domain: str, run_id: str, folder: Path, heads: list[tuple[Any, ...]], lost: list[LostPage]
) -> Chunk:
    return Chunk(number, domain, run_id, folder, [PageHead(*values) for values in heads], lost)


@dataclass(slots=True)
class ChunkDone:
    """A chunk whose files are written. `missing`: pages whose body was corrupt or not there."""

    number: int
    counts: dict[str, int]
    errors: int = 0
    missing: int = 0


def send(pipe: BinaryIO, message: Any) -> None:
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(body)))
    pipe.write(body)
    pipe.flush()


def receive(pipe: BinaryIO) -> Any:
    """The next message; EOFError when the other end is gone."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    body = pipe.read(length)
    if len(body) < length:
        raise EOFError
    return pickle.loads(body)
