"""Write, audit, publish: readers see only what passed, and never wait."""

from __future__ import annotations

import duckdb
import pytest

from resources.warehouse.connection import WarehouseError
from resources.warehouse.publish import diff, publish
from resources.warehouse.read import NothingPublished, domain_state, preview, published, table_counts, tables
from tests.warehouse.shop import DOMAIN, SITE, Shop, lamp_page

OTHER = "other.example"


def first_night(shop: Shop, count: int = 3) -> None:
    for number in range(count):
        shop.put(f"/lamp/{number}", lamp_page(f"L{number}"))
    shop.night("r1")
    publish(shop.installation)


def test_before_anything_is_published_a_reader_is_told_what_to_do(shop: Shop) -> None:
    with pytest.raises(NothingPublished, match="run a night"), published(shop.installation):
        pass
    with pytest.raises(WarehouseError, match="load a domain first"):
        publish(shop.installation)


def test_published_tables_are_complete_and_documented(shop: Shop) -> None:
    first_night(shop)
    assert set(tables(shop.installation)) >= {
        "pages", "links", "fetch_log", "failed_urls", "excluded_urls", "domains", "nights", "crawl_health",
        "structured_data", "rejected_items", "gone_pages", "lamp",
    }  # fmt: skip
    assert table_counts(shop.installation, DOMAIN)["lamp"] == 3
    with published(shop.installation) as connection:
        undocumented = connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = 'published' "
            "AND comment IS NULL"
        ).fetchall()
        assert undocumented == []
        columns = connection.execute(
            "SELECT column_name FROM duckdb_columns() WHERE table_name = 'pages' ORDER BY column_index"
        ).fetchall()
    assert [name for (name,) in columns] == [
        "url", "final_url", "domain", "depth", "status", "content_type", "encoding", "title", "description", "language",
        "canonical_url", "text_length", "content_hash", "body_bytes", "fetched_at", "first_seen_at", "changed_at",
        "run_id", "parser_version",
    ]  # fmt: skip


def test_a_reader_keeps_its_state_while_a_newer_one_is_published_and_the_next_sees_that(shop: Shop) -> None:
    first_night(shop)
    count = "SELECT count(*) FROM lamp"
    with published(shop.installation) as reader:
        assert reader.execute(count).fetchone() == (3,)
        shop.put("/lamp/9", lamp_page("L9"))
        shop.night("r2")
        publish(shop.installation)
        assert reader.execute(count).fetchone() == (3,)
        with published(shop.installation) as later:
            assert later.execute(count).fetchone() == (4,)


def test_readers_can_neither_write_nor_reach_files(shop: Shop) -> None:
    first_night(shop, 1)
    with published(shop.installation) as connection:
        for sql in ("DELETE FROM pages", "SELECT * FROM read_csv('/etc/passwd')", "COPY pages TO 'x.csv'",
                    "ATTACH 'y.duckdb'", "SET enable_external_access = true"):  # fmt: skip
            with pytest.raises(duckdb.Error):
                connection.execute(sql)


def test_a_domain_that_fails_keeps_its_rows_is_stale_and_does_not_hold_up_the_others(shop: Shop) -> None:
    shop.site("other", {"domains": [OTHER]})
    shop.put("/", "<title>Old</title>", domain=OTHER)
    first_night(shop)
    shop.parse("r1", OTHER)
    shop.load("r1", OTHER)
    publish(shop.installation)

    shop.put("/lamp/0", lamp_page("L0", "£9.00"))
    shop.put("/", "<title>New</title>", domain=OTHER)
    for domain in (DOMAIN, OTHER):
        shop.parse("r2", domain)
    shop.load("r2", DOMAIN, OTHER)
    report = publish(shop.installation, failed={DOMAIN: "canary: front page answers 403"})
    assert report.published == [OTHER]
    assert report.stale == {DOMAIN: "canary: front page answers 403"}
    with published(shop.installation) as connection:
        assert connection.execute("SELECT max(price) FROM lamp").fetchone() == (5,)
        assert connection.execute("SELECT title FROM pages WHERE domain = $1", [OTHER]).fetchone() == ("New",)
    state = domain_state(shop.installation, DOMAIN)
    assert state is not None and state.stale and state.stale_reason == "canary: front page answers 403"

    since = state.stale_since
    publish(shop.installation, failed={DOMAIN: "still"})
    again = domain_state(shop.installation, DOMAIN)
    assert again is not None and (again.stale_since, again.published_at) == (since, state.published_at)

    assert publish(shop.installation, [DOMAIN], force=[DOMAIN], failed={DOMAIN: "still"}).forced == [DOMAIN]
    state = domain_state(shop.installation, DOMAIN)
    assert state is not None and not state.stale and state.stale_reason is None
    with published(shop.installation) as connection:
        assert connection.execute("SELECT max(price) FROM lamp").fetchone() == (9,)


