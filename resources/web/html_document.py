"""HTML parsed into a tree, in bounded time and memory whatever the bytes are.

Two things make a conforming tree builder superlinear in what pages of the web contain: depth (an open tag may
walk the stack of open elements: 50,000 nested ``div`` take 4 s) and unclosed formatting elements (each is
copied into every later paragraph: 20 KB can become a gigabyte). `bounded` estimates both in one linear pass
and cuts the markup where a budget is used up. It overestimates on purpose: it counts open tags in comments and
scripts too, and trusts end tags less. (A third, tens of thousands of attributes on one tag, costs seconds only
in megabytes and is left to the limit on the size of what is parsed.)

Ordinary pages are let through by cheaper bounds: few tags; few formatting tags; few different ones; tags that
balance. What a page of 30 KB pays: 5 µs; one of 140 KB with 5,000 tags: 0.2 ms.

Neither the parser nor `css` nor `text` recurses: depth costs time, never the C stack.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import re2
from numpy.typing import NDArray
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

__all__ = ["MAX_MARKUP", "bounded", "parse_html"]

#: Bytes beyond this are not parsed: the largest single pages of documentation have some 10 MB.
MAX_MARKUP = 33_554_432

#: With fewer tags than this the worst page costs 0.5 s and 400 MB, a thousand times an ordinary one.
_FEW_TAGS = 2_000
#: Steps along the stack of open elements or among attributes: 3.5 ns each, so about a second.
_WORK_BUDGET = 300_000_000
#: Copies of formatting elements that later blocks may ask for: about 150 bytes each.
_COPY_BUDGET = 3_000_000

#: The shortest tag, `<b>`.
_TAG_BYTES = 3

_NAMES = re.compile(rb"<(/?[a-zA-Z][^\s/>]{0,40})")
#: A formatting start tag that has attributes, with the beginning of those. Equal ones count three times at most.
_FORMATTING_TAG = re.compile(
    rb"(?i)<((?:b|i|u|s|em|tt|big|code|font|nobr|small|strike|strong)[\s/][^>]{0,80})"
)
#: Octets in which such a tag shows all that counts of it.
_TAG_SHOWN = 96
_OCTETS = re2.Options()
_OCTETS.encoding = re2.Options.Encoding.LATIN1  # any octet is a character: the markup need not be UTF-8
#: End tags that a parser does not see: in comments and in attributes. RE2: six times as fast as `re` here.
_MUTED_END = re2.compile(rb"(?:<!--|=\s*[\"'])[^>]*</", _OCTETS)
_TOKEN = re.compile(rb"<(?:(/)([a-zA-Z][^\s/>]{0,40})|([a-zA-Z][^\s/>]{0,40})([^>]*)|!--)")

_LESS, _SLASH = b"</"
#: What may follow a name in its tag, as `_tally` sees it: with bit 5 set, so a few others as well.
_AFTER_NAME = sorted({octet | 32 for octet in b" \t\n\f\r/"})
#: Whether two octets begin a formatting start tag that may have attributes: a name of one letter and what may follow
#: it, or the first two letters of a longer name. More pass than are (`col`, `form`): an overestimate.
_MAY_FORMAT = np.zeros(1 << 16, np.bool_)
_MAY_FORMAT[[letter << 8 | end for letter in b"bisu" for end in _AFTER_NAME]] = True
_MAY_FORMAT[[int.from_bytes(start) for start in (b"bi", b"co", b"em", b"fo", b"no", b"sm", b"st", b"tt")]] = (
    True
)

#: Formatting elements (HTML 13.2.4.2) but `a`, which closes the one before.
_FORMATTING = frozenset(b"b big code em font i nobr s small strike strong tt u".split())
_RAW_TEXT = frozenset(b"script style title textarea xmp iframe noembed noframes".split())
#: Never nest: void in HTML, or closed by the next of their kind, in foreign content too.
_FLAT = frozenset(b"br hr img embed meta p li dd dt".split())
#: Never nest in HTML, but do inside svg and math.
_FLAT_IN_HTML = _FLAT | frozenset(
    b"a area base col input link param source track wbr td th tr tbody thead tfoot option optgroup".split()
)


def parse_html(markup: bytes | str) -> LexborHTMLParser:
    """The tree of UTF-8 `markup`, cut where `bounded` says. Never raises on any bytes.

    Mutation events are off: they serve scripts, and building a tree without them is a fifth faster.
    """
    raw = markup if isinstance(markup, bytes) else markup.encode("utf-8", "replace")
    return LexborHTMLParser(bounded(raw), options=LexborDocumentOptions.WO_EVENTS)


def bounded(markup: bytes) -> bytes:
    """`markup`, or the longest start of it whose parsing stays within the budgets."""
    markup = markup[:MAX_MARKUP]
    if len(markup) <= _TAG_BYTES * _FEW_TAGS:
        return markup
    octets = np.frombuffer(markup, np.uint8)
    opening = octets == _LESS
    tags = int(np.count_nonzero(opening))
    if tags <= _FEW_TAGS:
        return markup
    starts, formatting = _tally(octets, opening)
    kinds = 3 * (len(_FORMATTING) + len(formatting) + 3)
    if kinds * starts > 2 * _COPY_BUDGET:
        kinds = 3 * (len(_FORMATTING) + len(_kinds(markup, formatting)))
    # Not every tag begins a block: twice the budget still keeps the promise.
    cheap_to_copy = kinds * starts <= 2 * _COPY_BUDGET
    cheap_to_nest = starts * starts // 2 <= _WORK_BUDGET or _balances(markup)
    if cheap_to_copy and cheap_to_nest:
        return markup
    end = _affordable_end(markup)
    return markup if end is None else markup[:end]


def _tally(octets: NDArray[np.uint8], opening: NDArray[np.bool_]) -> tuple[int, NDArray[np.intp]]:
    """Start tags, and where formatting start tags with attributes begin, and some others."""
    # The last three octets can begin no tag that has a name and an end.
    at = np.flatnonzero(opening[:-3])
    first, second = octets[at + 1], octets[at + 2]
    starts = len(at) - int(np.count_nonzero(first == _SLASH)) + 3
    pairs = (first | 32).astype(np.uint16) << 8 | second | 32
    return starts, at[_MAY_FORMAT[pairs]]


def _kinds(markup: bytes, starts: NDArray[np.intp]) -> set[bytes]:
    """The different formatting tags with attributes among the tags that begin at `starts`."""
    shown = {markup[at : at + _TAG_SHOWN].partition(b">")[0] for at in starts.tolist()}
    return {found[1] for tag in shown if (found := _FORMATTING_TAG.match(tag)) is not None}


def _balances(markup: bytes) -> bool:
    """Whether the tags that stay open, by their counts alone, are few enough for so many tags."""
    if _MUTED_END.search(markup):
        return False
    flat = _flat_tags(markup)
    counts = Counter(_NAMES.findall(markup))
    tags = never_closed = 0
    for name, count in counts.items():
        if name[:1] != b"/":
            tags += count
            if name.lower() not in flat:
                never_closed += max(0, count - counts[b"/" + name])
    return never_closed * tags <= _WORK_BUDGET


def _flat_tags(markup: bytes) -> frozenset[bytes]:
    foreign = re.search(rb"(?i)<(?:svg|math)", markup) is not None
    return _FLAT if foreign else _FLAT_IN_HTML


def _affordable_end(markup: bytes) -> int | None:
    """Where the budgets end, None when they suffice. One pass over the tags: 0.6 µs each."""
    flat = _flat_tags(markup)
    open_tags: dict[bytes, int] = {}
    formatting: list[bytes] = []
    depth = work = copied = mute_until = 0
    for token in _TOKEN.finditer(markup):
        closing, ended, started, attributes = token.groups()
        spelled = ended or started
        if spelled is None:
            end = markup.find(b"-->", token.start() + 2)
            mute_until = max(mute_until, len(markup) if end < 0 else end)
            continue
        name = spelled.lower()
        if name in flat:
            continue
        if closing:
            if open_tags.get(name) and token.start() >= mute_until:
                open_tags[name] -= 1
                depth -= 1
                if name in _FORMATTING:
                    _forget(formatting, name)
        else:
            open_tags[name] = open_tags.get(name, 0) + 1
            depth += 1
            if name in _FORMATTING:
                _remember(formatting, name + attributes[:100])
            elif name in _RAW_TEXT and token.start() >= mute_until:
                end = markup.find(b"</" + spelled, token.end())
                mute_until = len(markup) if end < 0 else end
        work += depth
        copied += len(formatting)
        if work > _WORK_BUDGET or copied > _COPY_BUDGET:
            return token.start()
    return None


def _remember(formatting: list[bytes], tag: bytes) -> None:
    """Adds to the list of active formatting elements, which holds three equal ones at most (HTML 13.2.4.3)."""
    if formatting.count(tag) < 3:
        formatting.append(tag)


def _forget(formatting: list[bytes], name: bytes) -> None:
    """Takes the youngest of this name off the list."""
    for at in range(len(formatting) - 1, -1, -1):
        if formatting[at].startswith(name) and not formatting[at][len(name) : len(name) + 1].isalnum():
            del formatting[at]
            return
