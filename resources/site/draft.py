"""A first site file as text: commented, valid as it stands once the contact is filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import yaml

from resources.web.structured_data.lookup import compile_path

from .item_types import RESERVED_COLUMNS, RESERVED_TABLES
from .quantities import format_duration

__all__ = ["CONTACT_PLACEHOLDER", "Draft", "DraftItem"]

#: Stands where the owner's address belongs; `nightcrawl crawl` refuses a public host until it is replaced.
CONTACT_PLACEHOLDER = "FILL-IN: a URL or mail address where the site's owner reaches you"
#: schema.org names of money and times: everything else is text until the user says otherwise.
_MONEY = frozenset({"price", "lowprice", "highprice"})
_DATES = frozenset(
    {"datepublished", "datemodified", "datecreated", "startdate", "enddate", "dateposted", "validthrough"}
)
#: Properties that identify a thing, best first.
_KEYS = ("sku", "isbn", "gtin13", "gtin", "mpn", "productid", "identifier", "url")


@dataclass(frozen=True, slots=True)
class DraftItem:
    """A kind of thing found in JSON-LD: its schema.org type and the paths of its plain properties."""

    kind: str
    page: str
    properties: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """What `nightcrawl init` knows of a site. `private`: the loopback or private address it was given."""

    name: str
    domain: str
    url: str
    contact: str | None
    public: bool
    private: str | None = None
    title: str = ""
    crawl_delay: float | None = None
    robots: str = ""
    sitemaps: Sequence[str] = ()
    sitemap_urls: int = 0
    problem: str = ""
    items: Sequence[DraftItem] = ()

    def to_yaml(self) -> str:
        """The file. Every value is quoted as YAML needs it, whatever a server put into titles and names."""
        lines = [
            f"# {_comment(self.title or self.domain)}, described by `nightcrawl init` after a first look.",
            "# Every key is explained in docs/site-file.md; `nightcrawl check` tells what is wrong.",
            *([f"# Careful: {_comment(self.problem)}"] if self.problem else []),
            "",
            f"name: {_value(self.name)}",
            f"domains: [{_value(self.domain)}]",
            f"seeds: [{_value(self.url)}]",
            "",
            *self._identity(),
            *self._sitemaps(),
            *self._pace(),
            "scope:",
            "  exclude: []                # as in: [/cart, '/search*', '*.pdf$']",
            "  # max_pages: 10000         # per night; the rest waits for the next one",
            "",
            *self._cache(),
            *self._items(),
            *self._canaries(),
        ]
        if self.private is not None:
            lines += [
                "# A private or loopback address is refused unless it is named here.",
                f"allow_private_addresses: [{_value(self.private)}]",
                "",
            ]
        return "\n".join(lines).rstrip() + "\n"

    def _identity(self) -> Iterable[str]:
        yield "# Who you are. Sites block strangers first, and their owners write before they block."
        yield "identity:"
        if self.contact or self.public:
            yield f"  contact: {_value(self.contact or CONTACT_PLACEHOLDER)}"
        else:
            yield "  contact: null              # a URL or mail address; needed for public hosts"
        yield ""

    def _sitemaps(self) -> Iterable[str]:
        found = ", ".join(map(_comment, self.sitemaps)) or "none found"
        more = f" ({self.sitemap_urls:,} URLs in what was read)" if self.sitemap_urls else ""
        yield f"# Sitemaps: {found}{more}."
        yield "sitemaps: auto               # from robots.txt and the usual places; or off, or a list of URLs"
        yield ""

    def _pace(self) -> Iterable[str]:
        yield f"# robots.txt: {_comment(self.robots)}."
        if self.crawl_delay is not None:
            yield f"# It asks for {format_duration(self.crawl_delay)} between requests: obeyed unless you say otherwise."
        yield "pace:"
        yield "  rate: auto                 # finds what the site tolerates; or a ceiling: 2, '30/min'"
        yield "  # window: {start: '22:00', end: '06:00', zone: Europe/Berlin}"
        yield ""

    def _cache(self) -> Iterable[str]:
        yield "# When a page is due again; without rules the site's own headers decide."
        yield "# cache:"
        yield "#   rules:"
        yield "#     - {match: '/about*', ttl: 7d}"
        yield ""

    def _items(self) -> Iterable[str]:
        usable = [i for i in self.items if any(_sayable(f"jsonld:{i.kind}.{p}") for p in i.properties)]
        if not usable:
            yield "# Tables of things found on pages, by CSS selector or from structured data:"
            yield "# items:"
            yield "#   product:"
            yield "#     match: /product/*"
            yield "#     key: [sku]"
            yield "#     fields:"
            yield "#       sku: {css: .sku, required: true}"
            yield "#       price: {css: .price, type: money}"
            yield ""
            return
        yield "# Suggested from the JSON-LD of the pages looked at. Narrow `match`, drop what you do not need."
        yield "items:"
        used: set[str] = set()
        for item in usable:
            name = _column(item.kind, used | RESERVED_TABLES)
            used.add(name)
            yield from _item(name, item)
        yield ""

    def _canaries(self) -> Iterable[str]:
        yield "# Looked at before each night: if they are wrong, nothing is crawled."
        if self.problem:
            yield f"# canaries: [{{url: {_value(self.url)}}}]"
        else:
            title = " ".join(self.title.split())
            wanted = f", contains: {_value(title)}" if title and title.isascii() and "&" not in title else ""
            yield "canaries:"
            yield f"  - {{url: {_value(self.url)}{wanted}}}"
        yield ""


def _sayable(path: str) -> bool:
    """Whether a site file can name it: servers write all kinds of keys."""
    try:
        compile_path(path)
    except ValueError:
        return False
    return True


def _item(name: str, item: DraftItem) -> Iterable[str]:
    columns: dict[str, str] = {}
    for path in item.properties:
        if not _sayable(f"jsonld:{item.kind}.{path}"):
            continue
        columns[_column(path, RESERVED_COLUMNS | columns.keys())] = path
    lower = {column: path.lower() for column, path in columns.items()}
    key = next((c for wanted in _KEYS for c, path in lower.items() if path == wanted), None)
    yield f"  {name}:                     # as on {_comment(item.page)}"
    yield f"    match: {_value(_pattern_of(item.page))}"
    if key is not None:
        yield f"    key: [{key}]"
    yield "    fields:"
    for column, path in columns.items():
        last = lower[column].rsplit(".", 1)[-1]
        kind = ", type: money" if last in _MONEY else ", type: date" if last in _DATES else ""
        required = ", required: true" if column == key else ""
        yield f"      {column}: {{data: {_value(f'jsonld:{item.kind}.{path}')}{kind}{required}}}"


def _pattern_of(page: str) -> str:
    """Pages like `page`: those below the same first folder. Pages beside it would only be rejected rows."""
    path = page.split("://", 1)[-1].partition("/")[2].partition("?")[0]
    first, slash, _ = path.partition("/")
    return f"/{first}/*" if slash else "/*"


def _column(text: str, taken: Iterable[str]) -> str:
    """`offers.priceCurrency` as offers_price_currency, told apart from names in use."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    name = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")[:50]
    name = name if name[:1].isalpha() else f"f_{name}".rstrip("_")
    while name in taken:
        name += "_"
    return name


def _value(text: str) -> str:
    """`text` as a YAML scalar that fits into a flow collection."""
    dumped: str = yaml.safe_dump([text], default_flow_style=True, width=10_000, allow_unicode=True)
    return dumped.strip()[1:-1]


def _comment(text: str) -> str:
    """`text` from a server, fit for a comment: one line of printable characters."""
    return "".join(c if c.isprintable() else " " for c in text)[:200]
