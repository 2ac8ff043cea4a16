"""A page that crashes or hangs the native parser costs that page: real processes, really killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from resources.crawler.order import CrawlOrder
from resources.crawler.parser_guard import ParserChild, ParserGuard, ParserLost, ParseSlot, culprits
from resources.crawler.read_page import ReadTask
from resources.crawler.session import CrawlSession
from resources.frontier.base import State
from resources.installation import Installation
from resources.pages.base import Kind
from resources.site.catalog import Catalog
from resources.site.load import load_site_text
from resources.web.suspicion import suspicious
from resources.web.urls import UrlPolicy, key
from tests.fetcher.hostile_zoo.keeper import Beast, Cage, Visit, ordinary, response

PAGE = ordinary("page", ("/one", "/two"))
#: As deep as is let through: takes half a second and more.
SLOW = b"<html><body>" + b"<div>" * 22_000
#: One that is cut before the parser sees it, where it takes ten seconds.
ATTRIBUTES = b"<html><body><a href=/kept>x</a><p " + b" ".join(b"a%d=1" % n for n in range(60_000)) + b">"
KEY = bytes(range(16))


def task(markup: bytes, *, frames: bool = False) -> ReadTask:
    return ReadTask(
        markup, "utf-8", "header", "http://shop.example/", 200, (("content-type", "text/html"),), "shop.example",
        UrlPolicy(), "bot", True, frames,
    )  # fmt: skip


# -- who is suspicious -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("what", "markup", "expected"),
    [
        ("an ordinary page", PAGE, False),
        ("a long document", b"<html>" + b"<div><p>text and <b>more</b> text<br></p></div>" * 4000, False),
        ("an empty body", b"", False),
        ("a page of two megabytes", b"<p>text</p>" * 200_000, False),
        ("a page of four megabytes", b"<p>text</p>" * 400_000, True),
        ("tens of thousands of attributes", ATTRIBUTES, True),
        ("an unclosed comment", b"<!--" + b"x" * 60_000, True),
        ("an unclosed comment behind text", b"<p>" + b"x" * 60_000 + b"<!--" + b"x" * 60_000, True),
        ("long text without a tag", b"<html><pre>" + b"0 | 1 | 2\n" * 9_000 + b"</pre>", False),
        ("long text with signs", b"<html><pre>" + b"1 < 2\n" * 900 + b"x" * 60_000 + b"</pre>", False),
        ("a list without end tags", b"<ul>" + b"<li><p>one<br>two" * 4000, False),
        ("depth", b"<div>" * 20_000, True),
        ("formatting left open", b"".join(b"<b id=%d>x" % n for n in range(5_000)), True),
    ],
)
def test_suspicion(what: str, markup: bytes, expected: bool) -> None:
    assert suspicious(markup) is expected, what


# -- the slot ----------------------------------------------------------------------------------------------
DYING = """
import os, signal, sys
from pathlib import Path
from resources.crawler.parser_guard import ParseSlot
slot = ParseSlot(Path(sys.argv[1]))
slot.enter(bytes(range(16)))
if sys.argv[2] == "after":
    slot.leave()
os.kill(os.getpid(), signal.SIGSEGV)
"""


@pytest.mark.parametrize(("moment", "found"), [("during", [KEY]), ("after", [])])
def test_the_page_at_which_a_process_died_is_found_once(
    tmp_path: Path, moment: str, found: list[bytes]
) -> None:
    ended = subprocess.run([sys.executable, "-c", DYING, str(tmp_path), moment], check=False)
    assert ended.returncode == -signal.SIGSEGV
    assert culprits(tmp_path) == found
    assert culprits(tmp_path) == []


def test_a_living_process_is_no_culprit(tmp_path: Path) -> None:
    slot = ParseSlot(tmp_path)
    slot.enter(KEY)
    assert culprits(tmp_path) == []
    slot.close()
    assert culprits(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


# -- the child ---------------------------------------------------------------------------------------------
@pytest_asyncio.fixture
async def child() -> AsyncIterator[ParserChild]:
    child = ParserChild(page_s=20.0)
    yield child
    await child.close()


async def test_a_page_read_apart_reads_the_same(child: ParserChild) -> None:
    page = await child.read(task(PAGE))
    assert page.links == ["http://shop.example/one", "http://shop.example/two"]
    assert page.follow
    assert not page.verdict.blocked


async def test_a_page_that_hangs_is_given_up_and_the_next_is_read(child: ParserChild) -> None:
    await child.read(task(PAGE))
    child.page_s = 0.05
    with pytest.raises(ParserLost, match=r"took longer than 0\.05 s"):
        await child.read(task(SLOW))
    child.page_s = 20.0
    assert (await child.read(task(PAGE))).links
    assert child.started == 2


async def test_a_page_that_crashes_is_given_up_and_the_next_is_read(child: ParserChild) -> None:
    await child.read(task(PAGE))
    reading = asyncio.create_task(child.read(task(SLOW)))
    await asyncio.sleep(0.1)
    process = child._process
    assert process is not None
    os.kill(process.pid, signal.SIGSEGV)
    with pytest.raises(ParserLost, match="SIGSEGV"):
        await reading
    assert (await child.read(task(PAGE))).links


async def test_a_page_that_takes_too_much_memory_is_given_up() -> None:
    child = ParserChild(memory=400 << 20)
    try:
        await child.read(task(PAGE))
        with pytest.raises(ParserLost):
            await child.read(task(b"<p>x</p>" * 1_200_000))
        assert (await child.read(task(PAGE))).links
    finally:
        await child.close()


async def test_frames_feed_the_crawl_only_where_the_site_file_says_so(child: ParserChild) -> None:
    markup = b"<html><body><a href=/a>a</a><iframe src=/inner#x></iframe></body></html>"
    assert (await child.read(task(markup))).links == ["http://shop.example/a"]
    framed = await child.read(task(markup, frames=True))
    assert framed.links == ["http://shop.example/a", "http://shop.example/inner"]


# -- whom the guard trusts ---------------------------------------------------------------------------------
def work(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_a_domain_with_a_slow_page_is_not_trusted_again() -> None:
    guard = ParserGuard(suspects=[KEY])
    other = bytes(16)
    assert guard.distrusts(KEY, "shop.example", PAGE)
    assert not guard.distrusts(other, "shop.example", PAGE)
    guard.here(other, "shop.example", len(PAGE), lambda: time.sleep(0.3))
    assert not guard.distrusts(other, "shop.example", PAGE)  # a busy machine is no reason
    guard.here(other, "shop.example", len(PAGE), lambda: work(0.3))
    assert guard.distrusts(other, "shop.example", PAGE)
    assert not guard.distrusts(other, "books.example", PAGE)


# -- the crawl ---------------------------------------------------------------------------------------------
def installed(tmp_path: Path, cage: Cage) -> tuple[Installation, Catalog]:
    text = f"""
