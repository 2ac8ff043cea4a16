"""Bodies out of packs, each checked against its hash, and a memory of those that were damaged."""

from __future__ import annotations

from collections.abc import Collection

from resources.pages.base import CorruptBody, PageHead
from resources.pages.compression import Codec, content_hash
from resources.pages.s3.domains import Domains
from resources.pages.s3.index import Index

__all__ = ["Bodies"]

#: Codecs kept, one a pack: one with a dictionary has some hundred kilobytes of tables.
KEPT = 64


class Bodies:
    """See the module docstring. What is damaged is known until the page is stored anew."""

    def __init__(self, domains: Domains) -> None:
        self._domains = domains
        self._codecs: dict[tuple[str, str], Codec] = {}
        self._corrupt: dict[str, dict[tuple[bytes, bytes], PageHead]] = {}

    def read(self, index: Index, head: PageHead, data: bytes | None = None, base: int = 0) -> bytes:
        """The body; CorruptBody if it is damaged, KeyError if it is nowhere. `data`: part of the pack, from `base` on, if it
        has been read already."""
        for fresh in (False, True):
            place = index.bodies.get(head.content_hash)
            if place is None:
                raise KeyError(head.url)
            try:
                start = place.start - base
                if data is not None and start >= 0 and start + place.length <= len(data):
                    frame = data[start : start + place.length]
                else:
                    frame = self._domains.bucket.range(
                        self._domains.path(index.domain, place.pack), place.start, place.length
                    )
                body = self._codec(index, place.pack).decompress(frame)
            except KeyError:
                if fresh:
                    raise KeyError(head.url) from None
                self._domains.refresh(index.domain)  # merged into another pack since
                data = None
                continue
            except ValueError:
                body = b""
            if len(body) == head.body_bytes and content_hash(body) == head.content_hash:
                return body
            self.damaged(head)
            raise CorruptBody(
                f"the body of {head.url} in {self._domains.bucket.shown}/{place.pack} is damaged; fetch the page again"
            )
        raise AssertionError("unreachable")

    def _codec(self, index: Index, pack: str) -> Codec:
        codec = self._codecs.get((index.domain, pack))
        if codec is None:
            start, length, raw = index.packs[pack].dictionary
            words = None
            if length:
                frame = self._domains.bucket.range(self._domains.path(index.domain, pack), start, length)
                words = Codec(None, 1).decompress(frame)
            if len(self._codecs) >= KEPT:
                self._codecs.clear()
            codec = self._codecs[index.domain, pack] = Codec(words, 1, raw=raw)
        return codec

    # -- damage ----------------------------------------------------------------------------------
    def damaged(self, head: PageHead) -> None:
        """Remember that its body is damaged or missing."""
        self._corrupt.setdefault(head.domain, {})[head.key, head.content_hash] = head

    def all_damaged(self, domain: str) -> list[PageHead]:
        return list(self._corrupt.get(domain, {}).values())

    def is_damaged(self, domain: str, content: bytes) -> bool:
        return any(content == each for _, each in self._corrupt.get(domain, ()))

    def made_good(self, domain: str, contents: Collection[bytes]) -> None:
        """These were written again."""
        for identity in [each for each in self._corrupt.get(domain, {}) if each[1] in contents]:
            del self._corrupt[domain][identity]

    def forget(self, domain: str) -> None:
        self._corrupt.pop(domain, None)
