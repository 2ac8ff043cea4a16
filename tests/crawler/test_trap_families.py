"""Real places and traps that look alike, side by side: of the real ones no page is lost, of the traps few are asked.

Every family is as hard as it comes: one template, linked in a chain, addresses that count.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import product

import pytest

from resources.crawler.traps.novelty import page_atoms
from tests.crawler.trap_walk import SITE, Walk, Web, page

_SYLLABLES = ["ka", "lo", "mi", "ru", "te", "sa", "no", "vi", "der", "ban", "gol", "pir"]
_KINDS = ["mug", "plate", "bowl", "jug", "cup", "dish"]
_COLOURS = ["red", "blue", "green", "black", "white", "amber", "pink", "grey"]
_MAKES = ["glazed", "plain", "ribbed", "speckled", "matt", "painted", "carved", "banded"]


def words(seed: str, count: int) -> str:
    """Text of a small language: 1,728 words."""
    draw = random.Random(seed)
    return " ".join("".join(draw.choices(_SYLLABLES, k=3)) for _ in range(count))


@dataclass(frozen=True)
class Real:
    """Pages of which none may be lost. `pages`: paths."""

    name: str
    seeds: list[str]
    pages: list[str]
    web: Web


@dataclass(frozen=True)
class Trap:
    """A place without end, or with far too many pages. `real`: what must be fetched nevertheless."""

    name: str
    seeds: list[str]
    is_trap: Callable[[str], bool]
    web: Web
    at_most: int
    later: int  # a later night
    real: list[str]


def chain(spell: str, count: int, main: Callable[[int], str]) -> tuple[list[str], Web]:
    """Pages 1 to `count` that name only the next one."""
    paths = [spell.format(n) for n in range(1, count + 1)]
    at = {path: n for n, path in enumerate(paths, 1)}

    def web(path: str) -> tuple[str, list[str]] | None:
        if path == "/":
            return page("Welcome.", paths[:1])
        if path == "/about":
            return page("About us.")
        n = at.get(path)
        if n is None:
            return None
        return page(main(n), paths[n : n + 1])

    return paths, web


def in_chain(name: str, spell: str, count: int, main: Callable[[int], str]) -> Real:
    paths, web = chain(spell, count, main)
    return Real(name, ["/"], paths, web)


def _short_product(n: int) -> str:
    kind, colour, make, size = list(
        product(_KINDS, _COLOURS, _MAKES, ["small", "large", "tall", "wide", "flat"])
    )[n]
    return f"<h1>{make} {colour} {kind}, {size}</h1><p class=price>€ {n % 40}.50</p><p>In stock</p>"


def real_places() -> Iterator[Real]:
    yield in_chain(
        "articles", "/article/{}", 2000, lambda n: f"<h1>Part {n}</h1><p>{words(f'a{n}', 120)}</p>"
    )
    yield in_chain("pages p1.html", "/p{}.html", 2000, lambda n: f"<h1>p{n}</h1><p>{words(f'p{n}', 40)}</p>")
    yield in_chain("products of few words", "/item/{}", 1900, _short_product)
    yield in_chain("products with a query", "/item?id={}", 1900, _short_product)
    yield in_chain(
        "parts that differ in numbers", "/part/{}", 1500,
        lambda n: f"<h1>Screw {n * 7919 % 100_003}</h1><p>Price: {n * 31 % 977}.{n % 90 + 10}</p>",
    )  # fmt: skip
    yield in_chain(
        "photos, nothing but pictures", "/photo/{}", 1500, lambda n: f"<img src=/pictures/{n:05}.jpg><p>Photo {n}</p>"
    )  # fmt: skip
    yield in_chain("chapters of a book", "/book/chapter/{}/", 300, lambda n: f"<p>{words(f'c{n}', 900)}</p>")
    yield in_chain("versions of a manual", "/docs/page-{}.html", 600, lambda n: f"<h1>Release</h1><p>Fixed {words(f'v{n}', 6)}.</p>")  # fmt: skip
    yield in_chain(
        "pages filled by a script", "/view/{}", 800,
        lambda n: f"<div id=app></div><script>window.DATA = {{\"text\": \"{words(f's{n}', 30)}\"}}</script>",
    )  # fmt: skip
    yield in_chain("a text without spaces", "/zh/{}", 500, lambda n: "<p>" + "".join(chr(0x4E00 + n * 37 % 5000 + i * 13 % 300) for i in range(80)) + "</p>")  # fmt: skip
    yield in_chain(
        "a chain with holes", "/lot/{}", 1200,
        lambda n: "<p>This lot is no longer on sale.</p>" if n > 200 and n % 50 in (7, 8) else f"<p>{words(f'l{n}', 9)}</p>",
    )  # fmt: skip
    yield in_chain(
        "pictures in the background", "/shot/{}", 600,
        lambda n: f"<div class=full style='background-image:url(/shots/{n * 7919 % 100_003}.jpg)'></div>",
    )  # fmt: skip
    yield in_chain(
        "players in frames", "/talk/{}", 600, lambda n: f"<iframe src='https://video.example/play?id={n * 7919}'></iframe>"
    )  # fmt: skip
    yield in_chain("drawings", "/map/{}", 600, lambda n: f"<svg><text>{words(f'd{n}', 3)}</text></svg>")
    yield in_chain(
        "questions that unfold", "/faq/{}", 600, lambda n: f"<a href='#a'>{words(f'q{n}', 6)}?</a>"
    )  # fmt: skip
    yield _diary(1500, 60)
    yield _rates()
    yield _diary(800, 8)
    yield _related()
    yield _listing()
    yield _known_listing()
    yield _products_of_an_index()
    yield _two_parameters()


def _related() -> Real:
    """Short texts of words that all were there before, beside links to products that are known."""
    paths, inner = chain("/item/{}", 1900, _short_product)
    brands = [f"/brand/{words(f'r{k}', 1)}x" for k in range(40)]

    def web(path: str) -> tuple[str, list[str]] | None:
        found = inner(path)
        if found is None or path in ("/", "/about"):
            return found
        n = int(path.rpartition("/")[2])
        related = [brands[k * n * 7919 % 41 % 40] for k in range(1, 5)]
        return page(_short_product(n), [*related, *paths[n : n + 1]])

    def whole(path: str) -> tuple[str, list[str]] | None:
        return page(f"<p>{words(path, 20)}</p>") if path in brands else web(path)

    return Real("products beside related ones", ["/", *brands], paths, whole)


def _diary(count: int, length: int) -> Real:
    days = [date(2001, 1, 1) + timedelta(days=n) for n in range(count)]
    paths = [f"/diary/{day:%Y/%m/%d}" for day in days]
    at = {path: n for n, path in enumerate(paths)}

    def diary(path: str) -> tuple[str, list[str]] | None:
        if path not in at:
            return page("Welcome.", paths[:1])
        n = at[path]
        return page(f"<h1>{days[n]:%d %B %Y}</h1><p>{words(path, length)}</p>", paths[n + 1 : n + 2])

    return Real(f"a diary, a page a day, {length} words", ["/"], paths, diary)


def _rates() -> Real:
    """A table of numbers for each day: no word is new."""
    days = [date(2001, 1, 1) + timedelta(days=n) for n in range(1500)]
    paths = [f"/rates/{day:%Y-%m-%d}" for day in days]
    at = {path: n for n, path in enumerate(paths)}

    def web(path: str) -> tuple[str, list[str]] | None:
        if path not in at:
            return page("Welcome.", paths[:1])
        n, draw = at[path], random.Random(path)
        rows = "".join(
            f"<tr><td>{name}<td>{draw.randrange(10_000) / 1000:.3f}</tr>"
            for name in ("EUR", "USD", "JPY", "CHF", "GBP", "SEK")
        )
        return page(f"<h1>Rates of {days[n]:%d.%m.%Y}</h1><table>{rows}</table>", paths[n + 1 : n + 2])

    return Real("a table of numbers for each day", ["/"], paths, web)


def _listing() -> Real:
    """Each page brings new links."""
    paths, items, web = _things()
    return Real("a listing", ["/list?page=1"], [*paths, *items], web)


def _known_listing() -> Real:
    """The same, but every entry is known from elsewhere: nothing on the pages is new but their order."""
    paths, items, web = _things()
    return Real("a listing of what is known", [*items, "/list?page=1"], paths, web)


def _things() -> tuple[list[str], list[str], Web]:
    """150 pages of ten things each: the pages, the things, the site."""
    paths = [f"/list?page={n}" for n in range(1, 151)]
    items = [f"/thing/{words(f't{n}', 2).replace(' ', '-')}-x{n}y" for n in range(1500)]

    def web(path: str) -> tuple[str, list[str]] | None:
        if path in items:
            return page(f"<p>{words(path, 20)}</p>")
        n = int(path.partition("=")[2] or 1)
        return page("<h1>All things</h1>", [*items[n * 10 - 10 : n * 10], *paths[n : n + 1]])

    return paths, items, web


def _products_of_an_index() -> Real:
    paths = [f"/view?id={n}" for n in range(1, 1901)]

    def web(path: str) -> tuple[str, list[str]] | None:
        if path == "/":
            return page("Everything.", paths)
        return page(_short_product(int(path.partition("=")[2]))) if path in paths else page("About us.")

    return Real("products named by an index", ["/"], paths, web)


def _two_parameters() -> Real:
    paths = [f"/view?group={n % 7}&id={n}" for n in range(1, 1901)]

    def web(path: str) -> tuple[str, list[str]] | None:
        if path == "/":
            return page("Everything.", paths)
        return page(_short_product(int(path.rpartition("=")[2]))) if "id=" in path else page("About us.")

    return Real("products with two parameters", ["/"], paths, web)


REAL = list(real_places())


@pytest.mark.parametrize("place", REAL, ids=[place.name for place in REAL])
def test_no_page_of_a_real_place_is_lost(place: Real) -> None:
    walk = Walk(place.web, place.seeds)
    walk.night()
    lost = [path for path in place.pages if path not in walk.fetched]
    assert not lost, f"{len(lost)} of {len(place.pages)}, from {lost[0]}; {walk.guard!r}"
    assert not walk.excluded


# -- traps ---------------------------------------------------------------------------------------------------------
_ITEMS = [f"/thing/{words(f't{n}', 2).replace(' ', '-')}-x{n}y" for n in range(400)]


def endless(
    main: Callable[[int], str], links: Callable[[int], list[str]] = lambda n: [], spell: str = "/new?page={}"
) -> Web:
    """A place in which every page names the next one, for ever, in a shop of 400 things."""
    start, _, _ = spell.partition("{}")

    def web(path: str) -> tuple[str, list[str]] | None:
        if path == "/":
            return page("Welcome.", [*_ITEMS, spell.format(1)])
        if path in _ITEMS:
            return page(f"<p>{words(path, 20)}</p>")
        if not path.startswith(start):
            return page("About us.")
        n = int(path.removeprefix(start).partition("&")[0].strip("/"))
        return page(main(n), [*links(n), spell.format(n + 1)])

    return web


def in_shop(name: str, web: Web, at_most: int, later: int = 1, start: str = "/new?page=") -> Trap:
    return Trap(name, ["/"], lambda path: path.startswith(start), web, at_most, later, ["/", *_ITEMS])


def _random_items(n: int) -> list[str]:
    return random.Random(n).sample(_ITEMS, 5)


def traps() -> Iterator[Trap]:
    yield in_shop("the same page for ever", endless(lambda n: "<h1>New</h1>", lambda n: _ITEMS[:5]), 3)
    yield in_shop(
        "the same, numbered",
        endless(lambda n: f"<h1>Page {n}</h1>Showing {n * 20 + 1} to {n * 20 + 20}"),
        10,
        1,
    )
    yield in_shop("nothing found, for ever", endless(lambda n: "<p>No results.</p>"), 3)
    yield in_shop(
        "a page that tells the time",
        endless(lambda n: f"<h1>New</h1><p>{n % 24}:{n * 7 % 60:02}:{n * 11 % 60:02}</p>"),
        103,
        1,
    )
    yield in_shop(
        "a page with a token",
        endless(lambda n: f"<input type=hidden name=csrf value={n * 2654435761 % 2**64:016x}>"),
        3,
    )
    yield in_shop(
        "a page with a rotating banner", endless(lambda n: f"<h1>New</h1><p>{words(f'b{n % 12}', 6)}</p>"), 16
    )
    yield in_shop("entries drawn by chance", endless(lambda n: "<h1>New</h1>", _random_items), 200, 1)
    yield in_shop(
        "weeks, numbered",
        endless(lambda n: f"<h1>Week {n}</h1><p>No events.</p>", spell="/week/{}"),
        3,
        1,
        "/week/",
    )
    yield in_shop(
        "the last page of a list, for ever",
        endless(lambda n: "<h1>New</h1>", lambda n: _ITEMS[min(n, 60) * 5 : min(n, 60) * 5 + 5]),
        63,
    )
    yield _months()
    yield _months_and_days()
    yield _sorted_again()
    yield _filters()
    yield _sessions()


def _calendar(path: str) -> date | None:
    parts = path.removeprefix("/events/").split("/")
    return (
        date(int(parts[0]), int(parts[1]), int(parts[2]) if len(parts) > 2 else 1)
        if path.startswith("/events/")
        else None
    )


def _months() -> Trap:
    def web(path: str) -> tuple[str, list[str]] | None:
        day = _calendar(path)
        if day is None:
            return page("Welcome.", ["/events/2026/01"]) if path == "/" else page("About us.")
        later = (day + timedelta(days=32)).replace(day=1)
        return page(f"<h1>{day:%B %Y}</h1><p>No events in {day:%B}.</p>", [f"/events/{later:%Y/%m}"])

    return Trap("months", ["/"], lambda path: path.startswith("/events/"), web, 3, 1, ["/"])


def _months_and_days() -> Trap:
    """Every month names its days, each of which has a page that says nothing."""

    def web(path: str) -> tuple[str, list[str]] | None:
        day = _calendar(path.replace("/day/", "/events/"))
        if day is None:
            return page("Welcome.", ["/events/2026/01"]) if path == "/" else page("About us.")
        if path.startswith("/day/"):
            return page(f"<h1>{day:%A %d %B %Y}</h1><p>Nothing.</p>", [f"/events/{day:%Y/%m}"])
        later = (day + timedelta(days=32)).replace(day=1)
        days = [f"/day/{day.replace(day=n):%Y/%m/%d}" for n in range(1, 29)]
        return page(f"<h1>{day:%B %Y}</h1>", [*days, f"/events/{later:%Y/%m}"])

    return Trap(
        "months and days", ["/"], lambda path: path[1:].startswith(("events/", "day/")), web, 250, 30, ["/"]
    )


def _sorted_again() -> Trap:
    """Ten orders of one list; all entries are known."""

    def web(path: str) -> tuple[str, list[str]] | None:
        if path in _ITEMS:
            return page(f"<p>{words(path, 20)}</p>")
        if not path.startswith("/list?"):
            return page("Welcome.", [*_ITEMS, *(f"/list?sort={order}&page=1" for order in "abcdefghij")])
        order, _, number = path.removeprefix("/list?sort=").partition("&page=")
        n = int(number)
        shown = sorted(_ITEMS, key=lambda item: random.Random(order + item).random())[n * 20 - 20 : n * 20]
        after = [f"/list?sort={order}&page={n + 1}"] if n < 20 else []
        return page("<h1>All</h1>", [*shown, *after])

    return Trap(
        "one list in ten orders", ["/"], lambda path: path.startswith("/list?"), web, 200, 200, ["/", *_ITEMS]
    )


def _filters() -> Trap:
    """6 × 8 × 8 × 5 × 4 combinations of filters, each page naming some more of them."""
    values = {"kind": _KINDS, "colour": _COLOURS, "make": _MAKES, "size": list("abcde"), "sort": list("wxyz")}

    def web(path: str) -> tuple[str, list[str]] | None:
        if path in _ITEMS:
            return page(f"<p>{words(path, 20)}</p>")
        chosen = dict(pair.split("=") for pair in path.partition("?")[2].split("&")) if "?" in path else {}
        if path != "/" and not chosen:
            return page("About us.")
        shown = random.Random(" ".join(sorted(chosen.values()))).sample(_ITEMS, 12)
        more = [
            "/find?" + "&".join(f"{name}={one}" for name, one in sorted((chosen | {name: one}).items()))
            for name in values for one in values[name]
        ]  # fmt: skip
        return page(
            f"<h1>Things: {', '.join(chosen.values())}</h1>", [*(_ITEMS if path == "/" else shown), *more]
        )

    return Trap(
        "combinations of filters",
        ["/"],
        lambda path: path.startswith("/find?"),
        web,
        4_000,
        100,
        ["/", *_ITEMS],
    )


def _sessions() -> Trap:
    pages = [f"/room/{words(f'q{n}', 1)}" for n in range(60)]
    count = 0

    def web(path: str) -> tuple[str, list[str]] | None:
        nonlocal count
        links = []
        for other in pages:
            count += 1
            links.append(f"{other}?sid={count * 2654435761 % 2**64:016x}a1")
        bare = path.partition("?")[0]
        return page(f"<p>{words(bare, 30)}</p>", links)

    return Trap("an id in every link", pages[:1], lambda path: "sid=" in path, web, 70, 5, [])


TRAPS = list(traps())


@pytest.mark.parametrize("trap", TRAPS, ids=[trap.name for trap in TRAPS])
def test_a_trap_costs_little_and_hides_nothing(trap: Trap) -> None:
    walk = Walk(trap.web, trap.seeds)
    wasted = sum(map(trap.is_trap, walk.night()))
    assert wasted <= trap.at_most
    assert walk.fetched >= set(trap.real)
    wasted = sum(map(trap.is_trap, walk.night()))
    assert wasted <= trap.later


def test_what_goes_on_for_ever_with_new_text_is_bounded_in_a_night_and_goes_on_the_night_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Made-up text cannot be told from a book: it may not hold a night, and must not be lost."""
    monkeypatch.setattr("resources.crawler.traps.endless.UNBROKEN", 300)
    _, web = chain("/book/{}", 1000, lambda n: f"<p>{words(f'm{n}', 40)}</p>")
    walk = Walk(web, ["/"])
    nights = [sum(path.startswith("/book/") for path in walk.night()) for _ in range(4)]
    assert nights[:3] == [300, 301, 301]
    assert sum(nights) == 1000
    assert not walk.excluded


