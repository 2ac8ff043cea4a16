"""The page store: cached bodies, addressed by URL key and content hash. The seam of all back-ends.

A *page version* is one body of one URL at one time. The store keeps the current version of each URL (with
its response headers and validators), and up to `keep` older ones. `kind` separates what must never be
mixed: a robots.txt, a sitemap or a quarantined wall is never returned where a page is asked for.

Guarantees of every back-end (one contract suite):

* `put` is idempotent (same key and content hash: one stored body) and durable when it returns; a reader
  never sees a torn body; a hash mismatch on reading is `CorruptBody`, never silent.
* A 304 updates headers and freshness (`touch`) without rewriting the body.
* Stale bodies are kept: revalidation needs them. Only `prune` and `forget` delete.

Costs: put and get are O(log n) in the number of pages; bodies are zstd-compressed; nothing lists the
store in the hot path.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from typing import Protocol

from resources.record import record

__all__ = [
    "CorruptBody",
    "Kind",
    "PageHead",
    "PageStore",
    "PageStoreError",
    "PageVersion",
    "count_new",
    "one_by_one",
]


class PageStoreError(Exception):
    """The page store's storage failed; the message names the place and what to do."""


class CorruptBody(PageStoreError):
    """A stored body does not have the hash it was stored under: the page counts as missing."""


class Kind(enum.IntEnum):
    """What a body is. The numbers are stored: never renumber."""

    PAGE = 0
    ROBOTS = 1
    SITEMAP = 2
    QUARANTINE = 3  # a wall or challenge that pretended to be the page


@record(slots=True, frozen=True)
class PageHead:
    """All about a page version but its body. Times are epoch seconds."""

    key: bytes  # 16 bytes, resources.web.urls.key
    url: str
    domain: str
    kind: Kind
    status: int
    headers: tuple[tuple[str, str], ...]  # as received, order and repeats kept, names as sent
    content_hash: bytes  # 16 bytes, xxh3-128 of the decoded (uncompressed) body
    body_bytes: int  # length of the decoded body
    fetched_at: float  # when this body was received
    validated_at: float  # last 200 or 304: what freshness counts from
    first_seen_at: float  # first version of this URL
    changed_at: float  # when the content hash last changed
    final_url: str = ""
    run_id: str = ""
    depth: int = 0
    #: (name, value) request headers named by Vary, and when the request went out (RFC 9111 §4.1, §4.2.3).
    vary: tuple[tuple[str, str], ...] = ()
    requested_at: float = 0.0
    encoding: str = ""  # WHATWG name, as sniffed when fetched
    encoding_source: str = ""  # bom, http, meta, xml, detected, utf8-valid, default
    verdict: str = ""  # wall verdict: "" or "ok", else kind[/vendor]
    verdict_version: str = ""
    note: str = ""  # quarantine: evidence; otherwise free


@record(slots=True, frozen=True)
class PageVersion:
    """A head and its decoded body, as handed to `put`."""

    head: PageHead
    body: bytes


