"""From a transport's exception to a `Cause`: pure, so that every case is a test.

pyreqwest and httpx wrap the operating system's words in several layers; all layers together decide the cause,
the innermost that says something is what people are told.
"""

from __future__ import annotations

import re

from pyreqwest import exceptions as rq

from .base import Cause

__all__ = ["explain", "lost"]

#: First match wins. Texts are those of hyper, rustls, h2, tokio, the operating system, h11 and httpcore.
_WORDS: tuple[tuple[str, Cause], ...] = (
    (r"chunk extensions over limit|chunk trailers (bytes|count) over limit", Cause.BAD_RESPONSE),
    (r"without sending (tls )?close_notify", Cause.RESET),
    (r"message head is too large|too many headers|header list size|headers? too (large|big)|got more than \d+ headers"
     r"|can't have more than \d+ bytes|receive buffer too long", Cause.HEADERS_TOO_LARGE),
    (r"certificate|invalidcertificate|handshake|\btls\b|\bssl\b|fatal ?alert|invalidcontenttype|corrupt message",
     Cause.TLS),
    (r"connection refused|os error 111", Cause.REFUSED),
    (r"unreachable|no route|os error (101|113)|network is down", Cause.UNREACHABLE),
    (r"dns error|failed to lookup|name or service not known|nodename nor servname", Cause.DNS),
    (r"invalid (chunk|http|content-length|header|status|uri|transfer)|parse error|parse\b|unexpected message|malformed"
     r"|illegal|invalid message|protocol error|protocolerror|http/0\.9|unexpected content-length|unsupported protocol"
     r"|compression_error|frame with invalid size|frame_size_error|flow_control_error", Cause.BAD_RESPONSE),
    (r"end of file before message length|incompletemessage|connection closed before message completed"
     r"|unexpected (eof|end of file)|peer closed connection|incomplete (chunked|message)|message is incomplete"
     r"|body write aborted|connection error|connection reset|broken pipe|os error (104|32)|server disconnected"
     r"|stream (error|no longer needed)|goaway|go_away|refused_stream|http2 error|h2 protocol|connection closed",
     Cause.RESET),
    (r"timed out|timeout|deadline has elapsed", Cause.READ_TIMEOUT),
    (r"too large", Cause.BAD_RESPONSE),
)  # fmt: skip
_COMPILED = tuple((re.compile(pattern), cause) for pattern, cause in _WORDS)

#: Layers that only say that something went wrong.
_HOLLOW = re.compile(
    r"(error (sending|decoding) (request|response)|client error|error decoding body|request or response body error"
    r"|error reading a body|connection error$|(connect|read|request) (timeout|error)$|error trying to connect"
    r"|tcp connect error|builder error|\(.*\)$)",
    re.IGNORECASE,
)
#: What hyper-util's tunnel and SOCKS connectors say. A proxy that works and could not reach the site says so in
#: its own protocol (RFC 1928 §6; a CONNECT answered with another status than 2xx or 407).
_PROXY = re.compile(r"proxy|socks|tunnel")
_SITE_BEHIND_PROXY = (
    (re.compile(r"socks error: connection refused"), Cause.REFUSED),
    (
        re.compile(r"socks error: (host|network) unreachable|socks error: ttl|tunnel error: unsuccessful"),
        Cause.UNREACHABLE,
    ),
)
_NOBODY_THERE = frozenset({Cause.REFUSED, Cause.UNREACHABLE, Cause.DNS})
#: Where a timeout began: before anything was sent.
_CONNECTING = re.compile(r"client error \(connect\)|deadline has elapsed|tcp connect")
#: Where an end of the connection came: after it was made, in or behind the request.
_SENDING = "client error (sendrequest)"
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")
_URL = re.compile(r"\s*(for url)?\s*\(https?://[^)]*\)", re.IGNORECASE)
#: Longest text for people; a hostile server may have written part of it.
_MAX_WORDS = 300


def _messages(error: BaseException) -> list[str]:
    """Outermost first."""
    texts: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(texts) < 20:
        texts.append(str(seen.args[0]) if seen.args else "")
        if isinstance(seen, rq.DetailedPyreqwestError):
            texts += [str(c.get("message", "")) for c in (seen.details.get("causes") or [])]
        seen = seen.__cause__ or seen.__context__
    return [t for t in texts if t]


def _words(messages: list[str], error: BaseException) -> str:
    """For people: the innermost message that says something, without URLs and credentials."""
    cleaned = [_CREDENTIALS.sub("", _URL.sub("", text)).strip() for text in messages]
    telling = [text for text in cleaned if text and not _HOLLOW.match(text)]
    return (telling or [text for text in cleaned if text] or [type(error).__name__])[-1][:_MAX_WORDS]


def explain(error: BaseException, *, proxied: bool, in_body: bool) -> tuple[Cause, str]:
    """(cause, words without credentials). `in_body`: the head had arrived, so an early end is a truncation.

    Numbered cases: 1. a timeout, of connecting or of silence; 2. a URL that cannot be sent; 3. by the words;
    4. a transport error without known words; 5. anything else is a defect. On top: with a proxy, it is the proxy
    that nobody answers for, unless it says itself that the site does not; an end in the body is a truncation.
    """
    import httpx  # 50 ms, where a failure is to be told: most processes start without one

    messages = _messages(error)
    text = " | ".join(messages).lower()
    words = _words(messages, error)
    if isinstance(error, httpx.ProxyError):
        return Cause.PROXY, words
    if isinstance(error, rq.RequestTimeoutError | httpx.TimeoutException | TimeoutError):
        cause = Cause.READ_TIMEOUT
        if isinstance(error, httpx.ConnectTimeout) or _CONNECTING.search(text):
            cause = Cause.CONNECT_TIMEOUT
        if proxied and cause is Cause.CONNECT_TIMEOUT:
            cause = Cause.PROXY
        return (
            cause,
            "no answer to the connection" if cause is not Cause.READ_TIMEOUT else "silence for too long",
        )
    if isinstance(error, rq.BuilderError | httpx.InvalidURL | httpx.UnsupportedProtocol):
        return (Cause.PROXY if "proxy" in text else Cause.BAD_URL), words
    if isinstance(error, rq.RequestPanicError | rq.ClientClosedError):
        return Cause.INTERNAL, words
    if proxied and not in_body and _PROXY.search(text):
        site = next((c for pattern, c in _SITE_BEHIND_PROXY if pattern.search(text)), None)
        return (
            (site, f"the proxy could not reach the site: {words}")
            if site is not None
            else (Cause.PROXY, words)
        )
    found = next((c for pattern, c in _COMPILED if pattern.search(text)), None)
    if found is None:
        connecting = isinstance(error, rq.ConnectError | httpx.ConnectError)
        known = isinstance(error, rq.TransportError | rq.DecodeError | httpx.TransportError | OSError)
        found = Cause.UNREACHABLE if connecting else Cause.RESET if known else Cause.INTERNAL
    if proxied and not in_body and found in _NOBODY_THERE:
        return Cause.PROXY, words
    if in_body and found is Cause.RESET:
        return Cause.TRUNCATED, words
    return found, words


def lost(error: BaseException) -> bool:
    """Whether what is a RESET ended the connection after it was made and before a whole response head.

    Neither transport says whether the connection had served before, nor whether a part of the head had come; what was
    never written hyper sends again itself. A GET may be repeated either way (RFC 9110 §9.2.2).
    """
    import httpx  # as above

    if isinstance(error, httpx.TransportError):
        return isinstance(error, httpx.ReadError | httpx.WriteError | httpx.RemoteProtocolError)
    return any(_SENDING in text.lower() for text in _messages(error))
