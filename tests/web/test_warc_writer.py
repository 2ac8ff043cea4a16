"""Writing archives: what is written reads back identical, in our reader and in others'."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from resources.web.warc import (
    Damage,
    Exchange,
    Origin,
    WarcRecord,
    WarcWriter,
    exchange_from,
    payload_digest,
    read_warc,
    records_for,
    recover,
    warcinfo,
)
from resources.web.warc.append import DamagedInTheMiddle
from resources.web.warc.exchange import archived_headers, received_headers

NOW = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
PAGE = Exchange(
    url="https://e.example/a?b=c",
    fetched_at=NOW,
    status=200,
    headers=(
        ("Content-Type", "text/html"),
        ("Content-Encoding", "gzip"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
        ("Content-Length", "44"),
    ),
    body=b"<title>A page</title><p>text of the archived page",
    request_headers=(("User-Agent", "nightcrawl/1"), ("Accept", "*/*")),
    reason="OK",
    notes=(("stored-by", "test"),),
)


def written(*exchanges: Exchange, compress: bool = True) -> bytes:
    file = io.BytesIO()
    writer = WarcWriter(file, compress=compress)
    writer.write(warcinfo(NOW, "nightcrawl/test", filename="x.warc.gz"))
    for exchange in exchanges:
        writer.write_all(records_for(exchange))
    return file.getvalue()


def read(data: bytes) -> list[WarcRecord]:
    found = list(read_warc(io.BytesIO(data)))
    assert not [entry for entry in found if isinstance(entry, Damage)], found
    return [entry for entry in found if isinstance(entry, WarcRecord)]


def test_a_page_becomes_response_request_and_metadata_tied_together() -> None:
    _, answer, request, metadata = read(written(PAGE))
    assert [r.type for r in (answer, request, metadata)] == ["response", "request", "metadata"]
    assert request.header("WARC-Concurrent-To") == metadata.header("WARC-Refers-To") == answer.record_id
    assert answer.http is not None and answer.http.all("set-cookie") == ["a=1", "b=2"]
    assert request.block_bytes().startswith(b"GET /a?b=c HTTP/1.1\r\nHost: e.example\r\n")
    assert all(r.block_digest_ok() for r in (answer, request, metadata))
    assert answer.payload_digest_ok() is True


def test_a_decoded_body_does_not_keep_the_framing_of_the_wire() -> None:
    answer = read(written(PAGE))[1]
    assert answer.http is not None
    assert answer.http.all("content-encoding") == [] and answer.http.all("transfer-encoding") == []
    assert answer.http.all("content-length") == [str(len(PAGE.body))]
    assert answer.http.all("x-crawl-content-encoding") == ["gzip"]
    payload = answer.payload()
    assert payload.body == PAGE.body and payload.problems == ()


def test_the_same_input_gives_the_same_bytes() -> None:
    assert written(PAGE) == written(PAGE)


NAMES = st.sampled_from(
    [
        "Content-Encoding",
        "transfer-encoding",
        "Content-Length",
        "X-Crawl-Content-Length",
        "X-Crawl-X-Crawl-Content-Encoding",
        "Set-Cookie",
    ]
) | st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,12}", fullmatch=True)
VALUES = st.text(st.characters(blacklist_characters="\r\n\0", blacklist_categories=["Cs"]), max_size=20).map(
    lambda text: text.strip(" \t")
)
HEADERS = st.lists(st.tuples(NAMES, VALUES), max_size=8).map(tuple)


@given(HEADERS, st.integers(0, 5))
@example((("Content-Length", "3"),), 3)
@example((("X-Crawl-Content-Length", "3"), ("Content-Length", "3")), 3)
def test_headers_survive_the_archive_exactly(headers: tuple[tuple[str, str], ...], size: int) -> None:
    assert received_headers(archived_headers(headers, size)) == headers


@given(
    HEADERS,
    st.binary(max_size=300),
    st.integers(200, 599),
    st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)),
    st.booleans(),
)
def test_an_exchange_reads_back_identical(
    headers: tuple[tuple[str, str], ...], body: bytes, status: int, moment: datetime, compress: bool
) -> None:
    exchange = Exchange(
        "https://e.example/ü x", moment.replace(tzinfo=UTC), status, headers, body, reason="R"
    )
    answer = read(written(exchange, compress=compress))[1]
    back = exchange_from(answer)
    assert back is not None
    assert back[0] == replace(exchange, url="https://e.example/ü%20x")
    assert answer.payload_digest_ok() is True


def test_a_page_seen_before_becomes_a_revisit_without_body() -> None:
    origin = Origin(PAGE.url, NOW - timedelta(days=1), "<urn:uuid:1>")
    file = io.BytesIO()
    WarcWriter(file).write_all(records_for(PAGE, same_as=origin))
    revisit = read(file.getvalue())[0]
    assert revisit.type == "revisit"
    assert (
        revisit.header("WARC-Profile") == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    )
    assert revisit.header("WARC-Refers-To-Date") == "2024-05-05T07:08:09Z"
    assert revisit.header("WARC-Payload-Digest") == payload_digest(PAGE.body)
    assert revisit.payload().body == b""


def test_a_304_becomes_a_revisit_of_the_page_it_confirms() -> None:
    unchanged = replace(PAGE, status=304, body=b"", headers=(("ETag", '"x"'),))
    revisit = records_for(unchanged, same_as=Origin(PAGE.url, NOW))[0]
    assert ("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/server-not-modified") in revisit.fields


@pytest.mark.parametrize("header", [("X", "a\r\nEvil: b"), ("X: y", "z"), ("", "z")])
def test_a_field_that_would_not_read_back_is_refused_with_the_url(header: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"https://e\.example"):
        records_for(replace(PAGE, headers=(header,)))


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize(
    "tail", [b"", b"\0" * 700, b"WARC/1.1\r\nWARC-Ty", b"\x1f\x8b\x08\0\0\0\0\0\0\x03torn"]
)
def test_a_file_can_be_continued_after_a_crash_at_any_byte(
    tmp_path: Path, compress: bool, tail: bytes
) -> None:
    data = written(PAGE, compress=compress)
    path = tmp_path / "x.warc.gz"
    for cut in range(4, len(data), 37):
        path.write_bytes(data[:cut] + tail)
        whole_before = [e for e in read_warc(io.BytesIO(data[:cut])) if isinstance(e, WarcRecord)]
        with path.open("r+b") as file:
            recovery = recover(file)
            assert recovery.records == len(whole_before)
            assert file.tell() == recovery.end == path.stat().st_size
            WarcWriter(file, compress=compress).write_all(records_for(PAGE))
        assert len(read(path.read_bytes())) == len(whole_before) + 3


def test_recovery_refuses_to_cut_in_front_of_a_whole_record() -> None:
    file = io.BytesIO()
    writer = WarcWriter(file)
    writer.write(warcinfo(NOW, "x"))
    offset, _ = writer.write(records_for(PAGE)[0])
    writer.write(records_for(PAGE)[1])
    damaged = bytearray(file.getvalue())
    damaged[offset + 40] ^= 0xFF
    broken = io.BytesIO(bytes(damaged))
    with pytest.raises(DamagedInTheMiddle, match=f"byte {offset}"):
        recover(broken)
    assert broken.getvalue() == bytes(damaged)


def test_recovery_leaves_a_file_alone_that_is_no_archive() -> None:
    file = io.BytesIO(b"#!/bin/sh\n")
    with pytest.raises(ValueError, match="not a WARC"):
        recover(file)
    assert file.getvalue() == b"#!/bin/sh\n"


def sample(path: Path) -> None:
    origin = Origin(PAGE.url, NOW)
    with path.open("wb") as file:
        writer = WarcWriter(file)
        writer.write(warcinfo(NOW, "nightcrawl/test"))
        writer.write_all(records_for(PAGE))
        later = replace(PAGE, fetched_at=NOW + timedelta(days=1, microseconds=5))
        writer.write_all(records_for(later, same_as=origin))
        chunked = (("Transfer-Encoding", "chunked"), ("Content-Type", "text/plain; charset=utf-8"))
        writer.write_all(
            records_for(replace(PAGE, url="https://e.example/ü", headers=chunked, body="é".encode()))
        )


def test_warcio_finds_nothing_wrong(tmp_path: Path) -> None:
    pytest.importorskip("warcio", reason="warcio is not installed (development dependency)")
    path = tmp_path / "x.warc.gz"
    sample(path)
    command = [sys.executable, "-m", "warcio.cli", "check", "-v", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "digest pass" in done.stdout and "fail" not in done.stdout


def test_warcio_reads_what_we_wrote(tmp_path: Path) -> None:
    archiveiterator = pytest.importorskip("warcio.archiveiterator", reason="warcio is not installed")
    path = tmp_path / "x.warc.gz"
    sample(path)
    with path.open("rb") as file:
        theirs = [
            (r.rec_type, r.rec_headers.get_header("WARC-Record-ID"), r.content_stream().read())
            for r in archiveiterator.ArchiveIterator(file)
        ]
    ours = [(r.type, r.record_id, r.payload().body) for r in read(path.read_bytes())]
    assert ours == theirs


@pytest.mark.slow
def test_pywb_replays_the_page(tmp_path: Path) -> None:
    pytest.importorskip("pywb", reason="pywb is not installed: pip install pywb")
    from pywb.apps.frontendapp import FrontEndApp  # type: ignore[import-not-found]
    from werkzeug.test import Client  # type: ignore[import-not-found]

    path = tmp_path / "x.warc.gz"
    sample(path)
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        from pywb.manager.manager import main as wb_manager  # type: ignore[import-not-found]

        wb_manager(["init", "night"])
        wb_manager(["add", "night", str(path)])
        client = Client(FrontEndApp())
        for stamp in ("20240506070809", "20240507070809"):
            answer = client.get(f"/night/{stamp}id_/{PAGE.url}")
            assert answer.status_code == 200
            assert answer.data == PAGE.body
    finally:
        os.chdir(before)
