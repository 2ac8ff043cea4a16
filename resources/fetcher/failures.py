"""From a transport's exception to a `Cause`: pure, so that every case is a test.

pyreqwest and httpx wrap the operating system's words in several layers; the innermost message decides.
"""

from __future__ import annotations

import asyncio
import re

import httpx
from pyreqwest import exceptions as rq

from .base import Cause

__all__ = ["explain"]

#: First match wins. Texts are those of hyper, rustls, h2, tokio, the operating system and httpcore.
_WORDS: tuple[tuple[str, Cause], ...] = (
    (r"certificate|invalidcertificate|handshake|tls|ssl|alert|invalidcontenttype|corrupt message", Cause.TLS),
    (r"connection refused|os error 111", Cause.REFUSED),
    (r"unreachable|no route|os error (101|113)|network is down", Cause.UNREACHABLE),
    (r"dns|failed to lookup|name or service not known|nodename nor servname", Cause.DNS),
    (r"message head is too large|too many headers|header list size|headers? too large|got more than", Cause.HEADERS_TOO_LARGE),
    (r"end of file before message length|incompletemessage|connection closed before message completed"
     r"|unexpected eof|peer closed connection without sending (tls|complete)|incomplete (chunked|message)"
     r"|body write aborted|connection error: not a result of an error|connection reset|broken pipe|os error (104|32)"
     r"|server disconnected|stream (error|no longer needed)|goaway|refused_stream|http2 error|h2 protocol", Cause.RESET),
    (r"invalid (chunk|http|content-length|header|status|uri)|parse|unexpected message|malformed|illegal|invalid message"
     r"|protocol|http/0\.9|too large", Cause.BAD_RESPONSE),
    (r"timed out|timeout", Cause.READ_TIMEOUT),
)  # fmt: skip
_COMPILED = tuple((re.compile(pattern), cause) for pattern, cause in _WORDS)
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


def _messages(error: BaseException) -> list[str]:
    texts: list[str] = []
    if isinstance(error, rq.DetailedPyreqwestError):
        texts = [str(c.get("message", "")) for c in (error.details.get("causes") or [])]
    seen: BaseException | None = error
    while seen is not None and len(texts) < 12:
        texts.append(str(seen.args[0]) if seen.args else "")
        seen = seen.__cause__ or seen.__context__
    return [t for t in texts if t]


def _by_type(error: BaseException) -> Cause | None:
    if isinstance(error, rq.ConnectTimeoutError | httpx.ConnectTimeout):
        return Cause.CONNECT_TIMEOUT
    if isinstance(
        error, rq.RequestTimeoutError | httpx.TimeoutException | TimeoutError | asyncio.TimeoutError
    ):
        return Cause.READ_TIMEOUT
    if isinstance(error, httpx.ProxyError):
        return Cause.PROXY
    if isinstance(error, rq.BuilderError | httpx.InvalidURL | httpx.UnsupportedProtocol):
        return Cause.BAD_URL
    return None


def explain(error: BaseException, *, proxied: bool, in_body: bool) -> tuple[Cause, str]:
    """(cause, words without credentials). `in_body`: the head had arrived, so an early end is a truncation."""
    messages = _messages(error)
    words = _CREDENTIALS.sub(
        "", (messages[-1] if not messages else min(messages, key=len)) if messages else ""
    )
    text = " | ".join(messages).lower()
    cause = _by_type(error)
    if cause is None:
        cause = next((c for pattern, c in _COMPILED if pattern.search(text)), None)
    connecting = isinstance(error, rq.ConnectError | httpx.ConnectError)
    if cause is None:
        cause = (
            Cause.UNREACHABLE
            if connecting
            else Cause.RESET
            if isinstance(error, rq.TransportError | httpx.TransportError)
            else Cause.INTERNAL
        )
    if (
        proxied
        and (connecting or "proxy" in text or "socks" in text or "tunnel" in text)
        and cause is not Cause.TLS
    ):
        cause = Cause.PROXY
    if in_body and cause is Cause.RESET:
        cause = Cause.TRUNCATED
    return cause, words or type(error).__name__
