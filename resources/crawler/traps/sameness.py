"""Pages that are all the same: below a path, in a family of parameters, or on the whole domain.

The yield of a *family* (two path segments; with a query: the path and the names of its parameters) is what its last
pages brought. Two things tighten it: bodies that were all met before; and, where there is a query, hundreds of pages
that named no new URL *and* say nothing that others of them have not said (`novelty`): entries of a shop in one more
order, one more combination of filters. Pages of products or articles say something, so they are never among these.

Of a tightened family some URLs are probes, the others are excluded. Probes grow rare as they bring nothing (one in 20,
in 40, in 80 …); two in a row that bring something reopen it, and what was excluded is asked again. After one, two, four
… nights it is asked again in any case. When the whole domain gives the same few bodies for everything, it is no use
to go on at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .bodies import BodyMemory
from .novelty import LIST_LINKS, Memory, page_atoms
from .series import numbered

__all__ = ["Sameness"]

#: Pages until a family is judged, and share of them with a body of another page.
FEW, SAME_SHARE = 24, 0.9
#: Pages with a query in a row that named no new URL before it is judged what they say; twice as many each time that
#: they turned out to be worth it.
NOTHING_NEW = 200
#: Before such a judgement so many pages are looked at, every n-th; of the last ones (the first have little to be
#: compared with) more than this share must say something for the family to be worth it.
LOOKS, LOOK_EVERY, LAST, WORTH = 15, 5, 6, 0.3
#: A parameter with more different values than this share of the pages looked at is the name of a thing.
IDS = 0.8
#: Counts are halved at this many pages: what was long ago counts little.
MEMORY = 64
#: Of a tightened family one URL in so many is fetched as a probe, at first and at last; so many good ones in a row
#: reopen it.
PROBE_EVERY, PROBE_SELDOM, GOOD_PROBES = 20, 1_280, 2
#: The canary of the whole domain: pages looked back upon, and the share of them that must be new.
CANARY_PAGES, CANARY_NEW = 200, 0.1
#: Families remembered: some 200 bytes each.
MAX_FAMILIES = 2_000


@dataclass(slots=True)
class _Family:
    name: str
    pages: int = 0
    seen: int = 0  # pages ever
    same: int = 0
    barren: int = 0
    judge_at: int = NOTHING_NEW
    looks: int = 0
    worth: int = 0
    values: dict[str, set[str]] = field(default_factory=dict)  # of the parameters of the pages looked at
    memory: Memory = field(default_factory=Memory)
    why: str = ""  # tightened
    nights: int = 0  # it began tightened
    wait: int = 0  # URLs until the next probe
    gap: int = PROBE_EVERY
    good: int = 0

    @property
    def reason(self) -> str:
        return f"trap: {self.why} {self.name}"

    @property
    def combined(self) -> bool:
        """Whether its pages are combinations of few values: none of its parameters names a page by itself."""
        return all(len(values) <= IDS * self.looks for values in self.values.values())


class Sameness:
    """The families of one domain."""

    def __init__(self, saved: Mapping[str, Any] | None = None, patience: float = 1.0) -> None:
        self._families: dict[str, _Family] = {}
        self._tight = 0
        self._patience = patience
        self._bodies = BodyMemory()
        self._recent_pages = self._recent_new = 0
        self.changed = False
        self.reopened: list[str] = []
        for name, kept in dict(saved or {}).items():
            if isinstance(kept, str):  # tightened by rules that are no longer in force
                self.reopened.append(f"trap: {kept} {name}")
                continue
            nights = kept["nights"] + 1
            # `wait` is 0: the first URL of a night is a probe.
            family = _Family(name, why=kept["why"], nights=nights, memory=Memory(kept["memory"]))
            self._families[name] = family
            self._tight += 1
            if nights & (nights - 1) == 0:
                self.reopened.append(family.reason)

    def to_save(self) -> dict[str, Any]:
        return {
            f.name: {"why": f.why, "nights": f.nights, "memory": f.memory.to_save()}
            for f in self._families.values()
            if f.why
        }

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
            if family.wait <= 0 or family.good:
                family.wait = family.gap
                return None
            family.wait -= 1
        return family.reason

    def page(
        self, url: str, content_hash: bytes, brought_urls: bool, body: bytes = b"", links: Sequence[str] = ()
    ) -> None:
        """A page came. `brought_urls`: it named URLs the crawl had not met."""
        new = self._bodies.meet(content_hash)
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
            family = self._families[name] = _Family(name, judge_at=round(NOTHING_NEW * self._patience))
        if family.why:
            same = family.why.startswith("same")
            self._probed(family, new and (same or brought_urls or _says_something(family, url, body, links)))
            return
        family.pages += 1
        family.seen += 1
        family.same += not new
        family.barren = 0 if brought_urls else family.barren + 1
        if (
            family.seen >= FEW * self._patience
            and family.pages >= FEW
            and family.same > SAME_SHARE * family.pages
        ):
            self._tighten(family, "same bodies below")
        elif "?" in name and family.barren > family.judge_at - LOOKS * LOOK_EVERY:
            self._judge(family, url, body, links)
        if family.pages >= MEMORY:
            family.pages //= 2
            family.same //= 2

    def _judge(self, family: _Family, url: str, body: bytes, links: Sequence[str]) -> None:
        """Look at every fifth page of the last ones before `judge_at`, and decide there."""
        if family.barren % LOOK_EVERY == 0:
            family.looks += 1
            for pair in url.partition("?")[2].split("&"):
                name, _, value = pair.partition("=")
                family.values.setdefault(name, set()).add(value)
            says = _says_something(family, url, body, links)
            family.worth += says and family.looks > LOOKS - LAST
        if family.barren < family.judge_at:
            return
        if family.combined and family.worth <= WORTH * LAST:
            self._tighten(family, "nothing new below")
        family.judge_at *= 2
        family.looks = family.worth = 0
        family.values.clear()

    def _probed(self, family: _Family, good: bool) -> None:
        family.good = family.good + 1 if good else 0
        family.gap = PROBE_EVERY if good else min(family.gap * 2, PROBE_SELDOM)
        if family.good >= GOOD_PROBES:
            self.reopened.append(family.reason)
            family.why = ""
            family.pages = family.same = family.barren = family.good = family.nights = 0
            self._tight -= 1
            self.changed = True

    def _tighten(self, family: _Family, why: str) -> None:
        family.why, family.good = why, 0
        family.wait = family.gap = PROBE_EVERY
        self._tight += 1
        self.changed = True


def _says_something(family: _Family, url: str, body: bytes, links: Sequence[str]) -> bool:
    """Whether a page brings what the looked-at pages of its family have not."""
    number = numbered(url)
    path = url.partition("?")[0]
    own = number.value if number is not None else None
    atoms = page_atoms(body, own, links, path)
    if family.memory.own_links(atoms) >= LIST_LINKS:
        atoms = page_atoms(body, own, links, path, deep=True)
    return family.memory.look(atoms).verdict(listing=True) == "new"


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