def test_a_hole_at_the_start_of_a_chain_is_crossed_by_probes() -> None:
    """Four equal pages after two real ones close the place; the probe of each night goes one further."""
    _, web = chain("/lot/{}", 200, lambda n: "<p>Sold.</p>" if 3 <= n <= 7 else f"<p>{words(f'l{n}', 9)}</p>")
    walk = Walk(web, ["/"])
    walk.night()
    assert walk.excluded
    for _ in range(5):
        walk.night()
    assert {f"/lot/{n}" for n in range(1, 201)} <= walk.fetched
    assert not walk.excluded


def test_a_closed_place_is_probed_again_in_the_same_night_as_the_rest_of_the_site_pays_for_it() -> None:
    leaves = [f"/leaf/{words(f'x{n}', 2).replace(' ', '-')}" for n in range(3500)]

    def web(path: str) -> tuple[str, list[str]] | None:
        if path == "/":
            return page("Welcome.", ["/new?page=1", "/hub/a"])
        if path.startswith("/hub/"):
            return page(f"<p>{path}</p>", leaves if path == "/hub/aaaaa" else [path + "a"])
        if path.startswith("/new"):
            return page("<p>Nothing.</p>", [f"/new?page={int(path.partition('=')[2]) + 1}"])
        return page(f"<p>{words(path, 5)}</p>")

    walk = Walk(web, ["/"])
    asked = sum(path.startswith("/new") for path in walk.night())
    assert 4 <= asked <= 6, "two probes in 3,500 pages: after 1,000, after 2,000 more"


@pytest.mark.parametrize("body", [b"<a " * 60_000, b"<!--" * 60_000, b"1." * 60_000, b'<script>"' * 30_000])
def test_no_markup_takes_long_to_read(body: bytes) -> None:
    """Counted in pieces, not in seconds: what is read is no more than what stands there."""
    atoms = page_atoms(body, 5, [], SITE, deep=True)
    assert len(atoms.all()) <= len(body)
