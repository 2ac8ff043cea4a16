"""A page that kills or hangs its parser costs that page, and is recorded."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time

import pytest

from resources.warehouse.parse import ParserPool, parse_domain
from resources.warehouse.storage.folder import FolderTables
from tests.warehouse.shop import DOMAIN, SITE, Shop, lamp_page

#: Cubic in the number of siblings: 4,000 take a minute.
SLOW = {**SITE, "items": {**SITE["items"], "thing": {"fields": {"x": "i:has(~ i ~ u)"}}}}
SLOW_PAGE = "<title>Slow</title>" + "<i></i>" * 6_000


def fill(shop: Shop) -> None:
    shop.site("shop", SLOW)
    for number in range(6):
        shop.put(f"/lamp/{number}", lamp_page(f"L{number}"))
    shop.put("/slow", SLOW_PAGE)


def check(shop: Shop, reason: str, url: str = f"https://{DOMAIN}/slow") -> None:
    shop.load()
    assert shop.rows("SELECT count(*) FROM pages") == [(7,)]
    assert shop.rows("SELECT count(*) FROM lamp") == [(6,)]
    assert shop.rows("SELECT title, text_length FROM pages WHERE url LIKE '%/slow'") == [(None, None)]
    assert shop.rows("SELECT url, reason FROM rejected_items") == [(url, reason)]


def test_a_page_that_hangs_is_given_up_and_the_others_are_parsed(shop: Shop) -> None:
    fill(shop)
    with ParserPool(shop.installation, shop.installation.catalog(), 1, page_timeout_s=3.0) as pool:
        report = parse_domain(shop.installation, DOMAIN, run_id="r1", pool=pool)
    assert [(url, reason) for url, reason, _ in report.lost] == [(f"https://{DOMAIN}/slow", "parser_hang")]
    check(shop, "parser_hang")
    # It is not tried again until the page, the parser or the site file changes.
    assert shop.parse("r2").parsed == 0


def test_a_page_that_kills_its_parser_is_recorded_and_the_others_are_parsed(shop: Shop) -> None:
    fill(shop)
    with ParserPool(shop.installation, shop.installation.catalog(), 1) as pool:

        def crash() -> None:
            """What a fault in native code looks like from outside, as soon as the slow page is being parsed."""
            while True:
                for child in list(pool._children):
                    page, since = child.position()
                    if page >= 0 and time.monotonic() - since > 1.5:
                        os.kill(child.process.pid, signal.SIGSEGV)
                        return
                time.sleep(0.02)

        thread = threading.Thread(target=crash)
        thread.start()
        report = parse_domain(shop.installation, DOMAIN, run_id="r1", pool=pool)
        thread.join()
    assert [(reason, "SIGSEGV" in detail) for _, reason, detail in report.lost] == [("parser_crash", True)]
    check(shop, "parser_crash")


def test_damaged_bodies_are_left_out_and_read_again_later(shop: Shop) -> None:
    shop.put("/lamp/1", lamp_page("L1"))
    shop.put("/lamp/2", lamp_page("L2"))
    with sqlite3.connect(shop.installation.pages) as database:
        database.execute("UPDATE pack SET data = zeroblob(length(data))")
    report = shop.night("r1")
    assert (report.parsed, report.missing) == (0, 2)
    shop.put("/lamp/2", lamp_page("L2", "£7.00"))
    report = shop.night("r2")
    assert (report.parsed, report.missing) == (1, 1)
    assert shop.rows("SELECT sku FROM lamp") == [("L2",)]


def test_what_a_failed_step_left_running_is_no_part_of_the_next(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(80):
        shop.put(f"/lamp/{number}", lamp_page(f"L{number}"))

    def fail(tables: FolderTables, files: object) -> None:
        raise OSError("no space left")

    with ParserPool(shop.installation, shop.installation.catalog(), 2) as pool:
        with monkeypatch.context() as patched:
            patched.setattr(FolderTables, "settle", fail)
            with pytest.raises(OSError, match="no space left"):
                parse_domain(shop.installation, DOMAIN, run_id="r1", pool=pool)
        report = parse_domain(shop.installation, DOMAIN, run_id="r2", pool=pool)
    assert (report.parsed, report.rows["pages"], report.items) == (80, 80, 80)
    shop.load()
    assert shop.rows("SELECT count(*), count(DISTINCT url) FROM pages") == [(80, 80)]
