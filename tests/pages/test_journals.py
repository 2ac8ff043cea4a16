"""Many slow domains on S3: few write requests, and a kill anywhere between them loses nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from resources.object_store.bucket import Bucket
from resources.pages.base import CorruptBody, Kind, PageStoreError
from resources.pages.s3 import S3Pages
from resources.pages.s3.journal import FOLDER
from tests.fleet.servers import s3_place
from tests.pages.samples import article, version

DOMAINS = [f"d{number}.example" for number in range(50)]


def batch(number: int, each: int = 2, domains: list[str] = DOMAINS) -> list[object]:
    """What two seconds at a page a second bring."""
    return [
        version(f"/{number}-{at}", article(number * each + at), float(number), domain=domain)
        for domain in domains
        for at in range(each)
    ]


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Requests by kind, of every bucket of this process."""
    counted: Counter[str] = Counter()
    for name in ("put", "names", "end", "range", "exists"):
        real = getattr(Bucket, name)

        def counting(self: Bucket, *words: object, _real=real, _name: str = name) -> object:  # type: ignore[no-untyped-def]
            counted[_name] += 1
            return _real(self, *words)

        monkeypatch.setattr(Bucket, name, counting)
    return counted


def left(place: str) -> list[str]:
    bucket = Bucket(place, PageStoreError)
    try:
        return [name for name, _ in bucket.names(FOLDER)]
    finally:
        bucket.close()


def test_a_thousand_pages_of_fifty_slow_domains_cost_some_thirty_writes(
    tmp_path: Path, requests: Counter[str]
) -> None:
    place = s3_place(tmp_path)
    pages = S3Pages(place)
    for number in range(30):
        pages.put(batch(number))  # type: ignore[arg-type]
    assert requests["put"] == 30
    # Each domain is looked for once; then nothing is listed or looked at.
    assert requests["names"] <= len(DOMAINS) + 10
    pages.close()
    assert requests["put"] <= 30 + len(DOMAINS)  # 27 for each 1,000 pages
    assert left(place) == []
    again = S3Pages(place)
    for number, domain in enumerate(DOMAINS[:3]):
        read = {head.url: body for head, body in again.read(domain)}
        assert len(read) == 60, number
        assert all(body == article(2 * n + at) for n in range(30) for at in range(2)
                   for body in [read[version(f"/{n}-{at}", domain=domain).head.url]])  # fmt: skip
    again.close()


def test_readers_see_what_is_in_journals_and_what_has_left_them(tmp_path: Path) -> None:
    place = s3_place(tmp_path)
    writer, reader = S3Pages(place), S3Pages(place)
    writer.put(batch(0))  # type: ignore[arg-type]
    assert reader.domains() == sorted(DOMAINS)
    assert len(list(reader.read(DOMAINS[7]))) == 2
    writer.put(batch(1))  # type: ignore[arg-type]
    writer.settle()
    (head,) = [each for each in reader.scan(DOMAINS[7]) if each.url.endswith("/0-1")]
    assert reader.body(head) == article(1)
    assert len(list(reader.read(DOMAINS[7]))) == 4
    writer.touch([head])
    assert reader.counts(DOMAINS[7])[0] == 4
    writer.close()
    assert left(place) == []
    assert reader.counts(DOMAINS[7])[0] == 4
    reader.close()


def test_versions_keep_their_order_when_they_leave_a_journal(tmp_path: Path) -> None:
    place = s3_place(tmp_path)
    first, second = S3Pages(place), S3Pages(place)
    first.put([version("/a", article(1), 1.0)])
    second.put([version("/a", article(2), 2.0)])
    first.settle()  # written later, and still the older version
    for store in (second, S3Pages(place)):
        head = next(iter(store.scan(version("/a").head.domain)))
        assert store.body(head) == article(2)
        assert head.first_seen_at == 1.0
        assert [store.body(each) for each in store.history(head.key)] == [article(2), article(1)]
        store.close()
    first.close()


def test_a_body_that_both_a_journal_and_a_later_page_have_stays(tmp_path: Path) -> None:
    pages = S3Pages(s3_place(tmp_path))
    pages.put([version("/a", article(1), 1.0)])
    pages.settle()
    pages.put([version("/b", article(1), 2.0)])  # refers to the body of /a
    pages.put([version("/a", article(2), 3.0)])
    pages.settle()
    pages.prune(version("/a").head.domain, 0)
    pages.maintain(version("/a").head.domain, dense=True)
    (b,) = [each for each in pages.scan(version("/a").head.domain) if each.url.endswith("/b")]
    assert pages.body(b) == article(1)
    pages.close()


def test_forgetting_and_quarantine_reach_into_journals(tmp_path: Path) -> None:
    place = s3_place(tmp_path)
    pages, other = S3Pages(place), S3Pages(place)
    pages.put(batch(0, domains=DOMAINS[:2]))  # type: ignore[arg-type]
    head = next(iter(pages.scan(DOMAINS[0])))
    pages.quarantine(head, "captcha", "1", "")
    assert other.forget(DOMAINS[1]) == 2
    pages.close()  # what the other has settled is not written again
    assert other.domains() == [DOMAINS[0]]
    assert other.counts(DOMAINS[0])[0] == 1
    assert other.counts(DOMAINS[0], Kind.QUARANTINE)[0] == 1
    other.close()


