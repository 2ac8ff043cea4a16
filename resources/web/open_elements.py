"""The elements that are open while markup is read, estimated: never fewer than the parser has.

What tree construction (HTML 13.2.6) does with the stack of open elements and the list of active formatting elements, as
far as it matters for how long both become: start tags are trusted more than end tags.
"""

from __future__ import annotations

import re

__all__ = ["FORMATTING", "OpenElements", "flat_tags"]

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
#: Formatting elements (HTML 13.2.4.2) but `a`, which closes the one before.
FORMATTING = frozenset(b"b big code em font i nobr s small strike strong tt u".split())
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
#: Start tags that may end something, see `_end_by_start`.
_ENDS_OTHERS = frozenset((*_SPECIAL, *_KIN, *_FLAT_ALONE)) - _FOREIGN
#: What a start tag does not end anything through.
_HOLDS = _BARRIERS - _CELLS | {b"ul", b"ol", b"dl"}


def flat_tags(markup: bytes) -> frozenset[bytes]:
    """Names of elements that never nest in this markup: their tags leave the open elements as they are."""
    foreign = re.search(rb"(?i)<(?:svg|math)", markup) is not None
    return _FLAT if foreign else _FLAT_IN_HTML


class OpenElements:
    """`stack`: names of the open elements; `formatting`: tags of the active formatting elements. Names are lower case,
    and none is flat."""

    __slots__ = ("_foreign", "formatting", "stack")

    def __init__(self) -> None:
        self.stack: list[bytes] = []
        self.formatting: list[bytes] = []
        self._foreign: int | None = None  # where in the stack an svg or math is open

    def __repr__(self) -> str:
        return f"<OpenElements {len(self.stack)} open, {len(self.formatting)} formatting>"

    def start(self, name: bytes, attributes: bytes, *, sure: bool) -> None:
        """A start tag. `sure`: `attributes` is all that stands between its name and its end."""
        stack = self.stack
        if self._foreign is not None and len(stack) <= self._foreign:
            self._foreign = None
        if self._foreign is None:
            if name in _ENDS_OTHERS:
                _end_by_start(stack, name)
            stack.append(name)
            if name in _FOREIGN:
                self._foreign = len(stack) - 1
        else:
            stack.append(name)  # nothing ends by itself inside svg and math
        if name in FORMATTING:
            _remember(self.formatting, name + attributes, sure=sure)

    def end(self, name: bytes) -> None:
        """An end tag that the parser surely sees."""
        stack = self.stack
        if stack and stack[-1] == name:
            stack.pop()
        else:
            _close(stack, name)
        if name in FORMATTING:
            _forget(self.formatting, name)


def _end_by_start(stack: list[bytes], name: bytes) -> None:
    """What a start tag in HTML surely ends."""
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
