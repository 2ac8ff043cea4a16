"""The default transport: httpx's request and response types on pyreqwest (Rust: hyper, rustls).

An `httpx.AsyncBaseTransport`, so anything written for httpx's seam can stand in for it, and it for
anything. httpx's own connection pool costs 1.5 to 3.7 ms of CPU a page; this one about 0.1.

One small client per origin and pinned address: the address that was judged is the one connected to, and
pools stay short. Clients are kept in least-recently-used order.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import httpx
from pyreqwest.client import Client, ClientBuilder
from pyreqwest.exceptions import PyreqwestError
from pyreqwest.proxy import ProxyBuilder

__all__ = ["ReqwestTransport", "WireStream"]

#: Open clients; each holds at most its idle connections. Beyond it the least recently used is closed.
MAX_CLIENTS = 512
IDLE_CONNECTIONS = 16
IDLE_S = 60.0
#: Longer than any total limit of a site: the fetcher's own deadline decides.
SAFETY_TIMEOUT_S = 3600.0


class WireStream(httpx.AsyncByteStream):
    """The body as it comes off the wire, codings still on. `read_up_to` takes it in one bounded piece."""

    __slots__ = ("_reader", "_stack")

    def __init__(self, reader: Any, stack: AsyncExitStack) -> None:
        self._reader = reader
        self._stack = stack

    async def read_up_to(self, limit: int) -> bytes:
        """At most `limit` bytes; fewer only at the end of the body."""
        data = await self._reader.read(limit)
        return b"" if data is None else bytes(data)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (chunk := await self._reader.read_chunk()) is not None:
            yield bytes(chunk)

    async def aclose(self) -> None:
        await self._stack.aclose()


class ReqwestTransport(httpx.AsyncBaseTransport):
    """Sends to the address in the request's `nightcrawl.address` extension, never resolving by itself.

    Extensions read: `nightcrawl.address` (str, required without a proxy), `nightcrawl.proxy` (URL or None),
    `timeout` (httpx's dict: connect, read). Errors: the exceptions of pyreqwest, unchanged.
    """

    def __init__(self, *, http2: bool = True, root_certificates_pem: bytes | None = None) -> None:
        self._http2 = http2
        self._roots = root_certificates_pem
        self._clients: OrderedDict[tuple[Any, ...], Client] = OrderedDict()
        self._retired: list[Client] = []

    def _client(self, host: str, port: int, extensions: dict[str, Any]) -> Client:
        timeout = extensions.get("timeout") or {}
        proxy = extensions.get("nightcrawl.proxy")
        address = extensions.get("nightcrawl.address")
        key = (host, port, address, proxy, timeout.get("connect"), timeout.get("read"))
        client = self._clients.get(key)
        if client is not None:
            self._clients.move_to_end(key)
            return client
        builder = (
            ClientBuilder()
            .gzip(False)
            .brotli(False)
            .zstd(False)
            .deflate(False)
            .follow_redirects(False)
            .referer(False)
            .default_cookie_store(False)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .pool_idle_timeout(timedelta(seconds=IDLE_S))
            .timeout(timedelta(seconds=SAFETY_TIMEOUT_S))
            .connect_timeout(timedelta(seconds=timeout.get("connect") or 10.0))
            .read_timeout(timedelta(seconds=timeout.get("read") or 30.0))
        )
        if proxy:
            builder = builder.proxy(ProxyBuilder.all(proxy))
        else:
            # Never the environment's proxies: what goes out is what the site file says.
            builder = builder.no_proxy()
            if address and address != host:
                builder = builder.resolve(host, address, port)
        if not self._http2:
            builder = builder.http1_only()
        if self._roots:
            builder = builder.add_root_certificate_pem(self._roots)
        client = builder.build()
        self._clients[key] = client
        if len(self._clients) > MAX_CLIENTS:
            # Closed at the end: requests of a retired client may still be in flight.
            self._retired.append(self._clients.popitem(last=False)[1])
        return client

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        host = url.raw_host.decode("ascii")
        port = url.port or (443 if url.scheme == "https" else 80)
        client = self._client(host, port, request.extensions)
        builder = client.get(str(url)).headers(
            [
                (name.decode("ascii"), value.decode("latin-1"))
                for name, value in request.headers.raw
                if name.lower() != b"host"
            ]
        )
        stack = AsyncExitStack()
        response = await stack.enter_async_context(builder.build_streamed())
        try:
            headers = _headers(response.headers)
        except BaseException:
            await stack.aclose()
            raise
        return httpx.Response(
            response.status,
            headers=headers,
            stream=WireStream(response.body_reader, stack),
            extensions={"http_version": response.version.encode("ascii")},
        )

    async def aclose(self) -> None:
        for client in [*self._retired, *self._clients.values()]:
            await client.close()
        self._retired.clear()
        self._clients.clear()


def _headers(headers: Any) -> list[tuple[bytes, bytes]]:
    try:
        return [(name.encode("ascii"), value.encode("latin-1", "replace")) for name, value in headers.items()]
    except ValueError:
        pass  # a value that is not text: take the others one by one, below
    found: list[tuple[bytes, bytes]] = []
    for name in dict.fromkeys(headers.keys()):
        try:
            found += [(name.encode("ascii"), v.encode("latin-1", "replace")) for v in headers.getall(name)]
        except ValueError:
            # Not decodable and not needed: no field the crawler acts on has a non-text value.
            found.append((name.encode("ascii"), b""))
    return found


#: Re-exported so that the fetcher can tell this transport's errors apart without importing the library.
TransportFailure = PyreqwestError
