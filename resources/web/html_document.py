"""HTML parsed into a tree, in bounded time and memory whatever the bytes are.

Three things make a conforming tree builder superlinear in what pages of the web contain: depth (an open tag may
walk the stack of open elements: 50,000 nested ``div`` take 4 s), unclosed formatting elements (each is
copied into every later paragraph: 20 KB can become a gigabyte) and attributes (each is compared with all before it on
its tag: 60,000 take ten seconds; see `attribute_bound`). `cut_of` estimates all three in linear passes and says where a
budget is used up, and which. It overestimates on purpose: it counts open tags in comments and scripts too, and trusts
end tags less.

Ordinary pages are let through by cheaper bounds: few tags; few formatting tags; few different ones. What a page of
30 KB pays: 5 µs; one of 140 KB with 5,000 tags: 0.2 ms; one of 25,000 tags and more 0.4 µs a tag.

Neither the parser nor `css` nor `text` recurses: depth costs time, never the C stack.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import re2
from numpy.typing import NDArray
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from .attribute_bound import affordable_attributes

__all__ = ["MAX_MARKUP", "Cut", "bounded", "cut_of", "parse_and_tell", "parse_html"]

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

#: A formatting start tag that has attributes, with the beginning of those. Equal ones count three times at most.
_FORMATTING_TAG = re.compile(
    rb"(?i)<((?:b|i|u|s|em|tt|big|code|font|nobr|small|strike|strong)[\s/][^>]{0,80})"
)
#: Octets in which such a tag shows all that counts of it.
_TAG_SHOWN = 96
_OCTETS = re2.Options()
_OCTETS.encoding = re2.Options.Encoding.LATIN1  # any octet is a character: the markup need not be UTF-8
#: Elements that an end tag does not close through (HTML 13.2.4.2, "has an element in scope"), most of them; some that it
#: does close through are among them where a page does not nest them.
_BARRIERS = frozenset(
    b"applet button caption html marquee math mi mn mo ms mtext object select svg table td template th foreignobject desc"
    b" annotation-xml".split()
)
#: Elements that only end tags of their like close through ("special"), the common ones.
_SPECIAL = _BARRIERS | frozenset(
    b"address article aside blockquote body center dd details dir div dl dt fieldset figcaption figure footer form h1 h2 h3"
    b" h4 h5 h6 head header li main menu nav noscript ol p pre section summary tbody tfoot thead tr ul".split()
)
#: What these end where nothing else is open in it.
_FLAT_ALONE = {b"option": frozenset((b"option",)), b"optgroup": frozenset((b"option", b"optgroup"))}
#: How far up an end tag is looked for among the open elements: pages that nest wrongly do so by one or two.
_LOOK_UP = 8

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
#: Never nest: void in HTML, in foreign content too.
_FLAT = frozenset(b"br hr img embed meta".split())
#: Never nest in HTML, but do inside svg and math. (An `a` ends the one before.)
_FLAT_IN_HTML = _FLAT | frozenset(b"a area base col input link param source track wbr".split())
#: Start tags that end what their like left open, as far as it is near: the kin that is ended.
_ROWS, _CELLS = frozenset((b"tbody", b"thead", b"tfoot")), frozenset((b"td", b"th"))
_KIN = {
    b"li": frozenset((b"li",)),
    **dict.fromkeys((b"dd", b"dt"), frozenset((b"dd", b"dt"))),
    **dict.fromkeys(_CELLS, _CELLS),
    b"tr": _CELLS | {b"tr"},
    **dict.fromkeys(_ROWS, _CELLS | _ROWS | {b"tr"}),
}
_FOREIGN = frozenset((b"svg", b"math"))
#: What a start tag does not end anything through.
_HOLDS = _BARRIERS - _CELLS | {b"ul", b"ol", b"dl"}


def parse_html(markup: bytes | str) -> LexborHTMLParser:
    """The tree of UTF-8 `markup`, cut where `cut_of` says. Never raises on any bytes."""
    return parse_and_tell(markup)[0]


def parse_and_tell(markup: bytes | str) -> tuple[LexborHTMLParser, Cut | None]:
    """The tree, and where the markup was cut if it was.

    Mutation events are off: they serve scripts, and building a tree without them is a fifth faster.
    """
    raw = markup if isinstance(markup, bytes) else markup.encode("utf-8", "replace")
    cut = cut_of(raw)
    return LexborHTMLParser(
        raw if cut is None else raw[: cut.at], options=LexborDocumentOptions.WO_EVENTS
    ), cut


def bounded(markup: bytes) -> bytes:
    """`markup`, or the longest start of it whose parsing stays within the budgets."""
    cut = cut_of(markup)
    return markup if cut is None else markup[: cut.at]


@dataclass(frozen=True, slots=True)
class Cut:
    """From where markup is not parsed, in octets, and what would cost too much there."""

    at: int
    why: str

    def __str__(self) -> str:
        return f"markup not read from octet {self.at:,} on: {self.why}"


def cut_of(markup: bytes) -> Cut | None:
    """Where parsing has to end to stay within the budgets; None for all but hostile and broken pages."""
    if len(markup) > MAX_MARKUP:
        return cut_of(markup[:MAX_MARKUP]) or Cut(MAX_MARKUP, "longer than any page")
    at = affordable_attributes(markup)
    deep = _affordable_tags(markup if at is None else markup[:at])
    if deep is not None:
        return Cut(deep, "tags too deep, or formatting left open too often")
    return None if at is None else Cut(at, "too many attributes on a tag")


def _affordable_tags(markup: bytes) -> int | None:
    if len(markup) <= _TAG_BYTES * _FEW_TAGS:
        return None
    octets = np.frombuffer(markup, np.uint8)
    opening = octets == _LESS
    tags = int(np.count_nonzero(opening))
    if tags <= _FEW_TAGS:
        return None
    starts, formatting = _tally(octets, opening)
    kinds = 3 * (len(_FORMATTING) + len(formatting) + 3)
    if kinds * starts > 2 * _COPY_BUDGET:
        kinds = 3 * (len(_FORMATTING) + len(_kinds(markup, formatting)))
    # Not every tag begins a block: twice the budget still keeps the promise.
    cheap_to_copy = kinds * starts <= 2 * _COPY_BUDGET
    cheap_to_nest = starts * starts // 2 <= _WORK_BUDGET
    return None if cheap_to_copy and cheap_to_nest else _affordable_end(markup)


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


def _flat_tags(markup: bytes) -> frozenset[bytes]:
    foreign = re.search(rb"(?i)<(?:svg|math)", markup) is not None
    return _FLAT if foreign else _FLAT_IN_HTML


def _affordable_end(markup: bytes) -> int | None:
    """Where the budgets end, None when they suffice. One pass over the tags: 0.4 µs each."""
    flat = _flat_tags(markup)
    stack: list[bytes] = []
    formatting: list[bytes] = []
    work = copied = mute_until = 0
    foreign: int | None = None  # where in the stack an svg or math is open
    for token in _TOKEN.finditer(markup):
        closing, ended, started, attributes = token.groups()
        spelled = ended or started
        if spelled is None:
            end = markup.find(b"-->", token.start() + 2)
            mute_until = max(mute_until, len(markup) if end < 0 else end)
            continue
        name = spelled.lower()
        if name in flat:
            work += len(stack)
            continue
        if closing:
            if token.start() >= mute_until:
                _close(stack, name)
                if name in _FORMATTING:
                    _forget(formatting, name)
        else:
            if foreign is not None and len(stack) <= foreign:
                foreign = None
            if foreign is None:
                _open(stack, name)
                if name in _FOREIGN:
                    foreign = len(stack) - 1
            else:
                stack.append(name)  # nothing ends by itself inside svg and math
            if name in _FORMATTING:
                _remember(formatting, name + attributes[:100])
            elif name in _RAW_TEXT and token.start() >= mute_until:
                end = markup.find(b"</" + spelled, token.end())
                mute_until = len(markup) if end < 0 else end
        work += len(stack)
        copied += len(formatting)
        if work > _WORK_BUDGET or copied > _COPY_BUDGET:
            return token.start()
    return None


def _open(stack: list[bytes], name: bytes) -> None:
    """A start tag in HTML: what it surely ends, and the element itself."""
    if stack and stack[-1] == b"p" and name in _SPECIAL:
        stack.pop()
    kin = _FLAT_ALONE.get(name)
    if kin is not None:
        while stack and stack[-1] in kin:
            stack.pop()
    kin = _KIN.get(name)
    if kin is not None:
        for up in range(len(stack) - 1, max(-1, len(stack) - 1 - _LOOK_UP), -1):
            if stack[up] in kin:
                del stack[up:]
            elif stack[up] in _HOLDS:
                break
    stack.append(name)


def _close(stack: list[bytes], name: bytes) -> None:
    """What an end tag surely closes: the youngest open element, or one a little above that it may close through to."""
    special = name in _SPECIAL
    for up in range(len(stack) - 1, max(-1, len(stack) - 1 - _LOOK_UP), -1):
        if stack[up] == name:
            del stack[up:]
            return
        if stack[up] in _BARRIERS or (stack[up] in _SPECIAL and not special):
            return


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