name: shop
domains: ["{cage.domain}"]
seeds: ["{cage.origin}/"]
sitemaps: off
identity: {{user_agent: "visitor/1.0 (+https://visitor.example)"}}
allow_private_addresses: ["127.0.0.0/8"]
pace: {{rate: unlimited}}
"""
    site, problems = load_site_text(text, "shop.yaml")
    assert site is not None, problems
    return Installation.at(tmp_path), Catalog([site])


async def hanging(visit: Visit) -> None:
    await visit.send(response(SLOW))


async def honest(visit: Visit) -> None:
    await visit.send(response(PAGE))


async def test_the_crawl_records_the_page_keeps_its_body_and_goes_on(tmp_path: Path) -> None:
    cage = Cage(Beast("hanging", hanging, frozenset(), tame=True))
    async with cage.open():
        installation, catalog = installed(tmp_path, cage)
        async with CrawlSession(installation, "run-1", catalog=catalog) as session:
            session.guard.child.page_s = 0.05
            await session.seed([cage.domain])
            [report] = await session.crawl(CrawlOrder((cage.domain,), "run-1"))
            frontier, pages = session.storage.frontier, session.storage.pages
            record = await session.storage.run(frontier.get, key(cage.url))
            aside = await session.storage.run(pages.head, key(cage.url), Kind.QUARANTINE)
    assert report.end == "finished"
    assert report.ok == 4
    assert record is not None and aside is not None
    assert (record.state, record.cause) == (State.FAILED, "parser_crash")
    assert aside.body_bytes == len(SLOW)


async def odd(visit: Visit) -> None:
    await visit.send(response(ATTRIBUTES))


async def test_a_page_that_would_take_too_long_is_read_to_there_and_the_log_says_so(tmp_path: Path) -> None:
    cage = Cage(Beast("odd", odd, frozenset(), tame=True))
    async with cage.open():
        installation, catalog = installed(tmp_path, cage)
        async with CrawlSession(installation, "run-1", catalog=catalog) as session:
            await session.seed([cage.domain])
            [report] = await session.crawl(CrawlOrder((cage.domain,), "run-1"))
            frontier = session.storage.frontier
            log = [row for _, row in await session.storage.run(frontier.read_log, 0, 1000)]
            linked = await session.storage.run(frontier.get, key(f"{cage.origin}/kept"))
    assert report.end == "finished"
    assert linked is not None
    (row,) = [row for row in log if row.url == cage.url]
    assert row.outcome == "ok"
    assert row.rule.startswith("markup not read from octet 31 on: too many attributes")


def die_while_parsing(page: bytes, folder: Path) -> None:
    script = DYING.replace("bytes(range(16))", f"bytes.fromhex({page.hex()!r})")
    subprocess.run([sys.executable, "-c", script, str(folder), "during"], check=False)


async def test_a_page_at_which_a_process_died_is_read_apart_next_time(tmp_path: Path) -> None:
    """A kill -9 may strike during the parse of an innocent page: it is suspected, and not lost."""
    cage = Cage(Beast("honest", honest, frozenset(), tame=True))
    async with cage.open():
        installation, catalog = installed(tmp_path, cage)
        die_while_parsing(key(cage.url), tmp_path / "parsing")
        for night in (1, 2):
            async with CrawlSession(installation, f"run-{night}", catalog=catalog) as session:
                assert session.guard.suspects == {key(cage.url)}
                await session.seed([cage.domain], force=True)
                await session.crawl(CrawlOrder((cage.domain,), f"run-{night}"))
                record = await session.storage.run(session.storage.frontier.get, key(cage.url))
                assert session.guard.child.started == 1
            assert record is not None and record.state is State.DONE
