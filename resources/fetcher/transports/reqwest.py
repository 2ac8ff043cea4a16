"""The default transport: pyreqwest (Rust: hyper, h2, rustls) driven directly.

One small client per origin and pinned address: the address that was judged is the one connected to, and pools
stay short. Clients are kept in least-recently-used order. A client costs 5 ms to make (it loads the trusted
certificates), a request about 35 µs of CPU; httpx's own connection pool costs 1.5 to 3.7 ms a request.

Bounds: a response head of about 400 KB and 100 fields on HTTP/1 (hyper), `MAX_HEAD` on HTTP/2.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

from pyreqwest.client import Client, ClientBuilder
from pyreqwest.http import HeaderMap
from pyreqwest.proxy import ProxyBuilder
from pyreqwest.response import Response

from .base import Outgoing

__all__ = ["ReqwestTransport"]

#: Open clients; each holds at most its idle connections. Beyond it the least recently used is closed.
MAX_CLIENTS = 512
IDLE_CONNECTIONS = 16
IDLE_S = 60.0
#: Longer than any total limit of a site: the fetcher's own deadline decides.
SAFETY_TIMEOUT_S = 3600.0
#: HTTP/2 flow control: what a server may send ahead of our reading, per stream and per connection. The
#: protocol's 64 KB would cost a round trip for each 64 KB of a page.
STREAM_WINDOW = 1 << 20
CONNECTION_WINDOW = 4 << 20
#: Decoded response head on HTTP/2: sites with many cookies exceed the library's 16 KB.
MAX_HEAD = 131_072
#: A stalled HTTP/2 connection would take every later request of its domain with it.
PING_EVERY_S, PONG_WITHIN_S = 15.0, 10.0

#: What decides about a client; two requests share one only if all of it is equal.
_Key = tuple[str, str, int, str | None, str | None, float, float]


class _Reply:
    """`Incoming` over a streamed pyreqwest response."""

    __slots__ = ("_context", "_response", "http_version", "status")

    def __init__(self, context: AbstractAsyncContextManager[Response], response: Response) -> None:
        self._context = context
        self._response = response
        self.status = response.status
        self.http_version = response.version

    def headers(self) -> list[tuple[str, str]]:
        headers = self._response.headers
        try:
            return list(headers.items())
        except ValueError:
            return list(_readable(headers))

    async def read(self, limit: int) -> bytes:
        data = await self._response.body_reader.read(limit)
        return b"" if data is None else bytes(data)

    async def close(self) -> None:
        await self._context.__aexit__(None, None, None)


class ReqwestTransport:
    """See the module docstring. `root_certificates_pem`: trusted beside the system's."""

    def __init__(self, *, http2: bool = True, root_certificates_pem: bytes | None = None) -> None:
        self._http2 = http2
        self._roots = root_certificates_pem
        self._clients: OrderedDict[_Key, Client] = OrderedDict()
        self._making: dict[_Key, asyncio.Future[Client]] = {}
        self._retired: list[Client] = []

    def __repr__(self) -> str:
        return f"<ReqwestTransport {len(self._clients)} clients>"

    async def send(self, outgoing: Outgoing) -> _Reply:
        origin, profile = outgoing.origin, outgoing.profile
        key = (
            origin.scheme, origin.host, origin.port, outgoing.address, profile.proxy,
            profile.connect_timeout_s, profile.read_timeout_s,
        )  # fmt: skip
        client = self._clients.get(key)
        if client is None:
            client = await self._new_client(key, outgoing)
        else:
            self._clients.move_to_end(key)
        request = client.get(outgoing.url).headers(outgoing.headers)
        # Nothing is read ahead: the head is told at once, and what is wrong with a body is told of the body.
        context = request.streamed_read_buffer_limit(0).build_streamed()
        return _Reply(context, await context.__aenter__())

    async def _new_client(self, key: _Key, outgoing: Outgoing) -> Client:
        """Made in a thread, once per key: at the start of a night thousands are made."""
        making = self._making.get(key)
        if making is None:
            making = asyncio.ensure_future(asyncio.to_thread(self._build, outgoing))
            self._making[key] = making
            making.add_done_callback(lambda done: self._made(key, done))
        return await asyncio.shield(making)

    def _made(self, key: _Key, done: asyncio.Future[Client]) -> None:
        self._making.pop(key, None)
        if done.cancelled() or done.exception() is not None:
            return
        self._clients[key] = done.result()
        if len(self._clients) > MAX_CLIENTS:
            # Closed at the end: requests of a retired client may still be in flight.
            self._retired.append(self._clients.popitem(last=False)[1])

    def _build(self, outgoing: Outgoing) -> Client:
        profile = outgoing.profile
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
            .connect_timeout(timedelta(seconds=profile.connect_timeout_s))
            .read_timeout(timedelta(seconds=profile.read_timeout_s))
            # Sloppy servers are read as browsers read them: folded lines unfolded (RFC 9112 §5.2), a field
            # line that is none left out. Framing fields are still held to the letter.
            .http1_allow_obsolete_multiline_headers_in_responses(True)
            .http1_ignore_invalid_headers_in_responses(True)
        )
        if profile.proxy:
            try:
                builder = builder.proxy(ProxyBuilder.all(profile.proxy))
            except ValueError as error:
                import httpx  # only here: see `failures`

                raise httpx.ProxyError(f"the proxy's URL is none: {error}") from None
        else:
            # Never the environment's proxies: what goes out is what the site file says.
            builder = builder.no_proxy()
        if outgoing.address is not None and outgoing.address != outgoing.origin.host:
            builder = builder.resolve(outgoing.origin.host, outgoing.address, outgoing.origin.port)
        if self._http2:
            builder = (
                builder.http2(True)
                .http2_initial_stream_window_size(STREAM_WINDOW)
                .http2_initial_connection_window_size(CONNECTION_WINDOW)
                .http2_max_header_list_size(MAX_HEAD)
                .http2_keep_alive_interval(timedelta(seconds=PING_EVERY_S))
                .http2_keep_alive_timeout(timedelta(seconds=PONG_WITHIN_S))
            )
        if self._roots:
            builder = builder.add_root_certificate_pem(self._roots)
        return builder.build()

    async def close(self) -> None:
        await asyncio.gather(*self._making.values(), return_exceptions=True)
        for client in [*self._retired, *self._clients.values()]:
            await client.close()
        self._retired.clear()
        self._clients.clear()


def _readable(headers: HeaderMap) -> Iterable[tuple[str, str]]:
    """The library gives no value that is not visible ASCII. The others one by one; the unreadable empty."""
    names: Any = dict.fromkeys(headers.keys())
    for name in names:
        try:
            yield from ((name, value) for value in headers.getall(name))
        except ValueError:
            yield name, ""
