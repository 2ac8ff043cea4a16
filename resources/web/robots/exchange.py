"""What the answers to GET /robots.txt mean: a conversation without I/O (RFC 9309 2.3.1 and 2.4).

A fetcher drives it, an operator reads its verdict:

    exchange = RobotsExchange("https://shop.example/robots.txt", now=now, cached=copy)
    while exchange.request is not None:
        exchange.receive(fetch(exchange.request), now=clock())
    verdict = exchange.verdict

Numbered cases of `receive`:
1. no answer (DNS, refused, reset, timeout, TLS, not HTTP): the last good copy, else nothing is allowed;
2. 2xx: the body is parsed; without any record in it, all is allowed (a soft 404 is no wall);
3. 304 to our own validators: the copy holds anew; without a copy as 5;
4. 3xx: followed up to five times, to other hosts too; the rules hold for the host first asked. More than
   five, or nowhere usable to go: as 6;
5. 429, 5xx, and what is no HTTP status: as 1, honouring Retry-After;
6. other 4xx, 401 and 403 among them: all is allowed.

Choices the RFC leaves open: 429 counts as an outage (it says "not now", not "no file"). An outage never
turns into permission, however long it lasts: nothing is fetched until the site answers. A copy lives as
long as `Cache-Control: max-age` says, but at least ten minutes and at most the RFC's 24 hours; without
max-age 24 hours. During an outage the last good file is used at any age; a remembered 404 is not, for
there may be a file now. `Retry-After` is honoured up
to the same 24 hours.
"""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urljoin

from ..retry_after import retry_after
from .document import parse
from .lines import within_limit
from .scope import robots_url
from .verdict import LONGEST_LIFE_S, Answer, Copy, Outcome, Request, Verdict

__all__ = ["RobotsExchange"]

#: `max-age=0` would make every page cost two requests.
SHORTEST_LIFE_S = 600.0

#: RFC 9309 2.3.1.2: at least five.
REDIRECTS_FOLLOWED = 5

#: First pause after an outage; doubled for each one in a row up to `LONGEST_PAUSE_S`.
FIRST_PAUSE_S = 60.0
LONGEST_PAUSE_S = 4 * 3600.0

_MAX_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?([0-9]+)", re.IGNORECASE | re.ASCII)