def test_a_domain_that_never_passed_has_no_rows_but_a_reason(shop: Shop) -> None:
    shop.put("/lamp/1", lamp_page("L1"))
    shop.night("r1")
    assert publish(shop.installation, failed={DOMAIN: "walled"}).withheld == {DOMAIN: "walled"}
    assert table_counts(shop.installation)["pages"] == 0
    state = domain_state(shop.installation, DOMAIN)
    assert state is not None and state.stale and state.published_at is None


def test_domains_not_asked_for_stay_as_they_are(shop: Shop) -> None:
    first_night(shop)
    shop.put("/lamp/0", lamp_page("L0", "£9.00"))
    shop.night("r2")
    assert publish(shop.installation, []).published == []
    with published(shop.installation) as connection:
        assert connection.execute("SELECT max(price) FROM lamp").fetchone() == (5,)


def test_the_audit_catches_a_changed_layout_and_names_it(shop: Shop) -> None:
    first_night(shop, 30)
    for number in range(30):
        shop.put(f"/lamp/{number}", f"<p class=new-sku>L{number}</p>")
    shop.night("r2")
    report = publish(shop.installation)
    assert {problem.rule for problem in report.problems[DOMAIN]} == {"rejects", "row_drop"}
    assert "lamp has 0 rows, 100% below" in report.stale[DOMAIN]
    assert table_counts(shop.installation)["lamp"] == 30
    assert table_counts(shop.installation)["rejected_items"] == 30  # what is wrong tonight can be looked up


def test_the_audit_catches_a_field_that_is_no_longer_filled(shop: Shop) -> None:
    first_night(shop, 30)
    for number in range(30):
        shop.put(f"/lamp/{number}", f"<p class=sku>L{number}</p>")
    shop.night("r2")
    (problem,) = publish(shop.installation).problems[DOMAIN]
    assert (problem.rule, problem.table) == ("field_coverage", "lamp")
    assert "lamp.price is filled in 0% of the rows, was in 100%" in problem.message


def test_the_difference_can_be_looked_at_before_publishing(shop: Shop) -> None:
    first_night(shop)
    shop.put("/lamp/0", lamp_page("L0", "£9.00"))
    shop.put("/lamp/7", lamp_page("L7"))
    shop.night("r2")
    lamp = {each.table: each for each in diff(shop.installation, DOMAIN)}["lamp"]
    assert (lamp.published, lamp.tonight, lamp.new, lamp.gone, lamp.changed) == (3, 4, 1, 0, 1)
    assert lamp.new_examples == [("L7",)]
    assert lamp.changed_examples == [(("L0",), "price", 5, 9)]
    publish(shop.installation)
    assert all((each.new, each.gone, each.changed) == (0, 0, 0) for each in diff(shop.installation, DOMAIN))


def test_a_field_added_later_shows_up_beside_rows_of_other_domains(shop: Shop) -> None:
    first_night(shop)
    fields = {**SITE["items"]["lamp"]["fields"], "heading": {"css": "title"}}
    shop.site("shop", {**SITE, "items": {"lamp": {**SITE["items"]["lamp"], "fields": fields}}})
    shop.night("r2")
    publish(shop.installation, failed={DOMAIN: "held back"})
    columns, rows = preview(shop.installation, "lamp")
    assert columns[-1] == "heading" and {row[-1] for row in rows} == {None}
    publish(shop.installation)
    assert {row[-1] for row in preview(shop.installation, "lamp")[1]} == {"Lamp L0", "Lamp L1", "Lamp L2"}
    with pytest.raises(NothingPublished, match="no published table 'lamps'"):
        preview(shop.installation, "lamps")
