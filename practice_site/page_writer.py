"""Turns a heading and some HTML into a whole page of the shop: navigation, encoding, link spelling, lastmod."""

from __future__ import annotations

from datetime import datetime

from practice_site.catalogue import EncodingBy, night_time
from practice_site.link_spelling import untidy, with_session_ids
from practice_site.resource import Kind, Resource
from practice_site.site_config import SiteConfig
from practice_site.templates import frame, layout_names

__all__ = ["PageWriter"]


class PageWriter:
    """Writes the pages of one site on one night. Pure: the same arguments give the same bytes."""

    def __init__(self, config: SiteConfig, origin: str) -> None:
        self.config = config
        self.origin = origin
        behaviour = config.behaviour
        change = behaviour.layout_change_night
        relaid = 0 < change <= config.night
        self.names = layout_names(2 if relaid else behaviour.layout)
        self.floor_night = change if relaid else 1
        """No page is older than this: a new layout changes them all."""
        self.nav = [("/books", "All books"), ("/categories", "Categories"), ("/archive", "Archive")]
        self.nav += [
            ("/about", "About"),
            ("/contact", "Contact"),
            ("/delivery", "Delivery"),
            ("/links", "Links"),
        ]
        if behaviour.calendar_trap:
            self.nav.append(("/events", "Events"))
        if behaviour.session_trap == "section":
            self.nav.append(("/browse", "Browse the shelves"))
        if behaviour.next_loop != "off":
            self.nav.append(("/new", "New arrivals"))

        self.floor = night_time(self.floor_night)
        moving_stock = config.night > 1 and (behaviour.arrivals or behaviour.departures)
        self.stock_time = night_time(config.night) if moving_stock else self.floor
        """When the choice of books on lists last changed."""

    def page(
        self,
        target: str,
        title: str,
        main: str,
        *,
        kind: Kind = "page",
        status: int = 200,
        canonical: str = "",
        head: str = "",
        headers: tuple[tuple[str, str], ...] = (),
        last_modified: datetime | None = None,
        language: str = "en",
        encoding: str = "utf-8",
        encoding_by: EncodingBy = "both",
        static: bool = False,
        kept: bool = True,
    ) -> Resource:
        """The page at `target` (path and query as asked). `canonical` is its path without needless query."""
        behaviour = self.config.behaviour
        html = frame(
            title=title,
            main=main,
            nav=self.nav,
            names=self.names,
            canonical=self.origin + canonical if canonical else "",
            head=head,
            language=language,
            charset_meta="" if encoding_by == "header" else encoding,
        )
        if behaviour.session_trap == "everywhere":
            html = with_session_ids(html, seed=self.config.seed, target=target)
            kept = kept and "sid=" not in target
        if behaviour.untidy_links:
            html = untidy(html, seed=self.config.seed, target=target)
        changed_at = last_modified or (self.floor if static else self.stock_time)
        if encoding != "utf-8":
            # shift_jis and gbk have no true pound sign: decoders disagree about what stands in its place.
            html = html.replace("£", "&pound;")
        named = "" if encoding_by == "meta" else f"; charset={encoding}"
        return Resource(
            kind,
            # What the encoding lacks becomes a character reference, as browsers do in forms.
            html.encode(encoding, "xmlcharrefreplace"),
            f"text/html{named}",
            status,
            last_modified=max(changed_at, self.floor) if status == 200 else None,
            headers=headers,
            static=static,
            kept=kept,
        )

    def redirect(self, status: int, location: str, *, kind: Kind = "redirect") -> Resource:
        body = f'<!DOCTYPE html><title>Moved</title><p>Moved to <a href="{location}">{location}</a>.</p>\n'
        return Resource(kind, body.encode(), status=status, location=location)

    def missing(self, target: str, *, status: int = 404, kind: Kind = "unknown") -> Resource:
        """404 or 410 with a page a person would understand."""
        words = "Gone for good" if status == 410 else "Page not found"
        main = f'<h1>{words}</h1><p>Nothing is kept here. Try <a href="/books">all books</a>.</p>'
        return self.page(target, words, main, kind=kind, status=status, kept=kind != "unknown")
