"""Content codings come off exactly, within bounds, whatever the bytes are."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from resources.fetcher.base import Cause
from resources.fetcher.body import MAX_MEMBERS, MAX_NESTED, decode_body


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}
BIG = 50_000_000


@given(st.binary(max_size=5_000), st.lists(st.sampled_from(sorted(PACKERS)), max_size=MAX_NESTED))
def test_what_was_coded_comes_back(data: bytes, codings: list[str]) -> None:
    wire = data
    for coding in codings:
        wire = PACKERS[coding](wire)
    assert decode_body(wire, ", ".join(codings), BIG, 400.0) == (data, None, "")


@given(st.binary(max_size=2_000), st.sampled_from([*sorted(PACKERS), "identity", "unheard-of", "", ",,,"]))
def test_any_bytes_end_in_a_body_or_a_cause(data: bytes, coding: str) -> None:
    body, cause, words = decode_body(data, coding, 10_000, 400.0)
    assert len(body) <= 10_000
    assert (cause is None) == (words == "")


@pytest.mark.parametrize("coding", sorted(PACKERS))
@given(data=st.binary(min_size=200, max_size=3_000), cut=st.integers(1, 40))
def test_a_cut_stream_is_never_a_page(coding: str, data: bytes, cut: int) -> None:
    _, cause, _ = decode_body(PACKERS[coding](data)[:-cut], coding, BIG, 400.0)
    assert cause in (Cause.TRUNCATED, Cause.BAD_CODING)


@pytest.mark.parametrize("coding", sorted(PACKERS))
def test_the_limit_is_exact(coding: str) -> None:
    data = bytes(range(256)) * 40
    wire = PACKERS[coding](data)
    assert decode_body(wire, coding, len(data), 400.0)[1] is None
    body, cause, _ = decode_body(wire, coding, len(data) - 1, 1e9)
    assert (body, cause) == (data[:-1], Cause.TOO_LARGE)


@pytest.mark.parametrize("coding", sorted(PACKERS))
def test_out_of_all_proportion_is_a_bomb(coding: str) -> None:
    body, cause, words = decode_body(PACKERS[coding](bytes(1_500_000)), coding, 5_000_000, 400.0)
    assert cause is Cause.BOMB
    assert "unfold" in words
    body, cause, _ = decode_body(PACKERS[coding](bytes(20_000_000)), coding, 5_000_000, 400.0)
    # Cut off at the limit; which of the two it is called depends on how well the coding packs nothing at all.
    assert cause in (Cause.BOMB, Cause.TOO_LARGE)
    assert len(body) == 5_000_000


def test_a_page_of_blanks_is_no_bomb() -> None:
    assert decode_body(gzip.compress(b" " * 500_000), "gzip", BIG, 400.0)[1] is None


def test_several_members_are_one_body_and_padding_is_no_damage() -> None:
    wire = gzip.compress(b"one ") + gzip.compress(b"two ") + gzip.compress(b"three")
    assert decode_body(wire, "gzip", BIG, 400.0)[0] == b"one two three"
    assert decode_body(wire + bytes(100), "gzip", BIG, 400.0) == (b"one two three", None, "")
    frames = zstandard.compress(b"one ") + zstandard.compress(b"two")
    assert decode_body(frames, "zstd", BIG, 400.0)[0] == b"one two"


def test_more_members_than_anybody_needs_are_refused() -> None:
    for coding in ("gzip", "zstd"):
        wire = PACKERS[coding](b"x") * (MAX_MEMBERS + 2)
        assert decode_body(wire, coding, BIG, 1e9)[1] is Cause.BAD_CODING


def test_deflate_in_both_of_its_meanings() -> None:
    for pack in (zlib.compress, raw_deflate):
        assert decode_body(pack(b"page" * 100), "deflate", BIG, 400.0)[0] == b"page" * 100
