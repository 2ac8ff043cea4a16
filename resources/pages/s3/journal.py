"""Journals: one object for the few pages that each of many domains brought in a batch.

A crawl of fifty domains at a page a second would otherwise write an object a page: a page is acked only when its
body is durable, so nothing may wait for long. A journal holds, for each of its domains, what a pack holds; later
what several journals have of a domain becomes one pack of that domain, and the journals are deleted (`store`).

Layout: the bodies of one domain after the other, footer (zstd of JSON), its length, `NCJ1`. The footer is
`{domain: footer of a pack}` with places in this object. Names are those of packs, in one order with them, with a
`j` at the end; the folder's name is none that a domain can have.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from resources.pages.base import PageVersion
from resources.pages.s3.pack import Footer, PackWriter, footer_from, footer_length, sealed, unsealed

__all__ = [
    "FEW",
    "FEW_BYTES",
    "FOLDER",
    "Unsettled",
    "is_journal",
    "journal_data",
    "journal_footer_length",
    "journal_name",
    "read_journal",
]

#: Domains have no capital letters.
FOLDER = "JOURNAL"
#: A domain with so many pages or decoded bytes in one batch gets a pack at once.
FEW, FEW_BYTES = 8, 512 * 1024
_MAGIC = b"NCJ1"
_MARK = "j"


def journal_name() -> str:
    """Ascending in time, and nobody else's."""
    return f"{time.time_ns():020d}-{secrets.token_hex(4)}{_MARK}"


def is_journal(pack: str) -> bool:
    return pack.endswith(_MARK)


def journal_data(parts: Mapping[str, PackWriter]) -> bytes:
    """The object for what each domain has to say."""
    blobs: list[bytes] = []
    footers, at = {}, 0
    for domain, writer in parts.items():
        blob, footers[domain] = writer.laid_out(at)
        blobs.append(blob)
        at += len(blob)
    return b"".join([*blobs, sealed(footers, _MAGIC)])


def journal_footer_length(end: bytes, name: str) -> int:
    return footer_length(end, name, _MAGIC)


def read_journal(end: bytes, name: str, size: int) -> dict[str, Footer]:
    """By domain, from the last bytes of the journal `name`."""
    return {domain: footer_from(found, name, size) for domain, found in unsealed(end, name, _MAGIC).items()}


@dataclass
class Unsettled:
    """The journals of this process that are not in packs yet, with their bodies, so that none is read again."""

    names: set[str] = field(default_factory=set)
    bodies: dict[bytes, bytes] = field(default_factory=dict)
    size: int = 0
    since: float = 0.0

    def add(self, name: str, versions: list[PageVersion]) -> None:
        if not self.names:
            self.since = time.monotonic()
        self.names.add(name)
        for version in versions:
            if self.bodies.setdefault(version.head.content_hash, version.body) is version.body:
                self.size += len(version.body)