class RobotsExchange:
    """One attempt to learn what a site's robots.txt says: see the module's first lines."""

    def __init__(self, url: str, *, now: float, cached: Copy | None = None) -> None:
        self.url = url
        self._cached = cached
        self._hops = [url]
        self._verdict: Verdict | None = None
        self._request: Request | None = None
        # Both bounds of each span: a clock that was set back must not keep a site closed for years.
        if cached and cached.failures and 0 < cached.retry_at - now <= LONGEST_LIFE_S:
            self._wait_out(cached, "an outage", retry=None, requests=0)
        elif cached and cached.good and not cached.failures and 0 <= now - cached.fetched_at < cached.life_s:
            self._use_copy(
                cached,
                f"copy of {int(now - cached.fetched_at)} s ago",
                cached.fetched_at + cached.life_s,
                requests=0,
            )
        else:
            self._ask(url)

    @property
    def request(self) -> Request | None:
        """What to send next; None once there is a verdict."""
        return self._request

    @property
    def verdict(self) -> Verdict:
        """The result. Raises RuntimeError while an answer is still awaited."""
        if self._verdict is None:
            raise RuntimeError(f"no verdict on {self.url} yet: send `request` and `receive` its answer first")
        return self._verdict

    def receive(self, answer: Answer, *, now: float) -> None:
        """Take the answer to `request`. Afterwards there is either a new request or a verdict."""
        if self._request is None:
            raise RuntimeError(f"the verdict on {self.url} has been given: no answer was awaited")
        status = answer.status
        if answer.error is not None or status is None:
            self._outage(answer, answer.error or "no answer", now)
        elif 200 <= status <= 299:
            self._parse(answer, now)
        elif status == 304:
            self._not_modified(answer, now)
        elif 300 <= status <= 399:
            self._redirect(answer, now)
        elif status == 429 or not 400 <= status <= 499:
            self._outage(answer, f"status {status}", now)
        else:
            self._allow_all(f"status {status}: no robots.txt to obey", now, status)

    def _ask(self, url: str) -> None:
        headers = {}
        copy = self._cached
        # Validators belong to the address that gave them, which may lie behind a redirect.
        if copy and copy.file and copy.url == url:
            if copy.etag:
                headers["If-None-Match"] = copy.etag
            if copy.last_modified:
                headers["If-Modified-Since"] = copy.last_modified
        self._request = Request(url, headers)

    def _end(self, verdict: Verdict) -> None:
        self._request = None
        self._verdict = verdict

    def _parse(self, answer: Answer, now: float) -> None:
        body = within_limit(answer.body)
        copy = Copy(
            body=body,
            status=answer.status or 200,
            url=self._hops[-1],
            fetched_at=now,
            life_s=_life(answer),
            etag=answer.header("etag"),
            last_modified=answer.header("last-modified"),
        )
        robots = parse(body, self._hops[-1])
        outcome = Outcome.PARSE if robots.records else Outcome.ALLOW_ALL
        reason = (
            f"{robots.records} records"
            if robots.records
            else f"status {answer.status}: no record in the file"
        )
        changed = bool(self._cached and self._cached.good and self._cached.body != body)
        self._end(
            Verdict(
                outcome, reason, now + copy.life_s, copy, robots, changed=changed, requests=len(self._hops)
            )
        )

    def _not_modified(self, answer: Answer, now: float) -> None:
        copy = self._cached
        if copy is None or not copy.file:
            self._outage(answer, "status 304 without a copy to confirm", now)
            return
        fresh = replace(
            copy,
            fetched_at=now,
            life_s=_life(answer) if answer.header("cache-control") else copy.life_s,
            etag=answer.header("etag") or copy.etag,
            last_modified=answer.header("last-modified") or copy.last_modified,
            failures=0,
            unreachable_since=None,
            retry_at=0.0,
        )
        robots = parse(fresh.body, fresh.url or self.url)
        outcome = Outcome.PARSE if robots.records else Outcome.ALLOW_ALL
        self._end(
            Verdict(
                outcome,
                "status 304: the copy still holds",
                now + fresh.life_s,
                fresh,
                robots,
                from_cache=True,
                requests=len(self._hops),
            )
        )

    def _redirect(self, answer: Answer, now: float) -> None:
        status = answer.status or 0
        location = answer.header("location")
        if not location:
            self._allow_all(f"status {status} without Location", now, status)
            return
        try:
            target = urljoin(self._hops[-1], location.strip())
        except ValueError:
            target = ""
        if robots_url(target) is None:
            self._allow_all(f"redirect to {location[:200]!r}, which is no http(s) URL", now, status)
        elif len(self._hops) > REDIRECTS_FOLLOWED:
            self._allow_all(f"more than {REDIRECTS_FOLLOWED} redirects", now, status)
        else:
            self._hops.append(target)
            self._ask(target)

    def _allow_all(self, reason: str, now: float, status: int) -> None:
        copy = Copy(status=status, url=self._hops[-1], fetched_at=now)
        changed = bool(self._cached and self._cached.good and self._cached.body)
        self._end(
            Verdict(
                Outcome.ALLOW_ALL,
                reason,
                now + copy.life_s,
                copy,
                parse(b""),
                changed=changed,
                requests=len(self._hops),
            )
        )

    def _outage(self, answer: Answer, reason: str, now: float) -> None:
        known = self._cached or Copy(status=0)
        copy = replace(
            known,
            failures=known.failures + 1,
            unreachable_since=now if known.unreachable_since is None else known.unreachable_since,
        )
        wait = retry_after(answer.header("retry-after"), answer.status or 0, now, LONGEST_LIFE_S)
        pause = min(FIRST_PAUSE_S * 2.0 ** min(copy.failures - 1, 20), LONGEST_PAUSE_S)
        copy = replace(copy, retry_at=now + max(pause, wait or 0.0))
        self._wait_out(copy, reason, retry=wait, requests=len(self._hops))

    def _wait_out(self, copy: Copy, reason: str, *, retry: float | None, requests: int) -> None:
        if copy.file:
            reason += ": the last good copy holds"
            self._use_copy(copy, reason, copy.retry_at, retry=retry, outage=True, requests=requests)
            return
        self._end(
            Verdict(
                Outcome.DISALLOW_ALL,
                f"{reason}: nothing is allowed until robots.txt can be read",
                copy.retry_at,
                copy,
                parse(b""),
                temporary=True,
                retry_after=retry,
                requests=requests,
            )
        )

    def _use_copy(
        self,
        copy: Copy,
        reason: str,
        ask_again: float,
        *,
        retry: float | None = None,
        outage: bool = False,
        requests: int,
    ) -> None:
        self._end(
            Verdict(
                Outcome.USE_CACHED,
                reason,
                ask_again,
                copy,
                parse(copy.body, copy.url or self.url),
                temporary=outage,
                retry_after=retry,
                from_cache=True,
                requests=requests,
            )
        )


def _life(answer: Answer) -> float:
    """How long a good answer may be used, in seconds."""
    found = _MAX_AGE.search(answer.header("cache-control") or "")
    if not found:
        return LONGEST_LIFE_S
    digits = found[1].lstrip("0")
    seconds = float(digits or "0") if len(digits) < 10 else LONGEST_LIFE_S
    return min(max(seconds, SHORTEST_LIFE_S), LONGEST_LIFE_S)
