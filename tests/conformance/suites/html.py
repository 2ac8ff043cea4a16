"""07-html: links, base, refresh, robots metas, Link header, and what real pages say about themselves.

Own cases and levels are asserted as they stand. w3lib's reading of base and refresh (regular expressions over
the first 4 KB) and Scrapy's options are reported as `library`, as the README of the data says. w3lib's entity
cases are asserted where they state HTML's own rules, which this product gets from its tree builder. Expectations
about pages are readability's heuristics, no standard's: they count as `should`.
"""

from __future__ import annotations

import base64
import codecs
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from resources.web import urls
from resources.web.encoding import to_utf8
from resources.web.html_document import parse_html
from resources.web.link_header import parse_link_header, target_of
from resources.web.links import document_base, extract
from resources.web.outlinks import outlinks
from resources.web.page_metadata import page_metadata
from resources.web.page_text import main_text
from resources.web.robots_meta import robots_directives, robots_metas

from ..case import Case, Check, Suite


def _same(case: Case, level: str, got: object, want: object, what: str = "") -> Check:
    return Check(str(case["id"]), level, got == want, f"{what} got {got!r}, want {want!r}")


def _tree(given: dict[str, Any]) -> tuple[LexborHTMLParser, str]:
    """The tree and the encoding of a case; text cases are already decoded, their encoding is of the wire."""
    label = given.get("encoding", "utf-8")
    if "html_b64" in given:
        raw = base64.b64decode(given["html_b64"])
        return parse_html(raw.decode(codecs.lookup(label).name, "replace")), label
    return parse_html(given["html"]), label


def _own(case: Case, _: Path) -> Iterator[Check]:
    given, want = case["input"], case["expected"]
    level = str(case["level"])
    tree, encoding = _tree(given)
    got = extract(tree, given["url"], encoding, refresh_header=given.get("headers", {}).get("Refresh"))
    if "links" in want and want["links"] and isinstance(want["links"][0], dict):
        fields = sorted({name for link in want["links"] for name in link})
        seen = [{name: _field(link, name) for name in fields} for link in got.links]
        yield _same(case, level, seen, want["links"], "links")
    elif "links" in want:
        yield _same(case, level, [link.url for link in got.links], want["links"], "links")
    if "links" in want and not got.page_nofollow:
        crawl = [url for url, _ in outlinks(tree, given["url"], encoding)]
        keys = [urls.canonical(link.url) for link in got.links]
        yield _same(case, level, crawl, keys, "outlinks agree with extract:")
    if "links_include" in want:
        missing = set(want["links_include"]) - {link.url for link in got.links}
        yield _same(case, level, missing, set(), "missing")
    if "links_count_at_most" in want:
        yield Check(str(case["id"]), level, len(got.links) <= want["links_count_at_most"], repr(got.links))
    for name in (
        *("base_url", "canonical", "canonicals", "next", "prev", "hreflang", "feeds", "mobile", "amphtml"),
        *("images", "media", "frames", "page_nofollow", "self_links"),
    ):
        if name in want:
            yield _same(case, level, getattr(got, name), want[name], name)
    if "meta_refresh" in want:
        refresh = got.meta_refresh
        seen_refresh = refresh and {"delay_s": refresh.delay_s, "url": refresh.url}
        yield _same(case, level, seen_refresh, want["meta_refresh"], "meta_refresh")
    if "alt_text" in want:
        yield _same(case, level, [link.alt for link in got.links][:1], [want["alt_text"]], "alt_text")


def _field(link: Any, name: str) -> Any:
    value = getattr(link, name)
    return list(value) if isinstance(value, tuple) else value


def _scrapy(case: Case, _: Path) -> Iterator[Check]:
    given = case["input"]
    tree, encoding = _tree(given)
    got = extract(tree, given["url"], encoding).links
    wanted = case["expected"]["links"]
    other_scheme = any(not link["url"].startswith(("http://", "https://")) for link in wanted)
    options = bool(given.get("scrapy_options")) or other_scheme
    level = "library-options" if options else str(case.get("level", "should"))
    seen = [(link.url, link.text, link.nofollow) for link in got]
    want = [(link["url"], " ".join(link["text"].split()), link["nofollow"]) for link in wanted]
    yield _same(case, level, seen, want, "links")


