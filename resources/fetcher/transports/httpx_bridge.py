"""httpx on either side of the seam: any httpx transport as ours, and ours as an httpx transport.

`HttpxTransport(httpx.AsyncHTTPTransport())` lets anything written for httpx (a mock, a recorder, its own pool)
do the sending. The judged address is connected to here too: the URL is rewritten to it, the name stays in Host
and in TLS's server name. `AsHttpx(ReqwestTransport(), resolver, guard)` gives an `httpx.AsyncClient` the same
wire and the same guard as the crawl.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import httpx

from resources.fetcher.addresses import AddressGuard
from resources.fetcher.base import FetchProfile
from resources.fetcher.origin import target
from resources.fetcher.resolver import Resolver

from .base import Incoming, Outgoing, Transport

__all__ = ["AsHttpx", "HttpxTransport"]

#: What `AsHttpx` reads at a time.
PIECE = 65_536


class _Reply:
    """`Incoming` over an httpx response."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._chunks: AsyncIterator[bytes] | None = None
        self._left = b""
        self.status = response.status_code
        version = response.extensions.get("http_version", b"")
        self.http_version = version.decode("ascii") if isinstance(version, bytes) else str(version)

    def headers(self) -> list[tuple[str, str]]:
        return [(k.decode("latin-1"), v.decode("latin-1")) for k, v in self._response.headers.raw]

    async def read(self, limit: int) -> bytes:
        if self._chunks is None:
            stream = self._response.stream
            assert isinstance(stream, httpx.AsyncByteStream)
            self._chunks = aiter(stream)
        pieces, size = [self._left], len(self._left)
        while size < limit and (chunk := await anext(self._chunks, None)) is not None:
            pieces.append(chunk)
            size += len(chunk)
        data = b"".join(pieces)
        self._left = data[limit:]
        return data[:limit]

    async def close(self) -> None:
        await self._response.aclose()


class HttpxTransport:
    """Our seam over an httpx transport. A proxy is the wrapped transport's own business: one set in the profile
    is refused, lest a request that was to go through it goes out directly."""

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        self._transport = transport

    async def send(self, outgoing: Outgoing) -> _Reply:
        profile, origin = outgoing.profile, outgoing.origin
        if profile.proxy is not None:
            raise httpx.ProxyError("this transport takes no proxy from the site file")
        url = httpx.URL(outgoing.url)
        host = origin.domain
        if outgoing.address is not None:
            url = url.copy_with(host=outgoing.address)
        request = httpx.Request(
            "GET",
            url,
            headers=[("host", host), *outgoing.headers],
            extensions={
                "sni_hostname": origin.host,
                "timeout": {
                    "connect": profile.connect_timeout_s,
                    "read": profile.read_timeout_s,
                    "write": profile.read_timeout_s,
                    "pool": profile.connect_timeout_s,
                },
            },
        )
        return _Reply(await self._transport.handle_async_request(request))

    async def close(self) -> None:
        await self._transport.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, incoming: Incoming) -> None:
        self._incoming = incoming

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self._incoming.read(PIECE):
            yield piece

    async def aclose(self) -> None:
        await self._incoming.close()


class AsHttpx(httpx.AsyncBaseTransport):
    """One of ours for an `httpx.AsyncClient`: GET only, names resolved and judged by `resolver` and `guard`."""

    def __init__(self, transport: Transport, resolver: Resolver, guard: AddressGuard) -> None:
        self._transport = transport
        self._resolver = resolver
        self._guard = guard

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.method != "GET":
            raise httpx.UnsupportedProtocol(f"only GET is sent, not {request.method}", request=request)
        url, origin = target(str(request.url))
        permitted = await self._resolver.permitted(origin.host, origin.port, self._guard)
        if not permitted.addresses:
            raise httpx.ConnectError(permitted.error, request=request)
        timeout = request.extensions.get("timeout") or {}
        usual = FetchProfile()
        profile = replace(
            usual,
            connect_timeout_s=timeout.get("connect") or usual.connect_timeout_s,
            read_timeout_s=timeout.get("read") or usual.read_timeout_s,
        )
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in request.headers.raw
            if name.lower() != b"host"
        ]
        incoming = await self._transport.send(Outgoing(url, origin, headers, permitted.addresses[0], profile))
        return httpx.Response(
            incoming.status,
            headers=[(k.encode("latin-1"), v.encode("latin-1")) for k, v in incoming.headers()],
            stream=_Body(incoming),
            extensions={"http_version": incoming.http_version.encode("ascii")},
        )

    async def aclose(self) -> None:
        await self._transport.close()
