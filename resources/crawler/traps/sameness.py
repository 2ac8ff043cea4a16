"""Pages that are all the same: below a path, in a family of parameters, or on the whole domain.

The marginal yield of a *family* (two path segments; with a query: the path and the names of its parameters) is what
its last pages brought: bodies not met before, URLs not met before. When it falls to next to nothing the family is
tightened: of its URLs every twentieth is a probe, the others are excluded. Two probes in a row that bring something
reopen it. When the whole domain gives the same few bodies for everything, it is no use to go on at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Sameness"]

#: Pages until a family is judged, and share of them with a body of another page.
FEW, SAME_SHARE = 24, 0.75
#: Pages with a query in a row that named no new URL: variations of a list, not parts of it.
NOTHING_NEW = 200
#: Counts are halved at this many pages: what was long ago counts little.
MEMORY = 64
#: Of a tightened family one URL in so many is fetched as a probe; so many good ones in a row reopen it.
PROBE_EVERY, GOOD_PROBES = 20, 2
#: The canary of the whole domain: pages looked back upon, and the share of them that must be new.
CANARY_PAGES, CANARY_NEW = 200, 0.1
#: Bodies and families remembered: 8 and some 200 bytes each.
MAX_BODIES, MAX_FAMILIES = 50_000, 2_000


@dataclass(slots=True)
class _Family:
    name: str
    pages: int = 0
    same: int = 0
    barren: int = 0
    why: str = ""  # tightened
    refused: int = 0
    good: int = 0

    @property
    def reason(self) -> str:
        return f"trap: {self.why} {self.name}"


class Sameness:
    """The families of one domain."""

    def __init__(self, saved: Mapping[str, Any] | None = None) -> None:
        self._families: dict[str, _Family] = {}
        self._tight = 0
        self._bodies: set[bytes] = set()
        self._older: set[bytes] = set()
        self._recent_pages = self._recent_new = 0
        self.changed = False
        self.reopened: list[str] = []
        for name, why in dict(saved or {}).items():
            self._families[name] = _Family(name, why=why, refused=-1)  # the first URL of a night is a probe
            self._tight += 1

    def to_save(self) -> dict[str, Any]:
        return {f.name: f.why for f in self._families.values() if f.why}

    @property
    def busy(self) -> bool:
        return self._tight > 0

    @property
    def names(self) -> list[str]:
        return sorted(f.name for f in self._families.values() if f.why)

    @property
    def loops(self) -> bool:
        """The frontier canary: URLs differ, pages do not."""
        return self._recent_pages >= CANARY_PAGES and self._recent_new < CANARY_NEW * self._recent_pages

    def closed(self, url: str, *, probe: bool = False) -> str | None:
        """The reason if the family of `url` is tightened. `probe`: it is about to be requested."""
        family = self._families.get(family_of(url))
        if family is None or not family.why:
            return None
        if probe:
            family.refused += 1
            if family.refused % PROBE_EVERY == 0:
                return None
        return family.reason

    def page(self, url: str, content_hash: bytes, brought_urls: bool) -> None:
        """A page came. `brought_urls`: it named URLs the crawl had not met."""
        body = content_hash[:8]
        new = body not in self._bodies and body not in self._older
        self._bodies.add(body)
        if len(self._bodies) >= MAX_BODIES:
            self._bodies, self._older = set(), self._bodies
        self._recent_pages += 1
        self._recent_new += new
        if self._recent_pages > CANARY_PAGES * 2:
            self._recent_pages //= 2
            self._recent_new //= 2
        name = family_of(url)
        family = self._families.get(name)
        if family is None:
            if len(self._families) >= MAX_FAMILIES:
                self._families = {n: f for n, f in self._families.items() if f.why}
            family = self._families[name] = _Family(name)
        if family.why:
            self._probed(family, new and (brought_urls or family.why.startswith("same")))
            return
        family.pages += 1
        family.same += not new
        family.barren = 0 if brought_urls else family.barren + 1
        if family.pages >= FEW and family.same > SAME_SHARE * family.pages:
            self._tighten(family, "same bodies below")
        elif family.barren >= NOTHING_NEW and "?" in name:
            self._tighten(family, "nothing new below")
        elif family.pages >= MEMORY:
            family.pages //= 2
            family.same //= 2

    def _probed(self, family: _Family, good: bool) -> None:
        family.good = family.good + 1 if good else 0
        if family.good >= GOOD_PROBES:
            self.reopened.append(family.reason)
            family.why = ""
            family.pages = family.same = family.barren = family.good = 0
            self._tight -= 1
            self.changed = True

    def _tighten(self, family: _Family, why: str) -> None:
        family.why, family.refused, family.good = why, 0, 0
        self._tight += 1
        self.changed = True


def family_of(url: str) -> str:
    """`http://host/a/b`, or the path and the names of the parameters: `http://host/list?page&sort`. 0.5 µs."""
    head, mark, query = url.partition("?")
    if mark:
        return f"{head}?{'&'.join(sorted(p.partition('=')[0] for p in query.split('&')))}"
    start = head.find("/", 8)
    for _ in range(2):
        after = head.find("/", start + 1)
        if after < 0:
            return head[: start + 1]
        start = after
    return head[: start + 1]
