"""Pages out into a WARC and in again: identical, damage told, nothing else taken."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from resources.archive.export import export_warc
from resources.archive.intake import IntakeReport, import_warc
from resources.crawler.territory import Territory
from resources.frontier.base import Source, State
from resources.installation import Installation
from resources.pages.base import Kind, PageHead
from resources.web.urls import key
from resources.web.warc import Exchange, WarcWriter, read_warc, records_for
from tests.cli.stored_pages import AT, DOMAIN, Stored, store

SITE = "domains: [shop.example]\nscope: {exclude: [/private/*]}\n"
HTML = (("Content-Type", "text/html; charset=utf-8"),)


def installation_at(folder: Path) -> Installation:
    (folder / "sites").mkdir(parents=True)
    (folder / "sites" / "shop.yaml").write_text(SITE)
    return Installation.at(folder / "data", folder / "sites").prepare()


def take_in(installation: Installation, path: Path, *, salvage: bool = True) -> IntakeReport:
    frontier, pages = installation.open_frontier(), installation.open_pages()
    try:
        return import_warc(path, frontier, pages, Territory(installation.catalog()), "run", salvage=salvage)
    finally:
        frontier.close()
        pages.close()


def contents(installation: Installation) -> dict[str, tuple[PageHead, bytes]]:
    pages = installation.open_pages()
    try:
        return {head.url: (head, pages.body(head)) for head in pages.scan(DOMAIN)}
    finally:
        pages.close()


def archive(path: Path, *exchanges: Exchange) -> Path:
    with path.open("wb") as file:
        writer = WarcWriter(file)
        for exchange in exchanges:
            writer.write_all(records_for(exchange))
    return path


def answer(
    url: str, body: bytes = b"<p>hello", status: int = 200, at: float = AT, **more: object
) -> Exchange:
    return Exchange(url, datetime.fromtimestamp(at, UTC), status, HTML, body, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["out.warc", "out.warc.gz"])
def test_what_is_exported_reads_back_identical(tmp_path: Path, name: str) -> None:
    here, there = installation_at(tmp_path / "a"), installation_at(tmp_path / "b")
    store(
        here,
        Stored("/", b"<html><title>Shop</title>" + "ü".encode() * 100),
        Stored("/same", b"<html><title>Shop</title>" + "ü".encode() * 100),
        Stored("/bin", bytes(range(256)), headers=(("Content-Type", "image/png"), ("X-Odd", "b\xe4h"))),
        Stored("/new", b"<p>old"),
        Stored("/new", b"<p>new", AT + 100),
    )
    pages = here.open_pages()
    report = export_warc(pages, [DOMAIN], tmp_path / name, software="test")
    pages.close()
    assert report.problems == [] and report.revisits == 1
    found = take_in(there, tmp_path / name)
    assert found.damage == [] and found.skipped == {}
    before, after = contents(here), contents(there)
    assert before.keys() == after.keys()
    for url, (head, body) in before.items():
        assert after[url][1] == body
        assert (after[url][0].headers, after[url][0].fetched_at) == (head.headers, head.fetched_at)
    frontier = there.open_frontier()
    counts = frontier.counts(DOMAIN)
    record = frontier.get(key(f"http://{DOMAIN}/"))
    frontier.close()
    assert counts.done == counts.discovered == 4
    assert record is not None and record.source is Source.WARC and record.due_at is not None


def test_the_same_file_twice_changes_nothing(tmp_path: Path) -> None:
    there = installation_at(tmp_path)
    path = archive(tmp_path / "x.warc.gz", answer("http://shop.example/a"), answer("http://shop.example/b"))
    take_in(there, path)
    before = contents(there)
    take_in(there, path)
    assert contents(there) == before


def test_an_older_capture_never_replaces_a_newer_one(tmp_path: Path) -> None:
    there = installation_at(tmp_path)
    take_in(there, archive(tmp_path / "new.warc", answer("http://shop.example/a", b"<p>new", at=AT + 9)))
    found = take_in(there, archive(tmp_path / "old.warc", answer("http://shop.example/a", b"<p>old")))
    assert found.older == 1 and contents(there)["http://shop.example/a"][1] == b"<p>new"


def test_each_kind_of_answer_becomes_what_a_crawl_would_have_made_of_it(tmp_path: Path) -> None:
    there = installation_at(tmp_path)
    path = archive(
        tmp_path / "x.warc.gz",
        answer("http://SHOP.example:80/page"),
        answer("http://shop.example/gone", status=404),
        Exchange(
            "http://shop.example/moved", datetime.fromtimestamp(AT, UTC), 301, (("Location", "/page"),), b""
        ),
        answer("http://shop.example/cut", truncated="length"),
        answer("http://shop.example/private/x"),
        answer("http://other.example/"),
        Exchange(
            "http://shop.example/badzip",
            datetime.fromtimestamp(AT, UTC),
            200,
            (*HTML, ("Content-Type", "x")),
            b"ok",
        ),
    )
    found = take_in(there, path)
    assert (found.pages, found.redirects, found.failed) == (2, 1, 2)
    assert sum(found.skipped.values()) == 2 and "no site file covers other.example" in found.skipped
    frontier = there.open_frontier()
    states = {u: (r.state, r.cause) for u in ("page", "gone", "moved", "cut")
              if (r := frontier.get(key(f"http://shop.example/{u}"))) is not None}  # fmt: skip
    frontier.close()
    assert states == {
        "page": (State.DONE, ""), "gone": (State.FAILED, "http_404"), "moved": (State.DONE, "redirect"),
        "cut": (State.FAILED, "truncated"),
    }  # fmt: skip


def test_a_wall_is_kept_aside_and_no_page(tmp_path: Path) -> None:
    there = installation_at(tmp_path)
    wall = (
        b"<html><head><title>Just a moment...</title></head><body><h1>Checking your browser before accessing</h1>"
        b"<script src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1'></script></body></html>"
    )
    path = tmp_path / "x.warc"
    headers = (*HTML, ("Server", "cloudflare"), ("cf-mitigated", "challenge"))
    archive(path, Exchange("http://shop.example/", datetime.fromtimestamp(AT, UTC), 200, headers, wall))
    found = take_in(there, path)
    assert (found.pages, found.walls) == (0, 1) and contents(there) == {}
    pages = there.open_pages()
    assert pages.head(key("http://shop.example/"), Kind.QUARANTINE) is not None
    pages.close()


def test_bad_files_lose_nothing_that_is_whole(tmp_path: Path) -> None:
    whole = archive(
        tmp_path / "x.warc.gz", *(answer(f"http://shop.example/{n}", b"<p>%d" % n) for n in range(9))
    )
    data = whole.read_bytes()
    records = [r.offset for r in read_warc(whole.open("rb"))]  # type: ignore[union-attr]
    torn = tmp_path / "torn.warc.gz"
    torn.write_bytes(data[: records[-1] + 5])
    found = take_in(installation_at(tmp_path / "a"), torn)
    assert found.pages == 8 and len(found.damage) == 1 and f"byte {records[-1]}" in found.damage[0]
    middle = tmp_path / "middle.warc.gz"
    middle.write_bytes(data[: records[4]] + b"garbage" + data[records[5] :])
    assert take_in(installation_at(tmp_path / "b"), middle).pages == 8
    assert take_in(installation_at(tmp_path / "c"), middle, salvage=False).pages == 4
    nothing = tmp_path / "nothing.warc"
    nothing.write_bytes(b"not an archive at all")
    assert take_in(installation_at(tmp_path / "d"), nothing).records == 0
