"""The site file names selectors that really find the facts."""

from __future__ import annotations

import yaml
from selectolax.lexbor import LexborHTMLParser

from practice_site import Truth, site_config, site_yaml

ORIGIN = "http://127.0.0.1:8800"


def test_every_selector_finds_its_fact_on_every_product_page() -> None:
    document = yaml.safe_load(site_yaml("127.0.0.1:8800"))
    fields = document["items"]["book"]["fields"]
    truth = Truth(site_config(n_products=20), ORIGIN)
    for row in truth.expected_items():
        page = LexborHTMLParser(truth.shop.resolve(row["url"].removeprefix(ORIGIN)).body.decode())
        texts = {}
        for name, field in fields.items():
            nodes = page.css(field["css"])
            assert nodes, name
            found = [n.attributes[field["attribute"]] if "attribute" in field else n.text() for n in nodes]
            texts[name] = found if field["type"] == "list" else found[0]
        assert texts["title"] == row["title"]
        assert texts["price"] == f"£{row['price']}"
        assert texts["authors"] == row["authors"]
        assert (texts["isbn"], texts["published"]) == (row["isbn"], row["published"])
        assert (texts["rating"], texts["pages"]) == (str(row["rating"]), str(row["pages"]))
        assert (texts["category"], texts["format"]) == (row["category"], row["format"])


def test_many_domains_and_changes() -> None:
    document = yaml.safe_load(site_yaml(["127.0.0.2:80", "127.0.0.3:80"], changes={"pace": {"rate": 5}}))
    assert document["seeds"] == ["http://127.0.0.2:80/", "http://127.0.0.3:80/"]
    assert document["pace"] == {"rate": 5}
    assert len(document["canaries"]) == 2
