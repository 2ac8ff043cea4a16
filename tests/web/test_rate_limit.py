"""The RateLimit fields, in the shapes of the draft's versions and of what was there before it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.web.rate_limit import Quota, read_quota

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("headers", "quota"),
    [
        ({"RateLimit-Policy": '"default";q=100;w=60', "RateLimit": '"default";r=50;t=30'}, Quota(100, 60, 50, 30)),
        ({"RateLimit": '"default";r=50;t=30'}, Quota(None, None, 50, 30)),
        ({"RateLimit-Policy": '"burst";q=100;w=60,"daily";q=1000;w=86400'}, Quota(1000, 86400)),
        (
            {"RateLimit-Policy": '"a";q=100;w=60, "b";q=1000;w=86400', "RateLimit": '"a";r=90;t=30, "b";r=10;t=800'},
            Quota(1000, 86400, 10, 800),
        ),
        ({"RateLimit": "limit=100, remaining=50, reset=30", "RateLimit-Policy": "100;w=60"}, Quota(100, 60, 50, 30)),
        (
            {"RateLimit-Limit": "100, 100;w=60", "RateLimit-Remaining": "50", "RateLimit-Reset": "30"},
            Quota(100, 60, 50, 30),
        ),
        ({"ratelimit-limit": "100", "ratelimit-remaining": "7", "ratelimit-reset": "5"}, Quota(100, None, 7, 5)),
        ({"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "59"}, Quota(60, None, 59)),
        (
            {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "59", "X-RateLimit-Reset": "1700000042"},
            Quota(60, None, 59, 42),
        ),
        (
            {"X-Rate-Limit-Limit": "60", "X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "1700000042000"},
            Quota(60, None, 0, 42),
        ),
        (
            {
                "X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "5", "X-RateLimit-Reset": "1700000042",
                "Date": "Tue, 14 Nov 2023 22:13:32 GMT",
            },
            Quota(60, None, 5, 30),
        ),
        ({"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "5", "X-RateLimit-Reset": "1600000000"}, Quota(60, None, 5)),
        ({"X-RateLimit-Limit": "many", "X-RateLimit-Remaining": "some"}, Quota()),
        ({"Content-Type": "text/html"}, None),
    ],
)  # fmt: skip
def test_what_is_told_is_read(headers: dict[str, str], quota: Quota | None) -> None:
    assert read_quota(headers.items(), NOW) == quota


@given(
    st.dictionaries(
        st.sampled_from(["RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Date"]),
        st.one_of(st.text(max_size=40), st.text(alphabet='0123456789;,=wqrt" ', max_size=40)),
    )
)  # fmt: skip
def test_no_field_is_too_strange_to_be_read(headers: dict[str, str]) -> None:
    found = read_quota(headers.items(), NOW)
    for value in (found.limit, found.window_s, found.remaining, found.reset_s) if found is not None else ():
        assert value is None or value >= 0