class PageStore(Protocol):
    """See the module docstring. Synchronous; one thread at a time per instance; batches where it matters."""

    #: How long, in seconds, results may wait for company before `put`: what a batch costs, whatever is in it.
    gather_s: float

    def put(self, versions: Sequence[PageVersion]) -> None:
        """Store bodies and make them current. Durable on return.

        `first_seen_at` and `changed_at` of the stored head are corrected from the version it replaces, so
        the caller may pass the fetch time for both. ValueError if a head's length or hash are not those of
        its body.
        """
        ...

    def touch(self, heads: Sequence[PageHead]) -> None:
        """Replace the heads of known bodies (a 304, a re-judged verdict) without touching the bodies.

        A head whose body is not (or no longer) the current one of its key and kind is left out.
        """
        ...

    def head(self, key: bytes, kind: Kind = Kind.PAGE, *, domain: str | None = None) -> PageHead | None:
        """The current head. `domain`: whose page it is, where known; some back-ends are far faster with it."""
        ...

    def heads(
        self, keys: Sequence[bytes], kind: Kind = Kind.PAGE, *, domain: str | None = None
    ) -> dict[bytes, PageHead]:
        """The current heads of those keys that have one; `domain` as in `head`."""
        ...

    def body(self, head: PageHead) -> bytes:
        """The decoded body; `CorruptBody` if it does not match its hash, KeyError if it is gone."""
        ...

    def bodies(self, heads: Sequence[PageHead]) -> Iterator[bytes | None]:
        """`body` of each of many heads, in their order and as far as possible at the price of `read`; None where
        it is gone or damaged, the latter named in `corrupt(domain)`. Holds some megabytes of them at a time."""
        ...

    def stored_order(self, heads: Sequence[PageHead]) -> list[PageHead]:
        """The same heads in the order in which `bodies` reads them at the least cost."""
        ...

    def scan(self, domain: str, kind: Kind = Kind.PAGE, after: bytes = b"") -> Iterator[PageHead]:
        """Current heads of a domain in key order, streamed, from the first key greater than `after`."""
        ...

    def read(
        self, domain: str, kind: Kind = Kind.PAGE, part: int = 0, parts: int = 1
    ) -> Iterator[tuple[PageHead, bytes]]:
        """`scan` with bodies, in whatever order is fastest to read; corrupt bodies are skipped and named
        in `corrupt(domain)`. With `parts`, only the `part`-th (from 0) of that many disjoint shares of about
        equal size, so that several processes can read a domain together while nothing writes to it."""
        ...

    def corrupt(self, domain: str) -> list[PageHead]:
        """Heads whose damaged bodies this instance has met so far and not seen replaced."""
        ...

    def history(self, key: bytes, kind: Kind = Kind.PAGE) -> list[PageHead]:
        """Kept versions of one URL, newest first, the current one included."""
        ...

    def counts(self, domain: str, kind: Kind = Kind.PAGE) -> tuple[int, int, int]:
        """(pages, decoded bytes, stored bytes) of a domain."""
        ...

    def new_bodies(self, domain: str, since: float) -> tuple[int, int]:
        """(current pages of a domain first seen at `since` or later, different bodies among them)."""
        ...

    def domains(self) -> list[str]: ...

    def quarantine(self, head: PageHead, verdict: str, version: str, note: str) -> None:
        """Turn the current PAGE version into a QUARANTINE one; the version before it becomes current.

        If `head`'s body is no longer current, the kept version that has it moves; if none has, nothing does.
        """
        ...

    def verify(self, domain: str) -> list[PageHead]:
        """Heads whose body is missing or corrupt, after reading every body of the domain."""
        ...

    def maintain(self, domain: str, *, dense: bool = False) -> None:
        """Housekeeping after a crawl: give back room, compress better. Changes nothing that can be read;
        safe beside readers and writers, and cheap where nothing changed. `dense` compresses every body
        anew, as small as the back-end can: some 0.7 ms of CPU a page."""
        ...

    def prune(self, domain: str, keep: int) -> int:
        """Delete the older versions beyond the newest `keep` of each URL; returns how many."""
        ...

    def forget(self, domain: str) -> int:
        """Delete everything of a domain; returns how many current pages it had."""
        ...

    def close(self) -> None: ...


def one_by_one(pages: PageStore, heads: Sequence[PageHead]) -> Iterator[bytes | None]:
    """`PageStore.bodies` of a back-end that reads many bodies no faster than one after the other."""
    for head in heads:
        try:
            yield pages.body(head)
        except (CorruptBody, KeyError):
            yield None


def count_new(pages: PageStore, domain: str, since: float) -> tuple[int, int]:
    """`PageStore.new_bodies` of a back-end that has no index to ask: a walk over the heads."""
    contents = [head.content_hash for head in pages.scan(domain) if head.first_seen_at >= since]
    return len(contents), len(set(contents))
