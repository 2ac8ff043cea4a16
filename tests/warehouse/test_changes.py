"""What publishing would change, of many domains at once: the same numbers as the thorough comparison of one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from resources.warehouse.publish import changes as module
from resources.warehouse.publish import diff, publish
from resources.warehouse.publish.changes import ColumnChange, TableChange, changes
from tests.warehouse.shop import DOMAIN, Shop, lamp_page

OTHER = "never-seen.example"


def found(shop: Shop, domains: Sequence[str] = (DOMAIN,)) -> dict[str, dict[str, TableChange]]:
    with shop.installation.open_tables().warehouse() as warehouse:
        published = warehouse.published()
        if published:
            warehouse.connection.execute(f"ATTACH '{published}' AS last_night (READ_ONLY)")
        told = changes(warehouse.connection, domains, "last_night" if published else None)
    return {domain: {each.table: each for each in tables} for domain, tables in told.items()}


def two_nights(shop: Shop) -> None:
    for number in range(6):
        shop.put(f"/lamp/{number}", lamp_page(f"L{number}"))
    shop.night("r1")
    publish(shop.installation)
    shop.put("/lamp/0", lamp_page("L0", "£9.00"))
    shop.put("/lamp/1", lamp_page("L1", "£8.00"))
    for number in range(6, 10):
        shop.put(f"/lamp/{number}", lamp_page(f"L{number}"))
    shop.put("/lamp/5", "<html><body>sold out</body></html>")
    shop.night("r2")


def test_numbers_are_those_of_the_thorough_comparison(shop: Shop) -> None:
    two_nights(shop)
    thorough = {each.table: each for each in diff(shop.installation, DOMAIN)}
    told = found(shop, [DOMAIN, OTHER])
    assert told[OTHER] == {}
    for table, each in told[DOMAIN].items():
        assert (each.published, each.tonight, each.new, each.gone, each.changed) == (
            thorough[table].published,
            thorough[table].tonight,
            thorough[table].new,
            thorough[table].gone,
            thorough[table].changed,
        ), table
    lamp = told[DOMAIN]["lamp"]
    assert lamp.new_keys == ("L6", "L7", "L8") and lamp.new == 4
    assert lamp.gone_keys == ("L5",)
    assert lamp.columns == (ColumnChange("price", 2, "L0", "5.0000", "9.0000"),)
    assert "content_hash" in {c.column for c in told[DOMAIN]["pages"].columns}


def test_after_publishing_nothing_differs(shop: Shop) -> None:
    two_nights(shop)
    publish(shop.installation, force=[DOMAIN])
    for each in found(shop)[DOMAIN].values():
        assert each.compared and not (each.new or each.gone or each.changed or each.columns)


def test_where_nothing_is_published_all_rows_are_new(shop: Shop) -> None:
    shop.put("/lamp/0", lamp_page("L0"))
    shop.night("r1")
    lamp = found(shop)[DOMAIN]["lamp"]
    assert (lamp.published, lamp.tonight, lamp.new, lamp.gone) == (0, 1, 1, 0)


def test_too_many_rows_are_counted_only(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    two_nights(shop)
    monkeypatch.setattr(module, "MOST_ROWS", 5)
    lamp = found(shop)[DOMAIN]["lamp"]
    assert not lamp.compared and (lamp.published, lamp.tonight, lamp.new) == (6, 9, 0)
