"""What every back-end asks of a page version before it stores it, and how many older ones it keeps."""

from __future__ import annotations

from collections.abc import Sequence

from resources.pages.base import PageVersion
from resources.pages.compression import content_hash

__all__ = ["KEEP", "check_versions"]

#: Older versions kept of each URL: one, so that a quarantined page has something to fall back on.
KEEP = 1


def check_versions(versions: Sequence[PageVersion]) -> None:
    """ValueError for a head that is not about its body: stored, it could never be read again."""
    for version in versions:
        head = version.head
        if len(head.key) != 16:
            raise ValueError(f"{head.url}: a key has 16 bytes, not {len(head.key)}")
        if len(version.body) != head.body_bytes or content_hash(version.body) != head.content_hash:
            raise ValueError(f"{head.url}: the head's length and hash are not those of the body")
