"""Every cause a URL can fail with: whether it is tried again, when a retry pass may take it, what mends it.

A cause is a word of `resources.fetcher.Cause`, `http_<status>`, `wall_<kind>`, or one of the few below.
The retry pass goes in waves by `wave`: causes of one wave share a fate (a DNS outage ends for all at once).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

__all__ = ["DOMAIN_CAUSES", "DOMAIN_WALLS", "FailureKind", "failure_kind", "status_cause", "waves_of"]

_HOUR = 3600.0
_DAY = 86400.0

#: Walls that say "not you, not now": the domain slows down. The others are what the page simply is.
DOMAIN_WALLS = frozenset(
    {"challenge", "captcha", "hard_block", "rate_limit", "geo_block", "queue", "forbidden", "js_required"}
)

#: Causes that are the domain's, or the way's to it. All others may be what one page simply does.
DOMAIN_CAUSES = frozenset(
    {
        "dns",
        "refused",
        "unreachable",
        "connect_timeout",
        "reset",
        "tls",
        "proxy",
        "no_proxy",
        "http_429",
        "http_503",
    }
    | {f"wall_{kind}" for kind in DOMAIN_WALLS}
)


@dataclass(frozen=True, slots=True)
class FailureKind:
    """How a cause is treated. `eligible_after_s`: from the failure to the first retry pass that takes it."""

    cause: str
    retry: bool  # try again within the stage, up to the attempt cap
    counts: bool  # an attempt of the URL (429 and 503 belong to the domain)
    eligible_after_s: float
    wave: int  # order of the retry pass: what heals quickest goes first
    mend: str


def _kind(
    cause: str, mend: str, *, retry: bool = True, counts: bool = True, after: float = 0.0, wave: int = 2
) -> FailureKind:
    return FailureKind(cause, retry, counts, after, wave, mend)


_KINDS = {
    k.cause: k
    for k in (
        _kind("dns", "The name does not resolve: check the spelling and the machine's DNS; gone names stay gone.", wave=1, after=600),
        _kind("refused", "Nobody listens on that port: the server is down or the port is wrong.", wave=1, after=600),
        _kind("unreachable", "No route to the server: check this machine's network.", wave=1, after=600),
        _kind("connect_timeout", "The server does not answer connections: overloaded, or it drops this address.", wave=1, after=600),
        _kind("tls", "Handshake or certificate failed: the site must renew it; nothing to do here.", after=6 * _HOUR, wave=3),
        _kind("reset", "The server closed the connection: often overload; a slower pace helps.", wave=1),
        _kind("read_timeout", "The server went silent: raise limits.read_timeout if its pages are slow.", wave=2),
        _kind("total_timeout", "The response took too long: raise limits.total_timeout if its pages are large.", wave=2),
        _kind("bad_response", "The answer is not valid HTTP.", wave=3, after=6 * _HOUR),
        _kind("bad_coding", "The compressed body is damaged.", wave=3, after=_HOUR),
        _kind("truncated", "The body ended early: retried; if it stays, the server's Content-Length is wrong.", wave=2),
        _kind("headers_too_large", "The response head is over the limit: a broken or hostile page.", retry=False, after=7 * _DAY, wave=4),
        _kind("too_large", "The body is over limits.max_body: raise it or exclude the URL.", retry=False, after=7 * _DAY, wave=4),
        _kind("bomb", "The body unfolds out of all proportion: hostile or broken; left alone.", retry=False, after=30 * _DAY, wave=4),
        _kind("bad_url", "The URL cannot be requested.", retry=False, after=30 * _DAY, wave=4),
        _kind("proxy", "The proxy failed: check its address and credentials.", counts=False, wave=1),
        _kind("no_proxy", "All proxies are banned or down: add some or wait.", counts=False, wave=1),
        _kind("internal", "A defect of Nightcrawl: please report it with the log.", retry=False, after=_DAY, wave=4),
        _kind("too_many_redirects", "More redirects in a row than limits.max_redirects.", retry=False, after=7 * _DAY, wave=4),
        _kind("redirect_loop", "The URL redirects to itself: often a cookie or login wall.", retry=False, after=7 * _DAY, wave=4),
        _kind("redirect_without_target", "A redirect whose Location is missing or unusable.", retry=False, after=7 * _DAY, wave=4),
        _kind("parser_crash", "The page crashes the HTML parser: kept aside, please report it.", retry=False, after=30 * _DAY, wave=4),
        _kind("http_401", "Needs a login: exclude it.", retry=False, after=7 * _DAY, wave=4),
        _kind("http_403", "Forbidden: for one page its owner's choice; for many, a ban: see ban_signals.", retry=False, after=_DAY, wave=3),
        _kind("http_404", "Not found: a dead link on the site.", retry=False, after=7 * _DAY, wave=4),
        _kind("http_410", "Gone for good, says the site.", retry=False, after=30 * _DAY, wave=4),
        _kind("http_408", "The server waited too long for us.", wave=1),
        _kind("http_425", "Too early (RFC 8470): retried.", wave=1),
        _kind("http_429", "Asked to slow down: the whole domain does.", counts=False, wave=2),
        _kind("http_451", "Unavailable for legal reasons.", retry=False, after=30 * _DAY, wave=4),
        _kind("http_503", "Unavailable for now: the whole domain slows down.", counts=False, wave=2),
        _kind("http_501", "The server does not implement this.", retry=False, after=7 * _DAY, wave=4),
        _kind("http_505", "The server refuses our HTTP version.", retry=False, after=7 * _DAY, wave=4),
        _kind("wall_soft_404", "A 'not found' page served with a success status.", retry=False, after=7 * _DAY, wave=4),
        _kind("wall_parked", "The domain is parked: nothing lives there any more.", retry=False, after=7 * _DAY, wave=4),
        _kind("wall_login_wall", "Needs a login: exclude it.", retry=False, after=7 * _DAY, wave=4),
        _kind("wall_paywall", "Behind a paywall: exclude it.", retry=False, after=7 * _DAY, wave=4),
        _kind("wall_consent_wall", "A consent page instead of the content.", retry=False, after=_DAY, wave=4),
        _kind("wall_maintenance", "The site is down for maintenance.", after=_HOUR, wave=3),
        _kind("wall_empty", "An empty page: a fault of the server or an early sign of a ban.", wave=3),
    )
}  # fmt: skip


def status_cause(status: int) -> str:
    return f"http_{status}"


def failure_kind(cause: str) -> FailureKind:
    """How to treat `cause`; unknown ones by their family."""
    if kind := _KINDS.get(cause):
        return kind
    if cause.startswith("http_5"):
        return FailureKind(
            cause, True, True, 0.0, 2, "The server failed: retried, then left for the retry pass."
        )
    if cause.startswith("http_"):
        return FailureKind(cause, False, True, 7 * _DAY, 4, "The server refuses this request.")
    if cause.startswith("wall_"):
        return FailureKind(
            cause,
            True,
            True,
            6 * _HOUR,
            3,
            "A block page instead of the content: slow down; see ban_signals.",
        )
    return FailureKind(cause, False, True, _DAY, 4, "See the last error.")


def waves_of(causes: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """`causes` in the order in which a retry pass takes them up: one tuple a wave."""
    ordered = sorted(set(causes), key=lambda cause: (failure_kind(cause).wave, cause))
    return tuple(tuple(wave) for _, wave in groupby(ordered, key=lambda cause: failure_kind(cause).wave))
