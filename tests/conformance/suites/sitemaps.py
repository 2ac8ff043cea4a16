"""06-sitemaps: reading sitemaps and feeds, and finding them."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from resources.web.retry_after import retry_after
from resources.web.robots import parse as parse_robots
from resources.web.sitemaps import (
    Discovery,
    Document,
    Entry,
    advertised,
    in_protocol_scope,
    normalise,
    parse,
)

from ..case import Case, Check, Suite

__all__ = ["SUITE"]

#: Python memory that reading any one file may take at its peak, beside the file itself.
_MEMORY = 120_000_000
_NOW = 1_700_000_000.0


def _judge_document(case: Case, folder: Path) -> Iterator[Check]:
    given = case["input"]
    body = (folder / given["file"]).read_bytes()
    tracked = bool(case["expected"].get("memory_bounded"))
    if tracked:
        tracemalloc.start()
    began = time.perf_counter()
    document = parse(body, given["url"], given.get("content_type"))
    took = time.perf_counter() - began
    peak = 0
    if tracked:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    wrong = _compare(case["expected"], document)
    if peak > _MEMORY:
        wrong.append(f"peak memory {peak}")
    if took > case["expected"].get("time_limit_s", 10):
        wrong.append(f"took {took:.1f} s")
    yield Check(case["id"], case.get("level", "must"), not wrong, "; ".join(wrong))


def _compare(expected: Mapping[str, Any], document: Document) -> list[str]:
    wrong = []
    kind = expected["kind"]
    if kind not in ("any", document.kind):
        wrong.append(f"kind {document.kind}, expected {kind}")
    urls = document.own_urls if "cross_site" in expected else document.urls
    if "urls" in expected:
        choices = [expected["urls"], *([expected["or"]] if "or" in expected else [])]
        differences = [_list_difference(choice, urls) for choice in choices]
        if all(differences):
            wrong.append(f"urls: {differences[0]}")
    if "sitemaps" in expected and (difference := _list_difference(expected["sitemaps"], document.sitemaps)):
        wrong.append(f"sitemaps: {difference}")
    locs = [entry.loc for entry in urls]
    if "probably_sitemaps" in expected:
        probable = [entry.loc for entry in document.probable_sitemaps]
        if probable != expected["probably_sitemaps"]:
            wrong.append(f"probably_sitemaps {probable}")
    missing = [url for url in expected.get("urls_include", ()) if url not in locs]
    if missing:
        wrong.append(f"missing {missing}")
    if "cross_site" in expected:
        found = [entry.loc for entry in document.cross_site_urls]
        if found != expected["cross_site"]:
            wrong.append(f"cross_site {found}")
    if "count" in expected and len(urls) != expected["count"]:
        wrong.append(f"count {len(urls)}")
    if "count_at_least" in expected and len(urls) < expected["count_at_least"]:
        wrong.append(f"count {len(urls)}")
    for key, at in (("first", 0), ("last", -1)):
        if key in expected and (not locs or locs[at] != expected[key]):
            wrong.append(f"{key} {locs[at] if locs else None}")
    return wrong


def _list_difference(expected: Sequence[Mapping[str, Any]], entries: Sequence[Entry]) -> str:
    if len(expected) != len(entries):
        return f"{[entry.loc for entry in entries][:10]}, expected {[e.get('loc') for e in expected][:10]}"
    for want, entry in zip(expected, entries, strict=True):
        for key, value in want.items():
            if not _same(key, value, entry):
                return f"{entry.loc} {key}: {entry!r}, expected {value!r}"
    return ""


def _same(key: str, value: Any, entry: Entry) -> bool:
    match key:
        case "loc":
            # Expected as the document writes it; compared in the form of the URL standard.
            return _address(value) == entry.loc
        case "priority":
            return entry.priority == (float(value) if value not in (None, "") else None)
        case "lastmod_normalised":
            return (normalise(entry.lastmod) if entry.lastmod else None) == value
        case "lastmod_epoch":
            return entry.lastmod_epoch == value
        case "alternates":
            return {k: _address(v) for k, v in value.items()} == dict(entry.alternates)
        case "images":
            return [_address(v) for v in value] == list(entry.images)
        case "videos":
            return len(value) == len(entry.videos) and all(
                video.get(name) == text
                for want, video in zip(value, entry.videos, strict=True)
                for name, text in want.items()
            )
        case "news":
            names = {"publication": "name"}
            return all(entry.news.get(names.get(name, name)) == text for name, text in value.items())
        case _:
            return (getattr(entry, key) or "") == (value or "")


def _address(url: str) -> str:
    return parse(url.encode(), url, "text/plain").urls[0].loc


def _judge_discovery(case: Case, folder: Path) -> Iterator[Check]:
    wrong = _discover(case["input"], case["expected"])
    yield Check(case["id"], case.get("level", "must"), not wrong, "; ".join(wrong))


def _discover(given: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    wrong: list[str] = []

    def want(what: str, got: object, wanted: object) -> None:
        if got != wanted:
            wrong.append(f"{what}: {got!r}, expected {wanted!r}")

    # Cases by what they give: a site to search, a web of indexes, one answer, one page, or a size.
    if "home" in given:
        named = parse_robots(given.get("robots_txt", "").encode()).sitemaps
        page = advertised(LexborHTMLParser(given.get("html", "")), given["home"])
        plan = Discovery(given["home"], named, page.sitemaps).pending()
        if "fetch" in expected:
            want("fetch", plan[: len(expected["fetch"])] if "html" in given else plan, expected["fetch"])
        for url in expected.get("try", ()):
            want(f"tries {url}", url in plan, True)
        if "try_any_of" in expected:
            want("tries any", any(url.endswith(tuple(expected["try_any_of"])) for url in plan), True)
        if "feeds" in expected:
            want("feeds", page.feeds, expected["feeds"])
    elif "sitemaps" in given or "chain_of_indexes" in given:
        web = given.get("sitemaps") or {
            f"https://e.example/{n}.xml": [f"https://e.example/{n + 1}.xml"]
            for n in range(given["chain_of_indexes"])
        }
        fetches = _fetch_all(web, given.get("start", "https://e.example/0.xml"))
        if "fetches" in expected:
            want("fetches", fetches, expected["fetches"])
        if "fetches_at_most" in expected:
            want("fetches at most", fetches <= expected["fetches_at_most"], True)
    elif "url" in given:
        want("in scope", in_protocol_scope(given["sitemap"], given["url"]), expected["in_scope"])
    elif "uncompressed_bytes" in given:
        line = b"https://e.example/%d\n"
        body = b"".join(line % n for n in range(1_000))
        body += b" " * (given["uncompressed_bytes"] - len(body))
        tracemalloc.start()
        document = parse(body, "https://e.example/sitemap.txt", None)
        want("memory", tracemalloc.get_traced_memory()[1] < _MEMORY, True)
        tracemalloc.stop()
        want("entries", len(document.urls), 1_000)
    else:
        answer = given.get("answer", "")
        status = given.get("status", 200)
        outcome = Discovery.answered(status, retry_after(given.get("retry_after"), status, _NOW))
        if "kind" in expected:
            url = given.get("redirects_to", given["sitemap"])
            document = parse(answer.encode(), url, given.get("content_type"))
            wrong += _compare(expected, document)
        if "retry_after_s" in expected:
            want("retry_after_s", outcome.retry_after_s, expected["retry_after_s"])
        want("keep", outcome.action == "keep", bool(expected.get("keep_old_list")))
        want("forget", outcome.action == "forget", bool(expected.get("forget")))
    return wrong


def _fetch_all(web: Mapping[str, list[str]], start: str) -> int:
    discovery = Discovery(start, [start])
    fetches = 0
    while (url := discovery.next()) is not None:
        fetches += 1
        children = "".join(f"<sitemap><loc>{child}</loc></sitemap>" for child in web.get(url, ()))
        body = f"<sitemapindex>{children}</sitemapindex>".encode()
        discovery.found(url, parse(body, url, "application/xml"))
    return fetches


SUITE = Suite("06-sitemaps", {"sitemaps.json": _judge_document, "discovery.json": _judge_discovery})