def _w3lib_base_and_refresh(case: Case, _: Path) -> Iterator[Check]:
    given, want = case["input"], case["expected"]
    page = given["url"]
    page = base64.b64decode(page["__bytes__"]).decode() if isinstance(page, dict) else page
    tree, encoding = _tree(given)
    if "base_url" in want:
        yield _same(case, "library", document_base(tree, page), want["base_url"], "base")
        return
    refresh = extract(tree, page, encoding).meta_refresh
    seen = refresh and {"delay_s": float(refresh.delay_s), "url": refresh.url}
    yield _same(case, "library", seen, want["meta_refresh"], "refresh")


def _entities(case: Case, _: Path) -> Iterator[Check]:
    """As text of a textarea, where references are decoded and markup is not.

    Numbered cases: 1. "remove_illegal" and what w3lib removes or keeps beyond HTML: reported only; 2. else HTML.
    """
    given, want = case["input"], case["expected"]["text"]
    text = base64.b64decode(given["b64"]).decode("latin-1") if "b64" in given else given["text"]
    tree = parse_html(f"<textarea>{text}</textarea>")
    node = tree.css_first("textarea")
    got = node.text() if node is not None else None
    own_taste = given.get("remove_illegal") is False or not want or "&#157;" in text or "keep" in given
    yield _same(case, "library" if own_taste else "should", got, want)


def _robots_meta(case: Case, _: Path) -> Iterator[Check]:
    """Numbered cases: 1. what the crawl decides elsewhere (robots.txt first, redirects): by there being no
    page to read; 2. directives."""
    given, want = case["input"], case["expected"]
    level = str(case["level"])
    if "seen" in want:
        yield Check(str(case["id"]), level, bool(given["robots_disallowed"]) and want["seen"] is False)
        return
    metas = robots_metas(parse_html(given.get("html", "")))
    tags = [value for name, value in given.get("headers", ()) if name.lower() == "x-robots-tag"]
    if "target_index" in want:
        # The target's own response has no tags: a redirect's fields are never read for it.
        yield _same(case, level, robots_directives([], [], given["bot"]).index, want["target_index"])
        return
    now = datetime.fromisoformat(given["now"]).timestamp() if "now" in given else None
    got = robots_directives(metas, tags, given["bot"], now)
    names = {"noimageindex": "image_index", "noai": "ai", "noarchive": "archive", "nosnippet": "snippet"}
    for name, value in want.items():
        if name in names:
            yield _same(case, level, getattr(got, names[name]), not value, name)
        else:
            yield _same(case, level, getattr(got, name.replace("-", "_")), value, name)


def _link_header(case: Case, _: Path) -> Iterator[Check]:
    given, want = case["input"], case["expected"]
    links = parse_link_header(given["link"], given["url"])
    for rel, target in want.items():
        yield _same(case, str(case["level"]), target_of(links, rel, given["url"]), target, rel)


def _page(case: Case, folder: Path) -> Iterator[Check]:
    given, want = case["input"], case["expected"]
    text, _ = to_utf8((folder / given["file"]).read_bytes(), "text/html")
    tree = parse_html(text)
    got = page_metadata(tree, given["url"])
    level = str(case.get("level", "should"))
    fields = {
        "title": got.title,
        "byline": got.byline,
        "dir": got.direction,
        "lang": got.language,
        "siteName": got.site_name,
        "publishedTime": got.published_time,
    }
    for name, value in fields.items():
        wanted = " ".join(want[name].split()) if isinstance(want.get(name), str) else want.get(name)
        yield _same(case, level, value or None, wanted or None, name)
    # Readability runs blocks together where the source has no blank between them: blanks do not count.
    main = "".join(main_text(tree).split())
    missing = [piece for piece in want["main_text_contains"] if "".join(piece.split()) not in main]
    yield _same(
        case, level, missing, [], f"main text ({len(main)} of {want['main_text_chars']} characters) lacks"
    )


SUITE = Suite(
    "07-html",
    {
        "links-own.json": _own,
        "links-scrapy.json": _scrapy,
        "base-and-refresh-w3lib.json": _w3lib_base_and_refresh,
        "entities-w3lib.json": _entities,
        "robots-meta.json": _robots_meta,
        "link-header.json": _link_header,
        "pages.json": _page,
    },
)
