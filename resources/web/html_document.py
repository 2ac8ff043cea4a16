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

from .attribute_bound import affordable_attributes, end_beyond

__all__ = ["MAX_MARKUP", "Cut", "bounded", "cut_of", "parse_and_tell", "parse_html"]

#: Bytes beyond this are not parsed: the largest single pages of documentation have some 10 MB.
MAX_MARKUP = 33_554_432

#: With fewer tags than this the worst page costs 0.5 s and 400 MB, a thousand times an ordinary one.
_FEW_TAGS = 2_000
#: Steps along the stack of open elements or among attributes: 3.5 ns each, so about a second.
_WORK_BUDGET = 300_000_000
#: Copies of formatting elements that later blocks may ask for: about 150 bytes each.
_COPY_BUDGET = 3_000_000

#: Larger pages mostly have more tags than that: they are counted at once as arrays, which costs a page that is small
#: 20 µs in a crawl.
_SCANNED = 65_536

#: The shortest tag, `<b>`.
_TAG_BYTES = 3

#: A formatting start tag that has attributes, and those.
_FORMATTING_TAG = re.compile(rb"(?i)<(?:b|i|u|s|em|tt|big|code|font|nobr|small|strike|strong)([\s/][^>]*)")
#: Octets in which such a tag shows whether it equals another. Equal ones count three times at most.
_TAG_SHOWN = 96
#: What stands in a tag between its name and the first `>` where that surely is its end. Linear: it never goes back.
_PLAIN = re.compile(
    rb"""(?:[\t\n\f\r /]++[^\t\n\f\r "'=<>/]++"""
    rb"""(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r "'=<>]++))?+)*+[\t\n\f\r /]*+"""
)
_OCTETS = re2.Options()
_OCTETS.encoding = re2.Options.Encoding.LATIN1  # any octet is a character: the markup need not be UTF-8
#: Whether a value may hold a `>`. RE2: six times as fast as `re` here.
_bracket_in_value = re2.compile(rb"""=\s*(?:"[^">]*>|'[^'>]*>)""", _OCTETS).search
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

#: A tag up to the first `>`; the beginning of a comment; what else the parser drops up to the first `>`.
_TOKEN = re.compile(rb"<(?:(/?)([a-zA-Z][^\t\n\f\r />]*)([^>]*)|!--|!\[CDATA\[|[!?/][^>]*)")

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
#: Elements whose text is no markup, and what ends it.
_RAW_TEXT = {
    name: re2.compile(rb"(?i)</" + name + rb"[\t\n\f\r />]", _OCTETS)
    for name in b"script style title textarea xmp iframe noembed noframes".split()
}
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
#: Start tags that may end something, see `_open`.
_ENDS_OTHERS = frozenset((*_SPECIAL, *_KIN, *_FLAT_ALONE)) - _FOREIGN
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
    size = len(markup)
    if size <= _TAG_BYTES * _FEW_TAGS:
        return None
    # Leaving octets out is the fastest count of a few: it leaps from one to the next, and ends with the first too many.
    if size <= _SCANNED and size - len(markup.replace(b"<", b"", _FEW_TAGS + 1)) <= _FEW_TAGS:
        return None
    octets = np.frombuffer(markup, np.uint8)
    opening = octets == _LESS
    tags = int(np.count_nonzero(opening))
    if tags <= _FEW_TAGS:
        return None
    starts, formatting = _tally(octets, opening)
    kinds = 3 * (len(_FORMATTING) + len(formatting) + 3)
    if kinds * starts > 2 * _COPY_BUDGET:
        kinds = 3 * (len(_FORMATTING) + _kinds(markup, formatting))
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


def _kinds(markup: bytes, starts: NDArray[np.intp]) -> int:
    """How many different formatting tags with attributes are among the tags that begin at `starts`, at most."""
    different: set[bytes] = set()
    unknown = 0
    for at in starts.tolist():
        tag, end, _ = markup[at : at + _TAG_SHOWN].partition(b">")
        if tag in different or (found := _FORMATTING_TAG.match(tag)) is None:
            continue
        if end and _PLAIN.fullmatch(found[1]):
            different.add(tag)
        else:
            unknown += 1
    return len(different) + unknown


