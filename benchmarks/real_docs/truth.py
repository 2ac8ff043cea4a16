"""What a crawl must find, computed from the files on disk with other tools than the crawler's own.

The standard library's HTML parser and URL functions walk the folders from each front page as a browser would
that asks nginx: directories have an index or are forbidden, `dir` redirects to `dir/`, names are decoded.
"""

from __future__ import annotations

import html.parser
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes, urldefrag, urljoin, urlsplit

from .packages import DocPackage

__all__ = ["Truth", "walk"]


@dataclass(slots=True)
class Truth:
    """Canonical URLs by what nginx answers."""

    pages: set[str] = field(default_factory=set)
    redirects: set[str] = field(default_factory=set)
    dead: set[str] = field(default_factory=set)
    html_bytes: int = 0
    html_pages: int = 0


class _Links(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.hrefs: list[str] = []
        self.base: str | None = None
        self._quiet = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "template":
            self._quiet += 1
        for name, value in attrs:
            if name == "href" and value is not None:
                if tag in ("a", "area") and not self._quiet:
                    self.hrefs.append(value)
                elif tag == "base" and self.base is None:
                    self.base = value

    def handle_endtag(self, tag: str) -> None:
        if tag == "template" and self._quiet:
            self._quiet -= 1


#: Characters a path keeps as they are; everything else is percent-encoded, escapes in upper case.
_PATH = "/:@!$&'()*+,;=-._~|^[]\\"


def _canonical(url: str) -> str | None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return None
    path = quote(unquote_to_bytes(parts.path.replace("\\", "/")), safe=_PATH) or "/"
    query = (
        f"?{quote(parts.query, safe=_PATH + '?%')}" if parts.query or url.split("#")[0].endswith("?") else ""
    )
    return f"{parts.scheme}://{parts.netloc.lower()}{path}{query}"


def _file(package: DocPackage, url: str) -> tuple[str, Path | None]:
    """("page", file), ("redirect", None) or ("dead", None): what nginx makes of a URL."""
    path = unquote_to_bytes(urlsplit(url).path).decode("utf-8", "surrogateescape")
    target = package.folder / path.lstrip("/")
    try:
        if target.is_dir():
            if not path.endswith("/"):
                return "redirect", None
            index = target / "index.html"
            return ("page", index) if index.is_file() else ("dead", None)
        if path.endswith("/") or not target.is_file():
            return "dead", None
    except (OSError, ValueError):
        return "dead", None
    return "page", target


def walk(package: DocPackage) -> Truth:
    """Everything reachable from the package's front page on its own domain."""
    truth = Truth()
    seen = {package.seed}
    queue = deque(seen)
    while queue:
        url = queue.popleft()
        kind, file = _file(package, url)
        found: list[str] = []
        if kind == "dead":
            truth.dead.add(url)
        elif kind == "redirect":
            truth.redirects.add(url)
            parts = urlsplit(url)
            found = [f"{parts.scheme}://{parts.netloc}{parts.path}/"]
        else:
            assert file is not None
            truth.pages.add(url)
            if file.suffix in (".html", ".htm"):
                body = file.read_bytes()
                truth.html_bytes += len(body)
                truth.html_pages += 1
                found = _links(url, body)
        for link in found:
            canonical = _canonical(link)
            if (
                canonical is not None
                and urlsplit(canonical).netloc == package.domain
                and canonical not in seen
            ):
                seen.add(canonical)
                queue.append(canonical)
    return truth


def _links(url: str, body: bytes) -> list[str]:
    parser = _Links()
    parser.feed(body.decode("utf-8", "replace"))
    base = urljoin(url, parser.base) if parser.base else url
    found = []
    for href in parser.hrefs:
        try:
            # A browser reads a backslash before the query as a slash (WHATWG URL 4.4).
            path, mark, query = href.strip().partition("?")
            found.append(urldefrag(urljoin(base, path.replace("\\", "/") + mark + query)).url)
        except ValueError:
            continue  # not a URL: a browser would not follow it either
    return found
