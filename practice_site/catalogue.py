"""The books: who wrote them, what they cost on which night. A pure function of seed, sizes and shares.

Costs about 30 µs and 1 KB a book. Nothing here knows of HTTP or HTML.
"""

from __future__ import annotations

import hashlib
import random
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Literal
from urllib.parse import quote

from practice_site.site_config import SiteConfig
from practice_site.words import (
    ADJECTIVES,
    FIRST_NAMES,
    FOREIGN_TITLES,
    FORMATS,
    LAST_NAMES,
    NOUNS,
    SENTENCES,
    TITLE_PATTERNS,
)

__all__ = ["Book", "Catalogue", "EncodingBy", "draw", "night_time"]

EncodingBy = Literal["header", "meta", "both"]

NIGHT_ONE = datetime(2025, 1, 6, 2, 0, tzinfo=UTC)
# Language of a foreign edition and the encoding its page is written in.
FOREIGN: tuple[tuple[str, str], ...] = (("ru", "windows-1251"), ("ja", "shift_jis"), ("zh", "gbk"))
ENCODING_BY: tuple[EncodingBy, ...] = ("header", "meta", "both")


def draw(*key: object) -> float:
    """A number in [0, 1) that depends on `key` alone, on every machine and Python."""
    digest = hashlib.blake2b("\x1f".join(map(str, key)).encode(), digest_size=7).digest()
    return int.from_bytes(digest, "big") / float(1 << 56)


def night_time(night: int) -> datetime:
    """The moment from which the pages of `night` (counted from 1) are valid."""
    return NIGHT_ONE + timedelta(days=night - 1)


@dataclass(frozen=True, slots=True)
class Book:
    """One product; what changes by night is asked of the catalogue."""

    number: int
    title: str
    authors: tuple[str, ...]
    isbn: str
    category: int
    format: str
    language: str
    encoding: str
    encoding_by: EncodingBy
    published: date
    pages: int
    rating: int
    reviews: int
    blurb: tuple[str, ...]
    base_price: int
    """In pence, on the night it arrived."""
    path: str
    """`/book/00042-the-quiet-harbour`; other scripts percent-encoded, upper case."""


class Catalogue:
    """All books that were, are and will be sold by one site, and what they cost on the config's night."""

    def __init__(self, config: SiteConfig) -> None:
        self.config = config
        self.night = config.night
        behaviour = config.behaviour
        nights = config.night - 1
        # 1. Books leave in the order of their numbers, 2. new ones are numbered on, 3. never all leave.
        self.first = min(behaviour.departures * nights, config.n_products - 1)
        self.end = config.n_products + behaviour.arrivals * nights
        self.books: tuple[Book, ...] = tuple(
            _make_book(config.seed, number, config.categories, behaviour.foreign_share)
            for number in range(self.end)
        )
        self.on_sale: tuple[Book, ...] = self.books[self.first :]
        listed = max(1, len(self.on_sale) - behaviour.orphans)
        self.listed: tuple[Book, ...] = self.on_sale[:listed]
        """On sale and linked; the rest are only in the sitemap."""

    def get(self, number: int) -> Book | None:
        return self.books[number] if 0 <= number < self.end else None

    def is_on_sale(self, book: Book) -> bool:
        return book.number >= self.first

    def arrival_night(self, book: Book) -> int:
        late = book.number - self.config.n_products
        return 1 if late < 0 else late // self.config.behaviour.arrivals + 2

    def departure_night(self, book: Book) -> int | None:
        """The first night without it, if that is not after tonight."""
        if book.number >= self.first:
            return None
        return book.number // self.config.behaviour.departures + 2

    def version(self, book: Book) -> int:
        """The last night, up to tonight, on which price or stock changed (or the book arrived)."""
        arrived = self.arrival_night(book)
        for night in range(self.night, arrived, -1):
            if self._changes(book, night):
                return night
        return arrived

    def price(self, book: Book) -> int:
        """Tonight's price in pence."""
        pence = book.base_price
        for night in range(self.arrival_night(book) + 1, self.night + 1):
            if self._changes(book, night):
                step = 0.8 + 0.4 * draw(self.config.seed, "step", book.number, night)
                new = max(99, round(pence * step))
                pence = new if new != pence else pence + 1
        return pence

    def stock(self, book: Book) -> int:
        """Copies in stock tonight; 0 for about one book in eight."""
        return max(0, int(draw(self.config.seed, "stock", book.number, self.version(book)) * 40) - 5)

    def related(self, book: Book) -> list[Book]:
        """Up to five other listed books, the same every night except those that have left."""
        size = max(1, self.config.n_products - self.config.behaviour.orphans)
        numbers = {(book.number * 7 + 3 + step * step * 11) % size for step in range(5)} - {book.number}
        return [self.books[number] for number in sorted(numbers)]

    def _changes(self, book: Book, night: int) -> bool:
        share = self.config.behaviour.price_change_share
        return share > 0 and draw(self.config.seed, "change", book.number, night) < share


@lru_cache(maxsize=20_000)
def _make_book(seed: int, number: int, categories: int, foreign_share: float) -> Book:
    rng = random.Random(f"book:{seed}:{number}")
    title = _english_title(rng)
    authors = tuple(
        dict.fromkeys(
            f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}" for _ in range(rng.choice((1, 1, 1, 2, 3)))
        )
    )
    blurb = tuple(
        sentence.format(
            a=rng.choice(ADJECTIVES).lower(),
            n=rng.choice(NOUNS).lower(),
            m=rng.choice(NOUNS).lower(),
            f=rng.choice(FIRST_NAMES),
        )
        for sentence in rng.sample(SENTENCES, rng.randint(5, 9))
    )
    language, encoding, by = "en", "utf-8", ENCODING_BY[number % 3]
    category, form = rng.randrange(categories), rng.choice(FORMATS)
    published = date(1960, 1, 1) + timedelta(days=rng.randrange(23_000))
    pages, rating, reviews = rng.randint(60, 900), rng.randint(1, 5), rng.randint(0, 400)
    base_price = rng.randint(299, 8999)
    if draw(seed, "foreign", number) < foreign_share:
        language, encoding = FOREIGN[number % 3]
        by = ENCODING_BY[(number // 3) % 3]
        adjectives, nouns, pattern = FOREIGN_TITLES[language]
        title = pattern.format(a=rng.choice(adjectives), n=rng.choice(nouns))
    slug = re.sub(r"[^\w]+", "-", title.lower().replace("’", "")).strip("-")
    return Book(
        number=number,
        title=title,
        authors=authors,
        isbn=_isbn13(seed, number),
        category=category,
        format=form,
        language=language,
        encoding=encoding,
        encoding_by=by,
        published=published,
        pages=pages,
        rating=rating,
        reviews=reviews,
        blurb=blurb,
        base_price=base_price,
        path=f"/book/{number:05d}-{quote(slug)}",
    )


def _english_title(rng: random.Random) -> str:
    a, b = rng.sample(ADJECTIVES, 2)
    n, m = rng.sample(NOUNS, 2)
    return rng.choice(TITLE_PATTERNS).format(a=a, b=b, n=n, m=m)


def _isbn13(seed: int, number: int) -> str:
    """Twelve digits from seed and number, and the check digit of ISO 2108."""
    digits = f"978{(seed * 100_003 + number) % 10**9:09d}"
    total = sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(digits))
    return digits + str(-total % 10)
