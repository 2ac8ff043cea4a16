"""Which proxy the next request of a domain goes through.

One pool serves all sites that name the same proxies, so a proxy that fails one is rested for all. A site that
answers 403 to everything through one proxy has banned that proxy and not the others: it is rested for that domain
alone.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Callable, Sequence

from resources.fetcher.base import ProxyPlan

from .health import Delivery, Proxy

__all__ = ["ProxyPool"]

#: 403 in a row from one domain through one proxy: a ban. One forbidden folder gives fewer, mixed with pages.
FORBIDDEN_TO_REST = 8
#: Domains whose proxy is remembered; beyond it the longest unasked is chosen anew.
MAX_DOMAINS = 100_000


class ProxyPool:
    """`choose`, send, `report`. `now` gives epoch seconds."""

    def __init__(self, plan: ProxyPlan, now: Callable[[], float], rng: random.Random) -> None:
        self.plan = plan
        self.proxies = [Proxy(url, plan.ban_s) for url in plan.urls]
        self._now = now
        self._rng = rng
        self._turn = 0
        self._of_domain: OrderedDict[str, Proxy] = OrderedDict()
        self._forbidden: dict[tuple[str, str], int] = {}
        self._banned: dict[tuple[str, str], float] = {}

    def __repr__(self) -> str:
        well = sum(p.usable() for p in self.proxies)
        return f"<ProxyPool {well} of {len(self.proxies)} well>"

    def choose(self, domain: str) -> Proxy | None:
        """Numbered cases:

        1. a proxy whose rest is over gets this request, as its trial;
        2. the domain's own, if it is well and choices stick;
        3. one that is well, by weight, by chance or in turn;
        4. none is: None, and `why_none` says until when.
        """
        now = self._now()
        rested = next((p for p in self.proxies if p.rested(now) and not self._bans(domain, p, now)), None)
        if rested is not None:
            rested.on_trial = True
            return rested
        well = [p for p in self.proxies if p.usable() and not self._bans(domain, p, now)]
        own = self._of_domain.get(domain) if self.plan.sticky else None
        if own is not None and own in well:
            self._of_domain.move_to_end(domain)
            return own
        if not well:
            return None
        chosen = self._pick(well)
        if self.plan.sticky:
            self._of_domain[domain] = chosen
            self._of_domain.move_to_end(domain)
            if len(self._of_domain) > MAX_DOMAINS:
                self._of_domain.popitem(last=False)
        return chosen

    def _pick(self, well: Sequence[Proxy]) -> Proxy:
        if self.plan.choice == "weighted":
            return self._rng.choices(well, [p.weight for p in well])[0]
        if self.plan.choice == "random":
            return self._rng.choice(well)
        # In turn over all, so that one that comes back finds its place.
        for _ in self.proxies:
            candidate = self.proxies[self._turn % len(self.proxies)]
            self._turn += 1
            if candidate in well:
                return candidate
        return well[0]

    def report(
        self,
        proxy: Proxy,
        domain: str,
        delivery: Delivery,
        *,
        seconds: float | None = None,
        forbidden: bool = False,
        why: str = "",
    ) -> None:
        """What became of the request for which `choose` gave `proxy`."""
        now = self._now()
        proxy.delivered(delivery, seconds, now)
        if delivery in (Delivery.FAILED, Delivery.DENIED, Delivery.DOUBTFUL):
            proxy.why = why
            return
        pair = (domain, proxy.name)
        if not forbidden:
            self._forbidden.pop(pair, None)
            return
        count = self._forbidden[pair] = self._forbidden.get(pair, 0) + 1
        if count >= FORBIDDEN_TO_REST:
            self._banned[pair] = now + proxy.rest_s
            del self._forbidden[pair]

    def _bans(self, domain: str, proxy: Proxy, now: float) -> bool:
        until = self._banned.get((domain, proxy.name))
        if until is None:
            return False
        if now >= until:
            del self._banned[domain, proxy.name]
            return False
        return True

    def recovers_at(self, domain: str) -> float:
        """The earliest instant at which one of the proxies is tried again. Meaningful when `choose` gave None."""
        now = self._now()
        return min(max(now, p.until or 0.0, self._banned.get((domain, p.name), 0.0)) for p in self.proxies)

    def why_none(self, domain: str) -> str:
        """For people, without credentials."""
        now = self._now()
        told = []
        for proxy in self.proxies:
            if self._bans(domain, proxy, now):
                told.append(f"{proxy.name}: {domain} answers 403 through it")
            else:
                told.append(f"{proxy.name}: {proxy.why or 'on trial'}")
        count = len(self.proxies)
        wait = max(0.0, self.recovers_at(domain) - now)
        return (
            f"{'the only proxy rests' if count == 1 else f'all {count} proxies rest'} "
            f"({'; '.join(told[:5])}); the next is tried in {wait:.0f} s, and nothing is asked directly"
        )
