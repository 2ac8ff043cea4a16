"""One domain's guard against traps: what the crawl loop asks before a request and tells after one.

    links = guard.rewrite(links)                 session ids off, before links become discoveries
    new = guard.page(claim, …, new)              after a page; what lies in a trap comes back as excluded
    guard.judge(claim)                           before a request: None (go), HELD, or the reason against it
    guard.refuses(claim)                         the same for a claim that was let through before: None or the reason
    guard.lost(claim)                            a request that was let through brought no page

Seeds, sitemap entries and URLs given by hand are never judged: the site, or its user, names them. Nor are those that
`traps` of the site file trusts; when that changes, what was excluded is judged again.

Guarantees: at any moment a held claim exists only while another of its kind is on its way or may go; exclusions have
reasons that begin with `trap: ` and are reconsidered when what they rest on is reopened.
Costs: 10 µs a page of 180 links on a site without traps, 0.15 ms where pages are chained by number and each has to
prove that it is real; memory bounded per domain (30 MB at worst, when thousands of such chains are crawled).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from resources.frontier.base import Claim, Discovery, Source

from .endless import Endless
from .sameness import Sameness
from .series import repeats_itself
from .sessions import SessionLearner
from .slots import has_slots
from .trust import Trust

__all__ = ["HELD", "Held", "Refusal", "TrapGuard", "state_name"]


class Held:
    """Not now: another URL of its kind decides first."""

    def __repr__(self) -> str:
        return "HELD"


HELD: Final = Held()

#: A reason without a place.
REPEATS = "trap: path that repeats itself"
#: How a URL was met that the guard does not judge.
_NAMED = frozenset((Source.SEED, Source.SITEMAP, Source.MANUAL, Source.WARC))
#: Raised when the saved state changes its meaning: an older one is forgotten.
_VERSION = 1
#: Links of a page that go to the front of the queue because they decide whether a part of them is a session id.
TESTS_A_PAGE = 2


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a URL is excluded. `instead`: the URL that stands for it, to be enqueued in its place."""

    reason: str
    instead: str | None = None


def state_name(domain: str) -> str:
    """Under which the guard's state is kept among the frontier's named values."""
    return f"traps:{domain}"


