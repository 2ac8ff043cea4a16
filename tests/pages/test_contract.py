"""What every page store promises."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from resources.pages.base import CorruptBody, Kind, PageStore
from resources.pages.open import open_pages
from tests.pages.backends import Backend, each
from tests.pages.samples import DOMAIN, article, version


def test_what_is_put_comes_back_whole(pages: PageStore) -> None:
    whole = version(
        "/a?x=%20",
        b"\x00\xff<p>",
        status=203,
        final_url="https://shop.example/b",
        run_id="run-1",
        depth=7,
        vary=(("Accept-Language", "de"),),
        requested_at=999.25,
        encoding="windows-1252",
        encoding_source="meta",
        verdict="wall/vendor",
        verdict_version="3",
        note='evidence: "\udcff" \N{SNOWMAN}',
        headers=(("X-A", ""), ("x-a", "caf\xe9"), ("X-A", "\udc80")),
    )
    pages.put([whole])
    assert pages.head(whole.head.key) == whole.head
    assert pages.body(whole.head) == whole.body


def test_an_empty_body_is_a_body(pages: PageStore) -> None:
    pages.put([version("/", b"")])
    (head,) = pages.scan(DOMAIN)
    assert pages.body(head) == b""


def test_bodies_come_in_the_order_they_are_asked_for(pages: PageStore) -> None:
    versions = [version(f"/{number}", b"%d " % number * 500) for number in range(40)]
    elsewhere = version("/0", b"elsewhere", domain="other.example")
    pages.put([*versions, elsewhere])
    asked = [*versions[::-3], elsewhere, *versions[5:8], version("/unknown")]
    found = list(pages.bodies([each.head for each in asked]))
    assert found == [*(each.body for each in asked[:-1]), None]
    assert list(pages.bodies([])) == []


def test_the_order_of_the_store_leaves_nobody_out(pages: PageStore) -> None:
    stored = [version(f"/{number}", article(number)) for number in range(6)]
    pages.put(stored[:4])
    pages.put(stored[4:])
    heads = [each.head for each in (*stored[::-1], version("/never", b"stored"))]
    ordered = pages.stored_order(heads)
    assert sorted(head.url for head in ordered) == sorted(head.url for head in heads)
    bodies = {each.head.url: each.body for each in stored}
    assert list(pages.bodies(ordered)) == [bodies.get(head.url) for head in ordered]


def test_an_unknown_page_is_none(pages: PageStore) -> None:
    unknown = version("/unknown").head
    assert pages.head(unknown.key) is None
    assert pages.heads([unknown.key]) == {}
    assert pages.history(unknown.key) == []
    with pytest.raises(KeyError):
        pages.body(unknown)
    assert list(pages.scan(DOMAIN)) == [] == list(pages.read(DOMAIN))
    assert pages.counts(DOMAIN) == (0, 0, 0)
    assert pages.forget(DOMAIN) == 0
    assert pages.domains() == []


def test_heads_are_found_by_the_batch(pages: PageStore) -> None:
    versions = [version(f"/{number}") for number in range(30)]
    pages.put(versions)
    keys = [each.head.key for each in versions]
    found = pages.heads([*keys[:20], version("/unknown").head.key, *keys[:1]])
    assert found == {each.head.key: each.head for each in versions[:20]}


def test_putting_the_same_again_changes_nothing(pages: PageStore) -> None:
    same = version("/a", article(1))
    pages.put([same])
    counts = pages.counts(DOMAIN)
    pages.put([same, same])
    pages.put([same])
    assert pages.counts(DOMAIN) == counts
    assert pages.history(same.head.key) == [same.head]


def test_one_body_under_many_urls_is_stored_once(pages: PageStore) -> None:
    pages.put([version("/a", article(1))])
    _, decoded, stored = pages.counts(DOMAIN)
    pages.put([version(f"/{number}", article(1)) for number in range(5)])
    assert pages.counts(DOMAIN) == (6, 6 * decoded, stored)


def test_a_new_body_keeps_when_the_page_was_first_seen(pages: PageStore) -> None:
    pages.put([version("/a", b"one", 100.0)])
    pages.put([version("/a", b"one", 200.0)])
    same = pages.head(version("/a").head.key)
    assert same is not None
    assert (same.fetched_at, same.first_seen_at, same.changed_at) == (200.0, 100.0, 100.0)
    pages.put([version("/a", b"two", 300.0)])
    changed = pages.head(same.key)
    assert changed is not None
    assert (changed.fetched_at, changed.first_seen_at, changed.changed_at) == (300.0, 100.0, 300.0)


def test_older_versions_are_kept_up_to_a_number(pages: PageStore) -> None:
    for at, body in enumerate((b"one", b"two", b"three"), 1):
        pages.put([version("/a", body, float(at))])
    history = pages.history(version("/a").head.key)
    assert [pages.body(head) for head in history] == [b"three", b"two"]
    assert [head.changed_at for head in history] == [3.0, 2.0]
    assert pages.prune(DOMAIN, 0) == 1
    pages.maintain(DOMAIN)
    assert pages.history(history[0].key) == history[:1]
    with pytest.raises(KeyError):
        pages.body(history[1])


def test_versions_of_one_url_in_one_batch_follow_each_other(pages: PageStore) -> None:
    pages.put([version("/a", b"one", 1.0), version("/b", b"x"), version("/a", b"two", 2.0)])
    assert [pages.body(head) for head in pages.history(version("/a").head.key)] == [b"two", b"one"]


def test_a_304_replaces_the_head_and_not_the_body(pages: PageStore) -> None:
    pages.put([version("/a", b"one", 100.0), version("/b", b"other")])
    head = pages.head(version("/a").head.key)
    assert head is not None
    fresh = replace(head, validated_at=900.0, headers=(("ETag", '"2"'),), verdict="ok")
    pages.touch([fresh])
    assert pages.head(head.key) == fresh
    assert pages.body(fresh) == b"one"
    assert pages.history(head.key) == [fresh]


def test_a_touch_that_comes_too_late_is_left_out(pages: PageStore) -> None:
    pages.put([version("/a", b"one")])
    late = pages.head(version("/a").head.key)
    assert late is not None
    pages.put([version("/a", b"two", 2000.0)])
    current = pages.head(late.key)
    pages.touch([late, version("/never put", domain="unknown.example").head])
    assert pages.head(late.key) == current
    assert pages.domains() == [DOMAIN]


@pytest.mark.parametrize("kind", [Kind.ROBOTS, Kind.SITEMAP, Kind.QUARANTINE])
def test_kinds_are_never_mixed(pages: PageStore, kind: Kind) -> None:
    page = version("/a", b"page")
    other = version("/a", b"other", kind=kind)
    pages.put([other])
    assert pages.head(page.head.key) is None
    pages.put([page])
    assert pages.head(page.head.key) == page.head
    assert pages.head(page.head.key, kind) == other.head
    assert list(pages.read(DOMAIN)) == [(page.head, b"page")]
    assert list(pages.read(DOMAIN, kind)) == [(other.head, b"other")]
    assert pages.counts(DOMAIN, kind)[:2] == (1, 5)


def test_a_scan_is_in_key_order_and_goes_on_after_a_key(pages: PageStore) -> None:
    versions = [version(f"/{number}") for number in range(40)]
    pages.put(versions)
    pages.put([version("/", domain="other.example")])
    ordered = sorted((each.head for each in versions), key=lambda head: head.key)
    assert list(pages.scan(DOMAIN)) == ordered
    assert list(pages.scan(DOMAIN, after=ordered[17].key)) == ordered[18:]
    assert list(pages.scan(DOMAIN, after=ordered[-1].key)) == []


def test_the_smallest_and_the_largest_key_are_scanned(pages: PageStore) -> None:
    heads = [replace(version().head, key=key) for key in (b"\0" * 16, b"\xff" * 16)]
    pages.put([replace(version(), head=head) for head in heads])
    assert [head.key for head in pages.scan(DOMAIN)] == [b"\0" * 16, b"\xff" * 16]
    assert [head.key for head in pages.scan(DOMAIN, after=b"\0" * 16)] == [b"\xff" * 16]


def test_new_pages_are_counted_and_their_different_bodies(pages: PageStore) -> None:
    assert pages.new_bodies(DOMAIN, 0.0) == (0, 0)
    pages.put([version("/old", b"old", at=1000.0), version("/robots.txt", b"-", at=2000.0, kind=Kind.ROBOTS)])
    pages.put(
        [version(f"/{n}", b"the same", at=2000.0) for n in range(3)] + [version("/4", b"other", at=2500.0)]
    )
    pages.put([version("/old", b"changed since", at=3000.0)])  # seen before, whatever it says now
    assert pages.new_bodies(DOMAIN, 2000.0) == (4, 2)
    assert pages.new_bodies(DOMAIN, 2000.5) == (1, 1)
    assert pages.new_bodies(DOMAIN, 0.0) == (5, 3)
    assert pages.new_bodies("unknown.example", 0.0) == (0, 0)


def test_the_store_may_be_written_during_a_scan(pages: PageStore) -> None:
    pages.put([version(f"/{number}") for number in range(20)])
    for head in pages.scan(DOMAIN):
        pages.touch([replace(head, validated_at=5000.0)])
    assert {head.validated_at for head in pages.scan(DOMAIN)} == {5000.0}


def test_shares_of_a_read_are_disjoint_and_complete(pages: PageStore) -> None:
    versions = [version(f"/{number}", article(number)) for number in range(50)]
    pages.put(versions)
    shares = [list(pages.read(DOMAIN, part=part, parts=3)) for part in range(3)]
    read = [(head.key, body) for share in shares for head, body in share]
    assert sorted(read) == sorted((each.head.key, each.body) for each in versions)


def test_bodies_before_and_after_a_dictionary_are_readable(pages: PageStore) -> None:
    versions = [version(f"/{number}", article(number)) for number in range(100)]
    for first in range(0, 100, 10):
        pages.put(versions[first : first + 10])
    for maintained in ({}, {"dense": False}, {"dense": True}):
        if maintained:
            pages.maintain(DOMAIN, **maintained)
        assert {head.key: body for head, body in pages.read(DOMAIN)} == {
            each.head.key: each.body for each in versions
        }
        assert all(pages.body(each.head) == each.body for each in versions[::7])
        assert pages.verify(DOMAIN) == []


def test_quarantine_brings_the_version_before_back(pages: PageStore) -> None:
    pages.put([version("/a", b"real", 1.0)])
    real = pages.head(version("/a").head.key)
    pages.put([version("/a", b"wall", 2.0)])
    wall = pages.head(version("/a").head.key)
    assert real is not None and wall is not None
    for _ in range(2):  # the second time there is nothing left to do
        pages.quarantine(wall, "challenge/vendor", "7", "a script and nothing else")
        assert pages.head(real.key) == real
        assert pages.history(real.key) == [real]
        (moved,) = pages.scan(DOMAIN, Kind.QUARANTINE)
        assert (moved.verdict, moved.verdict_version, moved.note) == (
            "challenge/vendor",
            "7",
            "a script and nothing else",
        )
        assert pages.body(moved) == b"wall"


def test_quarantine_of_the_only_version_leaves_no_page(pages: PageStore) -> None:
    pages.put([version("/a", b"wall")])
    pages.quarantine(version("/a", b"wall").head, "block", "7", "")
    assert pages.head(version("/a").head.key) is None
    assert list(pages.read(DOMAIN)) == []
    assert [body for _, body in pages.read(DOMAIN, Kind.QUARANTINE)] == [b"wall"]


def test_quarantine_of_an_older_version_keeps_the_current_one(pages: PageStore) -> None:
    pages.put([version("/a", b"wall", 1.0)])
    pages.put([version("/a", b"real", 2.0)])
    pages.quarantine(version("/a", b"wall", 1.0).head, "block", "7", "")
    assert [pages.body(head) for head in pages.history(version("/a").head.key)] == [b"real"]
    assert [body for _, body in pages.read(DOMAIN, Kind.QUARANTINE)] == [b"wall"]


def test_forget_deletes_a_domain_and_no_other(pages: PageStore) -> None:
    pages.put([version(f"/{number}", b"one") for number in range(3)])
    pages.put([version("/0", b"two", 2000.0), version("/robots.txt", b"r", kind=Kind.ROBOTS)])
    other = version("/0", b"one", domain="other.example")
    pages.put([other])
    assert pages.domains() == ["other.example", DOMAIN]
    assert pages.forget(DOMAIN) == 3
    assert pages.domains() == ["other.example"]
    assert pages.head(version("/0").head.key) is None
    assert pages.history(version("/0").head.key) == []
    assert list(pages.scan(DOMAIN, Kind.ROBOTS)) == []
    assert list(pages.read("other.example")) == [(other.head, b"one")]
    pages.put([version("/0", b"anew", 3000.0)])
    assert [head.first_seen_at for head in pages.scan(DOMAIN)] == [3000.0]


def test_a_head_must_be_about_its_body(pages: PageStore) -> None:
    with pytest.raises(ValueError, match="hash"):
        pages.put([replace(version("/a", b"one"), body=b"two")])
    with pytest.raises(ValueError, match="16 bytes"):
        pages.put([replace(version(), head=replace(version().head, key=b"short"))])
    assert pages.domains() == []


@each(durable_only=True)
def test_a_damaged_body_is_named_and_never_returned(backend: Backend, tmp_path: Path) -> None:
    place = backend.place(tmp_path)
    page = version("/a", article(1))
    writer = open_pages(place)
    writer.put([page])
    writer.close()
    assert backend.damage is not None
    backend.damage(place)
    pages = open_pages(place)
    with pytest.raises(CorruptBody, match=r"shop\.example/a .*fetch the page again"):
        pages.body(page.head)
    assert list(pages.read(DOMAIN)) == []
    assert list(pages.bodies([page.head])) == [None]
    assert pages.corrupt(DOMAIN) == [page.head]
    assert pages.verify(DOMAIN) == [page.head]
    pages.maintain(DOMAIN)
    assert pages.verify(DOMAIN) == [page.head]
    # Fetched again, with the same content: that repairs it.
    pages.put([page])
    assert pages.body(page.head) == page.body
    assert pages.corrupt(DOMAIN) == [] == pages.verify(DOMAIN)
    pages.close()


@each(durable_only=True)
@pytest.mark.parametrize("domain", ["../../up", "/etc", "a/b", "..", "", "con", "[::1]:80", "x" * 300])
def test_no_domain_can_leave_the_data_folder(backend: Backend, tmp_path: Path, domain: str) -> None:
    data = tmp_path / "data"
    data.mkdir()
    pages = backend.fresh(data)
    page = version("/", domain="shop.example")
    page = replace(page, head=replace(page.head, domain=domain))
    pages.put([page])
    assert pages.domains() == [domain]
    assert list(pages.read(domain)) == [(page.head, page.body)]
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    assert pages.forget(domain) == 1
    pages.close()
