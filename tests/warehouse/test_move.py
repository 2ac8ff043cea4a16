"""Tables move to an object store and back, with what stored pages could not give again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resources.object_store.bucket import Bucket
from resources.warehouse.connection import WarehouseError
from resources.warehouse.publish import publish
from resources.warehouse.read import table_counts
from resources.warehouse.storage import head, objects
from resources.warehouse.storage.move import TablesMoved, move_tables
from tests.fleet.servers import s3_place
from tests.warehouse.shop import DOMAIN, Shop, lamp_page

#: With the instants at which each was first seen and last changed.
LAMPS = "SELECT * FROM lamp ORDER BY ALL"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    """Two nights, in which a price has changed."""
    made = Shop(tmp_path / "a")
    made.put("/lamp/1", lamp_page("L1"))
    made.put("/lamp/2", lamp_page("L2"))
    made.night("r1")
    made.put("/lamp/2", lamp_page("L2", "£6.00"))
    made.night("r2")
    publish(made.installation)
    yield made
    made.close()


def move(shop: Shop, tables: str) -> TablesMoved:
    """As `nightcrawl move --tables` does; the shop is set to the new place."""
    target = replace(shop.installation, tables=tables)
    moved: Any = move_tables(shop.installation.open_tables(), target.open_tables(), [DOMAIN, "none.example"])
    shop.close()
    shop.installation = target
    return moved


def everything(shop: Shop) -> dict[str, int]:
    names = shop.rows("SELECT schema_name || '.' || table_name FROM duckdb_tables() ORDER BY 1")
    return {name: shop.rows(f"SELECT count(*) FROM {name}")[0][0] for (name,) in names}


@pytest.mark.slow
@pytest.mark.parametrize("back", ["the same folder", "another folder"])
def test_there_and_back_with_nothing_parsed_again(shop: Shop, tmp_path: Path, back: str) -> None:
    home, before, lamps = shop.installation.tables, everything(shop), shop.rows(LAMPS)
    moved = move(shop, s3_place(tmp_path))
    assert (moved.rows, moved.domains) == (sum(before.values()), 1)
    assert everything(shop) == before and shop.rows(LAMPS) == lamps
    assert table_counts(shop.installation)["lamp"] == 2
    assert shop.night("r3").unchanged == 2  # the index went along

    place = home if back == "the same folder" else str(tmp_path / "elsewhere")
    before = everything(shop)
    assert move(shop, place).rows == sum(before.values())
    assert everything(shop) == before and [row[:3] for row in shop.rows(LAMPS)] == [row[:3] for row in lamps]
    assert table_counts(shop.installation)["lamp"] == 2
    assert shop.night("r4").unchanged == 2


def test_what_is_in_the_way_is_said_and_changes_nothing(shop: Shop, tmp_path: Path) -> None:
    place = s3_place(tmp_path)
    shop.put("/lamp/3", lamp_page("L3"))
    shop.parse("r3")
    with pytest.raises(WarehouseError, match="1 parsed batches are in no table yet"):
        move(shop, place)
    shop.load("r3")
    with pytest.raises(WarehouseError, match="tables move between a folder and an object store"):
        move(shop, str(tmp_path / "other"))
    home = shop.installation.tables
    move(shop, place)
    shop.installation = replace(shop.installation, tables=home)
    with pytest.raises(WarehouseError, match="has tables already"):
        move(shop, place)


def test_interrupted_it_counts_for_nothing_and_can_be_done_again(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, home = s3_place(tmp_path), shop.installation.tables
    with monkeypatch.context() as patch:

        def torn(self: objects.ObjectTables, name: str, path: Path) -> int:
            raise KeyboardInterrupt

        patch.setattr(objects.ObjectTables, "download", torn)
        with pytest.raises(KeyboardInterrupt):
            move(shop, place)
    bucket = Bucket(place, WarehouseError)
    assert head.read_head(bucket)[0].warehouse == ""
    bucket.close()
    assert shop.installation.tables == home
    assert move(shop, place).tables > 5
    assert table_counts(shop.installation)["lamp"] == 2
