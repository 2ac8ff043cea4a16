"""What is written from the models, and the worked example, are what the code says now."""

from __future__ import annotations

from pathlib import Path

import yaml

from practice_site.site_file import FIELDS, ITEM_TYPE, site_document
from resources.site.draft import CONTACT_PLACEHOLDER, Draft, DraftItem
from resources.site.load import load_site, load_site_text
from resources.site.model import Site
from resources.site.reference import reference_markdown
from resources.site.schema import json_schema, json_schema_text

ROOT = Path(__file__).resolve().parents[2]


def test_the_written_documents_are_current() -> None:
    assert (ROOT / "docs/site-file.md").read_text() == reference_markdown(), "run `make docs`"
    assert (ROOT / "docs/site-file.schema.json").read_text() == json_schema_text(), "run `make docs`"


def test_every_key_of_every_model_has_a_meaning() -> None:
    for line in reference_markdown().splitlines():
        if line.startswith("| `"):
            assert not line.endswith("|  |"), f"no docstring: {line}"


def test_the_schema_knows_every_key_and_requires_only_domains() -> None:
    schema = json_schema()
    assert schema["required"] == ["domains"]
    assert schema["properties"].keys() == Site.model_fields.keys()
    assert schema["additionalProperties"] is False


def test_the_worked_example_is_right_and_says_what_the_practice_site_says() -> None:
    site = load_site(ROOT / "sites/practice.yaml")
    made, problems = load_site_text(yaml.safe_dump(site_document("127.0.0.1:8800")), "practice.yaml")
    assert problems == [] and made is not None
    assert site.items[ITEM_TYPE].fields.keys() == FIELDS.keys()
    assert site.items == made.items and site.domains == made.domains and site.canaries == made.canaries


def draft(**changes: object) -> Draft:
    values: dict[str, object] = {
        "name": "shop",
        "domain": "shop.com",
        "url": "https://shop.com/",
        "contact": "a@b.example",
        "public": True,
    }
    return Draft(**(values | changes))  # type: ignore[arg-type]


def test_a_draft_is_a_right_site_file_whatever_the_server_says() -> None:
    nasty = 'O\'Neil: "x" # {y}\n- z \x07 *a &b'
    text = draft(
        title=nasty, robots=nasty, problem=nasty, crawl_delay=2.5, sitemaps=["https://shop.com/s.xml"], sitemap_urls=7,
        items=[DraftItem("Product", "https://shop.com/p/1", ("name", "sku", "offers.price", "url", "weird key!", "датa"))],
    ).to_yaml()  # fmt: skip
    site, problems = load_site_text(text, "shop.yaml")
    assert problems == [] and site is not None
    assert site.items["product"].key == ("sku",) and site.items["product"].match == ("/p/*",)
    assert site.items["product"].fields["offers_price"].type == "money"


def test_a_draft_without_contact_waits_for_it() -> None:
    text = draft(contact=None).to_yaml()
    assert CONTACT_PLACEHOLDER in yaml.safe_load(text)["identity"]["contact"]
    (problem,) = load_site_text(text, "shop.yaml")[1]
    assert problem.field == "identity.contact" and text.splitlines()[problem.line - 1].strip().startswith(
        "contact:"
    )
    private, problems = load_site_text(draft(contact=None, public=False, domain="127.0.0.1:80", private="127.0.0.1",
                                             url="http://127.0.0.1/").to_yaml(), "x.yaml")  # fmt: skip
    assert problems == [] and private is not None and private.allow_private_addresses == ("127.0.0.1/32",)
