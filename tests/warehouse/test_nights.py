"""From the page store into the warehouse, night after night: only what changed changes."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from resources.frontier.base import Ack, FetchLogRow, State, Verdict
from resources.warehouse.load import load_domains
from resources.warehouse.parse import ParseError
from tests.frontier.samples import url
from tests.warehouse.shop import DOMAIN, SITE, Shop, lamp_page

DAY = 86_400.0
FIRST = datetime.fromtimestamp(1_700_000_000, UTC)
SECOND = datetime.fromtimestamp(1_700_000_000 + DAY, UTC)


def test_a_second_night_touches_only_pages_whose_body_changed(shop: Shop) -> None:
    for number in (1, 2, 3):
        shop.put(f"/lamp/{number}", lamp_page(f"L{number}"))
    assert shop.night("r1").parsed == 3
    assert shop.rows("SELECT count(*), count(DISTINCT url) FROM pages") == [(3, 3)]
    assert shop.rows("SELECT sku, price, price_currency, first_seen_at, changed_at FROM lamp ORDER BY 1") == [
        (f"L{number}", Decimal("5.0000"), "GBP", FIRST, FIRST) for number in (1, 2, 3)
    ]
    before = shop.rows("SELECT * FROM pages WHERE url NOT LIKE '%/2' ORDER BY url")
    links = shop.rows("SELECT count(*) FROM links")

    shop.put("/lamp/1", lamp_page("L1"))  # fetched again, the same
    shop.put("/lamp/2", lamp_page("L2", "£6.00"))
    report = shop.night("r2")
    assert (report.parsed, report.unchanged) == (1, 2)
    assert shop.rows("SELECT * FROM pages WHERE url NOT LIKE '%/2' ORDER BY url") == before
    assert shop.rows("SELECT first_seen_at, changed_at FROM pages WHERE url LIKE '%/2'") == [(FIRST, SECOND)]
    assert shop.rows("SELECT price, first_seen_at, changed_at, run_id FROM lamp WHERE sku = 'L2'") == [
        (Decimal("6.0000"), FIRST, SECOND, "r2")
    ]
    assert shop.rows("SELECT count(*) FROM links") == links

    shop.put("/lamp/2", lamp_page("L2", "£6.00", more="<p>New words.</p>"))
    shop.night("r3")
    # The page changed, the item did not.
    assert shop.rows("SELECT changed_at, run_id FROM lamp WHERE sku = 'L2'") == [(SECOND, "r3")]
    assert shop.night("r4").batch == ""


def test_a_load_that_is_asked_to_stop_leaves_what_it_did_not_come_to_for_the_next(shop: Shop) -> None:
    shop.put("/lamp/1", lamp_page("L1"))
    shop.parse("r1")
    stopped = load_domains(shop.installation, [DOMAIN], run_id="r1", go_on=lambda: False)
    assert stopped.domains == {}
    assert shop.rows("SELECT count(*) FROM pages") == [(0,)]
    assert shop.load("r2").domains[DOMAIN].error == ""
    assert shop.rows("SELECT count(*) FROM pages") == [(1,)]


def test_pages_that_are_gone_leave_the_tables_and_come_back(shop: Shop) -> None:
    for number in range(1, 6):
        shop.put(f"/lamp/{number}", lamp_page(f"L{number}"))
    shop.night("r1")
    shop.state("/lamp/1", State.FAILED, cause="http_404", status=404)
    shop.state("/lamp/2", State.FAILED, cause="read_timeout")
    shop.state("/lamp/3", State.EXCLUDED, cause="scope")
    shop.state("/lamp/4", State.DONE, status=301, cause="redirect")
    assert shop.night("r2").gone == 3
    left = "SELECT right(url, 1) FROM pages ORDER BY 1"
    assert shop.rows(left) == [("2",), ("5",)]
    assert shop.rows("SELECT sku FROM lamp ORDER BY 1") == [("L2",), ("L5",)]
    assert shop.rows("SELECT DISTINCT right(from_url, 1) FROM links ORDER BY 1") == [("2",), ("5",)]
    assert shop.rows("SELECT right(url, 1), reason, run_id FROM gone_pages ORDER BY 1") == [
        ("1", "http_404", "r2"), ("3", "excluded: scope", "r2"), ("4", "redirect", "r2"),
    ]  # fmt: skip
    assert shop.rows("SELECT cause FROM failed_urls ORDER BY 1") == [("http_404",), ("read_timeout",)]

    shop.state("/lamp/1", State.DONE, status=200)
    shop.put("/lamp/1", lamp_page("L1", "£9.00"))
    shop.night("r3")
    assert shop.rows(left) == [("1",), ("2",), ("5",)]
    assert shop.rows("SELECT count(*) FROM gone_pages") == [(2,)]


def test_an_item_on_two_pages_is_one_row_whatever_the_order_of_loading(shop: Shop) -> None:
    shop.put("/lamp/1-long-name", lamp_page("L1"))
    shop.night("r1")
    shop.put("/lamp/1", lamp_page("L1"))
    shop.night("r2")
    assert shop.rows("SELECT url, first_seen_at FROM lamp") == [(f"https://{DOMAIN}/lamp/1", FIRST)]
    assert shop.rows("SELECT url, reason, detail FROM rejected_items") == [
        (
            f"https://{DOMAIN}/lamp/1-long-name",
            "duplicate_key",
            f"the same key as the item on https://{DOMAIN}/lamp/1",
        )
    ]
    shop.state("/lamp/1", State.FAILED, cause="http_410")
    shop.night("r3")
    assert shop.rows("SELECT url FROM lamp") == [(f"https://{DOMAIN}/lamp/1-long-name",)]
    assert shop.rows("SELECT * FROM rejected_items") == []


def test_rejects_are_kept_with_what_was_found(shop: Shop) -> None:
    shop.put("/lamp/1", "<p class=price>£5.00</p>")
    shop.night("r1")
    assert shop.rows("SELECT item_type, field, reason, raw FROM rejected_items") == [
        ("lamp", "sku", "missing_required", '{"price": ["£5.00"]}')
    ]


def test_the_fetch_log_moves_into_the_tables_once(shop: Shop) -> None:
    frontier = shop.installation.open_frontier()
    frontier.enqueue([url("a"), url("b")], 1.0)
    claims = frontier.claim(DOMAIN, 2, "w", 60, 1.0)
    for claim in claims:
        row = FetchLogRow(claim.url, DOMAIN, "r1", "w", 1, 5.0, 2.5, 7.0, 200, "ok", wire_bytes=10)
        frontier.commit([Ack(claim, Verdict.DONE, 6.0, log=row)], 6.0)
    assert shop.load().log_rows == 2
    assert frontier.read_log(0, 10) == []
    assert shop.load().log_rows == 0
    frontier.close()
    assert shop.rows("SELECT count(*), min(ttfb_ms) FROM fetch_log") == [(2, 2.5)]
    assert shop.rows("SELECT requests, pages FROM crawl_health") == [(2, 2)]
    assert shop.rows("SELECT site, discovered, done, last_run_id FROM domains") == [("shop", 2, 2, "r1")]


def test_a_changed_site_file_parses_its_own_domains_again_and_no_others(shop: Shop) -> None:
    other = {"domains": ["other.example"]}
    shop.site("other", other)
    shop.put("/lamp/1", lamp_page("L1"))
    shop.put("/lamp/1", lamp_page("O1"), domain="other.example")
    shop.night("r1")
    shop.parse("r1", "other.example")
    shop.load("r1", "other.example")

    fields = {**SITE["items"]["lamp"]["fields"], "heading": {"css": "title"}}
    shop.site("shop", {**SITE, "items": {"lamp": {**SITE["items"]["lamp"], "fields": fields}}})
    assert shop.parse("r2", "other.example").parsed == 0
    assert shop.night("r2").parsed == 1
    assert shop.rows("SELECT heading, first_seen_at FROM lamp") == [("Lamp L1", FIRST)]


def test_a_column_that_changes_its_type_follows(shop: Shop) -> None:
    shop.put("/lamp/1", lamp_page("7"))
    shop.night("r1")
    fields = {**SITE["items"]["lamp"]["fields"], "sku": {"css": ".sku", "type": "integer", "required": True}}
    shop.site("shop", {**SITE, "items": {"lamp": {**SITE["items"]["lamp"], "fields": fields}}})
    shop.night("r2")
    assert shop.rows("SELECT sku, typeof(sku) FROM lamp") == [(7, "BIGINT")]


def test_force_parses_everything_to_equal_rows(shop: Shop) -> None:
    shop.put("/lamp/1", lamp_page("L1"))
    shop.night("r1")
    before = shop.rows("SELECT * FROM pages"), shop.rows("SELECT * EXCLUDE run_id FROM lamp")
    assert shop.night("r2", force=True).parsed == 1
    assert (shop.rows("SELECT * FROM pages"), shop.rows("SELECT * EXCLUDE run_id FROM lamp")) == before


def test_a_warehouse_that_was_deleted_is_made_again_from_the_page_store(shop: Shop) -> None:
    shop.put("/lamp/1", lamp_page("L1"))
    shop.night("r1")
    (shop.installation.tables_folder / "warehouse.duckdb").unlink()
    assert shop.night("r2").parsed == 1
    assert shop.rows("SELECT sku FROM lamp") == [("L1",)]


def test_two_sites_may_fill_one_type_and_what_they_type_differently_is_text(shop: Shop) -> None:
    other = "other.example"
    fields = {"sku": {"css": ".sku", "required": True}, "price": {"css": ".price"}, "note": {"css": "title"}}
    shop.put("/lamp/1", lamp_page("L1"))
    shop.night("r1")
    shop.site(
        "other",
        {"domains": [other], "items": {"lamp": {"match": "/lamp/*", "key": ["sku"], "fields": fields}}},
    )
    shop.put("/lamp/1", lamp_page("L1", "five"), domain=other)
    shop.parse("r2", other)
    report = shop.load("r2", other)
    assert report.warnings and "lamp.price" in report.warnings[0]
    assert shop.rows("SELECT domain, price, price_currency, note FROM lamp ORDER BY 1") == [
        (other, "five", None, "Lamp L1"), (DOMAIN, "5.0000", "GBP", None),
    ]  # fmt: skip


def test_a_retired_site_keeps_its_rows_and_is_not_parsed(shop: Shop) -> None:
    shop.put("/lamp/1", lamp_page("L1"))
    shop.night("r1")
    shop.retire("shop")
    with pytest.raises(ParseError, match="no site file covers"):
        shop.parse("r2")
    shop.load("r2")
    assert shop.rows("SELECT site, pages FROM domains") == [(None, 1)]
    assert shop.rows("SELECT sku FROM lamp") == [("L1",)]
