"""What many site files say alike is one object, and only what is alike."""

from __future__ import annotations

from resources.site.load import load_site_text
from resources.site.model import Site
from resources.site.pace import PaceRules


def site(number: int, rest: str) -> Site:
    found, problems = load_site_text(f"domains: [shop-{number}.example]\n{rest}", f"shop-{number}.yaml")
    assert found is not None and problems == [], problems
    return found


FIELDS = "items: {book: {match: /book/*, fields: {title: h1, price: {css: .price, type: money}}}}\n"


def test_parts_that_say_the_same_are_one_object() -> None:
    first, second = (site(n, FIELDS + "pace: {rate: 2}\nscope: {exclude: [/cart/*]}\n") for n in (1, 2))
    assert first.items["book"] is second.items["book"]
    assert first.pace is second.pace and first.scope is second.scope
    assert first != second


def test_a_field_is_shared_between_item_types_that_differ() -> None:
    other = "items: {offer: {match: /offer/*, fields: {name: h2, price: {css: .price, type: money}}}}\n"
    assert site(1, FIELDS).items["book"].fields["price"] is site(2, other).items["offer"].fields["price"]


def test_what_is_only_equal_is_not_taken_for_the_same() -> None:
    """A rate of 1, and a truth where a number belongs: Python has them equal."""
    assert site(1, "pace: {rate: 1}\n").pace.rate == 1.0
    found, problems = load_site_text("domains: [shop-2.example]\npace: {rate: true}\n", "shop-2.yaml")
    assert found is None and "rate" in problems[0].field


def test_mistakes_are_told_of_each_file_that_makes_them() -> None:
    for number in (1, 2):
        found, problems = load_site_text(
            f"domains: [shop-{number}.example]\npace: {{rats: 1}}\n", f"shop-{number}.yaml"
        )
        assert found is None and [p.file for p in problems] == [f"shop-{number}.yaml"]


def test_rules_made_by_hand_are_objects_of_their_own() -> None:
    assert PaceRules(rate=2) is not PaceRules(rate=2)
    assert PaceRules(rate=2) == site(3, "pace: {rate: 2}\n").pace
