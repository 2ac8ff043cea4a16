"""Items: fields to typed values, rejects with their reason."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from resources.extract.items import field_columns
from resources.extract.page import ExtractedPage
from tests.extract.pages import extract, site_of

LAMP = """<h1> Blue <b>lamp</b></h1><p class=price>1.299,00 €</p><p class=stock>In stock</p>
<p class=size>Size: 40 cm</p><time datetime="2024-03-12">last spring</time><a class=more href="/more">More</a>
<ul><li>small</li><li> </li><li>blue</li></ul><p class=n>12</p>
<script type="application/ld+json">{"@type":"Product","sku":"L-1","offers":{"price":"1,299.00","priceCurrency":"usd"}}</script>"""


def rows(html: str, fields: dict[str, Any], **kind: Any) -> ExtractedPage:
    return extract(html, site_of(items={"lamp": {"fields": fields, **kind}}))


def one(field: Any, html: str = LAMP) -> tuple[Any, ...]:
    found = rows(html, {"f": field})
    assert not found.rejects, found.rejects
    return found.items[0].values


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("h1", ("Blue lamp",)),
        ({"css": ".price", "type": "money"}, (Decimal("1299.0000"), "EUR")),
        ({"css": ".n", "type": "integer"}, (12,)),
        ({"css": ".size", "type": "number"}, (40.0,)),
        ({"css": ".size", "regex": r"(\d+) cm", "type": "text"}, ("40",)),
        ({"css": ".size", "regex": r"\d+ mm", "type": "text"}, (None,)),
        ({"css": "time", "attribute": "datetime", "type": "date"}, (date(2024, 3, 12),)),
        ({"css": ".stock", "type": "boolean"}, (True,)),
        ({"css": ".nothing", "type": "boolean"}, (False,)),
        ({"css": "li", "type": "list"}, (["small", "blue"],)),
        ({"css": ".nothing", "type": "list"}, ([],)),
        ({"css": ".more", "attribute": "href"}, ("https://shop.example/more",)),
        ({"css": ".more", "type": "url"}, ("https://shop.example/more",)),
        ({"data": "jsonld:Product.sku"}, ("L-1",)),
        ({"data": "jsonld:Product.offers.price", "type": "money"}, (Decimal("1299.0000"), "USD")),
        ({"constant": "shop"}, ("shop",)),
        ({"css": ".nothing"}, (None,)),
        ({"css": ".nothing", "type": "money"}, (None, None)),
    ],
)
def test_a_field_is_read_by_its_source_and_type(field: Any, values: tuple[Any, ...]) -> None:
    assert one(field) == values


def test_each_makes_an_item_of_every_element_and_the_key_tells_them_apart() -> None:
    html = "<div class=i><b>A</b><i>1</i></div><div class=i><b>B</b></div>"
    fields = {"name": {"css": "b", "required": True}, "n": "i"}
    found = rows(html, fields, each=".i", key=["name"])
    assert [(item.key, item.index, item.values) for item in found.items] == [
        ("A", 0, ("A", "1")),
        ("B", 1, ("B", None)),
    ]
    assert [item.key for item in rows(html, fields, each=".i").items] == [
        "https://shop.example/p/1#0", "https://shop.example/p/1#1",
    ]  # fmt: skip


def test_a_missing_required_field_or_a_bad_value_is_a_reject_with_all_that_was_found() -> None:
    found = rows(
        LAMP,
        {"sku": {"css": ".sku", "required": True}, "price": {"css": "h1", "type": "money"}, "name": "h1"},
    )
    assert not found.items
    (reject,) = found.rejects
    assert (reject.kind, reject.field, reject.reason) == ("lamp", "sku", "missing_required")
    assert "sku: required" in reject.detail and "price: no amount" in reject.detail
    assert json.loads(reject.raw) == {"price": ["Blue lamp"], "name": ["Blue lamp"]}


def test_pages_that_no_pattern_matches_hold_no_items() -> None:
    assert rows(LAMP, {"name": "h1"}, match="/other/*").items == []


def test_columns_follow_the_types() -> None:
    site = site_of(
        items={
            "lamp": {
                "fields": {"price": {"css": "p", "type": "money"}, "tags": {"css": "li", "type": "list"}}
            }
        }
    )
    assert [(c.name, c.type) for c in field_columns(site.items["lamp"])] == [
        ("price", "DECIMAL(18,4)"), ("price_currency", "VARCHAR"), ("tags", "VARCHAR[]"),
    ]  # fmt: skip
