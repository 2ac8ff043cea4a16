"""Links and metas of a plain page (`plain_markup`), read from its tags: what `outlinks` reads from a tree.

Most links are read all at once (0.6 µs each); what else there is, tag by tag, and each spelling once: navigation stands on
all pages of a site. A tag that was seen before costs 0.2 µs, a new one 3 µs, one that the parser has to read 40 µs (rare
character references).
"""

from __future__ import annotations

import re

from .css import css_first
from .html_document import parse_html
from .plain_markup import plain_tags

__all__ = ["Pointers", "TagMemo", "read_plain"]

_BLANK = r"[ \t\n\f\r]"
_OTHERS = rf"""(?:{_BLANK}++(?!href|rel|xlink)[a-z][a-z0-9-]*+="[^"]*+")*+"""
_ADDRESS = rf"""(?:{_BLANK}++href="([^"#&\r]*+)(?:#[^"&\r]*+)?")?+"""
#: Links in which nothing needs a second look: (address, ""), the address empty where there is none; other tags: ("", tag).
_USUAL = re.compile(rf"<a{_OTHERS}{_ADDRESS}{_OTHERS}{_BLANK}*+>|(<[^>]*+>)")
#: A tag that says what it seems to say: a name, and attributes that stand apart.
_VALUE = r"""=(?:"([^"]*+)"|'([^']*+)'|([^ \t\n\f\r"'<>=`/][^ \t\n\f\r"'<>=`]*+))"""
_ATTRIBUTE = re.compile(rf"""{_BLANK}++([^ \t\n\f\r"'<>/=]++)(?:{_VALUE})?+""")
_STRICT = re.compile(rf"<[a-z]++(?:{_ATTRIBUTE.pattern})*+{_BLANK}*+/?>")
#: Character references that mean the same wherever they stand. The last one makes no others.
_REFERENCES = (("&quot;", '"'), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
#: Longer tags are read each time.
_REMEMBERED = 1_000

#: Addresses as written, without fragment, in document order, and whether all links to them say nofollow; the
#: (name, content) of named metas. The empty address, which is the page itself, may be missing.
Pointers = tuple[dict[str, bool], list[tuple[str, str]]]
#: (address, nofollow) of a link, (name, content) of a meta; None where the tag is neither.
_Said = tuple[str, bool | str] | None


class TagMemo:
    """What tags say, by their spelling. Two generations of `room` tags, 300 bytes each: what is asked for again stays."""

    def __init__(self, room: int = 16_384) -> None:
        self._room = room
        self.known: dict[str, _Said] = {}
        self._older: dict[str, _Said] = {}

    def read(self, tag: str) -> _Said:
        """What a start tag says that is not in `known`. ValueError if it is not strictly one."""
        if tag in self._older:
            said = self._older[tag]
        elif _STRICT.fullmatch(tag):
            said = _said(tag)
        else:
            raise ValueError("no strict tag")
        if len(tag) <= _REMEMBERED:
            if len(self.known) >= self._room:
                self.known, self._older = {}, self.known
            self.known[tag] = said
        return said


def read_plain(markup: bytes, memo: TagMemo) -> Pointers | None:
    """The pointers of a page in UTF-8 without `base`; None where its tree has to be asked."""
    tags = plain_tags(markup)
    if tags is None:
        return None
    hints: dict[str, bool] = {}
    metas: list[tuple[str, str]] = []
    try:
        for address, tag in _USUAL.findall(b"".join(tags.links).decode()):
            if address:
                hints[address] = False
            elif tag:
                said = memo.known[tag] if tag in memo.known else memo.read(tag)
                if said is not None and hints.get(said[0], True):
                    hints[said[0]] = bool(said[1])
        for tag in map(bytes.decode, tags.metas):
            said = memo.known[tag] if tag in memo.known else memo.read(tag)
            if said is not None:
                metas.append((said[0], str(said[1])))
    except ValueError:  # no strict tag, or no UTF-8
        return None
    return hints, metas


def _said(tag: str) -> _Said:
    attributes = _attributes(tag)
    if tag.startswith("<meta"):
        name = attributes.get("name")
        return (name, attributes.get("content", "")) if name else None
    if "href" not in attributes:
        return None
    address = (attributes["href"] or attributes.get("xlink:href", "")).partition("#")[0]
    return address, "nofollow" in attributes.get("rel", "").lower().split()


def _attributes(tag: str) -> dict[str, str]:
    """Those of a strict tag, the first of each name."""
    found: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(tag):
        value = _plain_value("".join(values))
        if value is None:
            node = css_first(parse_html(tag), "a,area,meta")
            return {} if node is None else {name: value or "" for name, value in node.attributes.items()}
        found.setdefault(name.lower(), value)
    return found


def _plain_value(value: str) -> str | None:
    """None for what the parser has to read: line breaks that it normalises, other character references."""
    if "&" not in value and "\r" not in value:
        return value
    if "\r" in value or value.count("&") != sum(value.count(reference) for reference, _ in _REFERENCES):
        return None
    for reference, character in _REFERENCES:
        value = value.replace(reference, character)
    return value
