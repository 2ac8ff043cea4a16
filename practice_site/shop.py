"""The map of the shop: which resource is at which URL tonight. Pure, no I/O, no memory of requests.

/                                   front page
/books[?page=N]                     all books
/categories, /category/SLUG[?format=F][&page=N]
/category/SLUG?…sort=price          sorted lists, disallowed by robots.txt
/book/NNNNN-SLUG                    a product
/about /contact /delivery           never change
/archive, /links                    odd corners (archive.py)
/events /browse /new                traps (traps.py)
/account/… /search?q=…              disallowed, except /account/help
/robots.txt /sitemap.xml /sitemaps/part-N.xml[.gz] /static/style.css
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from urllib.parse import parse_qsl, quote, unquote, urlencode

from practice_site.archive import Archive
from practice_site.catalogue import Book, Catalogue, night_time
from practice_site.page_writer import PageWriter
from practice_site.resource import Kind, Resource
from practice_site.robots_txt import MOVED_TO, robots_txt
from practice_site.site_config import SiteConfig
from practice_site.sitemaps import sitemap_resource
from practice_site.templates import anchor, book_card, listing, product
from practice_site.traps import Traps
from practice_site.words import CATEGORIES, FORMATS

__all__ = ["Shop", "identity", "normal_path"]

_BOOK = re.compile(r"/book/(\d{5})-")
_SESSION = re.compile(r"[?&]sid=[^&]*")
_STATIC_TEXTS = {
    "/about": ("About us", "A bookshop founded so that crawlers have somewhere to practise."),
    "/contact": ("Contact", "Write to shop@nightjar.example; we answer in the order of arrival."),
    "/delivery": ("Delivery", "Parcels leave at night, in small numbers, and never all at once."),
}
_PRIVATE_TEXTS = {"/account/login": "Sign in", "/account/basket": "Your basket", "/search": "Search results"}
# How far the numbered links of a list reach around the current page.
PAGER_REACH = 2


def identity(target: str) -> str:
    """`target` without session id: equal for two URLs of the same content."""
    if "sid=" not in target:
        return target
    bare = _SESSION.sub("", target)
    return bare if "?" in bare or "&" not in bare else bare.replace("&", "?", 1)


class Shop:
    """All pages of one site on one night. `origin` is `http://host:port` without a slash at the end."""

    def __init__(self, config: SiteConfig, origin: str, neighbours: Sequence[str] = ()) -> None:
        self.config = config
        self.origin = config.public_origin or origin
        self.catalogue = Catalogue(config)
        self.writer = PageWriter(config, self.origin)
        self.archive = Archive(self.writer, self.catalogue.listed, [*config.neighbours, *neighbours])
        self.traps = Traps(self.writer, self.catalogue.listed)

    def resolve(self, target: str) -> Resource:
        """The resource at `target`, path and query as they came over the wire; unknown ones are 404."""
        clean = identity(target) if self.config.behaviour.session_trap == "everywhere" else target
        path, _, query_text = clean.partition("?")
        if "%" in path or "/." in path:
            path = normal_path(path)
        query = dict(parse_qsl(query_text)) if query_text else {}
        found = (
            self._book(target, path)
            or self._lists(target, path, query)
            or self._fixed(target, path)
            or self.archive.resolve(target, path)
            or self.traps.resolve(target, path, query)
            or self._for_machines(path)
        )
        return found or self.writer.missing(target)

    def book_time(self, book: Book) -> datetime:
        """Last-Modified of a book's page: its own last change, or that of what it shows."""
        nights = [self.catalogue.version(book), self.writer.floor_night]
        nights += [self.catalogue.departure_night(other) or 1 for other in self.catalogue.related(book)]
        return night_time(max(nights))

    def sitemap_entries(self) -> Iterator[tuple[str, datetime]]:
        """What the sitemaps list: the front page and every book on sale, linked or not."""
        yield self.origin + "/", self._front_time()
        for book in self.catalogue.on_sale:
            yield self.origin + book.path, self.book_time(book)

    def _book(self, target: str, path: str) -> Resource | None:
        match = _BOOK.match(path)
        book = self.catalogue.get(int(match[1])) if match else None
        if book is None:
            return None
        # 1. not yet or no longer sold, 2. an old slug, 3. the page.
        if not self.catalogue.is_on_sale(book):
            return self.writer.missing(target, status=410, kind="dead")
        if path != book.path:
            return self.writer.redirect(301, book.path)
        related = [other for other in self.catalogue.related(book) if self.catalogue.is_on_sale(other)]
        head, main = product(
            book,
            pence=self.catalogue.price(book),
            stock=self.catalogue.stock(book),
            related=related,
            names=self.writer.names,
            structured=self.config.behaviour.structured_data,
            padding=self.config.behaviour.page_bytes,
        )
        return self.writer.page(
            target,
            book.title,
            main,
            kind="product",
            canonical=book.path,
            head=head,
            last_modified=self.book_time(book),
            language=book.language,
            encoding=book.encoding,
            encoding_by=book.encoding_by if book.encoding != "utf-8" else "both",
        )

    def _lists(self, target: str, path: str, query: dict[str, str]) -> Resource | None:
        if path == "/books":
            return self._list(target, path, {}, query, "All books", self.catalogue.listed)
        slug = path.removeprefix("/category/")
        index = next((n for n, (name, _) in enumerate(CATEGORIES) if name == slug), -1)
        if slug == path or not 0 <= index < self.config.categories:
            return None
        books: list[Book] = [book for book in self.catalogue.listed if book.category == index]
        facet = {}
        heading = CATEGORIES[index][1]
        if (form := query.get("format")) in FORMATS:
            facet["format"] = form
            heading = f"{heading}: {form}"
            books = [book for book in books if book.format == form]
        if query.get("sort") == "price":
            facet["sort"] = "price"
            books = sorted(books, key=self.catalogue.price)
        choices = [anchor(f"{path}?format={form}", form) for form in FORMATS]
        by_price = urlencode({**facet, "sort": "price"})
        choices.append(anchor(f"{path}?{by_price}", "by price"))
        return self._list(target, path, facet, query, heading, books, above=f"<p>{' '.join(choices)}</p>")

    def _list(
        self,
        target: str,
        path: str,
        facet: dict[str, str],
        query: dict[str, str],
        heading: str,
        books: Sequence[Book],
        above: str = "",
    ) -> Resource | None:
        number_text = query.get("page", "1")
        last = max(1, -(-len(books) // self.config.per_page))
        if not number_text.isdigit() or not 1 <= int(number_text) <= last:
            return None
        number = int(number_text)

        def href(page: int) -> str:
            pairs = facet | ({"page": str(page)} if page > 1 else {})
            return f"{path}?{urlencode(pairs)}" if pairs else path

        shown = books[(number - 1) * self.config.per_page : number * self.config.per_page]
        near = {1, last, *range(number - PAGER_REACH, number + PAGER_REACH + 1), *range(10, last, 10)}
        steps = [anchor(href(n), str(n)) for n in sorted(near) if 1 <= n <= last and n != number]
        if number > 1:
            steps.insert(0, anchor(href(number - 1), "Previous", " rel=prev"))
        if number < last:
            steps.append(anchor(href(number + 1), "Next", " rel=next"))
        cards = [book_card(book, self.catalogue.price(book), self.writer.names) for book in shown]
        title = f"{heading}, page {number}" if number > 1 else heading
        main = listing(title, cards, " ".join(steps), self.writer.names, above)
        kind: Kind = "private" if "sort" in facet else "list" if path == "/books" else "category"
        times = [self.writer.stock_time, *(self.book_time(book) for book in shown)]
        return self.writer.page(
            target, title, main, kind=kind, canonical=href(number), last_modified=max(times)
        )

    def _fixed(self, target: str, path: str) -> Resource | None:
        names = self.writer.names
        if path == "/":
            cards = [book_card(book, self.catalogue.price(book), names) for book in self._featured()]
            main = listing("Nightjar Books", cards, anchor("/books", "All books"), names)
            return self.writer.page(
                target, "Welcome", main, kind="front", canonical="/", last_modified=self._front_time()
            )
        if path == "/categories":
            links = [
                f"<li>{anchor(f'/category/{slug}', name)}</li>"
                for slug, name in CATEGORIES[: self.config.categories]
            ]
            return self.writer.page(
                target, "Categories", listing("Categories", links, "", names), canonical="/categories"
            )
        if path == "/account/help":
            main = "<h1>Help</h1><p>Lost your way? Start at the front page.</p>"
            return self.writer.page(target, "Help", main, canonical=path, static=True)
        if path in _STATIC_TEXTS:
            title, text = _STATIC_TEXTS[path]
            main = f"<h1>{title}</h1><p>{text}</p>"
            return self.writer.page(target, title, main, canonical=path, static=True)
        if path in _PRIVATE_TEXTS:
            title = _PRIVATE_TEXTS[path]
            main = f"<h1>{title}</h1><p>Nothing for crawlers here.</p>"
            return self.writer.page(target, title, main, kind="private")
        return None

    def _for_machines(self, path: str) -> Resource | None:
        behaviour = self.config.behaviour
        if path == "/static/style.css":
            css = b"body{font-family:serif;max-width:60rem;margin:auto}\n"
            return Resource("asset", css, "text/css", last_modified=self.writer.floor, static=True)
        if path == "/robots.txt" and behaviour.robots == "redirect":
            return self.writer.redirect(301, MOVED_TO, kind="robots")
        if path == "/robots.txt" and behaviour.robots == "error":
            return Resource("robots", b"try later\n", "text/plain", 503)
        moved = behaviour.robots == "redirect" and path == MOVED_TO
        if moved or (path == "/robots.txt" and behaviour.robots != "none"):
            text = robots_txt(behaviour, self.origin)
            return Resource("robots", text.encode(), "text/plain; charset=utf-8")
        if path.startswith("/sitemap") and behaviour.sitemap != "off":
            return sitemap_resource(
                path,
                list(self.sitemap_entries()),
                origin=self.origin,
                mode=behaviour.sitemap,
                size=behaviour.sitemap_size,
                compressed=behaviour.sitemap_gzip,
            )
        return None

    def _featured(self) -> Sequence[Book]:
        return self.catalogue.listed[:: max(1, len(self.catalogue.listed) // 10)][:10]

    def _front_time(self) -> datetime:
        return max(self.writer.stock_time, *(self.book_time(book) for book in self._featured()))


def normal_path(path: str) -> str:
    """Dot segments removed, escapes in their normal form (RFC 3986, 6.2.2), for clients that do neither."""
    kept: list[str] = []
    segments = unquote(path).split("/")[1:]
    for segment in segments:
        if segment == "..":
            kept[-1:] = []
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + quote("/".join(kept), safe="/-._~!$&'()*+,;=:@")