def _flat_tags(markup: bytes) -> frozenset[bytes]:
    foreign = re.search(rb"(?i)<(?:svg|math)", markup) is not None
    return _FLAT if foreign else _FLAT_IN_HTML


class _Next:
    """Where some octets are found next, each stretch of the markup searched once."""

    def __init__(self, markup: bytes, octets: bytes) -> None:
        self._markup, self._octets = markup, octets
        self._at = -1

    def behind(self, start: int) -> int:
        """The first place from `start` on, the length of the markup if there is none; `start` never falls."""
        if self._at < start:
            found = self._markup.find(self._octets, start)
            self._at = len(self._markup) if found < 0 else found
        return self._at


def _affordable_end(markup: bytes) -> int | None:
    """Where the budgets end, None when they suffice. One pass over the tags: 0.5 µs each.

    An end tag counts only where the parser surely sees it: not in comments, raw text, or where the tag before may go
    on, since its first `>` may stand in a value. Start tags count everywhere.
    """
    flat = _flat_tags(markup)
    careful = _bracket_in_value(markup) is not None
    stack: list[bytes] = []
    formatting: list[bytes] = []
    work = copied = mute_until = unsure_until = 0
    foreign: int | None = None  # where in the stack an svg or math is open
    comment_end, other_comment_end, data_end = (_Next(markup, end) for end in (b"-->", b"--!>", b"]]>"))
    for token in _TOKEN.finditer(markup):
        closing, name, attributes = token.groups()
        if name is None:
            at = token.start()
            if markup.startswith(b"<!--", at):
                end = comment_end.behind(at + 2)
                other = other_comment_end.behind(at + 4)
                # The other end is none within a script.
                mute_until = max(mute_until, end if at < mute_until else min(end, other))
            elif markup.startswith(b"<![CDATA[", at):
                mute_until = max(mute_until, data_end.behind(at))
            continue
        sure = True
        if careful and attributes and _PLAIN.fullmatch(attributes) is None:
            sure = False
            if token.start() >= unsure_until:
                unsure_until = end_beyond(markup, token.start(), token.end())
                mute_until = max(mute_until, unsure_until)
        name = name.lower()
        if name in flat:
            work += len(stack)
            continue
        if closing:
            if not mute_until or token.start() >= mute_until:
                if stack and stack[-1] == name:
                    stack.pop()
                else:
                    _close(stack, name)
                if name in _FORMATTING:
                    _forget(formatting, name)
        else:
            if foreign is not None and len(stack) <= foreign:
                foreign = None
            if foreign is None:
                if name in _ENDS_OTHERS:
                    _open(stack, name)
                else:
                    stack.append(name)
                    if name in _FOREIGN:
                        foreign = len(stack) - 1
            else:
                stack.append(name)  # nothing ends by itself inside svg and math
            if name in _FORMATTING:
                _remember(formatting, name + attributes, sure=sure)
            elif name in _RAW_TEXT and token.start() >= mute_until:
                ending = _RAW_TEXT[name].search(markup, token.end())
                mute_until = len(markup) if ending is None else ending.start()
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


def _remember(formatting: list[bytes], tag: bytes, *, sure: bool) -> None:
    """Adds to the list of active formatting elements, which holds three equal ones at most (HTML 13.2.4.3). What is not
    surely the whole tag equals no other."""
    if not sure or formatting.count(tag) < 3:
        formatting.append(tag)


def _forget(formatting: list[bytes], name: bytes) -> None:
    """Takes the youngest of this name off the list."""
    for at in range(len(formatting) - 1, -1, -1):
        if formatting[at].startswith(name) and not formatting[at][len(name) : len(name) + 1].isalnum():
            del formatting[at]
            return
