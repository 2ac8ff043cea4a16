"""Reading archives: whole records out of any file, damage told with its offset, nothing raised."""

from __future__ import annotations

import gzip
import io
import zlib
from datetime import UTC, datetime

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.web.warc import (
    Damage,
    Exchange,
    Limits,
    WarcRecord,
    WarcWriter,
    read_warc,
    records_for,
    warcinfo,
)

NOW = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


def page(number: int, body: bytes = b"<p>hi") -> Exchange:
    headers = (("Content-Type", "text/html"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"))
    return Exchange(f"https://e.example/{number}", NOW, 200, headers, body)


def archive(count: int, *, compress: bool = True) -> tuple[bytes, list[int]]:
    """An archive of `count` pages and the offset of each record."""
    file = io.BytesIO()
    writer = WarcWriter(file, compress=compress)
    places = [writer.write(warcinfo(NOW, "test/1"))]
    for number in range(count):
        places += writer.write_all(records_for(page(number)))
    return file.getvalue(), [offset for offset, _ in places]


def entries(data: bytes, *, salvage: bool = False, limits: Limits | None = None) -> list[WarcRecord | Damage]:
    return list(read_warc(io.BytesIO(data), salvage=salvage, limits=limits))


def whole(found: list[WarcRecord | Damage]) -> list[WarcRecord]:
    return [entry for entry in found if isinstance(entry, WarcRecord)]


def damage(found: list[WarcRecord | Damage]) -> list[Damage]:
    return [entry for entry in found if isinstance(entry, Damage)]


def response(http: bytes, *, fields: bytes = b"", length: int | None = None) -> bytes:
    size = len(http) if length is None else length
    return (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        b"WARC-Target-URI: https://e.example/a\r\nWARC-Date: 2024-05-06T07:08:09Z\r\n"
        b"Content-Type: application/http; msgtype=response\r\n"
        + fields
        + b"Content-Length: %d\r\n\r\n" % size
        + http
        + b"\r\n\r\n"
    )


@pytest.mark.parametrize("compress", [True, False])
def test_each_record_can_be_read_alone_at_its_offset(compress: bool) -> None:
    data, offsets = archive(3, compress=compress)
    assert [record.offset for record in whole(entries(data))] == offsets
    for offset in offsets:
        first = next(iter(read_warc(io.BytesIO(data[offset:]))))
        assert isinstance(first, WarcRecord) and first.addressable


def test_one_member_for_all_gives_its_records_and_says_they_cannot_be_addressed() -> None:
    plain, _ = archive(3, compress=False)
    found = entries(gzip.compress(plain))
    assert len(whole(found)) == 4
    assert [d.kind for d in damage(found)] == ["not_addressable"]
    assert [record.addressable for record in whole(found)] == [True, False, False, False]


@pytest.mark.parametrize("compress", [True, False])
def test_a_torn_tail_at_any_byte_keeps_every_record_before_it(compress: bool) -> None:
    data, offsets = archive(2, compress=compress)
    ends = [*offsets[1:], len(data)]
    slack = 0 if compress else 4  # the closing line ends of a plain record may be missing
    for cut in range(1, len(data)):
        found = entries(data[:cut])
        kept = sum(1 for end in ends if end - slack <= cut)
        assert len(whole(found)) == kept, cut
        at_boundary = cut in ends or (not compress and any(end - slack <= cut <= end for end in ends))
        assert bool(damage(found)) is not at_boundary, cut
        if damage(found):
            assert damage(found)[0].offset <= cut


def test_a_flipped_byte_in_a_member_costs_that_record_only_when_salvaging() -> None:
    data, offsets = archive(3)
    broken = bytearray(data)
    broken[offsets[2] - 6] ^= 0xFF  # the check sum of the second member
    assert len(whole(entries(bytes(broken)))) == 1
    found = entries(bytes(broken), salvage=True)
    assert [record.offset for record in whole(found)] == [offsets[0], *offsets[2:]]
    assert [record.salvaged for record in whole(found)] == [False, True, True]
    assert [(d.kind, d.partial is not None) for d in damage(found)] == [("corrupt", True)]


@pytest.mark.parametrize("compress", [True, False])
def test_garbage_between_records_is_stepped_over_only_when_salvaging(compress: bool) -> None:
    data, offsets = archive(2, compress=compress)
    dirty = data[: offsets[1]] + b"\x7fgarbage\n" * 20_000 + data[offsets[1] :]
    assert len(whole(entries(dirty))) == 1
    found = entries(dirty, salvage=True)
    assert len(whole(found)) == 3
    assert [d.offset for d in damage(found)] == [offsets[1]]


def test_a_body_that_contains_a_record_is_a_body() -> None:
    inner = response(b"HTTP/1.1 200 OK\r\n\r\nforged")
    outer = response(b"HTTP/1.1 200 OK\r\n\r\n" + inner)
    found = entries(outer + outer, salvage=True)
    assert len(found) == 2 and not damage(found)


def test_a_declared_length_is_never_allocated_nor_believed() -> None:
    data = response(b"HTTP/1.1 200 OK\r\n\r\nhello", length=10**17)
    (only,) = entries(data)
    assert isinstance(only, Damage) and only.kind == "torn" and only.partial is not None
    assert b"hello" in only.partial.block_bytes()


def test_a_block_over_the_limit_is_stepped_over_and_the_next_record_read() -> None:
    data = response(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5000) + response(b"HTTP/1.1 200 OK\r\n\r\nsmall")
    found = entries(data, limits=Limits(block=1000))
    assert [d.kind for d in damage(found)] == ["too_large"]
    assert [record.payload().body for record in whole(found)] == [b"small"]


def test_folded_repeated_and_oddly_cased_fields_are_kept_in_order() -> None:
    data = response(
        b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nX: c\r\n\r\n", fields=b"warc-Concurrent-TO: <1>\r\n\t<2>\r\n"
    )
    (record,) = whole(entries(data))
    assert record.header("WARC-Concurrent-To") == "<1> <2>"
    assert record.http is not None and record.http.headers == (("X", "a b"), ("X", "c"))


CODERS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("coding", CODERS)
@pytest.mark.parametrize("stored", [True, False], ids=["coded", "header lies"])
def test_content_codings_are_undone_and_a_lying_header_is_seen_through(coding: str, stored: bool) -> None:
    body = b"The quick brown fox. " * 20_000
    wire = CODERS[coding](body) if stored else body
    data = response(b"HTTP/1.1 200 OK\r\nContent-Encoding: " + coding.encode() + b"\r\n\r\n" + wire)
    payload = whole(entries(data))[0].payload()
    assert payload.body == body
    assert bool(payload.problems) is not stored


def test_raw_deflate_and_stacked_codings() -> None:
    packer = zlib.compressobj(wbits=-15)
    raw = packer.compress(b"hello") + packer.flush()
    for coding, wire in (("deflate", raw), ("gzip, br", brotli.compress(gzip.compress(b"hello")))):
        http = b"HTTP/1.1 200 OK\r\nContent-Encoding: " + coding.encode() + b"\r\n\r\n" + wire
        assert whole(entries(response(http)))[0].payload().body == b"hello"


@pytest.mark.parametrize("coding", CODERS)
def test_a_bomb_stops_at_the_limit(coding: str) -> None:
    http = (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: "
        + coding.encode()
        + b"\r\n\r\n"
        + CODERS[coding](bytes(20_000_000))
    )
    payload = whole(entries(response(http)))[0].payload(limit=1000)
    assert payload.cut and payload.body == bytes(1000)


@pytest.mark.parametrize(
    ("wire", "body", "clean"),
    [
        (b"5\r\nhello\r\n0\r\n\r\n", b"hello", True),
        (b"5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nTrailer: z\r\n\r\n", b"hello!", True),
        (b"hello", b"hello", False),
        (b"5\r\nhello\r\nzz\r\nmore", b"hello", False),
        (b"ff\r\nhello", b"hello", False),
    ],
)
def test_chunked_framing(wire: bytes, body: bytes, clean: bool) -> None:
    data = response(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + wire)
    payload = whole(entries(data))[0].payload()
    assert payload.body == body
    assert (not payload.problems) is clean


def test_an_interim_answer_is_stepped_over() -> None:
    data = response(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nbody")
    (record,) = whole(entries(data))
    assert record.http is not None and record.http.status == 200
    assert record.payload().body == b"body"


SEED, SEED_OFFSETS = archive(3)
PLAIN_SEED, _ = archive(3, compress=False)
ARC_SEED = (
    b"filedesc://x.arc 0.0.0.0 20140216050221 text/plain 9\n1 0 Live\n\n"
    b"http://e.example/ 1.2.3.4 20140216050221 text/html 24\nHTTP/1.1 200 OK\n\n<p>hi\n\n\n"
)


def consume(data: bytes, salvage: bool) -> list[WarcRecord | Damage]:
    """Read everything a record offers; the reader may report, never raise."""
    found = entries(data, salvage=salvage)
    assert len(found) <= len(data) + 1
    for entry in found:
        record = entry.partial if isinstance(entry, Damage) else entry
        assert 0 <= entry.offset <= len(data)
        if record is not None:
            assert record.block_length <= max(len(data) * 1100, 70_000)
            record.payload(limit=10_000)
            record.block_digest_ok()
            record.payload_digest_ok()
            str(record.target_uri)
    return found


@given(st.binary(max_size=600), st.booleans())
def test_arbitrary_bytes_are_reported_not_raised(data: bytes, salvage: bool) -> None:
    consume(data, salvage)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([SEED, PLAIN_SEED, ARC_SEED, gzip.compress(PLAIN_SEED)]), st.data(), st.booleans())
def test_mutated_archives_are_reported_not_raised(seed: bytes, data: st.DataObject, salvage: bool) -> None:
    mutated = bytearray(seed)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(mutated)))
        end = data.draw(st.integers(start, min(len(mutated), start + 20)))
        mutated[start:end] = data.draw(st.binary(max_size=20))
    consume(bytes(mutated), salvage)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(SEED_OFFSETS) - 1), st.binary(min_size=1, max_size=30))
def test_salvage_keeps_every_record_that_no_byte_of_was_touched(index: int, noise: bytes) -> None:
    dirty = SEED[: SEED_OFFSETS[index]] + b"\x00" + noise + SEED[SEED_OFFSETS[index] :]
    assert len(whole(entries(dirty, salvage=True))) >= len(SEED_OFFSETS)


def test_nested_false_heads_cost_a_bounded_number_of_reads() -> None:
    head = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99999\r\n\r\n"
    found = entries(head * 4000, salvage=True)
    assert "given up" in damage(found)[-1].reason
