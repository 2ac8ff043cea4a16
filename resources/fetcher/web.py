"""The real fetcher: resolve, judge the address, send, read under bounds, take the codings off.

Every response is bounded in time (connect, silence, total), header size (by the transport), wire bytes,
decoded bytes and ratio. Redirects are returned, never followed: their targets go through scope, robots,
pacing and dedup like any URL. Cost on loopback: about 0.1 ms of CPU for a 25 KB page.
"""

from __future__ import annotations

import asyncio
import logging
import time
from functools import lru_cache

import httpx

from resources.clock import Clock, SystemClock

from .addresses import AddressGuard
from .base import Cause, FetchRequest, FetchResult
from .body import CODINGS, decode_body
from .failures import explain
from .resolver import Resolver
from .transports.reqwest import ReqwestTransport, WireStream

__all__ = ["WebFetcher"]

log = logging.getLogger(__name__)

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@lru_cache(maxsize=4096)
def _guard(allow: tuple[str, ...]) -> AddressGuard:
    return AddressGuard(allow)


class WebFetcher:
    """See the module docstring. Safe for any number of concurrent `fetch` calls of one event loop."""

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport | None = None,
        resolver: Resolver | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._transport = transport or ReqwestTransport()
        self._clock = clock or SystemClock()
        self._resolver = resolver or Resolver(self._clock)

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Never raises for anything a server or name can do; a bug shows as Cause.INTERNAL with a log entry."""
        result = FetchResult(request.url, self._clock.now())
        begin = time.perf_counter()
        try:
            async with asyncio.timeout(request.profile.total_timeout_s):
                await self._exchange(request, result, begin)
        except TimeoutError:
            result.cause = Cause.TOTAL_TIMEOUT
            result.error = f"not finished after {request.profile.total_timeout_s:g} s"
        result.duration_s = time.perf_counter() - begin
        return result

    async def _exchange(self, request: FetchRequest, result: FetchResult, begin: float) -> None:
        profile = request.profile
        try:
            url = httpx.URL(request.url)
            host = url.raw_host.decode("ascii")
        except (httpx.InvalidURL, UnicodeError) as error:
            result.cause, result.error = Cause.BAD_URL, str(error)
            return
        port = url.port or (443 if url.scheme == "https" else 80)
        address: str | None = None
        if profile.proxy is None:
            guard = _guard(profile.allow_networks)
            address, error_text, refused = await self._resolver.permitted(host, port, guard)
            if address is None:
                result.cause = Cause.ADDRESS_REFUSED if refused else Cause.DNS
                result.error = error_text
                return
            result.peer = address
        outgoing = httpx.Request(
            "GET",
            url,
            headers=[("accept", ACCEPT), ("accept-encoding", CODINGS), *profile.headers, *request.headers],
            extensions={
                "nightcrawl.address": address,
                "nightcrawl.proxy": profile.proxy,
                "timeout": {"connect": profile.connect_timeout_s, "read": profile.read_timeout_s},
            },
        )
        response: httpx.Response | None = None
        try:
            response = await self._transport.handle_async_request(outgoing)
            result.ttfb_s = time.perf_counter() - begin
            result.status = response.status_code
            result.headers = tuple((k.decode("ascii"), v.decode("latin-1")) for k, v in response.headers.raw)
            version = response.extensions.get("http_version", b"")
            result.http_version = version.decode("ascii") if isinstance(version, bytes) else str(version)
            wire, over = await _read(response, profile.max_body)
            result.wire_bytes = len(wire)
            coding = response.headers.get("content-encoding") if wire else None
            result.body, result.cause, result.error = decode_body(
                wire, coding, profile.max_body, profile.max_ratio
            )
            if over:
                result.cause = Cause.TOO_LARGE
                result.error = f"more than {profile.max_body:,} bytes on the wire"
        except (TimeoutError, asyncio.CancelledError):
            raise
        except Exception as error:
            cause, words = explain(
                error, proxied=profile.proxy is not None, in_body=result.status is not None
            )
            result.cause, result.error = cause, words
            if cause is Cause.INTERNAL:
                log.exception("fetch of %s failed in a way we do not know", request.url)
        finally:
            if response is not None:
                await response.stream.aclose()  # type: ignore[union-attr]

    async def close(self) -> None:
        """Close connections. The transport's own threads get a moment to end (else they abort at exit)."""
        await self._transport.aclose()
        await asyncio.sleep(0.2)


async def _read(response: httpx.Response, limit: int) -> tuple[bytes, bool]:
    """(wire bytes, whether there was more than `limit`)."""
    stream = response.stream
    if isinstance(stream, WireStream):
        data = await stream.read_up_to(limit + 1)
        return data[:limit], len(data) > limit
    chunks: list[bytes] = []
    size = 0
    async for chunk in stream:  # type: ignore[union-attr]
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            return b"".join(chunks)[:limit], True
    return b"".join(chunks), False
