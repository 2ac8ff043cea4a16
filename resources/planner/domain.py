"""The plan of one domain. Pure: the same facts give the same plan.

Requests: what is pending, due or eligible, plus the new pages of a usual night, times the requests a URL usually
takes. Time: those requests at the pace that held before. A first night is guessed and says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from resources.planner.facts import DomainFacts, PastNight

__all__ = ["FIRST_RATE", "OVERHEAD_REQUESTS", "DomainPlan", "pace", "plan_domain"]

#: robots.txt, a sitemap and a canary: asked even when nothing is due.
OVERHEAD_REQUESTS = 3
#: Requests a second of a domain nobody knows yet: slow start passes it within seconds on most servers, so a plan
#: made with it is late rather than early.
FIRST_RATE = 1.0
#: Without any limit a server of one's own is bound by this machine; a cautious half of what one core does.
UNLIMITED_RATE = 200.0
#: Bytes on the wire of a page nobody has fetched yet: the mean of real pages, compressed.
FIRST_PAGE_BYTES = 12_000
#: A night with fewer requests says nothing about a sustained pace.
TELLING_REQUESTS = 30
#: Parsing, loading, audit and publication after the last page: a fixed part and a part for each page.
TABLES_S, TABLES_S_PER_PAGE = 20.0, 0.004


@dataclass(frozen=True, slots=True)
class DomainPlan:
    """What one domain will take tonight. Instants are epoch seconds; None: it will not be done tonight."""

    domain: str
    site: str
    starts_at: float
    urls: int
    requests: int
    wire_bytes: int
    rate: float
    why_rate: str
    fetched_at: float | None
    ready_at: float | None
    deadline: float | None
    left: int = 0
    """URLs that the window or the page limit leaves for another night."""
    known: bool = True
    """False for a first night: numbers are guesses."""
    notes: tuple[str, ...] = ()

    @property
    def seconds(self) -> float | None:
        """From the start of the night to the last page."""
        return None if self.fetched_at is None else self.fetched_at - self.starts_at

    @property
    def late_s(self) -> float | None:
        """Seconds after the deadline; negative: in time. None: no deadline, or not ready at all."""
        if self.deadline is None or self.ready_at is None:
            return None
        return self.ready_at - self.deadline


def pace(facts: DomainFacts) -> tuple[float, str]:
    """(requests a second to expect, why). Numbered cases, the first that holds:

    1. the pace of the last night, where one was learned; 2. what earlier nights really did; 3. the configured rate;
    4. no limit at all; 5. nothing is known. Never above the ceiling, and never above what nights of that size did.
    """
    ceiling = facts.ceiling if facts.ceiling is not None else math.inf
    measured = [
        n.requests / n.seconds for n in facts.history if n.requests >= TELLING_REQUESTS and n.seconds > 0
    ]
    usual = median(measured) if measured else None
    if facts.rate is not None:
        rate, why = facts.rate, "learned"
    elif usual is not None:
        rate, why = usual, "as in earlier nights"
    elif math.isfinite(ceiling):
        rate, why = ceiling, "as configured"
    elif facts.ceiling is not None:
        rate, why = UNLIMITED_RATE, "unlimited: a guess"
    else:
        rate, why = FIRST_RATE, "nothing known: a guess"
    if usual is not None and usual < rate:
        rate, why = usual, "as in earlier nights, slower than allowed"
    if ceiling < rate:
        rate, why = ceiling, "as configured"
    return max(rate, 1e-6), why


def plan_domain(facts: DomainFacts) -> DomainPlan:
    """The plan of a domain. Numbered cases: 1. paused; 2. nothing but overhead; 3. the window is too short; 4. done."""
    notes: list[str] = []
    known = bool(facts.history) or not (facts.pending or facts.due)
    nights = facts.usual or facts.history
    new = round(median(n.new_pages for n in facts.usual)) if facts.usual else 0
    urls = facts.pending + facts.due + facts.eligible + new
    left = 0
    if facts.max_pages is not None and urls > facts.max_pages:
        left, urls = urls - facts.max_pages, facts.max_pages
        notes.append(f"scope.max_pages leaves {left:,} URLs")
    if not facts.history:
        known = False
        notes.append("first night: nobody knows how many pages there are")
    requests = round(urls * _requests_per_url(nights)) + OVERHEAD_REQUESTS
    rate, why = pace(facts)
    if facts.paused_cause:
        return DomainPlan(
            facts.domain, facts.site, facts.starts_at, urls, 0, 0, 0.0, f"paused: {facts.paused_cause}", None, None,
            facts.deadline, urls, known, (*notes, f"paused ({facts.paused_cause}): nothing is sent until resumed"),
        )  # fmt: skip
    begin = max(facts.starts_at, facts.owed_until)
    if facts.owed_until > facts.starts_at:
        notes.append("waits first, because the site asked for it")
    end, done = _through_window(facts, begin, requests, rate)
    if done < requests:
        share = done / requests
        left += math.ceil(urls * (1 - share))
        urls, requests = math.floor(urls * share), done
        notes.append(f"the window closes first: about {left:,} URLs are left")
    return DomainPlan(
        domain=facts.domain,
        site=facts.site,
        starts_at=facts.starts_at,
        urls=urls,
        requests=requests,
        wire_bytes=round(requests * _bytes_per_request(nights)),
        rate=rate,
        why_rate=why,
        fetched_at=end,
        ready_at=end + TABLES_S + TABLES_S_PER_PAGE * urls,
        deadline=facts.deadline,
        left=left,
        known=known,
        notes=tuple(notes),
    )


def _through_window(facts: DomainFacts, begin: float, requests: int, rate: float) -> tuple[float, int]:
    """(when the last request ends, how many fit in) for work that may only be done while the window is open.

    One opening: what it leaves is a later night's.
    """
    if facts.window is None:
        return begin + requests / rate, requests
    begin = facts.window.opens_at(begin)
    closes = facts.window.closes_at(begin)
    end = begin + requests / rate
    if closes is None or end <= closes:
        return end, requests
    return closes, math.floor((closes - begin) * rate)


def _requests_per_url(nights: tuple[PastNight, ...]) -> float:
    """Retries and redirects included: 1.0 where nothing is known."""
    shares = [n.requests / n.urls for n in nights if n.urls]
    return max(1.0, median(shares)) if shares else 1.0


def _bytes_per_request(nights: tuple[PastNight, ...]) -> float:
    """Of a usual night: pages that have not changed answer with a head alone."""
    shares = [n.wire_bytes / n.requests for n in nights if n.requests]
    return median(shares) if shares else float(FIRST_PAGE_BYTES)
