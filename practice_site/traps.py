"""The places without end: session ids, the calendar, and a list whose "next" never stops."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from practice_site.catalogue import Book, draw
from practice_site.link_spelling import session_id
from practice_site.page_writer import PageWriter
from practice_site.resource import Resource
from practice_site.templates import anchor, listing

__all__ = ["Traps"]

SHELVES = 5
# New arrivals: this many books on each of at most three true pages.
NEW_PER_PAGE = 5
NEW_BOOKS = 15
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_MONTH = re.compile(r"/events/(\d{4})/(\d{2})\Z")
_SHELF = re.compile(r"/browse/([1-9])\Z")


class Traps:
    """Every book linked in here is linked elsewhere too: a crawler that stays out loses nothing."""

    def __init__(self, writer: PageWriter, books: Sequence[Book]) -> None:
        self.writer = writer
        self.books = books
        self.seed = writer.config.seed
        self.newest = list(reversed(books[-NEW_BOOKS:]))

    @property
    def new_pages(self) -> int:
        """True pages of /new."""
        return -(-len(self.newest) // NEW_PER_PAGE)

    def resolve(self, target: str, path: str, query: Mapping[str, str]) -> Resource | None:
        behaviour = self.writer.config.behaviour
        if behaviour.calendar_trap and path == "/events":
            link = anchor("/events/2025/01", "The calendar")
            return self.writer.page(
                target, "Events", f"<h1>Events</h1><p>Readings and signings. {link}</p>", canonical="/events"
            )
        if behaviour.calendar_trap and (month := _MONTH.match(path)):
            return self._month(target, int(month[1]), int(month[2]))
        if behaviour.session_trap == "section" and path == "/browse":
            main = f"<h1>Browse the shelves</h1><ul>{self._shelves(target)}</ul>"
            return self.writer.page(target, "Browse the shelves", main, canonical="/browse")
        if behaviour.session_trap == "section" and (shelf := _SHELF.match(path)):
            return self._shelf(target, int(shelf[1]))
        if behaviour.next_loop != "off" and path == "/new":
            return self._new_arrivals(target, query)
        return None

    def _month(self, target: str, year: int, month: int) -> Resource | None:
        if not 1 <= month <= 12 or year < 1:
            return None
        later = f"/events/{year + month // 12:04d}/{month % 12 + 1:02d}"
        book = self.books[int(draw(self.seed, "event", year, month) * len(self.books))]
        title = f"{MONTHS[month - 1]} {year}"
        main = (
            f"<h1>{title}</h1>\n<p>A reading from {anchor(book.path, book.title)}.</p>\n"
            f"<p>{anchor(later, 'Next month', ' rel=next')}</p>"
        )
        return self.writer.page(target, f"Events in {title}", main, kind="calendar", kept=False)

    def _shelves(self, target: str) -> str:
        links = []
        for number in range(1, SHELVES + 1):
            sid = session_id(self.seed, target, number)
            links.append(f"<li>{anchor(f'/browse/{number}?sid={sid}', f'Shelf {number}')}</li>")
        return "".join(links)

    def _shelf(self, target: str, number: int) -> Resource | None:
        if number > SHELVES:
            return None
        cards = [
            f"<li>{anchor(book.path, book.title)}</li>" for book in self.books[number - 1 :: SHELVES][:3]
        ]
        cards.append(self._shelves(target))
        main = listing(f"Shelf {number}", cards, "", self.writer.names)
        return self.writer.page(
            target, f"Shelf {number}", main, kind="session", canonical=f"/browse/{number}", kept=False
        )

    def _new_arrivals(self, target: str, query: Mapping[str, str]) -> Resource | None:
        text = query.get("page", "1")
        if not text.isdigit() or not 1 <= int(text) <= 10**9:
            return None
        number, last = int(text), self.new_pages
        endless = self.writer.config.behaviour.next_loop == "endless"
        if number > last and not endless:
            return None
        shown = min(number, last)
        cards = [
            f"<li>{anchor(book.path, book.title)}</li>"
            for book in self.newest[(shown - 1) * NEW_PER_PAGE : shown * NEW_PER_PAGE]
        ]
        following = f"/new?page={number + 1}" if number < last or endless else "/new"
        main = listing("New arrivals", cards, anchor(following, "Next", " rel=next"), self.writer.names)
        return self.writer.page(
            target, "New arrivals", main, kind="endless" if number > last else "list", kept=number <= last
        )
