"""Canary pages: known URLs that must look right before a night may start, and after it.

A canary that fails is judged *them* or *us*: *us* when a control (the machine's own name resolution and
other domains of this night) fails too, *them* when only this site is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

from resources.fetcher.base import Fetcher, FetchRequest
from resources.site.rules import Canary
from resources.web.encoding import to_utf8
from resources.web.html_type import is_html
from resources.web.urls import join
from resources.web.walls import judge as judge_wall

from .territory import DomainRules

__all__ = ["CanaryResult", "check_canary"]


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """One canary as it was found. `problem` is empty when it is as it should be."""

    url: str
    domain: str
    problem: str
    status: int | None
    body_bytes: int
    seconds: float
    cause: str = ""

    @property
    def passed(self) -> bool:
        return not self.problem


async def check_canary(canary: Canary, rules: DomainRules, fetcher: Fetcher) -> CanaryResult:
    """Fetch one canary (redirects followed) and compare. Numbered cases of what may be wrong:

    1. no response; 2. another status; 3. a wall; 4. too small; 5. a text is missing; 6. too slow.
    """
    url = canary.url
    for _ in range(rules.site.limits.max_redirects + 1):
        result = await fetcher.fetch(FetchRequest(url, rules.profile))
        location = result.header("location") if (result.status or 0) in (301, 302, 303, 307, 308) else None
        target = join(url, location) if location and canary.status < 300 else None
        if target is None:
            break
        url = target

    def found(problem: str, cause: str = "") -> CanaryResult:
        return CanaryResult(
            canary.url, rules.domain, problem, result.status, len(result.body), result.duration_s, cause
        )

    if result.status is None or (result.cause is not None and not result.body):
        return found(f"no response: {result.error or result.cause}", str(result.cause))
    if result.status != canary.status:
        return found(f"status {result.status} instead of {canary.status}", f"http_{result.status}")
    if is_html(result.header("content-type"), result.body):
        text, _ = to_utf8(result.body, result.header("content-type"))
        verdict = judge_wall(result.status, result.headers, text, url)
        if verdict.blocked:
            return found(
                f"a wall instead of the page: {verdict.kind} ({'; '.join(verdict.evidence)})", "wall"
            )
    else:
        text = result.body
    if len(result.body) < canary.min_bytes:
        return found(f"{len(result.body):,} bytes; at least {canary.min_bytes:,} expected", "small")
    page = text.decode("utf-8", "replace")
    for piece in canary.contains:
        if piece not in page:
            return found(f"the text {piece[:60]!r} is missing", "text")
    if result.duration_s > canary.max_seconds:
        return found(f"{result.duration_s:.1f} s; at most {canary.max_seconds:g} s expected", "slow")
    return found("")
