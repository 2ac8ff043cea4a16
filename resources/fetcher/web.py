"""The real fetcher: resolve, judge the address, send, read under bounds, take the codings off.

Every response is bounded in time (connect, silence, total), header size (by the transport), wire bytes,
decoded bytes and ratio. Redirects are returned, never followed: their targets go through scope, robots,
pacing and dedup like any URL. Cost on loopback: about 0.1 ms of CPU for a 25 KB page.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from functools import lru_cache
from typing import TYPE_CHECKING

from resources.clock import Clock, SystemClock
from resources.web.urls import redact, url_without_credentials

from .addresses import AddressGuard
from .base import Cause, FetchProfile, FetchRequest, FetchResult
from .body import CODINGS, decode_body
from .deadlines import Deadlines
from .failures import explain, lost
from .origin import BadUrl, target
from .resolver import Resolver
from .transports.base import Incoming, Outgoing, Transport
from .transports.reqwest import ReqwestTransport

if TYPE_CHECKING:
    from .transports.httpx_bridge import HttpxTransport

__all__ = ["WebFetcher"]

log = logging.getLogger(__name__)

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
#: Bodies of this many wire bytes are decoded in a thread: below it the event loop is held for a millisecond.
DECODE_ASIDE = 262_144
#: A name with several addresses: how many are tried when nobody answers on the first.
ADDRESSES_TRIED = 3
#: Failures that are an address's, not the server's: the next address may answer.
_TRY_NEXT = frozenset({Cause.REFUSED, Cause.UNREACHABLE, Cause.CONNECT_TIMEOUT})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: Such a response ends with its head (RFC 9112 §6.3, 1): there is nothing to wait for.
_WITHOUT_CONTENT = frozenset({204, 304})
_DIGITS = re.compile("[0-9]+")
#: The transport's own threads get this long to end; a process that exits before aborts with a message.
CLOSE_GRACE_S = 0.2


@lru_cache(maxsize=4096)
def _guard(allow: tuple[str, ...]) -> AddressGuard:
    return AddressGuard(allow)


@lru_cache(maxsize=4096)
def _standing_headers(own: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Ours, then the site's; a field the site file names replaces ours."""
    names = {name.lower() for name, _ in own}
    ours = (("accept", ACCEPT), ("accept-encoding", CODINGS))
    return (*(field for field in ours if field[0] not in names), *own)


