"""Moving pages between back-ends: all of them, as they were; interrupted, it goes on; damage is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from resources.pages.base import Kind, PageStore, PageStoreError
from resources.pages.move import move_pages
from resources.pages.open import open_pages
from tests.fleet.servers import s3_place
from tests.pages.backends import BACKENDS
from tests.pages.samples import article, version

NEWS = "news.example"
LOCAL = ("sqlite", "files")


def place(name: str, folder: Path) -> str:
    folder.mkdir()
    (backend,) = (each for each in BACKENDS if each.name == name)
    return backend.place(folder)


def fill(pages: PageStore) -> None:
    pages.put([version(f"/{n}", article(n), at=10.0 + n, note=f"n{n}") for n in range(40)])
    pages.put([version("/3", article(77), at=99.0)])  # a second version
    pages.put([version("/robots.txt", b"User-agent: *", kind=Kind.ROBOTS)])
    pages.put([version("/", b"", domain=NEWS, status=404), version("/wall", b"<h1>Stop</h1>", domain=NEWS)])
    pages.quarantine(next(h for h in pages.scan(NEWS) if h.url.endswith("/wall")), "block", "1", "seen")


def contents(pages: PageStore) -> dict[tuple[str, Kind, bytes], tuple[object, bytes]]:
    return {
        (domain, kind, head.key): (head, body)
        for domain in pages.domains()
        for kind in Kind
        for head, body in pages.read(domain, kind)
    }


@pytest.mark.parametrize("source", [*LOCAL, "s3"])
@pytest.mark.parametrize("target", [*LOCAL, "s3"])
def test_all_pages_arrive_as_they_were_and_a_second_move_writes_none(
    tmp_path: Path, source: str, target: str
) -> None:
    here, there = open_pages(place(source, tmp_path / "a")), open_pages(place(target, tmp_path / "b"))
    fill(here)
    before = contents(here)
    moved = {each.domain: each for each in move_pages(here, there)}
    assert {domain: (each.pages, each.written) for domain, each in moved.items()} == {
        "shop.example": (41, 41),
        NEWS: (2, 2),
    }
    assert contents(there) == contents(here) == before
    again = list(move_pages(here, there))
    assert [each.written for each in again] == [0, 0]
    assert {each.digest for each in again} == {each.digest for each in moved.values()}
    here.close()
    there.close()


def test_an_interrupted_move_goes_on_with_what_is_missing(tmp_path: Path) -> None:
    here, there = open_pages(place("sqlite", tmp_path / "a")), open_pages(s3_place(tmp_path))
    fill(here)
    there.put([version(f"/{n}", article(n), at=10.0 + n, note=f"n{n}") for n in range(35)])
    (shop,) = [each for each in move_pages(here, there) if each.domain == "shop.example"]
    assert (shop.pages, shop.written) == (41, 7)  # five, the second version and robots.txt
    assert contents(there) == contents(here)
    here.close()
    there.close()


def test_a_damaged_body_is_told_and_the_rest_moves(tmp_path: Path) -> None:
    (files,) = (each for each in BACKENDS if each.name == "files")
    where = place("files", tmp_path / "a")
    here = open_pages(where)
    here.put([version("/bad", b"<h1>Bad</h1>" * 9)])
    here.close()
    assert files.damage is not None
    files.damage(where)
    here, there = open_pages(where), open_pages(place("sqlite", tmp_path / "b"))
    here.put([version("/good", b"<h1>Good</h1>" * 9)])
    (moved,) = move_pages(here, there)
    assert (moved.pages, moved.written) == (1, 1)
    assert moved.damaged == ["https://shop.example/bad"]
    here.close()
    there.close()


def test_a_page_that_is_only_over_there_is_not_taken_for_success(tmp_path: Path) -> None:
    here, there = open_pages(place("sqlite", tmp_path / "a")), open_pages(place("files", tmp_path / "b"))
    here.put([version("/a", b"a")])
    there.put([version("/b", b"b")])
    with pytest.raises(PageStoreError, match="1 pages here and 2 there"):
        list(move_pages(here, there))
    here.close()
    there.close()
