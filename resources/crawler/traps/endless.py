"""Calendars and lists without end: places that name one more page of their own kind on every page.

Watched is only growth at the edge: a page names a later date, or a higher number, than any before. That is how an
endless place must grow, and how books, articles and products that are linked in a chain grow too. What tells them
apart is what a page says (`novelty`): links to anything else, or text, pictures, entries that no page of the place had
before. Only pages that bring none of it raise doubt (`places`), and enough doubt closes the place beyond the last page
that did; what lies inside stays open.

A closed place is never lost from sight: its URLs are excluded with the reason, and asked again. Each night begins with
a probe of the furthest one, more follow as the crawl of the rest goes on, and a probe that brings anything reopens it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from xxhash import xxh3_64_intdigest

from resources.frontier.base import Discovery

from .novelty import Verdict, page_atoms
from .places import UNBROKEN, Edge, Growth, Place
from .series import dated, numbered

__all__ = ["Endless"]

#: Lengths that differ by less than this share are the same: only the numbers in it change.
LENGTH = 0.01
#: Pages whose lengths differ by so few bytes are always looked at.
DIGITS = 4
#: After so many pages of the domain a closed place is probed again in the same night; then after twice as many.
PROBE_AFTER = 1_000
#: Refused URLs after which a probe need not wait for the furthest one: that may be done, or forbidden.
PASSED = 8
#: Of a place that keeps saying new things only some pages are looked at: one more is taken on trust for so many good
#: ones, up to so many.
GOOD_FOR_LOOK, LOOK_EVERY = 50, 16
#: Pages of a calendar that lead nowhere and are looked at all the same: are its days worth a link?
DAYS_LOOKED_AT = 16
#: Good pages after which the names of months and days are all known: any other text of a calendar is one.
PROVEN = 30
#: Places watched at once; the oldest is forgotten. And the atoms of all of them, 60 bytes each.
MAX_PLACES, MAX_ATOMS = 2_000, 400_000
#: Nights after which a closed place is forgotten altogether.
FORGET_S = 60 * 86_400.0


class Endless:
    """The places of one domain. `reopened` collects the reasons of exclusions to reconsider."""

    def __init__(self, now: float, saved: Mapping[str, Any] | None = None, patience: float = 1.0) -> None:
        self._places: dict[str, Place] = {}
        self._closed: tuple[str, ...] = ()
        self._now = now
        self._patience = patience
        self._pages = 0
        self._atoms = 0
        self._probe_at = 0
        self.changed = False
        self.reopened: list[str] = []
        for name, place in dict(saved or {}).items():
            # What was refused last night may be asked once more: one of it is the probe. Of a place that is
            # forgotten, or was closed by rules that are no longer in force, all of it may.
            self.reopened.append(f"trap: endless {place['name']}")
            if "memory" in place and now - place["at"] < FORGET_S:
                kept = self._places[name] = Place.from_saved(place)
                self._atoms += len(kept.memory)
                if kept.closed:
                    self._schedule(kept)
        self._index()

    def to_save(self) -> dict[str, Any]:
        """The closed places, and the calendars whose days are known to say nothing."""
        return {
            key: place.to_save(self._now)
            for key, place in self._places.items()
            if place.closed or (place.dated and place.fruitless)
        }

    @property
    def busy(self) -> bool:
        """Whether any place is closed: else no URL needs to be asked about."""
        return bool(self._closed)

    @property
    def names(self) -> list[str]:
        """The closed places."""
        return sorted(place.name for place in self._places.values() if place.closed)

    def closed(self, url: str, *, probe: bool = False, kept: bool = False) -> str | None:
        """The reason if `url` lies beyond the end of a closed place. `probe`: it is about to be requested.

        `kept`: it was a page on an earlier night. Such a one is asked in the night in which its place closes: many come
        at once then, in any order, and a few that say nothing must not stand for all.
        """
        if not url.startswith(self._closed):
            return None
        found = self._place_of(url)
        if found is None:
            return None
        place, edge = found
        if not place.beyond(edge) or (kept and place.closed_at >= self._now):
            return None
        if probe and place.probes:
            place.passed += 1
            if place.furthest(edge) or place.passed > PASSED:
                place.probes -= 1
                return None
        return place.reason

    def page(
        self,
        url: str,
        body: bytes,
        links: Sequence[str],
        new: Sequence[Discovery],
        makes_rows: Callable[[str], bool],
    ) -> None:
        """A page came; `new`: what it named that the crawl had not met."""
        self._pages += 1
        if self._closed and self._pages >= self._probe_at:
            self._probe_again()
        found = self._place_of(url, create=True)
        if found is None:
            return
        place, edge = found
        was_beyond = place.beyond(edge)
        gain, above, below = self._named(place, new)
        place.fetched += 1
        growth: Growth = "new"
        if gain and above and not place.dated:
            self._alike(place, len(body), links)  # what the next page is compared with
        if not gain:
            growth = self._growth(place, edge, body, links, url, makes_rows, was_beyond or above or below)
        if was_beyond:
            self.changed = True  # the next night's probe goes beyond this one
            if gain or growth == "new":
                self._reopen(place)
        else:
            place.inside_high = max(place.inside_high, edge)
            place.inside_low = min(place.inside_low, edge)
            self._weigh(place, edge, growth, gain, above, below)
        place.last = edge

    def _named(self, place: Place, new: Sequence[Discovery]) -> tuple[bool, bool, bool]:
        """(something outside the place, something above its edge, something below) is among `new`."""
        head, calendar = place.head, place.dated
        gain, above, below = False, False, False
        for each in new:
            other = self._place_of(each.url) if each.url.startswith(head) else None
            if other is not None and other[0] is place:
                above |= other[1] > place.high
                below |= other[1] < place.low
                place.high, place.low = max(place.high, other[1]), min(place.low, other[1])
            elif not each.excluded and not gain:
                # The days of a month are no news once enough of them have said nothing.
                days = self._place_of(each.url) if calendar else None
                gain = days is None or len(days[1]) != 3 or not days[0].fruitless
        return gain, above, below

    def _growth(
        self, place: Place, edge: Edge, body: bytes, links: Sequence[str], url: str,
        makes_rows: Callable[[str], bool], matters: bool,
    ) -> Growth:  # fmt: skip
        """What a page brought that named nothing else. Looked at is what `matters`, and calendars' first pages."""
        if not matters and not (place.dated and place.fetched <= DAYS_LOOKED_AT):
            return "doubtful"
        close = abs(len(body) - place.length) <= DIGITS
        alike = self._alike(place, len(body), links)
        if not (alike and close) and place.unlooked < min(
            place.streak // 2, place.good // GOOD_FOR_LOOK, LOOK_EVERY
        ):
            place.unlooked += 1
            return "new"
        place.unlooked = 0
        # The first page of a calendar has nothing to be compared with, and there must not be many of them; a first
        # look at a list may come after pages that named entries.
        first = not len(place.memory)
        verdict = self._look(place, edge, body, links)
        if first and (alike or place.dated):
            verdict = "old"
        if verdict == "new":
            place.streak += 1
            return "new"
        place.streak = 0
        if verdict == "old" and alike:
            return "alike"
        return "doubtful" if makes_rows(url) else verdict

    def _look(self, place: Place, edge: Edge, body: bytes, links: Sequence[str]) -> Verdict:
        before = len(place.memory)
        calendar = place.dated
        atoms = page_atoms(body, None if calendar else edge[0], links, place.head, deep=calendar)
        verdict = place.memory.look(atoms).verdict(dated=calendar, proven=place.good >= PROVEN)
        self._atoms += len(place.memory) - before
        if self._atoms > MAX_ATOMS:
            self._forget(place)
        return verdict

    def _weigh(
        self, place: Place, edge: Edge, growth: Growth, gain: bool, above: bool, below: bool
    ) -> None:  # fmt: skip
        """Numbered cases: 1. it brought something; 2. for too long nothing but text; 3. it brought nothing and named
        more of its kind ahead; 4. or, in a calendar, behind.
        """
        if gain or growth == "new":
            place.worth()
            place.unbroken = 0 if gain else place.unbroken + above
            if place.unbroken >= UNBROKEN:
                place.unbroken = 0
                self._close(place, above=True)
        elif above:
            if place.doubted(edge, growth, self._patience):
                place.inside_high = place.run_from
                self._close(place, above=True)
        elif below and place.dated and place.doubted(edge, growth, self._patience, past=True):
            self._close(place, above=False)

    def _alike(self, place: Place, length: int, links: Sequence[str]) -> bool:
        """Whether links and length are those of the page before. 20 µs for 200 links."""
        head = place.head
        outside = xxh3_64_intdigest("\n".join(u for u in links if not u.startswith(head)).encode())
        alike = outside == place.links and abs(length - place.length) <= LENGTH * length
        place.links, place.length = outside, length
        return alike

    # -- closing and opening -------------------------------------------------------------------------------------
    def _close(self, place: Place, *, above: bool) -> None:
        if above:
            place.closed_above = True
        else:
            place.closed_below = True
        place.closed_at = self._now
        place.probe_gap = 0
        self._schedule(place)
        self.changed = True
        self._index()

    def _reopen(self, place: Place) -> None:
        place.closed_above = place.closed_below = False
        place.patience = 1.0
        place.worth()
        self.reopened.append(place.reason)
        self.changed = True
        self._index()

    def _schedule(self, place: Place) -> None:
        place.probe_gap = place.probe_gap * 2 or PROBE_AFTER
        place.probe_at = self._pages + place.probe_gap
        self._probe_at = min(self._probe_at or place.probe_at, place.probe_at)

    def _probe_again(self) -> None:
        """The rest of the site has paid for another probe of what is closed."""
        self._probe_at = 0
        for place in self._shut():
            if self._pages >= place.probe_at:
                place.probes, place.passed = 1, 0
                self.reopened.append(place.reason)
                self.changed = True
                self._schedule(place)
            else:
                self._probe_at = min(self._probe_at or place.probe_at, place.probe_at)

    def _shut(self) -> Iterator[Place]:
        return (place for place in self._places.values() if place.closed)

    def _index(self) -> None:
        self._closed = tuple({place.head for place in self._shut()})

    # -- memory ----------------------------------------------------------------------------------------------------
    def _place_of(self, url: str, *, create: bool = False) -> tuple[Place, Edge] | None:
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
                self._drop_oldest()
            place = self._places[name] = Place(name, edge, edge, edge, edge)
        return place, edge

    def _drop_oldest(self) -> None:
        """An open place if there is one; else a closed one, whose URLs may be asked again."""
        oldest = next((n for n, p in self._places.items() if not p.closed), next(iter(self._places)))
        gone = self._places.pop(oldest)
        self._atoms -= len(gone.memory)
        if gone.closed:
            self.reopened.append(gone.reason)
            self._index()

    def _forget(self, but: Place) -> None:
        """Free the memory of the oldest open places; their pages will look newer than they are."""
        for place in self._places.values():
            if place is not but and not place.closed and len(place.memory):
                self._atoms -= len(place.memory)
                place.memory.clear()
                if self._atoms <= MAX_ATOMS * 3 // 4:
                    return
