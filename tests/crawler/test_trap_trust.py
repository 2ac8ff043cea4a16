"""The switch of the site file: the guard off, more patient, or without a say about some URLs; and the way to find it."""

from __future__ import annotations

from pathlib import Path

import pytest

from practice_site import practice_site_process
from resources.crawler.traps.guard import TrapGuard
from resources.crawler.traps.trust import Trust, advice
from resources.site.load import load_site_text
from resources.site.patterns import UrlPattern
from resources.site.rules import TrapRules
from tests.crawler.house import House
from tests.crawler.trap_walk import Walk, Web, page


def equal_pages(count: int) -> Web:
    """A chain of pages that say nothing, and are wanted all the same."""

    def web(path: str) -> tuple[str, list[str]] | None:
        if not path.startswith("/slot/"):
            return page("Welcome.", ["/slot/1"])
        n = int(path.rpartition("/")[2])
        return page("<p>Free.</p>", [f"/slot/{n + 1}"] if n < count else [])

    return web


def slots(walk: Walk) -> int:
    return sum(path.startswith("/slot/") for path in walk.fetched)


@pytest.mark.parametrize("rules", [{"trust": ["/slot/*"]}, {"guard": "off"}, {"patience": 1000}])
def test_pages_that_say_nothing_are_all_fetched_where_the_site_file_says_so(rules: dict[str, object]) -> None:
    walk = Walk(equal_pages(50), ["/"], trust=Trust(TrapRules.model_validate(rules)))
    walk.night()
    assert slots(walk) == 50
    assert not walk.excluded


def test_what_the_guard_has_excluded_is_judged_again_when_the_switch_is_set() -> None:
    walk = Walk(equal_pages(50), ["/"])
    walk.night()
    assert slots(walk) == 3
    (reason,) = set(walk.excluded.values())
    assert advice(reason) == (
        'if these are pages of their own: traps.trust: ["/slot/*"] in the site file; it is asked again every night'
    )
    walk.trust = Trust(TrapRules(trust=("/slot/*",)))
    walk.night()
    assert slots(walk) == 50
    assert not walk.excluded


def test_a_parameter_that_the_site_file_trusts_is_no_session_id() -> None:
    ids = [f"{n * 2654435761 % 2**64:016x}" for n in range(30)]

    def web(path: str) -> tuple[str, list[str]] | None:
        return page("<p>One text.</p>", [f"/door?key={one}" for one in ids])

    walk = Walk(web, ["/"], trust=Trust(TrapRules(trust_parameters=("key",), patience=1000)))
    walk.night()
    assert sum("key=" in path for path in walk.fetched) == 30
    assert advice("trap: session id ?key") == (
        "if these are pages of their own: traps.trust_parameters: [key] in the site file"
    )


@pytest.mark.parametrize(
    ("reason", "url"),
    [
        ("trap: endless https://shop.example/item/#", "https://shop.example/item/7"),
        ("trap: endless https://shop.example/list?page=#", "https://shop.example/list?page=7"),
        ("trap: endless https://shop.example/#date", "https://shop.example/2025/01"),
        ("trap: endless https://shop.example/p#.html", "https://shop.example/p7.html"),
        ("trap: nothing new below https://shop.example/find?a&b", "https://shop.example/find?a=1&b=2"),
        ("trap: same bodies below https://shop.example/a/b/", "https://shop.example/a/b/c"),
        ("trap: path that repeats itself", "https://shop.example/a/a/a/a/a/a/a"),
    ],
)
def test_the_advice_names_a_pattern_that_matches_what_was_excluded(reason: str, url: str) -> None:
    pattern = advice(reason).partition('["')[2].partition('"]')[0]
    assert UrlPattern(pattern).matches(url)


def test_the_state_of_a_guard_that_was_off_is_empty() -> None:
    walk = Walk(equal_pages(50), ["/"])
    walk.night()
    assert TrapGuard("shop.example", 1.0, walk.saved).traps
    assert not TrapGuard("shop.example", 1.0, walk.saved, Trust(TrapRules(guard="off"))).traps


def test_mistakes_in_the_switch_are_told_with_their_line() -> None:
    text = "domains: [shop.example]\nidentity: {contact: https://a.example}\ntraps:\n  trust: [item]\n  patience: 0\n"
    site, problems = load_site_text(text, "shop.yaml")
    assert site is None
    assert sorted(problem.line or 0 for problem in problems) == [4, 5]


def test_a_crawl_obeys_the_switch_and_says_where_it_is(tmp_path: Path) -> None:
    with practice_site_process(n_products=60, next_loop="endless") as site:
        house = House(tmp_path)
        house.write(site.domain)
        report = house.night(site.domain)[site.domain]
        assert [advice(reason) for reason in report.trapped] == [
            'if these are pages of their own: traps.trust: ["/new?page=*"] in the site file; it is asked again every night'
        ]
        house.write(site.domain, traps={"trust": ["/new*"]})
        site.reset()
        house.night(site.domain, max_pages=130)
        assert len(site.requests(kind="endless")) > 10