class TrapGuard:
    """See the module docstring. `saved`: what `to_json` gave on an earlier night."""

    def __init__(self, domain: str, now: float, saved: str | None = None, trust: Trust | None = None) -> None:
        known: dict[str, Any] = json.loads(saved) if saved else {}
        if known.get("version") != _VERSION:
            known = {}
        self.domain = domain
        self.trust = trust = trust if trust is not None else Trust()
        self._again = self._switched(known)
        self._sessions = SessionLearner(known.get("sessions"), trust.parameters)
        self._endless = Endless(now, known.get("endless"), trust.patience)
        self._sameness = Sameness(known.get("sameness"), trust.patience)
        #: URLs refused in this crawl, by reason.
        self.refused: dict[str, int] = {}
        #: Held or buffered claims must be looked at again.
        self.stirred = False
        #: There is something new to keep.
        self.dirty = False
        self._tests_left = 0
        self._looped = False

    def _switched(self, known: dict[str, Any]) -> list[str]:
        """Reasons of exclusions to reconsider because the site file says something else about traps than before: each
        URL is judged once more. The guard starts with an empty memory where it is off.
        """
        if known.get("trust", Trust().mark) == self.trust.mark:
            return []
        before = [f"trap: session id {name}" for name in known.get("sessions", {}).get("learned", {})]
        before += [f"trap: endless {place['name']}" for place in known.get("endless", {}).values()]
        for name, kept in known.get("sameness", {}).items():
            before.append(f"trap: {kept if isinstance(kept, str) else kept['why']} {name}")
        if self.trust.off:
            known.clear()
        return [*before, REPEATS]

    def __repr__(self) -> str:
        return f"<TrapGuard {self.domain}: {', '.join(self.traps) or 'no traps'}>"

    @property
    def traps(self) -> list[str]:
        """What is closed now, in words."""
        found = [f"session id {name}" for name in self._sessions.learned]
        found += [f"endless {name}" for name in self._endless.names]
        return found + [f"same pages {name}" for name in self._sameness.names]

    @property
    def loops(self) -> bool:
        """The frontier canary: the last 200 pages were the same few under other URLs."""
        return self._sameness.loops and not self.trust.off

    def to_json(self) -> str:
        """The state to start the next night from; a few KB."""
        return json.dumps(
            {
                "version": _VERSION,
                "trust": self.trust.mark,
                "sessions": self._sessions.to_save(),
                "endless": self._endless.to_save(),
                "sameness": self._sameness.to_save(),
            }
        )

    # -- links -------------------------------------------------------------------------------------------------
    def rewrite(self, links: list[str]) -> list[str]:
        """Links of a page without learned session ids."""
        rewritten = self._sessions.rewrite(links)
        if rewritten is links or not self.trust.some:
            return rewritten
        return list(dict.fromkeys([*(url for url in links if self.trust.covers(url)), *rewritten]))

    # -- before a request --------------------------------------------------------------------------------------
    def judge(self, claim: Claim) -> Refusal | Held | None:
        """May this claim be requested? None counts it as on its way."""
        if claim.source in _NAMED or self.trust.covers(claim.url):
            return None
        refusal = self._refusal(claim, True)
        if refusal is not None:
            return self._count(refusal)
        if has_slots(claim.url) and not self._sessions.admit(claim.url, claim.key):
            return HELD
        return None

    def refuses(self, claim: Claim) -> Refusal | None:
        """Whether a claim that was let through has become one of a trap meanwhile."""
        if claim.source in _NAMED or self.trust.covers(claim.url):
            return None
        refusal = self._refusal(claim, False)
        return self._count(refusal) if refusal is not None else None

    def _refusal(self, claim: Claim, probe: bool) -> Refusal | None:
        url = claim.url
        # A page that was stored under an id stays there: its bare URL would be one more request for the same.
        if claim.done_at is None:
            parent = claim.parent if claim.source is Source.REDIRECT else None
            learned = self._sessions.closed(url, parent)
            if learned is not None:
                return Refusal(learned.reason, learned.instead)
        reason = None
        if self._endless.busy:
            reason = self._endless.closed(url, probe=probe, kept=claim.done_at is not None)
        if reason is None and self._sameness.busy:
            reason = self._sameness.closed(url, probe=probe)
        return Refusal(reason) if reason is not None else None

    # -- after it ----------------------------------------------------------------------------------------------
    def lost(self, claim: Claim) -> None:
        """No page came of a claim that was let through."""
        self._sessions.lost(claim.key)
        self._stir()

    def page(
        self,
        claim: Claim,
        body: bytes,
        content_hash: bytes,
        links: Sequence[str],
        new: list[Discovery],
        makes_rows: Callable[[str], bool],
    ) -> list[Discovery]:
        """A page came. `links`: all of it, canonical; `new`: those the crawl had not met, which are returned judged."""
        url = claim.url
        if self.trust.covers(url):
            return [self._judged(found) for found in new]
        for found in new:
            if has_slots(found.url) and not found.excluded:
                self._sessions.met(found.url)
        self._sessions.page(url, claim.key, body, content_hash, links)
        self._endless.page(url, body, links, new, makes_rows)
        # What differs from it in its query alone may be one more combination of filters: that is no news.
        own = url.partition("?")[0] + "?" if "?" in url else None
        news = any(not d.excluded and (own is None or not d.url.startswith(own)) for d in new)
        self._sameness.page(url, content_hash, news, body, links)
        self._stir()
        if not self._sessions.suspecting:
            self._tests_left = 0
        elif not self._tests_left:
            self._tests_left = TESTS_A_PAGE
        return [self._judged(found) for found in new]

    def _judged(self, found: Discovery) -> Discovery:
        if found.excluded or found.source in _NAMED or self.trust.covers(found.url):
            return found
        reason = self._endless.closed(found.url) if self._endless.busy else None
        if reason is None and repeats_itself(found.url):
            reason = REPEATS
        if reason is None:
            if self._tests_left and self._sessions.test_of(found.url):
                self._tests_left -= 1
                return replace(found, priority=0)
            return found
        self.refused[reason] = self.refused.get(reason, 0) + 1
        return replace(found, excluded=reason)

    def reconsider(self) -> list[str]:
        """Reasons whose exclusions are to become pending again; each is told once."""
        reasons = list(dict.fromkeys(self._again + self._endless.reopened + self._sameness.reopened))
        if self._again:
            self._again, self.dirty = [], True  # the new switch is kept only when it has been acted upon
        self._endless.reopened, self._sameness.reopened = [], []
        return reasons

    def _count(self, refusal: Refusal) -> Refusal:
        self.refused[refusal.reason] = self.refused.get(refusal.reason, 0) + 1
        return refusal

    def _stir(self) -> None:
        sessions, endless, sameness = self._sessions, self._endless, self._sameness
        if sessions.changed or endless.changed or sameness.changed:
            self.stirred = self.dirty = True
            sessions.changed = endless.changed = sameness.changed = False
        if not self._looped and self.loops:
            self._looped = self.stirred = True  # once: the loop ends the domain's night when it looks
