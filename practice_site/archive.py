"""/archive and /links, and all the odd corners they lead to: redirects, dead ends, pages with robots rules."""

from __future__ import annotations

import re
from collections.abc import Sequence

from practice_site.catalogue import Book
from practice_site.page_writer import PageWriter
from practice_site.resource import Resource
from practice_site.templates import anchor

__all__ = ["Archive"]

REDIRECT_STATUS = (301, 302, 307, 308)
LOOP = ("a", "b", "c")
_CORNER = re.compile(r"/(go|chain|dead|broken|soft|note|partners|partner-only|sponsored)/([1-9]\d{0,5})\Z")
_LOOP = re.compile(r"/loop/([abc])\Z")


class Archive:
    """How many of each corner exist is the site's behaviour; only those that exist are linked or answered."""

    def __init__(self, writer: PageWriter, books: Sequence[Book], neighbours: Sequence[str]) -> None:
        self.writer = writer
        self.books = books
        self.neighbours = neighbours

    def resolve(self, target: str, path: str) -> Resource | None:
        if path == "/archive":
            return self.writer.page(target, "Archive", self._index(), canonical="/archive")
        if path == "/links":
            return self.writer.page(target, "Links", self._links(), canonical="/links")
        if self.writer.config.behaviour.redirect_loop and (step := _LOOP.match(path)):
            following = LOOP[(LOOP.index(step[1]) + 1) % len(LOOP)]
            return self.writer.redirect(302, f"/loop/{following}")
        if corner := _CORNER.match(path):
            return self._corner(target, corner[1], int(corner[2]))
        return None

    def _index(self) -> str:
        behaviour = self.writer.config.behaviour
        links: list[str] = []

        def add(count: int, kind: str, text: str, attributes: str = "") -> None:
            links.extend(
                f"<li>{anchor(f'/{kind}/{number}', f'{text} {number}', attributes)}</li>"
                for number in range(1, count + 1)
            )

        add(behaviour.redirects, "go", "Moved book")
        add(behaviour.dead_links, "dead", "Old offer")
        add(behaviour.broken_pages, "broken", "Reading room")
        add(behaviour.soft_404s, "soft", "Out of print")
        add(behaviour.noindex_pages, "note", "Printer’s note")
        add(behaviour.nofollow_pages, "partners", "Partner")
        add(behaviour.nofollow_pages, "sponsored", "Sponsored list", ' rel="sponsored nofollow"')
        if behaviour.redirect_chain:
            chain = behaviour.redirect_chain
            links.append(f"<li>{anchor(f'/chain/{chain}', 'A book that moved often')}</li>")
        if behaviour.redirect_loop:
            links.append(f"<li>{anchor('/loop/a', 'A book that never arrives')}</li>")
        return f"<h1>Archive</h1>\n<p>Things we could not throw away.</p>\n<ul>\n{chr(10).join(links)}\n</ul>"

    def _links(self) -> str:
        count = self.writer.config.behaviour.external_links
        urls = [*self.neighbours, *(f"http://bookshop-{number}.example/" for number in range(1, count + 1))]
        items = "".join(f"<li>{anchor(url, url)}</li>" for url in urls)
        return f"<h1>Links</h1>\n<p>Other shops.</p>\n<ul>{items}</ul>"

    def _corner(self, target: str, corner: str, number: int) -> Resource | None:
        behaviour, writer = self.writer.config.behaviour, self.writer
        book = self.books[number * 13 % len(self.books)]
        if corner == "go" and number <= behaviour.redirects:
            return writer.redirect(REDIRECT_STATUS[(number - 1) % 4], book.path)
        if corner == "chain" and number <= behaviour.redirect_chain:
            return writer.redirect(301, f"/chain/{number - 1}" if number > 1 else book.path)
        if corner == "dead" and number <= behaviour.dead_links:
            return writer.missing(target, status=404 if number % 2 else 410, kind="dead")
        if corner == "broken" and number <= behaviour.broken_pages:
            return Resource("broken", b"<h1>Internal Server Error</h1>\n", status=500)
        if corner == "soft" and number <= behaviour.soft_404s:
            main = (
                "<h1>Page not found</h1><p>Sorry, the page you are looking for does not exist any more.</p>"
            )
            return writer.page(target, "Page not found", main, kind="soft_404")
        if corner == "note" and number <= behaviour.noindex_pages:
            by_meta = number % 2 == 1
            return writer.page(
                target,
                f"Printer’s note {number}",
                f"<h1>Printer’s note {number}</h1><p>See {anchor(book.path, book.title)}.</p>",
                kind="noindex",
                head='<meta name="robots" content="noindex">\n' if by_meta else "",
                headers=() if by_meta else (("X-Robots-Tag", "noindex"),),
            )
        if corner == "partners" and number <= behaviour.nofollow_pages:
            only = anchor(f"/partner-only/{number}", "Their own list")
            return writer.page(
                target,
                f"Partner {number}",
                f"<h1>Partner {number}</h1><p>{only}</p>",
                kind="nofollow",
                head='<meta name="robots" content="nofollow">\n',
            )
        if corner in {"partner-only", "sponsored"} and number <= behaviour.nofollow_pages:
            title = f"List {number} of a partner"
            return writer.page(target, title, f"<h1>{title}</h1><p>Reached past a nofollow.</p>")
        return None
