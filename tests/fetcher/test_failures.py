"""Words of the transports, of both kinds, come to the cause they mean."""

from __future__ import annotations

import httpx
import pytest

from resources.fetcher.base import Cause
from resources.fetcher.failures import explain, lost


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (httpx.ConnectError("[Errno 111] Connection refused"), Cause.REFUSED),
        (httpx.ConnectError("All connection attempts failed"), Cause.UNREACHABLE),
        (httpx.ConnectError("[Errno 101] Network is unreachable"), Cause.UNREACHABLE),
        (httpx.ConnectError("[Errno -2] Name or service not known"), Cause.DNS),
        (httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"), Cause.TLS),
        (httpx.ConnectTimeout(""), Cause.CONNECT_TIMEOUT),
        (httpx.ReadTimeout(""), Cause.READ_TIMEOUT),
        (httpx.ReadError("[Errno 104] Connection reset by peer"), Cause.RESET),
        (httpx.RemoteProtocolError("Server disconnected without sending a response."), Cause.RESET),
        (httpx.RemoteProtocolError("illegal status line: bytearray(b'SSH-2.0')"), Cause.BAD_RESPONSE),
        (httpx.RemoteProtocolError("malformed data"), Cause.BAD_RESPONSE),
        (httpx.RemoteProtocolError("Receive buffer too long"), Cause.HEADERS_TOO_LARGE),
        (httpx.ProxyError("407 Proxy Authentication Required"), Cause.PROXY),
        (httpx.UnsupportedProtocol("ftp"), Cause.BAD_URL),
        (ZeroDivisionError("ours"), Cause.INTERNAL),
    ],
)
def test_before_the_head(error: Exception, cause: Cause) -> None:
    found, words = explain(error, proxied=False, in_body=False)
    assert found is cause
    assert words


def test_an_early_end_in_the_body_is_a_truncation() -> None:
    error = httpx.RemoteProtocolError("peer closed connection without sending complete message body")
    assert explain(error, proxied=False, in_body=True)[0] is Cause.TRUNCATED
    assert explain(error, proxied=False, in_body=False)[0] is Cause.RESET


def test_words_are_bounded_whoever_wrote_them() -> None:
    _, words = explain(
        httpx.RemoteProtocolError("illegal header " + "x" * 100_000), proxied=False, in_body=False
    )
    assert len(words) <= 300


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (httpx.ReadError("[Errno 104] Connection reset by peer"), True),
        (httpx.WriteError("[Errno 32] Broken pipe"), True),
        (httpx.RemoteProtocolError("Server disconnected without sending a response."), True),
        (httpx.ConnectError("[Errno 104] Connection reset by peer"), False),
        (httpx.ReadTimeout(""), False),
        (OSError("connection reset"), False),
    ],
)
def test_lost_is_what_ended_after_the_connection_was_made(error: Exception, expected: bool) -> None:
    assert lost(error) is expected
