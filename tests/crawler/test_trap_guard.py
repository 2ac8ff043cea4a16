"""The trap guard by itself, on made-up sites: what it closes, what it must leave alone, how it opens again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.crawler.traps.guard import Held, Refusal, TrapGuard
from resources.crawler.traps.series import dated, numbered, repeats_itself
from resources.crawler.traps.slots import is_token, slots
from resources.frontier.base import Claim, Discovery, Source
from resources.web.urls import key

SITE = "https://shop.example"
#: A page as the walker sees it: (body, links).
Web = Callable[[str], tuple[str, list[str]] | None]


def walk(guard: TrapGuard, web: Web, seeds: Iterable[str], at_most: int = 5_000) -> list[str]:
    """Crawl a made-up web one page at a time, as the loop does; the URLs requested, in order."""
    queue = [(SITE + s, Source.SEED) for s in seeds]
    met = {url for url, _ in queue}
    held: list[Claim] = []
    asked: list[str] = []
    stuck = False

    def meet(url: str) -> None:
        if url not in met:
            met.add(url)
            queue.append((url, Source.LINK))

    while (queue or held) and len(asked) < at_most:
        if not queue:
            assert guard.stirred or not stuck, "everything is held and nothing is on its way"
            stuck, guard.stirred = not guard.stirred, False
            queue, held = [(c.url, c.source) for c in held], []
        url, source = queue.pop(0)
        claim = Claim(key(url), url, "shop.example", 0, 0, source, 0, 0, 1, 0.0)
        verdict = guard.judge(claim)
        if isinstance(verdict, Held):
            held.append(claim)
            continue
        if isinstance(verdict, Refusal):
            if verdict.instead is not None:
                meet(verdict.instead)
            continue
        asked.append(url)
        stuck = False
        page = web(url.removeprefix(SITE))
        if page is None:
            guard.lost(claim)
            continue
        body, links = page
        named = guard.rewrite([SITE + link for link in links])
        new = [Discovery(key(u), u, "shop.example") for u in dict.fromkeys(named) if u not in met]
        for found in guard.page(claim, body.encode(), key(body), named, new, lambda u: False):
            met.add(found.url)
            if not found.excluded:
                queue.append((found.url, Source.LINK))
    return [url.removeprefix(SITE) for url in asked]


# -- session ids ---------------------------------------------------------------------------------------------------
def ids_everywhere(spell: Callable[[str, str], str]) -> tuple[Web, list[str]]:
    """Twenty pages that link to each other, every link with an id of its own."""
    paths = [f"/page/{'abcdefghijklmnopqrst'[n]}" for n in range(20)]
    count = 0

    def web(url: str) -> tuple[str, list[str]] | None:
        nonlocal count
        path = next((p for p in paths if p in url), None)
        if path is None:
            return None
        links = []
        for each in paths:
            count += 1
            links.append(spell(each, f"{count * 2654435761 % 2**64:016x}a1"))
        text = f"<p>text of {path}</p>" + "".join(f"<a href='{link}'>x</a>" for link in links)
        return text, links

    return web, paths


@pytest.mark.parametrize(
    ("spell", "name"),
    [
        (lambda path, sid: f"{path}?sid={sid}", "?sid"),
        (lambda path, sid: f"{path};jsessionid={sid}", ";jsessionid"),
        (lambda path, sid: f"/{sid}{path}", "/1"),
        (lambda path, sid: f"/(S({sid})){path}", "/1"),
    ],
)
def test_ids_are_learned_wherever_they_stand_and_every_page_is_fetched(
    spell: Callable[[str, str], str], name: str
) -> None:
    web, paths = ids_everywhere(spell)
    guard = TrapGuard("shop.example", 0.0)
    asked = walk(guard, web, [paths[0]])
    assert f"session id {name}" in guard.traps
    assert {next(p for p in paths if p in url) for url in asked} == set(paths)
    assert len(asked) <= len(paths) + 6


def test_machine_made_ids_that_select_pages_are_not_session_ids() -> None:
    names = [f"{n * 2654435761 % 2**64:016x}" for n in range(300)]

    def web(url: str) -> tuple[str, list[str]] | None:
        page = f"/item?id={names[0]}" if url == "/" else url
        at = names.index(page.rpartition("=")[2])
        return f"item {at}", [f"/item?id={names[(at + step) % 300]}" for step in (1, 7, 31)]

    guard = TrapGuard("shop.example", 0.0)
    asked = walk(guard, web, ["/"])
    assert {url for url in asked if "id=" in url} == {f"/item?id={name}" for name in names}
    assert not guard.traps


def test_a_site_that_answers_not_found_to_every_id_teaches_nothing_from_one_path() -> None:
    guard = TrapGuard("shop.example", 0.0)
    names = [f"{n * 2654435761 % 2**64:016x}" for n in range(4)]
    asked = walk(guard, lambda url: ("nothing here", [f"/item?id={n}" for n in names]), ["/"])
    assert len(asked) == 5
    assert not guard.traps


def test_a_parameter_with_plain_values_is_learned_from_equal_bodies() -> None:
    def web(url: str) -> tuple[str, list[str]] | None:
        path = url.partition("?")[0]
        return f"text of {path}", [f"/p/{x}?from={w}" for x in "abcdefgh" for w in ("top", "foot")]

    guard = TrapGuard("shop.example", 0.0)
    asked = walk(guard, web, ["/"])
    assert "session id ?from" in guard.traps
    assert len(asked) < 17


def test_what_was_learned_is_known_the_next_night() -> None:
    web, paths = ids_everywhere(lambda path, sid: f"{path}?sid={sid}")
    guard = TrapGuard("shop.example", 0.0)
    walk(guard, web, [paths[0]])
    again = TrapGuard("shop.example", 86_400.0, guard.to_json())
    asked = walk(again, web, paths)
    assert asked == paths


# -- places without end --------------------------------------------------------------------------------------------
def calendar(spell: Callable[[date], str], news: Callable[[date], list[str]] = lambda day: []) -> Web:
    def web(url: str) -> tuple[str, list[str]] | None:
        start = date(2025, 1, 1)
        if url == "/":
            return "front", [spell(start)]
        for month in range(3_000):
            this = date(start.year + month // 12, month % 12 + 1, 1)
            if url == spell(this):
                later = (this + timedelta(days=32)).replace(day=1)
                return f"month {this}", [spell(later), *news(this)]
        return "something else", []

    return web


@pytest.mark.parametrize(
    "spell",
    [
        lambda d: f"/events/{d:%Y/%m}",
        lambda d: f"/events/{d:%Y-%m}/",
        lambda d: f"/cal?year={d.year}&month={d.month}",
        lambda d: f"/cal?month={d.month}&year={d.year}&view=list",
        lambda d: f"/agenda/{d:%Y%m%d}.html",
    ],
)
def test_a_calendar_ends_after_three_months_that_say_nothing(spell: Callable[[date], str]) -> None:
    guard = TrapGuard("shop.example", 0.0)
    assert len(walk(guard, calendar(spell), ["/"])) == 1 + 3
    assert guard.traps


def test_a_calendar_goes_on_as_long_as_it_names_news() -> None:
    def web(url: str) -> tuple[str, list[str]] | None:
        inner = calendar(
            lambda d: f"/events/{d:%Y/%m}", lambda d: [f"/talk/of-{d:%B}-{d.year}"] if d.year < 2027 else []
        )
        return inner(url)

    guard = TrapGuard("shop.example", 0.0)
    asked = walk(guard, web, ["/"])
    assert sum("/talk/" in url for url in asked) == 24
    assert sum("/events/" in url for url in asked) == 24 + 3


def test_numbered_pages_end_where_they_repeat_and_not_before() -> None:
    def web(url: str) -> tuple[str, list[str]] | None:
        if url == "/":
            return "front", ["/new?page=1"]
        if "page=" not in url:
            return f"article {url}", []
        page = int(url.rpartition("=")[2])
        shown = [f"/article/{chr(97 + min(page, 8))}{n}x" for n in range(5)]
        return f"page {page:4} {shown}", [*shown, f"/new?page={page + 1}"]

    guard = TrapGuard("shop.example", 0.0)
    asked = walk(guard, web, ["/"])
    numbers = [int(url.rpartition("=")[2]) for url in asked if "page=" in url]
    assert numbers == list(range(1, 11))


def test_a_long_list_whose_end_is_named_is_read_whole() -> None:
    def web(url: str) -> tuple[str, list[str]] | None:
        page = int(url.rpartition("=")[2]) if "page=" in url else 1
        return f"page {page}", [f"/list?page={n}" for n in (page - 1, page + 1, 900) if 1 <= n <= 900]

    guard = TrapGuard("shop.example", 0.0)
    assert len(walk(guard, web, ["/list"])) == 901


def test_a_probe_that_brings_news_opens_a_closed_place_again() -> None:
    guard = TrapGuard("shop.example", 0.0)
    walk(guard, calendar(lambda d: f"/events/{d:%Y/%m}"), ["/"])
    again = TrapGuard("shop.example", 86_400.0, guard.to_json())
    assert again.reconsider() == [f"trap: endless {SITE}/events/#date"]
    web = calendar(lambda d: f"/events/{d:%Y/%m}", lambda d: [f"/talk/{d:%B}-{d.year}x"])
    asked = walk(again, web, ["/", "/events/2025/03"], at_most=40)
    assert sum("/events/" in url for url in asked) > 10
    assert again.reconsider() == [f"trap: endless {SITE}/events/#date"]


def test_pages_of_earlier_nights_are_asked_whatever_closes_tonight() -> None:
    """Pages that are due come in any order: a few that say nothing may be the first, and must not stand for all."""
    night = 86_400.0
    guard = TrapGuard("shop.example", 10 * night)

    def lot(number: int, done_at: float | None) -> Claim:
        url = f"{SITE}/lot/{number}"
        return Claim(key(url), url, "shop.example", 0, 0, Source.LINK, 0, 0, 1, 0.0, done_at=done_at)

    for number in range(4, 12):
        following = f"{SITE}/lot/{number + 1}"
        new = [Discovery(key(following), following, "shop.example")]
        guard.page(lot(number, 9 * night), b"<p>Sold.</p>", key("sold"), [following], new, lambda u: False)
    assert guard.traps == [f"endless {SITE}/lot/#"]
    assert guard.judge(lot(60, 9 * night)) is None
    assert isinstance(guard.judge(lot(61, None)), Refusal), "what was never a page is not asked"
    # One of them says something: the place is real.
    guard.page(lot(60, 9 * night), b"<h1>A red bicycle</h1>", key("bicycle"), [], [], lambda u: False)
    assert guard.traps == []

    closed = TrapGuard("shop.example", 10 * night)
    for number in range(4, 12):
        following = f"{SITE}/lot/{number + 1}"
        new = [Discovery(key(following), following, "shop.example")]
        closed.page(lot(number, 9 * night), b"<p>Sold.</p>", key("sold"), [following], new, lambda u: False)
    later = TrapGuard("shop.example", 11 * night, closed.to_json())
    assert isinstance(later.judge(lot(9, 10 * night)), Refusal), "a place that was closed before stays so"


# -- pages that are the same -----------------------------------------------------------------------------------------
def test_a_folder_of_equal_pages_is_left_with_a_few_probes() -> None:
    def web(url: str) -> tuple[str, list[str]] | None:
        if url == "/":
            return "front", [f"/mirror/a/{chr(97 + n % 26)}{chr(97 + n // 26)}x" for n in range(400)]
        return "the same page", []

    guard = TrapGuard("shop.example", 0.0)
    asked = walk(guard, web, ["/"])
    assert 24 <= len(asked) <= 60
    assert guard.traps == [f"same pages {SITE}/mirror/a/"]


def test_the_canary_sees_a_site_that_gives_the_same_few_pages_for_everything() -> None:
    guard = TrapGuard("shop.example", 0.0)
    web: Web = lambda url: ("go away", [f"/{chr(97 + n % 26)}{n // 26}/x/y" for n in range(300)])  # noqa: E731
    walk(guard, web, ["/"])
    assert guard.loops


def test_paths_that_go_in_circles_are_refused_when_met() -> None:
    assert repeats_itself(SITE + "/a/b/a/b/a/b/c/d/e")
    assert repeats_itself(SITE + "/img/img/img/img/x/y/z")
    assert not repeats_itself(SITE + "/2024/05/06/07/08/09/10/11/12")


# -- reading URLs --------------------------------------------------------------------------------------------------
def test_posts_and_products_are_no_calendar_pages() -> None:
    assert dated(SITE + "/2025/05/what-we-did") is None
    assert dated(SITE + "/item/20250512345") is None
    assert numbered(SITE + "/book/00012-a-title") is None
    found = numbered(SITE + "/list?page=12&sort=price")
    assert found is not None and (found.value, found.tail) == (12, "&sort=price")


def test_words_are_no_tokens() -> None:
    assert not any(map(is_token, ["hardback", "page", "summer-2024", "12", "2025-01-01", "english"]))
    assert all(
        map(is_token, ["f9e2dd36", "a1b2c3d4e5", "1700000000", "0f8fad5b-d9cb-469f-a165-70867728950e"])
    )


@given(st.text(alphabet="/?&;=ab1-(){}%.2025", max_size=60))
def test_no_url_is_too_strange_to_be_read(text: str) -> None:
    url = f"{SITE}/{text}"
    for slot in slots(url):
        assert len(slot.rest) <= len(url) + 2
    dated(url), numbered(url), repeats_itself(url)
    guard = TrapGuard("shop.example", 0.0)
    assert json.loads(guard.to_json())["version"] == 1
    walk(guard, lambda _: ("page", ["/" + text, "/x"]), ["/" + text], at_most=20)


@given(
    st.dictionaries(
        st.sampled_from(
            [f"/p{n}?sid={c}{n}deadbeef" for n in range(6) for c in "ab"] + ["/", "/q?page=2", "/q?page=3"]
        ),
        st.tuples(st.sampled_from(["one", "two", "three"]), st.lists(st.integers(0, 14), max_size=6)),
    )
)
def test_whatever_a_site_does_the_walk_ends_and_nothing_stays_held(
    pages: dict[str, tuple[str, list[int]]],
) -> None:
    names = sorted(pages) or ["/"]

    def web(url: str) -> tuple[str, list[str]] | None:
        if url not in pages:
            return None
        body, links = pages[url]
        return body, [names[n % len(names)] for n in links]

    walk(TrapGuard("shop.example", 0.0), web, names, at_most=10_000)