class WebFetcher:
    """See the module docstring. Safe for any number of concurrent `fetch` calls of one event loop."""

    def __init__(
        self,
        transport: Transport | None = None,
        resolver: Resolver | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._transport: Transport = transport or ReqwestTransport()
        self._clock = clock or SystemClock()
        self._resolver = resolver or Resolver(self._clock)
        self._octets: HttpxTransport | None = None
        self._deadlines = Deadlines()

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Never raises for anything a server or name can do; a bug shows as Cause.INTERNAL with a log entry."""
        result = FetchResult(request.url, self._clock.now())
        begin = time.perf_counter()
        deadline = self._deadlines.begin(request.profile.total_timeout_s)
        try:
            await self._fetch(request, result, begin)
        except asyncio.CancelledError:
            if not deadline.passed():
                raise
            result.cause = Cause.TOTAL_TIMEOUT
            result.error = f"not finished after {request.profile.total_timeout_s:g} s"
        finally:
            deadline.end()
        result.duration_s = time.perf_counter() - begin
        return result

    async def _fetch(self, request: FetchRequest, result: FetchResult, begin: float) -> None:
        """Numbered cases of what is never sent:

        1. a URL that is none; 2. a site with proxies and none chosen; 3. a name without an address;
        4. an address that is not for crawling.
        """
        profile = request.profile
        try:
            url, origin = target(request.url)
        except BadUrl as error:
            result.url = url_without_credentials(request.url)
            result.cause, result.error = Cause.BAD_URL, str(error)
            return
        result.url = url
        if profile.proxies is not None and profile.proxy is None:
            result.cause, result.error = (
                Cause.NO_PROXY,
                "no proxy was chosen, and this site is never asked directly",
            )
            return
        permitted = await self._resolver.permitted(origin.host, origin.port, _guard(profile.allow_networks))
        addresses: tuple[str | None, ...] = permitted.addresses
        if permitted.refused:
            result.cause, result.error = Cause.ADDRESS_REFUSED, permitted.error
            return
        if profile.proxy is not None and not profile.proxy.startswith("socks5://"):
            addresses = (None,)  # the proxy resolves the name once more and connects where it wants
        elif not addresses:
            result.cause, result.error = Cause.DNS, permitted.error
            return
        headers = [*_standing_headers(profile.headers), *request.headers]
        for address in addresses[:ADDRESSES_TRIED]:
            result.peer = address or ""
            await self._exchange(Outgoing(url, origin, headers, address, profile), result, begin)
            if result.cause not in _TRY_NEXT or result.status is not None:
                return
            self._resolver.avoid(origin.host, origin.port, address)

    async def _exchange(self, outgoing: Outgoing, result: FetchResult, begin: float) -> None:
        result.cause, result.error = None, ""
        profile = outgoing.profile
        incoming: Incoming | None = None
        try:
            incoming = await self._transport.send(outgoing)
            result.ttfb_s = time.perf_counter() - begin
            result.headers = tuple(incoming.headers())
            result.status = incoming.status
            result.http_version = incoming.http_version
            if result.status in _REDIRECTS and result.header("location") == "" and profile.proxy is None:
                await self._read_location(outgoing, result)
            await _read(incoming, profile, result)
        except Exception as error:
            result.cause, result.error = explain(
                error, proxied=profile.proxy is not None, in_body=result.status is not None
            )
            result.lost = result.cause is Cause.RESET and lost(error)
            if result.cause is Cause.INTERNAL:
                log.exception("fetch of %s failed in a way we do not know", redact(outgoing.url))
        finally:
            if incoming is not None:
                await incoming.close()

    async def _read_location(self, outgoing: Outgoing, result: FetchResult) -> None:
        """Ask once more, with httpx's own transport, for a Location that the first one could not give as text.

        Many sites redirect to paths in plain UTF-8 (RFC 9110 §5.5 calls such octets opaque). What is found
        replaces the empty value; what is not stays a redirect without a target.
        """
        import httpx  # only where it is needed: see `failures`

        from .transports.httpx_bridge import HttpxTransport

        if self._octets is None:
            self._octets = HttpxTransport(httpx.AsyncHTTPTransport(trust_env=False))
        try:
            again = await self._octets.send(outgoing)
        except (httpx.HTTPError, OSError) as error:
            log.info("the Location of %s is unreadable: %s", redact(outgoing.url), error)
            return
        try:
            raw = next((v for k, v in again.headers() if k.lower() == "location"), "").encode("latin-1")
        finally:
            await again.close()
        location = raw.decode("utf-8") if _is_utf8(raw) else raw.decode("latin-1")
        result.headers = tuple((k, location if k == "location" else v) for k, v in result.headers)
        result.forget_lookup()

    async def close(self) -> None:
        """Close connections."""
        await self._transport.close()
        if self._octets is not None:
            await self._octets.close()
        await asyncio.sleep(CLOSE_GRACE_S)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


async def _read(incoming: Incoming, profile: FetchProfile, result: FetchResult) -> None:
    """The body under its bounds, into `result`. A body that announces more than the limit is not read at all.

    A response that is none (101, or a transfer coding we did not ask for) is told apart here: the transport
    hands it over as if it had a body.
    """
    limit = profile.max_body
    if result.status is None or not 200 <= result.status <= 999:
        result.cause, result.error = Cause.BAD_RESPONSE, f"status {result.status} is no final response"
        return
    transfer = result.header("transfer-encoding")
    if transfer is not None and transfer.strip().lower() != "chunked":
        result.cause, result.error = Cause.BAD_RESPONSE, f"unknown transfer coding {transfer[:80]!r}"
        return
    if result.status in _WITHOUT_CONTENT:
        return
    announced = result.header("content-length")
    length = int(announced[:20]) if announced is not None and _DIGITS.fullmatch(announced) else 0
    if length > limit:
        result.cause = Cause.TOO_LARGE
        result.error = f"announces {length:,} bytes; at most {limit:,} (limits.max_body)"
        return
    wire = await incoming.read(limit + 1)
    result.wire_bytes = min(len(wire), limit)
    if len(wire) > limit:
        result.cause = Cause.TOO_LARGE
        result.error = f"more than {limit:,} bytes on the wire (limits.max_body)"
        result.body = wire[:limit]
        return
    coding = result.header("content-encoding")
    if coding:
        # The field may come several times; together they are one list (RFC 9110 §5.3).
        coding = ", ".join(value for name, value in result.headers if name.lower() == "content-encoding")
    if not coding or not wire:
        result.body = wire
    elif len(wire) < DECODE_ASIDE:
        result.body, result.cause, result.error = decode_body(wire, coding, limit, profile.max_ratio)
    else:
        result.body, result.cause, result.error = await asyncio.to_thread(
            decode_body, wire, coding, limit, profile.max_ratio
        )