def test_a_damaged_body_keeps_its_journal(tmp_path: Path) -> None:
    place = s3_place(tmp_path)
    pages = S3Pages(place)
    pages.put([version("/a", article(1)), version("/b", article(2), domain=DOMAINS[1])])
    (name,) = left(place)
    bucket = Bucket(place, PageStoreError)
    data = bucket.get(name)
    bucket.put(name, bytes([data[0] ^ 1, *data[1:40], data[40] ^ 1]) + data[41:])
    bucket.close()
    other = S3Pages(place)
    other.maintain(version("/a").head.domain)
    head = next(iter(other.scan(version("/a").head.domain)))
    with pytest.raises(CorruptBody):
        other.body(head)
    assert len(list(other.read(DOMAINS[1]))) == 1
    other.close()
    pages.close()


#: Puts batches of all domains for ever and says after each that it is durable; settles now and then, and dies at a
#: named point if one is given.
WRITER = """
import os, signal, sys
from importlib import import_module
from resources.pages.s3 import S3Pages, store
from tests.pages.test_journals import batch
place, owner, name, when = sys.argv[1:]
store.SETTLE_BYTES = 400_000
if owner:
    module, _, of = owner.rpartition(":")
    holder = getattr(import_module(module), of)
    real, calls = getattr(holder, name), [0]
    def dying(*words, **more):
        calls[0] += 1
        if when == "after":
            real(*words, **more)
        if when == "before" or calls[0]:
            os.kill(os.getpid(), signal.SIGKILL)
    setattr(holder, name, dying)
pages = S3Pages(place)
for number in range(10_000):
    pages.put(batch(number))
    print(number + 1, flush=True)
"""
DOMAINS_MODULE = "resources.pages.s3.domains:Domains"


@pytest.mark.parametrize(
    ("owner", "name", "when"),
    [
        ("", "", ""),
        (DOMAINS_MODULE, "write", "after"),
        pytest.param(DOMAINS_MODULE, "write", "before", marks=pytest.mark.slow),
        pytest.param(DOMAINS_MODULE, "delete_journals", "before", marks=pytest.mark.slow),
        pytest.param(DOMAINS_MODULE, "delete_journals", "after", marks=pytest.mark.slow),
        pytest.param(DOMAINS_MODULE, "write_journal", "after", marks=pytest.mark.slow),
    ],
)
def test_a_kill_loses_no_page_of_any_domain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: str, name: str, when: str
) -> None:
    place = s3_place(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, place, owner, name, when],
        stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert process.stdout is not None
    promised = 0
    while promised < 8 and (line := process.stdout.readline()):
        promised = int(line)
    process.send_signal(signal.SIGKILL)
    process.wait()
    promised = max([promised, *(int(line) for line in process.stdout if line.endswith("\n"))])
    process.stdout.close()

    def check(store: S3Pages) -> None:
        for domain in DOMAINS[::7]:
            read = {head.url: body for head, body in store.read(domain)}
            for number in range(promised):
                for at in range(2):
                    assert read[version(f"/{number}-{at}", domain=domain).head.url] == article(
                        2 * number + at
                    )
            assert store.counts(domain)[0] == len(read) <= 2 * promised + 2

    pages = S3Pages(place)
    check(pages)
    for domain in DOMAINS:
        pages.maintain(domain)
    assert left(place) == []
    check(pages)
    assert all(not pages.verify(domain) for domain in DOMAINS[::7])
    pages.close()
    check(S3Pages(place))


@pytest.mark.parametrize("settled", [True, False], ids=["before", "just after journals were settled"])
@pytest.mark.parametrize("dense", [True, False])
def test_a_page_touched_in_a_journal_outlives_the_merging_of_its_packs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settled: bool, dense: bool
) -> None:
    """A touch does not tell a version whole: who deletes the pack that does has to repeat it."""
    place = s3_place(tmp_path)
    pages, worker = S3Pages(place), S3Pages(place)
    domain = "shop.example"
    stored = [version(f"/{number}", article(number), 1.0, domain=domain) for number in range(9 * 8)]
    for at in range(0, len(stored), 8):
        pages.put(stored[at : at + 8])  # a pack each
    for each in stored[:3]:
        worker.touch([replace(each.head, validated_at=50.0)])  # a journal each
    if not settled:
        monkeypatch.setattr(pages, "_settle_all", lambda domain: None)
    pages.maintain(domain, dense=dense)
    for store in (pages, S3Pages(place)):
        read = {head.url: (head.validated_at, body) for head, body in store.read(domain)}
        assert len(read) == len(stored)
        assert all(read[each.head.url] == (50.0, each.body) for each in stored[:3])
        assert all(read[each.head.url][1] == each.body for each in stored)
    worker.close()
    pages.close()
    again = S3Pages(place)
    assert again.counts(domain)[0] == len(stored) and not again.verify(domain)
    assert all(
        found is not None and found.validated_at == 50.0
        for found in (again.head(each.head.key, domain=domain) for each in stored[:3])
    )
