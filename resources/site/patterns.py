"""URL patterns of a site file: globs by default, regular expressions on request.

    /book/*          path (and query) from the start; `*` is any text, slashes included
    /book/*$         `$` at the end anchors, as in robots.txt; without it the pattern is a prefix
    *.pdf$           any path that ends so
    https://a.example/*   with a scheme: matched against the whole URL
    re:^/p/\\d+$      RE2 syntax, searched in path and query (in the whole URL with `re:^https?:`)

Matching is linear in the length of the URL (RE2: no backtracking), so no pattern can hang a crawl.
"""

from __future__ import annotations

import re as _stdlib_re
from collections.abc import Sequence

import re2

__all__ = ["PatternSet", "UrlPattern", "check_regex", "path_and_query"]


def check_regex(expression: str) -> None:
    """ValueError with RE2's own words if `expression` does not compile."""
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(expression, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
        raise ValueError(
            f"regular expression {expression!r}: {reason} (RE2 syntax: no look-around, no back-references)"
        ) from None


def path_and_query(url: str) -> str:
    """The part of a canonical http(s) URL after the authority: "/" at least."""
    slash = url.find("/", url.find("//") + 2)
    return url[slash:] if slash >= 0 else "/"


class UrlPattern:
    """One pattern; `matches` takes a canonical absolute URL."""

    __slots__ = ("_prefix", "_regex", "_whole", "text")

    def __init__(self, text: str) -> None:
        if not text:
            raise ValueError("an empty URL pattern: write '/*' for everything")
        self.text = text
        #: What is all there is to look for, as in `/*` and `/book/`: asking for it is a tenth of asking RE2.
        self._prefix: str | None = None
        if text.startswith("re:"):
            expression = text[3:]
            self._whole = expression.lstrip("^(?:").startswith("http")
            check_regex(expression)
        else:
            self._whole = "://" in text
            if not self._whole and text[0] not in "/*":
                raise ValueError(
                    f"{text!r} is no URL pattern: start it with '/' (a path), '*' (anything), 'http' or 're:'"
                )
            body, anchor = (text[:-1], "$") if text.endswith("$") else (text, "")
            parts = body.split("*")
            expression = "^" + ".*".join(map(_stdlib_re.escape, parts)) + anchor
            if not anchor and not any(parts[1:]):
                self._prefix = parts[0]
        options = re2.Options()
        options.log_errors = False
        self._regex = re2.compile(expression, options)

    def matches(self, url: str) -> bool:
        part = url if self._whole else path_and_query(url)
        if self._prefix is not None:
            return part.startswith(self._prefix)
        return self._regex.search(part) is not None

    def __repr__(self) -> str:
        return f"UrlPattern({self.text!r})"

    def __reduce__(self) -> tuple[type[UrlPattern], tuple[str]]:
        return UrlPattern, (self.text,)


class PatternSet:
    """Several patterns; `first` names the first one that matches. An empty set matches nothing."""

    __slots__ = ("_patterns",)

    def __init__(self, texts: Sequence[str]) -> None:
        self._patterns = [UrlPattern(text) for text in texts]

    def first(self, url: str) -> str | None:
        for pattern in self._patterns:
            if pattern.matches(url):
                return pattern.text
        return None

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def __len__(self) -> int:
        return len(self._patterns)
