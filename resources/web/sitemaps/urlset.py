"""Entries of a `urlset` or `sitemapindex` (sitemaps.org protocol, Google's image, video, news and hreflang)."""

from __future__ import annotations

from collections.abc import Iterator

from .addresses import Addresses
from .document import NOTHING, Entry, Limits, Problems
from .elements import CORE
from .entry_reader import EntryReader
from .markup import Markup, attributes

__all__ = ["UrlSet"]

_FIELDS = frozenset({"loc", "lastmod", "changefreq", "priority"})
_ENTRIES = frozenset({"url", "sitemap"})
_EXTENSIONS = frozenset({"image", "video", "news"})


class _Draft:
    """An entry while it is being read."""

    __slots__ = ("alternates", "images", "is_sitemap", "loose", "news", "values", "videos")

    def __init__(self, *, is_sitemap: bool) -> None:
        self.is_sitemap = is_sitemap
        self.values: dict[str, str] = {}
        self.images: list[str] = []
        self.videos: list[dict[str, str]] = []
        self.news: dict[str, str] = {}
        self.alternates: dict[str, str] = {}
        #: Text that stands in the entry itself: the address where a generator left out `loc`.
        self.loose = ""


class UrlSet(EntryReader):
    """Takes tokens, gives entries. An entry ends at its end tag, at the next entry, or at the next `loc`."""

    def __init__(self, markup: Markup, addresses: Addresses, limits: Limits, problems: Problems) -> None:
        super().__init__(markup, addresses, limits, problems)
        self._draft: _Draft | None = None
        #: Where on the stack the entry and the extension stand; -1 where there is none.
        self._entry_at = self._extension_at = -1
        self._extension = CORE

    def _leaf(self, name: str, source: str, text: str) -> Iterator[Entry]:
        if self._value_at < 0 and not source and self._draft is not None and self._extension_at < 0:
            family, local = self._elements.scope.name(name)
            if family == CORE and local in _FIELDS:
                yield from self._begin_field(local)
                self._set(local, self._markup.text(text))
                return
        yield from super()._leaf(name, source, text)

    def _open(self, name: str, source: str) -> Iterator[Entry]:
        elements = self._elements
        family, local = elements.push(name, source)
        at = len(elements.open) - 1
        if family == CORE and local in _ENTRIES and self._extension_at < 0:
            # A new entry; one that is still open was never closed.
            self._value_at = -1
            if self._draft is not None:
                yield from self._flush()
            self._draft, self._entry_at = _Draft(is_sitemap=local == "sitemap"), at
            return
        draft = self._draft
        if draft is None:
            return
        if self._extension_at >= 0:
            # The innermost element of the extension holds the value; markup of no namespace is part of a text.
            if self._value_at < 0 or family == self._extension:
                self._collect(local, at)
        elif family == CORE:
            if local in _FIELDS:
                yield from self._begin_field(local)
                self._collect(local, at)
        elif family in _EXTENSIONS:
            self._begin_extension(draft, family, local, at)
        elif family == "xhtml" and local == "link":
            self._alternate(draft, source)

    def _begin_field(self, local: str) -> Iterator[Entry]:
        """A field of the entry begins. A second `loc` begins a second entry (they forget the tags between)."""
        if self._value_at >= 0:
            self._finish_value()
        draft = self._draft
        if local == "loc" and draft is not None and "loc" in draft.values:
            at = self._entry_at
            yield from self._flush()
            self._draft, self._entry_at = _Draft(is_sitemap=draft.is_sitemap), at

    def _begin_extension(self, draft: _Draft, family: str, local: str, at: int) -> None:
        if local != family:
            # An extension's element outside its frame (`image:loc` in `url`): no page, and nothing else either.
            self._extension, self._extension_at = "", at
            return
        self._extension, self._extension_at = family, at
        if family == "video" and len(draft.videos) < self._limits.extensions:
            draft.videos.append({})

    def _alternate(self, draft: _Draft, source: str) -> None:
        given = attributes(source)
        language = given.get("hreflang", "").strip()
        if not language or "href" not in given or len(draft.alternates) >= self._limits.extensions:
            return
        address = self._addresses.absolute(self._markup.text(given["href"]))
        if address is not None:
            draft.alternates.setdefault(language[:64], address)

    def _loose(self, text: str) -> None:
        if self._draft is not None and len(self._elements.open) - 1 == self._entry_at:
            self._draft.loose = (self._draft.loose + text)[: self._limits.url + 1]

    def _close(self, name: str) -> Iterator[Entry]:
        at = self._elements.closing(name)
        if at is None:
            return
        if self._value_at >= at:
            self._finish_value()
        if self._extension_at >= at:
            self._extension_at = -1
        if self._entry_at >= at:
            yield from self._flush()
        self._elements.cut(at)

    def _finish_value(self) -> None:
        self._value_at = -1
        self._set(self._value_name, "".join(self._parts))

    def _set(self, name: str, value: str) -> None:
        draft = self._draft
        if draft is None:
            return
        value = value.strip()
        if self._extension_at < 0:
            draft.values.setdefault(name, value)
        elif not value:
            return
        elif self._extension == "image":
            if name == "loc" and len(draft.images) < self._limits.extensions:
                address = self._addresses.absolute(value)
                if address is not None:
                    draft.images.append(address)
        elif self._extension == "video" and draft.videos:
            if len(draft.videos[-1]) < self._limits.extensions:
                draft.videos[-1].setdefault(name, value)
        elif self._extension == "news" and len(draft.news) < self._limits.extensions:
            draft.news.setdefault(name, value)

    def _flush(self) -> Iterator[Entry]:
        draft, self._draft, self._entry_at, self._extension_at = self._draft, None, -1, -1
        if draft is None:
            return
        values = draft.values
        written = values.get("loc", "")
        if not written and draft.loose.strip()[:8].lower().startswith(("https://", "http://")):
            written = draft.loose
        if not written:
            self._problems.add("an entry has no loc: dropped")
            return
        address = self._addresses.absolute(written)
        if address is None or not self._addresses.first_time(address):
            return
        yield Entry(
            address,
            values.get("lastmod") or None,
            values.get("changefreq") or None,
            _priority(values.get("priority")),
            self._addresses.cross_site(address),
            draft.is_sitemap,
            draft.alternates or NOTHING,
            tuple(draft.images),
            tuple(video for video in draft.videos if video),
            draft.news or NOTHING,
        )


def _priority(text: str | None) -> float | None:
    try:
        value = float(text) if text else -1.0
    except ValueError:
        return None
    return value if 0.0 <= value <= 1.0 else None
