"""The HTML of the shop: a frame, book cards, the product page, in two layouts. Strings in, strings out.

The two layouts show the same facts; layout 2 renames every class, so that selectors written for layout 1 find
nothing (the structured data stays). All text arguments are plain text and are escaped here; `main` is HTML.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from practice_site.catalogue import Book
from practice_site.words import CATEGORIES

__all__ = ["Names", "anchor", "book_card", "frame", "layout_names", "listing", "pounds", "product"]


class Names(NamedTuple):
    """Class names of one layout, by what they mark."""

    page: str
    title: str
    price: str
    availability: str
    authors: str
    author: str
    rating: str
    isbn: str
    facts: str
    blurb: str
    card: str
    cards: str
    related: str
    pager: str


LAYOUTS: dict[int, Names] = {
    1: Names(
        page="shop",
        title="title",
        price="price",
        availability="availability",
        authors="authors",
        author="author",
        rating="rating",
        isbn="isbn",
        facts="facts",
        blurb="description",
        card="book",
        cards="books",
        related="related",
        pager="pager",
    ),
    2: Names(
        page="store-v2",
        title="pdp-name",
        price="pdp-cost",
        availability="pdp-stock",
        authors="pdp-by",
        author="pdp-writer",
        rating="pdp-stars",
        isbn="pdp-code",
        facts="pdp-specs",
        blurb="pdp-copy",
        card="tile",
        cards="tiles",
        related="also",
        pager="steps",
    ),
}


def layout_names(layout: int) -> Names:
    return LAYOUTS[layout]


def pounds(pence: int) -> str:
    """`£1,234.50`."""
    return f"£{pence / 100:,.2f}"


def anchor(href: str, text: str, attributes: str = "") -> str:
    return f'<a href="{escape(href)}"{attributes}>{escape(text)}</a>'


def frame(
    *,
    title: str,
    main: str,
    nav: Sequence[tuple[str, str]],
    names: Names,
    canonical: str = "",
    head: str = "",
    language: str = "en",
    charset_meta: str = "utf-8",
) -> str:
    """A whole page. `charset_meta` empty leaves the declaration to the HTTP header."""
    meta = f'<meta charset="{charset_meta}">\n' if charset_meta else ""
    link = f'<link rel="canonical" href="{escape(canonical)}">\n' if canonical else ""
    menu = "".join(f"<li>{anchor(href, text)}</li>" for href, text in nav)
    return (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n{meta}<title>{escape(title)} – Nightjar Books</title>\n'
        f'{link}{head}<link rel="stylesheet" href="/static/style.css">\n</head>\n<body class="{names.page}">\n'
        f'<header><a href="/">Nightjar Books</a><nav><ul>{menu}</ul></nav></header>\n<main>\n{main}\n</main>\n'
        "<footer><p>Nightjar Books, a shop that exists to be read by machines.</p>"
        '<a href="/account/help">Help</a> <a href="/account/login">Sign in</a> '
        '<a href="/account/basket">Basket</a> <a href="/search?q=harbour">Search</a></footer>\n'
        "</body>\n</html>\n"
    )


def book_card(book: Book, pence: int, names: Names) -> str:
    return (
        f'<li class="{names.card}">{anchor(book.path, book.title)} '
        f'<span class="{names.price}">{pounds(pence)}</span></li>'
    )


def listing(heading: str, cards: Sequence[str], pager: str, names: Names, above: str = "") -> str:
    return (
        f"<h1>{escape(heading)}</h1>\n{above}\n"
        f'<ul class="{names.cards}">\n' + "\n".join(cards) + f'\n</ul>\n<p class="{names.pager}">{pager}</p>'
    )


def product(
    book: Book,
    *,
    pence: int,
    stock: int,
    related: Sequence[Book],
    names: Names,
    structured: str,
    padding: int,
) -> tuple[str, str]:
    """(head, main) of a product page. `structured` is full, broken or off; `padding` the size to reach, bytes."""
    slug, category = CATEGORIES[book.category]
    in_stock = f"In stock ({stock} available)" if stock else "Out of stock"
    item = ' itemscope itemtype="https://schema.org/Book"' if structured != "off" else ""
    prop = _itemprop if structured != "off" else _no_itemprop
    authors = "".join(
        f'<li class="{names.author}"{prop("author")}>{escape(author)}</li>' for author in book.authors
    )
    blurb = "\n".join(f"<p>{escape(sentence)}</p>" for sentence in book.blurb)
    also = "".join(f"<li>{anchor(other.path, other.title)}</li>" for other in related)
    offer = (
        f'<div{prop("offers")} itemscope itemtype="https://schema.org/Offer">'
        f'<meta itemprop="priceCurrency" content="GBP"><meta itemprop="price" content="{pence / 100:.2f}">'
        f'<link itemprop="availability" href="{_availability(stock)}"></div>'
        if structured != "off"
        else ""
    )
    main = (
        f'<article{item}>\n<h1 class="{names.title}"{prop("name")}>{escape(book.title)}</h1>\n'
        f'<ul class="{names.authors}">{authors}</ul>\n'
        f'<p class="{names.price}">{pounds(pence)}</p>{offer}\n'
        f'<p class="{names.availability}">{in_stock}</p>\n'
        f'<p class="{names.rating}" data-rating="{book.rating}">{book.rating} out of 5 '
        f"({book.reviews} reviews)</p>\n"
        f'<table class="{names.facts}">\n'
        f'<tr><th>ISBN</th><td class="{names.isbn}"{prop("isbn")}>{book.isbn}</td></tr>\n'
        f'<tr><th>Format</th><td class="format">{book.format}</td></tr>\n'
        f'<tr><th>Language</th><td class="language"{prop("inLanguage")}>{book.language}</td></tr>\n'
        f'<tr><th>Pages</th><td class="pages"{prop("numberOfPages")}>{book.pages}</td></tr>\n'
        f'<tr><th>Published</th><td class="published"><time datetime="{book.published.isoformat()}"'
        f"{prop('datePublished')}>{book.published.day} {book.published:%B %Y}</time></td></tr>\n"
        f'<tr><th>Category</th><td class="category">{anchor(f"/category/{slug}", category)}</td></tr>\n</table>\n'
        f'<div class="{names.blurb}"{prop("description")}>\n{blurb}\n</div>\n'
        f'<ul class="{names.related}">{also}</ul>\n</article>'
    )
    if padding > len(main):
        main += f"\n<div hidden>{'The rest of the page is paper. ' * ((padding - len(main)) // 31 + 1)}</div>"
    return _json_ld(book, pence, stock, structured), main


def _json_ld(book: Book, pence: int, stock: int, structured: str) -> str:
    if structured == "off":
        return ""
    broken = structured == "broken" and book.number % 2 == 1
    data: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": ["Product", "Book"],
        "name": book.title,
        "isbn": book.isbn,
        "author": [{"@type": "Person", "name": author} for author in book.authors],
        "inLanguage": book.language,
        "numberOfPages": book.pages,
        "datePublished": book.published.isoformat(),
        "aggregateRating": {
            "@type": "AggregateRating",
            "ratingValue": book.rating,
            "reviewCount": book.reviews,
        },
        "offers": {
            "@type": "Offer",
            "price": f"about {pounds(pence)}" if broken else f"{pence / 100:.2f}",
            "priceCurrency": "GBP",
            "availability": _availability(stock),
        },
    }
    # Escapes keep it ASCII for every encoding, and "</" away from the parser.
    text = json.dumps(data, ensure_ascii=True).replace("</", "<\\/")
    if broken:
        text = text[:-1] + ",}"
    return f'<script type="application/ld+json">{text}</script>\n'


def _availability(stock: int) -> str:
    return "https://schema.org/InStock" if stock else "https://schema.org/OutOfStock"


def _itemprop(name: str) -> str:
    return f' itemprop="{name}"'


def _no_itemprop(name: str) -> str:
    return ""
