"""02-urls: the WHATWG parser, joining, and what the canonical form merges.

The wpt files, `join.json` and `equivalence.json` state standards and are asserted as they stand. The files of
other libraries state what those libraries do: their outputs are compared as *documents* (two spellings with
one canonical form), under the policy nearest to the library's. Where they disagree with the standards in a way
the README of the data names, or ask for what is no http(s) URL, the check is reported as `library`.
"""

from __future__ import annotations

import base64
import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from resources.web import urls
from resources.web.query_encoding import encode_query
from resources.web.urls import UrlPolicy

from ..case import Case, Check, Suite

_NO_POLICY = UrlPolicy(drop_tracking=False)
_SORTED = UrlPolicy(drop_tracking=False, sort_query=True)


def _text(value: Any, encoding: str = "utf-8") -> str | None:
    if isinstance(value, dict):
        return base64.b64decode(value["__bytes__"]).decode(encoding, "replace")
    return value if isinstance(value, str) else None


def _check(case: Case, level: str, got: object, want: object) -> Check:
    return Check(str(case["id"]), level, got == want, f"{case['input']}: got {got!r}, want {want!r}")


def _wpt_url(case: Case, _: Path) -> Iterator[Check]:
    """Cases that end in another scheme are no links: both failure and another scheme are None here."""
    given, want = case["input"], case["expected"]
    got = urls.parse(given["url"], given["base"])
    if "failure" in want or want.get("protocol") not in ("http:", "https:"):
        yield _check(case, "must", got, None)
        return
    if got is None:
        yield _check(case, "must", None, want["href"])
        return
    seen = {
        "href": got.href,
        "protocol": got.scheme + ":",
        "username": got.username,
        "password": got.password,
        "host": got.domain,
        "hostname": got.host,
        "port": got.port,
        "pathname": got.path,
        "search": f"?{got.query}" if got.query else "",
        "hash": f"#{got.fragment}" if got.fragment else "",
    }
    yield _check(
        case, "must", {k: v for k, v in seen.items() if k in want}, {k: want[k] for k in seen if k in want}
    )


def _wpt_to_ascii(case: Case, _: Path) -> Iterator[Check]:
    got = urls.parse(f"https://{case['input']['host']}/x")
    want = case["expected"].get("ascii")
    yield _check(case, "must", got and got.host, want)


def _percent_encoding(case: Case, _: Path) -> Iterator[Check]:
    text = case["input"]["query_text"]
    want = case["expected"]["percent_encoded_by_document_encoding"]
    yield _check(case, "must", {name: encode_query(text, name) for name in want}, want)


def _join(case: Case, _: Path) -> Iterator[Check]:
    """A URL without path is written with its slash (WHATWG), which the README allows."""
    given = case["input"]
    level = str(case.get("level", "must"))
    want = case.get("whatwg", case["expected"]["url"])
    got = urls.join(given["base"], given["ref"])
    yield _check(case, level, got, want + "/" if got == want + "/" else want)


def _equivalence(case: Case, _: Path) -> Iterator[Check]:
    a, b = urls.canonical(case["input"]["a"]), urls.canonical(case["input"]["b"])
    same = a is not None and b is not None and urls.key(a) == urls.key(b)
    yield _check(case, str(case["level"]), same, case["expected"]["same_document"])


def _without_known_disagreements(url: str) -> str:
    """What the README lists as not decided alike: slashes, empty query, blank values, stray %, blanks as +."""
    head, _, query = url.partition("?")
    scheme, _, rest = head.partition("://")
    rest = re.sub("/+", "/", re.sub(r"^([^/]*)\.(?=/|$)", r"\1", rest)).rstrip("/")
    pairs = [
        p.rstrip("=").replace("+", "%20") for p in query.split("&") if p.strip("=") and not p.startswith("=")
    ]
    plain = f"{scheme}://{rest}?{'&'.join(pairs)}"
    plain = re.sub("%(?![0-9A-Fa-f]{2})", "%25", plain)
    literal = (
        ("(", "%28"),
        (")", "%29"),
        ("|", "%7C"),
        ("`", "%60"),
        ("[", "%5B"),
        ("]", "%5D"),
        ("'", "%27"),
        ("\\", "%5C"),
    )
    for plain_char, escape in literal:
        plain = plain.replace(plain_char, escape)
    return plain


