"""Is this markup worth parsing behind a wall? A cheap look, before the parser sees it.

The tree builder is native code and superlinear in what honest pages do not contain: depth, tags left open, tens
of thousands of attributes. A page that looks like that is parsed in a process of its own, where a crash or a
hang costs that page alone. A false alarm costs some tenths of a millisecond, a miss at most what
`html_document.bounded` lets through, so this errs on the side of alarm and need not be exact.

Cost: 3 µs for a page of 25 KB.
"""

from __future__ import annotations

__all__ = ["suspicious"]

#: Parsing more than this takes longer than a page should hold an event loop (about 10 ms).
MANY_BYTES = 1_000_000
#: With fewer tags than this depth and open tags cost half a second at the very worst.
FEW_TAGS = 2_000
#: Start tags without an end tag: void elements and the `li` and `p` of long documents; honest pages have
#: hundreds.
MANY_OPEN = 1_500
#: The markup of one tag, or what pretends to be one: a megabyte of attributes takes minutes, each compared
#: with all before it; 32 KB take a quarter of a second.
LONG_TAG = 16_384


def suspicious(markup: bytes) -> bool:
    """Numbered cases: 1. large; 2. a stretch without the end of a tag; 3. many tags, far more opened than closed."""
    size = len(markup)
    if size > MANY_BYTES:
        return True
    if size > 2 * LONG_TAG:
        find = markup.find
        for at in range(0, size - LONG_TAG, LONG_TAG):
            if find(b">", at, at + LONG_TAG) < 0:
                return True
    tags = markup.count(b"<")
    if tags <= FEW_TAGS:
        return False
    closing = markup.count(b"</")
    return tags - 2 * closing > MANY_OPEN
