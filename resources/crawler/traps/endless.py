"""Calendars and lists without end: places that name one more page of their own kind on every page.

Watched is only growth at the edge: a page names a later date, or a higher number, than any before. That is how an
endless place must grow, while the pages of a finite list are known once its last one is. A page at the edge is
*barren* when it names no other new URL and makes no rows. After some barren pages in a row the place is closed
beyond the first of them, or beyond the last where each was different; what lies inside stays open. Each night begins with a probe of one page, and half the
patience of the night before; a probe that is not barren reopens the place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xxhash import xxh3_64_intdigest

from resources.frontier.base import Discovery

from .series import dated, numbered

__all__ = ["Endless"]

#: Barren pages in a row towards the future; calendars say so little that three tell all.
FUTURE = 3
#: Towards the past: archives end by themselves, but some have holes of a year.
PAST = 18
#: Barren pages of a numbered list whose links lead to other pages each time.
NUMBERS = 100
#: Pages of a numbered list in a row with the same links and the same length.
SAME = 2
#: Lengths that differ by less than this share are the same: only the numbers in it change.
LENGTH = 0.01
#: Places watched at once; the oldest is forgotten.
MAX_PLACES = 2_000
#: Nights after which a closed place is forgotten altogether.
FORGET_S = 60 * 86_400.0

Edge = tuple[int, ...]


@dataclass(slots=True)
class _Place:
    """One list or calendar. `low`, `high`: what was named; `inside`: the lowest and highest that were fetched."""

    name: str
    low: Edge
    high: Edge
    inside_low: Edge
    inside_high: Edge
    barren: int = 0
    barren_past: int = 0
    same: int = 0
    links: int = 0
    length: int = 0
    closed_above: bool = False
    closed_below: bool = False
    closed_at: float = 0.0
    patience: float = 1.0  # halved with each night that closed it again
    probes: int = 0
    last: Edge = ()  # of the page before
    run_from: Edge = ()  # where the barren pages began
    same_from: Edge = ()  # the first of the pages that are the same

    @property
    def reason(self) -> str:
        return f"trap: endless {self.name}"

    def beyond(self, edge: Edge) -> bool:
        above = self.closed_above and edge > self.inside_high
        return above or (self.closed_below and edge < self.inside_low)


class Endless:
    """The places of one domain. `reopened` collects the reasons of exclusions to reconsider."""

    def __init__(self, now: float, saved: Mapping[str, Any] | None = None) -> None:
        self._places: dict[str, _Place] = {}
        self._closed: tuple[str, ...] = ()
        self._now = now
        self.changed = False
        self.reopened: list[str] = []
        for name, place in dict(saved or {}).items():
            if now - place["at"] < FORGET_S:
                low, high = tuple(place["low"]), tuple(place["high"])
                self._places[name] = _Place(
                    place["name"], low, high, low, high, closed_above=place["above"], closed_below=place["below"],
                    closed_at=place["at"], patience=place["patience"] / 2, probes=1,
                )  # fmt: skip
                # What was refused last night may be asked once more: one of it is the probe.
                self.reopened.append(self._places[name].reason)
        self._index()

    def to_save(self) -> dict[str, Any]:
        return {
            key: {
                "name": p.name, "low": p.inside_low, "high": p.inside_high, "above": p.closed_above,
                "below": p.closed_below, "at": p.closed_at, "patience": p.patience,
            }
            for key, p in self._places.items() if p.closed_above or p.closed_below
        }  # fmt: skip

    @property
    def busy(self) -> bool:
        """Whether any place is closed: else no URL needs to be asked about."""
        return bool(self._closed)

    @property
    def names(self) -> list[str]:
        """The closed places."""
        return sorted(p.name for p in self._places.values() if p.closed_above or p.closed_below)

    def closed(self, url: str, *, probe: bool = False) -> str | None:
        """The reason if `url` lies beyond the end of a closed place. `probe`: it is about to be requested."""
        if not url.startswith(self._closed):
            return None
        found = self._place_of(url)
        if found is None:
            return None
        place, edge = found
        if not place.beyond(edge):
            return None
        if probe and place.probes:
            place.probes -= 1
            return None
        return place.reason

    def page(
        self,
        url: str,
        length: int,
        links: Sequence[str],
        new: Sequence[Discovery],
        makes_rows: Callable[[str], bool],
    ) -> None:
        """A page came; `new`: what it named that the crawl had not met."""
        found = self._place_of(url, create=True)
        if found is None:
            return
        place, edge = found
        was_beyond = place.beyond(edge)
        head = place.name.partition("#")[0]
        gain, above, below = False, False, False
        for each in new:
            other = self._place_of(each.url) if each.url.startswith(head) else None
            if other is not None and other[0] is place:
                above |= other[1] > place.high
                below |= other[1] < place.low
                place.high, place.low = max(place.high, other[1]), min(place.low, other[1])
            else:
                gain |= not each.excluded
        gain = gain or ((above or below) and makes_rows(url))
        if was_beyond:
            if gain:
                self._reopen(place)
        elif edge != place.inside_high or edge != place.inside_low:
            place.inside_high = max(place.inside_high, edge)
            place.inside_low = min(place.inside_low, edge)
        equal = above and len(edge) == 1 and self._equal(place, length, links, head)
        if gain:
            place.barren = place.barren_past = place.same = 0
        elif above:
            self._barren_above(place, edge, equal)
        elif below and len(edge) == 3:
            place.barren_past += 1
            if place.barren_past >= max(1, PAST * place.patience):
                self._close(place, above=False)
        place.last = edge

    def _barren_above(self, place: _Place, edge: Edge, equal: bool) -> None:
        if not place.barren:
            place.run_from = edge
        place.barren += 1
        if len(edge) == 3:
            if place.barren >= max(1, FUTURE * place.patience):
                place.inside_high = place.run_from
                self._close(place, above=True)
            return
        if equal and not place.same:
            place.same_from = place.last
        place.same = place.same + 1 if equal else 0
        if place.same >= max(1, SAME * place.patience):
            place.inside_high = place.same_from
            self._close(place, above=True)
        elif place.barren >= max(1, NUMBERS * place.patience):
            self._close(place, above=True)

    def _equal(self, place: _Place, length: int, links: Sequence[str], head: str) -> bool:
        """Whether the page is the one before but for its number. 20 µs for 200 links."""
        outside = xxh3_64_intdigest("\n".join(u for u in links if not u.startswith(head)).encode())
        equal = outside == place.links and abs(length - place.length) <= LENGTH * length
        place.links, place.length = outside, length
        return equal

    def _close(self, place: _Place, *, above: bool) -> None:
        if above:
            place.closed_above = True
        else:
            place.closed_below = True
        place.closed_at = self._now
        self.changed = True
        self._index()

    def _reopen(self, place: _Place) -> None:
        place.closed_above = place.closed_below = False
        place.patience = 1.0
        place.barren = place.barren_past = place.same = 0
        self.reopened.append(place.reason)
        self.changed = True
        self._index()

    def _index(self) -> None:
        closed = [p for p in self._places.values() if p.closed_above or p.closed_below]
        self._closed = tuple({p.name.partition("#")[0] for p in closed})

    def _place_of(self, url: str, *, create: bool = False) -> tuple[_Place, Edge] | None:
        day = dated(url)
        if day is not None:
            name, edge = f"{day.space}#date", tuple(day.date)
        else:
            number = numbered(url)
            if number is None:
                return None
            name, edge = number.name, (number.value,)
        place = self._places.get(name)
        if place is None:
            if not create:
                return None
            if len(self._places) >= MAX_PLACES:
                oldest = next(n for n, p in self._places.items() if not (p.closed_above or p.closed_below))
                del self._places[oldest]
            place = self._places[name] = _Place(name, edge, edge, edge, edge)
        return place, edge
