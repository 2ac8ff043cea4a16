"""What a fetch tells the pacer: a word for what it came to, and the figures."""

from __future__ import annotations

from resources.fetcher.base import Cause, FetchResult
from resources.pacing.base import Observation, Outcome
from resources.web.rate_limit import read_quota
from resources.web.retry_after import retry_after

__all__ = ["REDIRECT_STATUSES", "asked_wait", "observe", "observe_aside", "pace_word"]

REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
#: Causes whose word for pacing is not "connect_error".
_PACE_WORDS = {
    Cause.DNS: Outcome.DNS,
    Cause.TLS: Outcome.TLS,
    Cause.READ_TIMEOUT: Outcome.TIMEOUT,
    Cause.TOTAL_TIMEOUT: Outcome.TIMEOUT,
    Cause.CONNECT_TIMEOUT: Outcome.TIMEOUT,
    Cause.TRUNCATED: Outcome.TRUNCATED,
    Cause.BAD_RESPONSE: Outcome.PROTOCOL,
    Cause.BAD_CODING: Outcome.PROTOCOL,
    Cause.HEADERS_TOO_LARGE: Outcome.PROTOCOL,
    Cause.TOO_LARGE: Outcome.OK,
    Cause.BOMB: Outcome.OK,
    Cause.ADDRESS_REFUSED: Outcome.REFUSED_HERE,
    Cause.BAD_URL: Outcome.REFUSED_HERE,
    Cause.NO_PROXY: Outcome.REFUSED_HERE,
    Cause.INTERNAL: Outcome.REFUSED_HERE,
}


def pace_word(cause: Cause) -> Outcome:
    """What a fetch without a usable response is for pacing."""
    return _PACE_WORDS.get(cause, Outcome.CONNECT_ERROR)


def asked_wait(result: FetchResult, now: float) -> float | None:
    """Seconds that a response's Retry-After asks for."""
    status = result.status
    if status is None:
        return None
    return retry_after(result.header("retry-after"), status, now, response_date=result.header("date"))


def observe(
    result: FetchResult, outcome: str, now: float, wait: float | None = None, usual: int | None = None
) -> Observation:
    """`wait`: what Retry-After asks for. `usual`: decoded bytes of this page before."""
    return Observation(
        at=now, started_at=result.started_at, ttfb_s=result.ttfb_s, duration_s=result.duration_s,
        status=result.status, outcome=outcome, retry_after_s=wait, body_bytes=len(result.body),
        usual_body_bytes=usual, quota=read_quota(result.headers, now),
    )  # fmt: skip


def observe_aside(result: FetchResult, now: float) -> Observation:
    """What a request beside the crawl's own (an audit's) tells about the pace."""
    if result.cause is not None:
        word = pace_word(result.cause)
    else:
        word = Outcome.REDIRECT if result.status in REDIRECT_STATUSES else Outcome.OK
    return observe(result, word, now, asked_wait(result, now))