def _same_document(case: Case, url: str, want: str, policy: UrlPolicy) -> Iterator[Check]:
    a, b = urls.canonical(url, policy), urls.canonical(want, policy)
    if a is None or b is None:
        yield _check(case, "library", a, b)
        return
    differs = a != b
    only_taste = differs and _without_known_disagreements(a) == _without_known_disagreements(b)
    yield _check(case, "library" if only_taste else "should", a, b)


def _w3lib_canonicalize(case: Case, _: Path) -> Iterator[Check]:
    given = case["input"]
    raw = given["url"]
    if isinstance(raw, list) or given.get("query_separator"):
        yield Check(str(case["id"]), "library", False, "input is no URL text")
        return
    url = urls.in_document_encoding(_text(raw) or "", codecs.lookup(given.get("encoding", "utf-8")).name)
    policy = UrlPolicy(drop_tracking=False, sort_query=True, keep_blank=given.get("keep_blank_values", True))
    for check in _same_document(case, url, case["expected"]["url"], policy):
        yield Check(check.case_id, "library", check.passed, check.detail)


def _w3lib_escape(case: Case, _: Path) -> Iterator[Check]:
    given, want = case["input"], case["expected"]
    encoding = codecs.lookup(given.get("encoding", "utf-8")).name
    url = _text(given["url"], encoding)
    if url is None or "\ufffd" in url or "url" not in want or not {"url", "encoding"}.issuperset(given):
        yield Check(str(case["id"]), "library", False, "an option or error of the library")
        return
    yield from _same_document(case, urls.in_document_encoding(url, encoding), want["url"], _NO_POLICY)


def _w3lib_query(case: Case, _: Path) -> Iterator[Check]:
    given = case["input"]
    names = given.get("parameterlist", [])
    names = (names,) if isinstance(names, str) else tuple(names)
    keeps = names if names and not given.get("remove") else None
    policy = UrlPolicy(
        drop_tracking=False, keep_parameters=keeps, drop_parameters=names if given.get("remove") else ()
    )
    url = urls.join("https://e.example/", _text(given["url"]) or "") or ""
    want = urls.join("https://e.example/", case["expected"]["url"]) or ""
    got = urls.canonical(url, policy) or ""
    same = got == want or _without_known_disagreements(got) == _without_known_disagreements(want)
    yield Check(str(case["id"]), "should", same, f"{given}: got {got!r}, want {want!r}")


def _crawler_commons(case: Case, _: Path) -> Iterator[Check]:
    given, want = case["input"], case["expected"]
    policy = UrlPolicy(
        drop_tracking=False, sort_query=True, drop_parameters=tuple(given.get("remove_params", ()))
    )
    if want.get("invalid"):
        yield _check(case, "should", urls.canonical(given["url"], policy), None)
        return
    yield from _same_document(case, given["url"], want["url"], policy)


def _courlan_clean(case: Case, _: Path) -> Iterator[Check]:
    given, want = case["input"], case["expected"]
    if not {"url"}.issuperset(given) or "url" not in want:
        yield Check(str(case["id"]), "library", False, "an option or error of the library")
        return
    for check in _same_document(case, given["url"], want["url"], UrlPolicy(sort_query=True)):
        yield Check(check.case_id, "library", check.passed, check.detail)


def _courlan_filter(case: Case, _: Path) -> Iterator[Check]:
    given, want = case["input"], case["expected"]
    if not given.get("args") or "accepted" not in want:
        return
    accepted = urls.parse(str(given["args"][0])) is not None
    yield _check(case, "observe", accepted, want["accepted"])


SUITE = Suite(
    "02-urls",
    {
        "wpt-url-http.json": _wpt_url,
        "wpt-toascii.json": _wpt_to_ascii,
        "wpt-percent-encoding.json": _percent_encoding,
        "join.json": _join,
        "equivalence.json": _equivalence,
        "canonicalize-w3lib.json": _w3lib_canonicalize,
        "escape-w3lib.json": _w3lib_escape,
        "query-cleaner-w3lib.json": _w3lib_query,
        "normalize-crawler-commons.json": _crawler_commons,
        "clean-courlan.json": _courlan_clean,
        "filter-courlan.json": _courlan_filter,
    },
)
