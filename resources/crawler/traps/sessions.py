"""Learns which parts of a site's URLs are session ids: the page is the same whatever their value.

1. *Met*: links carry machine-made values in a slot. From three different ones on, the slot is suspected.
2. *Suspected*: of each rest one URL is fetched, others are held back. Then one twin at a time is fetched and compared:
   the body without the values of the slot, or, where a page changes by itself, its canonical link and its links.
3. *Learned*: twins are the same. Links lose the slot before they are enqueued; URLs that have it are excluded, and the
   URL without it takes their place unless it was fetched already. Or *trusted*: twins differ, nothing is held any more.

A slot with plain values (`?ref=footer`) is never suspected, but learned when bodies of twins are equal by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from xxhash import xxh3_64_intdigest, xxh3_128_digest

from .slots import Slot, is_token, slots, with_value
from .twins import TwinPrint, twin_print

__all__ = ["Learned", "SessionLearner"]

#: Different machine-made values until a slot is suspected.
SUSPICIOUS = 3
#: First variants of a suspected slot that may be on their way at once; two more with each one that came.
CREDIT = 2
#: Pages with a suspected slot after which it is trusted if no twin was the same.
PATIENCE = 100
#: Twins that must be the same: on different rests, on one rest alone (it may be an error page), by equal bodies alone.
SAME_RESTS, SAME_ON_ONE, SAME_PASSIVE = 2, 5, 5
#: Twins that differ until a slot is trusted; one among many that are the same is an accident.
DIFFERENT, ACCIDENTS = 2, 10
#: Slots and rests remembered: some 200 bytes each.
MAX_SLOTS, MAX_RESTS = 500, 4_000
#: Of each kind, kept from night to night.
MAX_SAVED = 200

State = Literal["met", "suspected", "learned", "trusted"]


@dataclass(frozen=True, slots=True)
class Learned:
    """A URL with a session id. `instead`: the URL to enqueue in its place, None when that was fetched already."""

    reason: str
    instead: str | None


@dataclass(slots=True)
class _Suspect:
    """One slot. `rests`: rest → its print; None while the first variant is on its way."""

    name: str
    state: State = "met"
    values: set[str] = field(default_factory=set)
    rests: dict[bytes, TwinPrint | None] = field(default_factory=dict)
    out: dict[bytes, bytes] = field(default_factory=dict)  # first variants on their way: URL key → rest
    testing: dict[bytes, bytes] = field(default_factory=dict)  # twins on their way: URL key → rest
    credit: int = CREDIT
    under_id: set[str] = field(default_factory=set)  # rests that were fetched with a value
    fetched: int = 0
    same: dict[bytes, int] = field(default_factory=dict)  # rest → twins that were the same
    different: int = 0
    supported: bool = False  # a twin's canonical link was its rest
    bodies: dict[bytes, tuple[int, bytes]] = field(default_factory=dict)  # rest → (value, body), passively
    first_value: str = ""


class SessionLearner:
    """The slots of one domain. `changed` is set when a verdict fell: what is held must be looked at again."""

    def __init__(self, saved: Mapping[str, Any] | None = None, trusted: Sequence[str] = ()) -> None:
        self._slots: dict[str, _Suspect] = {}
        self._suspected: list[_Suspect] = []
        self._learned: dict[str, _Suspect] = {}
        self._covered: set[bytes] = set()  # rests that were fetched under some value
        self._on_way: dict[bytes, bytes] = {}  # URL key → rest that it covers once it has come
        self._needles: re.Pattern[str] | None = None
        self.changed = False
        self._given = frozenset(mark + name for name in trusted for mark in "?;")
        for name in self._given:
            self._settle(self._slot(name), "trusted")
        for name, value in dict((saved or {}).get("learned", {})).items():
            if name in self._given:
                continue
            self._settle(self._slot(name), "learned", value)
        for name in (saved or {}).get("trusted", ()):
            self._settle(self._slot(name), "trusted")
        self._covered.update(bytes.fromhex(rest) for rest in (saved or {}).get("covered", ()))
        self.changed = False

    def to_save(self) -> dict[str, Any]:
        trusted = [s.name for s in self._slots.values() if s.state == "trusted" and s.name not in self._given]
        return {
            "learned": {n: s.first_value for n, s in self._learned.items()},
            "trusted": trusted[:MAX_SAVED],
            "covered": [rest.hex() for rest in sorted(self._covered)[:MAX_SAVED]],
        }

    @property
    def learned(self) -> list[str]:
        """Names of the slots that are session ids."""
        return sorted(self._learned)

    @property
    def suspecting(self) -> bool:
        """Whether any slot waits for its verdict."""
        return bool(self._suspected)

    # -- links -------------------------------------------------------------------------------------------------
    def rewrite(self, links: list[str]) -> list[str]:
        """Links without learned session ids, each once, and none that was fetched already under an id."""
        needles = self._needles
        if needles is None:
            return links
        seen: dict[str, None] = {}
        for url in links:
            if needles.search(url) is None:
                seen[url] = None
                continue
            bare = self.bare(url)
            if xxh3_128_digest(bare.encode()) not in self._covered:
                seen[bare] = None
        return list(seen)

    def bare(self, url: str) -> str:
        """`url` without any learned session id."""
        for _ in range(len(self._learned)):
            slot = next((s for s in slots(url) if s.name in self._learned), None)
            if slot is None:
                break
            url = with_value(slot, self._learned[slot.name].first_value)
        return url

    def met(self, url: str) -> None:
        """A link that is new to the crawl."""
        for slot in slots(url):
            found = self._slots.get(slot.name)
            if found is None:
                if not is_token(slot.value) and not slot.name.startswith((";", "/")):
                    continue
                found = self._slot(slot.name)
            if found.state == "met" and len(slot.value) >= 6:
                found.values.add(slot.value)
                if len(found.values) >= SUSPICIOUS:
                    self._settle(found, "suspected")

    def test_of(self, url: str) -> bool:
        """Whether `url` is a twin of a fetched page in a suspected slot: the sooner it is fetched, the less is held."""
        return any(
            not suspect.testing and suspect.rests.get(xxh3_128_digest(slot.rest.encode())) is not None
            for suspect, slot in self._suspected_in(url)
        )

    # -- before a request --------------------------------------------------------------------------------------
    def closed(self, url: str, parent: bytes | None) -> Learned | None:
        """The verdict if `url` carries a learned session id. `parent`: key of the page that redirected to it, if any."""
        needles = self._needles
        if needles is None or needles.search(url) is None:
            return None
        names = [s.name for s in slots(url) if s.name in self._learned]
        bare = self.bare(url)
        if not names or bare == url:
            return None
        digest = xxh3_128_digest(bare.encode())
        if digest == parent:
            return (
                None  # the page itself sends visitors to an address with an id: there is no other way to it
            )
        return Learned(f"trap: session id {names[0]}", None if digest in self._covered else bare)

    def admit(self, url: str, key: bytes) -> bool:
        """Whether a URL that is not closed may be requested now; counts it as on its way."""
        going: list[tuple[dict[bytes, bytes], bytes]] = []
        for suspect, slot in self._suspected_in(url):
            rest = xxh3_128_digest(slot.rest.encode())
            if key in suspect.out or key in suspect.testing:
                continue
            if rest not in suspect.rests:
                if len(suspect.out) >= suspect.credit:
                    return False
                suspect.rests[rest] = None
                going.append((suspect.out, rest))
            elif suspect.rests[rest] is not None and not suspect.testing:
                going.append((suspect.testing, rest))
            else:
                self._undo(going, key)
                return False
        for where, rest in going:
            where[key] = rest
        return True

    def _undo(self, going: list[tuple[dict[bytes, bytes], bytes]], key: bytes) -> None:
        for suspect in self._suspected:
            for where, rest in going:
                if where is suspect.out and suspect.rests.get(rest) is None:
                    suspect.rests.pop(rest, None)

    # -- after it ----------------------------------------------------------------------------------------------
    def lost(self, key: bytes) -> None:
        """The request for a URL that was admitted brought no page."""
        if (missed := self._on_way.pop(key, None)) is not None:
            self._covered.discard(missed)
        for suspect in self._suspected:
            rest = suspect.out.pop(key, None)
            if rest is not None:
                suspect.rests.pop(rest, None)
                self.changed = True
            if suspect.testing.pop(key, None) is not None:
                self.changed = True

    def page(self, url: str, key: bytes, body: bytes, content_hash: bytes, links: Sequence[str]) -> None:
        """A page came."""
        self._on_way.pop(key, None)
        if self._suspected:
            self._compare(url, key, body, links)
        if "?" in url:
            self._passive(url, content_hash)

    def _compare(self, url: str, key: bytes, body: bytes, links: Sequence[str]) -> None:
        mine = {suspect.name: slot for suspect, slot in self._suspected_in(url)}
        for suspect in list(self._suspected):
            slot = mine.get(suspect.name)
            rest_url = slot.rest if slot is not None else url
            rest = xxh3_128_digest(rest_url.encode())
            print_ = twin_print(suspect.name, slot, body, links)
            tested = suspect.testing.pop(key, None)
            first = suspect.out.pop(key, None)
            if tested is not None or first is not None:
                self.changed = True
            if slot is not None:
                suspect.fetched += 1
                suspect.under_id.add(rest_url)
                suspect.credit += 2
                if not suspect.first_value:
                    suspect.first_value = slot.value
            before = suspect.rests.get(rest)
            if before is None:
                if len(suspect.rests) < MAX_RESTS:
                    suspect.rests[rest] = print_
            elif tested is not None:
                self._weigh(suspect, rest, before.alike(print_), print_.canonical == rest_url.encode())
            if suspect.state == "suspected" and suspect.fetched >= PATIENCE and not suspect.same:
                self._settle(suspect, "trusted")

    def _weigh(self, suspect: _Suspect, rest: bytes, alike: bool, supported: bool) -> None:
        if alike:
            suspect.same[rest] = suspect.same.get(rest, 0) + 1
            suspect.supported |= supported
        else:
            suspect.different += 1
        same = sum(suspect.same.values())
        if suspect.different * ACCIDENTS <= same and (
            len(suspect.same) >= SAME_RESTS or same >= SAME_ON_ONE or (same and suspect.supported)
        ):
            self._settle(suspect, "learned", suspect.first_value)
        elif suspect.different >= DIFFERENT and suspect.different * ACCIDENTS > same:
            self._settle(suspect, "trusted")

    def _passive(self, url: str, content_hash: bytes) -> None:
        for slot in slots(url):
            found = self._slots.get(slot.name) or self._slot(slot.name)
            if found.state != "met" or not slot.name.startswith("?"):
                continue
            rest, value = xxh3_128_digest(slot.rest.encode()), xxh3_64_intdigest(slot.value.encode())
            known = found.bodies.get(rest)
            if known is None:
                if len(found.bodies) >= MAX_RESTS // 10:
                    found.bodies.clear()
                found.bodies[rest] = value, content_hash
            elif known[0] != value:
                if known[1] == content_hash:
                    found.same[rest] = found.same.get(rest, 0) + 1
                else:
                    found.different += 1
            if found.different >= DIFFERENT and found.different * ACCIDENTS > len(found.same):
                self._settle(found, "trusted")
            elif len(found.same) >= SAME_PASSIVE and found.different * ACCIDENTS <= len(found.same):
                self._settle(found, "learned", slot.value)

    # -- verdicts ----------------------------------------------------------------------------------------------
    def _suspected_in(self, url: str) -> list[tuple[_Suspect, Slot]]:
        if not self._suspected:
            return []
        wanted = {s.name: s for s in self._suspected}
        return [(wanted[slot.name], slot) for slot in slots(url) if slot.name in wanted]

    def _slot(self, name: str) -> _Suspect:
        if len(self._slots) >= MAX_SLOTS:
            self._slots = {n: s for n, s in self._slots.items() if s.state != "met"}
        return self._slots.setdefault(name, _Suspect(name))

    def _settle(self, suspect: _Suspect, state: State, value: str = "") -> None:
        suspect.state = state
        self.changed = True
        self._suspected = [s for s in self._slots.values() if s.state == "suspected"]
        if state == "learned":
            suspect.first_value = value or suspect.first_value
            stored = [
                with_value(Slot(suspect.name, "", rest), suspect.first_value) for rest in suspect.under_id
            ]
            self._covered.update(xxh3_128_digest(url.encode()) for url in stored)
            self._covered |= suspect.bodies.keys()
            if not suspect.name.startswith("/"):
                self._on_way.update(suspect.out)
                self._covered.update(suspect.out.values())
            self._learned[suspect.name] = suspect
            names = "|".join(re.escape(n[1:]) for n in self._learned if not n.startswith("/"))
            paths = any(n.startswith("/") for n in self._learned)
            parts = ([rf"[?&;](?:{names})="] if names else []) + ([r"/[^/?]{16,}/"] if paths else [])
            self._needles = re.compile("|".join(parts), re.IGNORECASE)
        if state in ("learned", "trusted"):
            suspect.rests, suspect.out, suspect.testing = {}, {}, {}
            suspect.values, suspect.bodies, suspect.under_id = set(), {}, set()
