"""Is this markup worth parsing behind a wall? A cheap look, before the parser sees it.

The tree builder is native code and superlinear in what honest pages do not contain: depth, tags left open, tens
of thousands of attributes. A page that looks like that is parsed in a process of its own, where a crash or a
hang costs that page alone. A false alarm costs some tenths of a millisecond, a miss at most what
`html_document.bounded` lets through, so this errs on the side of alarm and need not be exact.

Cost: 5 µs for an ordinary page of any size up to a megabyte or two: two samples of its markup are counted, the whole
only when they look odd.
"""

from __future__ import annotations

import re

__all__ = ["suspicious"]

#: Parsing more than this holds an event loop longer than one page should, a tenth of a second. A process of its own for
#: smaller ones costs more than they do: it takes a quarter of a second to start.
MANY_BYTES = 3_000_000
#: Smaller pages hold so few tags that depth and open tags cost a third of a second at the very worst.
FEW_BYTES = 8_192
#: Start tags without an end tag, those that never nest left out; honest pages have dozens.
MANY_OPEN = 1_500
#: The markup of one tag, or what pretends to be one: a megabyte of attributes takes minutes, each compared
#: with all before it; 32 KB take a quarter of a second.
LONG_TAG = 16_384
#: What begins a tag, or something else that ends with `>`.
_BEGINS = re.compile(rb"<[a-zA-Z/!?]")
_SAMPLES, _SAMPLE = 2, 512
#: Elements that are void or end where the next of their kind begins, as they are mostly written.
_FLAT = (
    b"<br",
    b"<img",
    b"<p",
    b"<li",
    b"<td",
    b"<tr",
    b"<th",
    b"<dt",
    b"<dd",
    b"<hr",
    b"<opt",
    b"<in",
    b"<me",
    b"<link",
)


def suspicious(markup: bytes) -> bool:
    """Numbered cases: 1. large; 2. a tag that does not end; 3. far more tags opened than closed."""
    size = len(markup)
    if size > MANY_BYTES:
        return True
    if size > 2 * LONG_TAG and _long_tag(markup):
        return True
    if size <= FEW_BYTES:
        return False
    count, open_tags = markup.count, 0
    for at in (size // 3, 2 * size // 3):
        open_tags += count(b"<", at, at + _SAMPLE) - 2 * count(b"</", at, at + _SAMPLE)
    return open_tags * size > MANY_OPEN * _SAMPLES * _SAMPLE and _left_open(markup) > MANY_OPEN


def _long_tag(markup: bytes) -> bool:
    """Whether a tag may be that long: a stretch without `>` in which something begins, and is no long text."""
    find, size, at = markup.find, len(markup), 0
    while at < size - LONG_TAG:
        if find(b">", at, at + LONG_TAG) >= 0:
            at += LONG_TAG
            continue
        end = find(b">", at + LONG_TAG)
        if end < 0:
            end = size
        begins = _BEGINS.search(markup, markup.rfind(b">", 0, at) + 1, end)
        if begins is not None and end - begins.start() >= LONG_TAG:
            return True
        at = end
    return False


def _left_open(markup: bytes) -> int:
    """Start tags more than end tags, flat elements forgiven: they are counted as if none was closed. At most as many
    as there are; whether more than MANY_OPEN is exact."""
    left = markup.count(b"<") - 2 * markup.count(b"</")
    for name in _FLAT:
        if left <= MANY_OPEN:
            break
        left -= markup.count(name)
    return left
