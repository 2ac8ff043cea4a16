"""Reads one sitemap or feed from chunks of bytes, entry by entry.

Bytes go through Unpacker (gzip) → Decoder (text) → by the first characters and the root element to UrlSet, Feed,
TextList or JsonFeed. Name, extension and Content-Type decide nothing; only a charset is taken from the latter.

Guarantees: never raises on any input; memory is bounded by the chunk, `Limits` and the set of addresses given
out; entries come in the order of the document, each address once; whatever is complete before a cut or a defect
is given out. Deterministic, so that reading can be resumed by the number of entries already taken.
Cost: a sitemap of 50,000 pages in about half a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .addresses import Addresses
from .decode import Decoder
from .document import Document, Entry, Kind, Limits, Problems
from .elements import CORE
from .feed import Feed
from .markup import CLOSE, TEXT, Markup, Token
from .plain import JsonFeed, TextList, looks_like_list
from .unpack import Unpacker
from .urlset import UrlSet

__all__ = ["Reader", "entries", "parse"]

#: Root element → kind. A root that is none of these is looked into: the first element that is one decides.
_ROOTS: dict[str, Kind] = {
    "urlset": "urlset",
    "url": "urlset",
    "sitemapindex": "index",
    "sitemap": "index",
    "rss": "rss",
    "rdf": "rss",
    "channel": "rss",
    "item": "rss",
    "feed": "atom",
    "entry": "atom",
}
_HTML = frozenset(
    [
        "html",
        "head",
        "body",
        "title",
        "meta",
        "link",
        "script",
        "style",
        "div",
        "p",
        "br",
        "hr",
        "h1",
        "h2",
        "span",
        "center",
        "table",
        "b",
        "a",
    ]
)
#: Elements looked at before a document without a known root is given up.
_UNKNOWN_ROOTS = 200
#: Text looked at before it is decided that there is no markup, and collected before it is tokenized.
_WINDOW, _COALESCE = 8_192, 4_096
#: Bytes handed on at a time, so that gzip in a large chunk cannot unfold at once.
_CHUNK = 65_536
#: Markup that begins a sitemap after rubbish (warnings of PHP, blank lines, a second byte order mark).
_BEGINS = re.compile(r"<(?:\?xml|urlset|sitemapindex|rss|feed|rdf:rdf)[\s>?]", re.IGNORECASE)


class Reader:
    """The sans-IO form: `feed` chunks, then `close`. `kind` is None until it is known."""

    def __init__(
        self, url: str, content_type: str | None = None, limits: Limits | None = None, *, start: int = 0
    ) -> None:
        """`url` is the document's address; `start` passes over that many entries (resumption)."""
        self._limits = limits or Limits()
        self._problems = Problems()
        self.kind: Kind | None = None
        #: Entries met so far, those that `start` passed over included.
        self.count = 0
        self._start = start
        self._read = 0
        self._done = False
        self._unpacker = Unpacker(self._limits, self._problems)
        self._decoder = Decoder(content_type)
        self._addresses = Addresses(url, self._limits, self._problems)
        self._markup: Markup | None = None
        self._builder: UrlSet | Feed | None = None
        self._list: TextList | None = None
        self._json: JsonFeed | None = None
        self._text = ""
        self._roots = 0

    def __repr__(self) -> str:
        return (
            f"<Reader {self.kind or 'undecided'} entries={self.count} bytes={self._read} done={self._done}>"
        )

    @property
    def problems(self) -> list[str]:
        """What was wrong so far."""
        return self._problems.messages()

    def feed(self, data: bytes) -> Iterator[Entry]:
        """Entries completed by this chunk; iterate to the end before the next one."""
        for at in range(0, len(data), _CHUNK):
            if self._done:
                return
            for piece in self._unpacker.feed(data[at : at + _CHUNK]):
                yield from self._bytes(piece)

    def close(self) -> Iterator[Entry]:
        """The last entries; after iterating to the end, `kind` is known."""
        if not self._done:
            for piece in self._unpacker.feed(b"", final=True):
                yield from self._bytes(piece)
        # Bytes held back by the decoder or the tokenizer belong to what was read before a limit.
        yield from self._counted(self._characters(self._decoder.feed(b"", final=True), final=True))
        self._done = True
        if self.kind is None:
            self.kind = "not_a_sitemap"

    def _bytes(self, data: bytes) -> Iterator[Entry]:
        if self._done:
            return
        room = self._limits.bytes - self._read
        if len(data) > room:
            self._problems.add(f"larger than {self._limits.bytes} bytes unpacked: the rest is not read")
            data = data[:room]
        self._read += len(data)
        yield from self._counted(self._characters(self._decoder.feed(data), final=False))
        if self._read >= self._limits.bytes:
            self._done = True

    def _counted(self, found: Iterator[Entry]) -> Iterator[Entry]:
        for entry in found:
            if self.count >= self._limits.entries:
                self._problems.add(f"more than {self._limits.entries} entries: the rest is not read")
                self._done = True
                return
            self.count += 1
            if self.count > self._start:
                yield entry

    def _characters(self, text: str, *, final: bool) -> Iterator[Entry]:
        if self.kind == "not_a_sitemap":
            return
        self._text += text
        if (
            self._markup is None
            and self._list is None
            and self._json is None
            and not self._decide(final=final)
        ):
            return
        if len(self._text) < _COALESCE and not final:
            return
        text, self._text = self._text, ""
        if self._markup is not None:
            for token in self._markup.feed(text, final=final):
                builder = self._builder
                if builder is not None:
                    yield from builder.take(token)
                elif self._route(token) and self._builder is not None:
                    yield from self._builder.take(token)
                elif self.kind is not None:
                    return
            if final and self._builder is not None:
                yield from self._builder.end()
        elif self._list is not None:
            yield from self._list.feed(text, final=final)
        elif self._json is not None:
            self._json.feed(text)
            if final:
                items = self._json.items()
                self.kind = "not_a_sitemap" if items is None else "json_feed"
                yield from items or ()

    def _decide(self, *, final: bool) -> bool:
        """Markup, JSON or list? True once that is known (or that it is none: then the kind says so).

        1. `<` first: markup.  2. `{` first: JSON.  3. Markup of a sitemap further down: rubbish before it.
        4. A line that is an address: a list.  5. None of these.
        """
        text = self._text = self._text.lstrip("\ufeff\u200b \t\r\n\f\v\0")
        if not text:
            return False
        if text[0] == "<" and (_BEGINS.match(text) or len(text) > 16 or final):
            self._markup = Markup(self._limits, self._problems)
            return True
        if text[0] == "{":
            self._json = JsonFeed(self._addresses, self._limits, self._problems)
            return True
        if len(text) < _WINDOW and not final:
            return False
        begins = _BEGINS.search(text)
        if begins is not None:
            self._problems.add("something stands before the document: passed over")
            self._text = text[begins.start() :]
            self._markup = Markup(self._limits, self._problems)
        elif looks_like_list(text):
            self.kind = "text"
            self._list = TextList(self._addresses, self._limits, self._problems)
        else:
            self._refuse()
        return self.kind != "not_a_sitemap"

    def _route(self, token: Token) -> bool:
        """Choose what reads the document by its root element; True when this token belongs to it."""
        markup = self._markup
        assert markup is not None
        if markup.doctype is not None and markup.doctype.lower().startswith("html"):
            self._refuse()
            return False
        kind, name, _, _ = token
        if kind >= TEXT or kind == CLOSE:
            return False
        local = name.rpartition(":")[2].lower()
        found = _ROOTS.get(local)
        if found is None:
            self._roots += 1
            if local in _HTML or self._roots > _UNKNOWN_ROOTS:
                self._refuse()
            return False
        self.kind = found
        if found in ("urlset", "index"):
            self._builder = UrlSet(markup, self._addresses, self._limits, self._problems)
        else:
            core = "atom" if found == "atom" else CORE
            self._builder = Feed(markup, self._addresses, self._limits, self._problems, core)
        return True

    def _refuse(self) -> None:
        self.kind = "not_a_sitemap"
        self._done = True
        self._text = ""


def entries(
    chunks: Iterable[bytes],
    url: str,
    content_type: str | None = None,
    limits: Limits | None = None,
    *,
    start: int = 0,
) -> Iterator[Entry]:
    """Entries of a document that arrives in chunks, from entry `start` on, as soon as each is complete."""
    reader = Reader(url, content_type, limits, start=start)
    for chunk in chunks:
        yield from reader.feed(chunk)
    yield from reader.close()


def parse(body: bytes, url: str, content_type: str | None = None, limits: Limits | None = None) -> Document:
    """A whole document at once. `url` is where it was found in the end (after redirects)."""
    reader = Reader(url, content_type, limits)
    document = Document("not_a_sitemap")
    for source in (reader.feed(body), reader.close()):
        for entry in source:
            listed = document.sitemaps if entry.is_sitemap and reader.kind == "index" else document.urls
            listed.append(entry)
    document.kind = reader.kind or "not_a_sitemap"
    document.problems = reader.problems
    return document
