"""Puts a proxy on the way of every request of a site that has proxies. Others pass through untouched.

There is no way around: `WebFetcher` refuses a profile with proxies and none chosen, and when none is well the
result is `Cause.NO_PROXY`, which pauses the domain. Credentials stand in the request to the proxy and nowhere
else.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace

from resources.clock import Clock, SystemClock
from resources.fetcher.base import Cause, Fetcher, FetchProfile, FetchRequest, FetchResult, ProxyPlan
from resources.fetcher.origin import BadUrl, target

from .health import Delivery, Proxy
from .pool import ProxyPool

__all__ = ["ProxiedFetcher"]

#: No response, and no telling whose fault it is.
_DOUBTFUL = frozenset(
    {Cause.READ_TIMEOUT, Cause.TOTAL_TIMEOUT, Cause.RESET, Cause.REFUSED, Cause.UNREACHABLE}
)
_DENIED = re.compile("407|authenti|authoriz|credential", re.IGNORECASE)
#: Decided here, before anything was sent.
_NOT_SENT = frozenset({Cause.BAD_URL, Cause.ADDRESS_REFUSED, Cause.DNS, Cause.INTERNAL, Cause.NO_PROXY})
#: A gateway's own words for "I could not reach the site": the proxy's, or one of the site's own.
_GATEWAY = frozenset({502, 504})


class ProxiedFetcher:
    """See the module docstring. One pool for each set of proxies."""

    def __init__(self, inner: Fetcher, clock: Clock | None = None, rng: random.Random | None = None) -> None:
        self._inner = inner
        self._clock = clock or SystemClock()
        self._rng = rng or random.Random()
        self._pools: dict[ProxyPlan, ProxyPool] = {}
        self._profiles: dict[tuple[FetchProfile, str], FetchProfile] = {}

    def pool(self, plan: ProxyPlan) -> ProxyPool:
        """The pool behind `plan`; made when first asked for."""
        pool = self._pools.get(plan)
        if pool is None:
            pool = self._pools[plan] = ProxyPool(plan, self._clock.now, self._rng)
        return pool

    async def fetch(self, request: FetchRequest) -> FetchResult:
        plan = request.profile.proxies
        if plan is None:
            return await self._inner.fetch(request)
        try:
            _, origin = target(request.url)
        except BadUrl:
            return await self._inner.fetch(request)  # it says what is wrong with the URL
        pool = self.pool(plan)
        proxy = pool.choose(origin.domain)
        if proxy is None:
            url, now = request.url, self._clock.now()
            return FetchResult(url, now, cause=Cause.NO_PROXY, error=pool.why_none(origin.domain))
        delivery, result = Delivery.UNTOLD, None
        try:
            result = await self._inner.fetch(replace(request, profile=self._through(proxy, request.profile)))
            delivery = _judge(result, proxy)
            return result
        finally:
            # Also when the request is cancelled: a trial must not stay open.
            pool.report(
                proxy,
                origin.domain,
                delivery,
                seconds=result.ttfb_s if result is not None else None,
                forbidden=result is not None and result.status == 403,
                why=result.error or f"status {result.status}" if result is not None else "",
            )

    def _through(self, proxy: Proxy, profile: FetchProfile) -> FetchProfile:
        key = (profile, proxy.url)
        made = self._profiles.get(key)
        if made is None:
            made = self._profiles[key] = replace(profile, proxy=proxy.url)
        return made

    async def close(self) -> None:
        await self._inner.close()


def _judge(result: FetchResult, proxy: Proxy) -> Delivery:
    """What the result says about the proxy. A 407 is the proxy's answer and never the site's: it becomes
    `Cause.PROXY` here. What the proxy's software wrote into an error loses its secrets."""
    for secret in proxy.secrets:
        result.error = result.error.replace(secret, "***")
    if result.status == 407 or (result.cause is Cause.PROXY and _DENIED.search(result.error)):
        result.cause, result.status = Cause.PROXY, None
        result.error = f"the proxy {proxy.name} refuses its credentials"
        result.headers, result.body = (), b""
        return Delivery.DENIED
    if result.cause is Cause.PROXY:
        result.error = f"the proxy {proxy.name} failed: {result.error}"
        return Delivery.FAILED
    if result.cause in _NOT_SENT:
        return Delivery.UNTOLD
    if (result.status is None and result.cause in _DOUBTFUL) or result.status in _GATEWAY:
        return Delivery.DOUBTFUL
    return Delivery.GOOD
