"""From the octets of a robots.txt to its lines, and from a line to field and value.

RFC 9309 2.2 and 2.5. Octets that are not UTF-8 become U+FFFD and spoil only their own line; a byte order
mark is dropped. A file in UTF-16 is no proper robots.txt: what it forbids is obeyed all the same, the
sitemaps it offers count as lenient ones. Lines end at LF, CR or CRLF and nowhere else. Of a longer file the first `SIZE_LIMIT` octets count and a line cut by the limit is dropped.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

__all__ = ["SIZE_LIMIT", "decode", "split_field", "split_lines", "within_limit"]

#: 500 KiB, the least RFC 9309 2.5 lets a crawler read and what the large search engines read.
SIZE_LIMIT = 500 * 1024

_LINE_END = re.compile(r"\r\n|\r|\n")

#: ASCII space, NEL and no-break space as pasted by editors, NUL, and marks of files glued together.
_BLANK = " \t\v\f\x00\x85\xa0\ufeff"

#: Spellings -> field. The typos are those that large parsers accept as well.
_FIELDS = {
    "user-agent": ("user-agent", "useragent", "user agent", "useg-agent"),
    "allow": ("allow",),
    "disallow": (
        *("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "desallow", "dissallaw"),
    ),
    "crawl-delay": ("crawl-delay", "crawldelay", "crawl delay"),
    "request-rate": ("request-rate", "request rate", "requestrate"),
    "visit-time": ("visit-time", "visit time", "visittime"),
    "sitemap": ("sitemap",),
    "site-map": ("site-map",),
}

_CANONICAL = {spelling: field for field, spellings in _FIELDS.items() for spelling in spellings}

_NAMES = "|".join(sorted(map(re.escape, _CANONICAL), key=len, reverse=True))

#: A field, then a colon; or, the colon forgotten, white space.
_FIELD = re.compile(rf"({_NAMES})(?:[ \t]*(:)[ \t]*|[ \t]+)(.*)", re.IGNORECASE | re.DOTALL)

#: Fields whose value may hold white space even without a colon; for the others such a line is prose.
_WORDY = frozenset({"user-agent", "request-rate", "visit-time", "crawl-delay"})


def within_limit(body: bytes) -> bytes:
    """The part of `body` that counts: all, or the whole lines within the first `SIZE_LIMIT` octets."""
    if len(body) <= SIZE_LIMIT:
        return body
    kept = body[:SIZE_LIMIT]
    if body[SIZE_LIMIT] in b"\r\n":
        return kept
    return kept[: max(kept.rfind(b"\n"), kept.rfind(b"\r")) + 1]


def decode(body: bytes) -> tuple[str, bool]:
    """Text of a robots.txt, and whether it is in UTF-8 as the RFC demands; all octets have a text."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace"), False
    return body.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace"), True


def split_lines(text: str) -> Iterator[tuple[int, str]]:
    """Number (from 1) and content of each line that has any once its comment is gone."""
    for number, line in enumerate(_LINE_END.split(text), 1):
        content = line.partition("#")[0].strip(_BLANK)
        if content:
            yield number, content


def split_field(line: str) -> tuple[str, str] | None:
    """Field (in its canonical spelling) and value of a line; None when the line is no known record.

    Cases: 1. `field: value`; 2. the colon forgotten, `disallow /x`, as large parsers accept it, where a
    value of several words makes the line prose unless the field has such values.
    """
    found = _FIELD.match(line)
    if not found:
        return None
    field, value = _CANONICAL[found[1].lower()], found[3].strip(_BLANK)
    if not found[2] and field not in _WORDY and (not value or " " in value or "\t" in value):
        return None
    return field, value
