"""One parser decides where a URL leads, and what is sent cannot be read differently by another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyreqwest.http import Url

from resources.fetcher.origin import BadUrl, target

ODD = st.text(alphabet="abc.:/@\\?#[]%0x17 \t\n-é①。", max_size=30)


@pytest.mark.parametrize(
    ("url", "sent", "host", "port"),
    [
        ("http://shop.example/a?b", "http://shop.example/a?b", "shop.example", 80),
        ("https://shop.example:8443/", "https://shop.example:8443/", "shop.example", 8443),
        ("HTTP://SHOP.example:80", "http://shop.example/", "shop.example", 80),
        ("http://shop.example?q", "http://shop.example/?q", "shop.example", 80),
        ("http://a\\@shop.example/", "http://a/@shop.example/", "a", 80),
        ("http://a:b@shop.example/", "http://shop.example/", "shop.example", 80),
        ("http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]/", "::ffff:102:304", 80),
        ("http://0x7f.1/", "http://127.0.0.1/", "127.0.0.1", 80),
        ("http://bücher.example/", "http://xn--bcher-kva.example/", "xn--bcher-kva.example", 80),
    ],
)
def test_spellings(url: str, sent: str, host: str, port: int) -> None:
    found, origin = target(url)
    assert (found, origin.host, origin.port) == (sent, host, port)


@given(st.builds("{}{}{}".format, st.sampled_from(["http://", "https://", "HTTP:", "http:/\\"]), ODD, ODD))
def test_the_transport_reads_the_same_origin(url: str) -> None:
    """The parser that connects is another one than ours: both must name the same host for what is sent."""
    try:
        sent, origin = target(url)
    except BadUrl:
        return
    other = Url(sent)
    assert (other.host_str or "").strip("[]") == origin.host
    assert other.port_or_known_default == origin.port
    assert other.scheme == origin.scheme
    assert not other.username
    assert other.password is None
