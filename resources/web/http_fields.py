"""HTTP field values (RFC 9110 section 5, RFC 9111 section 5.2): lines, lists, directives, media types.

Headers are a sequence of (name, value) pairs in the order received, one pair a line, text decoded as
latin-1. Nothing here raises on any value. Parsers of strings that repeat from page to page are memoized,
for values of ordinary length only, so that a hostile server cannot fill the memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

__all__ = [
    "Directives",
    "Headers",
    "MediaType",
    "cache_control",
    "charset",
    "field_lines",
    "first_value",
    "list_members",
    "media_type",
    "parse_directives",
]

Headers = Iterable[tuple[str, str]]
Directives = Mapping[str, str | None]

#: Longer values are parsed each time instead of being remembered.
_MEMO_CHARS = 512
_MEMO_ENTRIES = 1024

_OWS = " \t"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"""[!#$%&'*+\-.^_`|~0-9A-Za-z:]+|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
# The next thing that matters to a splitter: a quoted string (group 1 is empty if it never closes) or a
# separator. It matches at every quote, so that splitting stays linear on hostile values.
_SPLIT_AT = {sep: re.compile(rf'"(?:[^"\\]|\\.?)*("?)|{sep}', re.DOTALL) for sep in ",;"}


def field_lines(headers: Headers, name: str) -> list[str]:
    """The values of all lines named `name` (lower case), in order."""
    # Lengths first: a page's fields are asked for a hundred times, and most names differ in theirs.
    length = len(name)
    return [value for key, value in headers if len(key) == length and key.lower() == name]


def first_value(headers: Headers, name: str) -> str | None:
    """The value of the first line named `name` (lower case), without surrounding blanks, or None."""
    length = len(name)
    for key, value in headers:
        if len(key) == length and key.lower() == name:
            return value.strip(_OWS)
    return None


def list_members(lines: Iterable[str]) -> list[str]:
    """The members of a comma-separated list spread over any number of lines; empty ones are dropped."""
    return [member for line in lines for piece in _split(line, ",") if (member := piece.strip(_OWS))]


def _split(value: str, separator: str) -> list[str]:
    """`value` at each `separator` outside quoted strings. A quote that never closes is a plain character."""
    if '"' not in value:
        return value.split(separator)
    pieces, start = [], 0
    for match in _SPLIT_AT[separator].finditer(value):
        if match[0] == separator:
            pieces.append(value[start : match.start()])
            start = match.end()
        elif not match[1]:
            return pieces + value[start:].split(separator)
    return [*pieces, value[start:]]


def cache_control(headers: Headers) -> Directives:
    """The Cache-Control directives of a message: name in lower case -> argument, or None without one."""
    lines = field_lines(headers, "cache-control")
    return parse_directives(", ".join(lines)) if lines else _NO_DIRECTIVES


def parse_directives(value: str) -> Directives:
    """A Cache-Control value as a mapping. Of a directive given twice the first counts (RFC 9111, 4.2.1).

    A quoted argument loses its quotes: recipients accept both forms (5.2). Blanks around "=" are not
    allowed; they stay in the argument, which then is no number.
    """
    return _memoized_directives(value) if len(value) <= _MEMO_CHARS else _directives(value)


_NO_DIRECTIVES: Directives = MappingProxyType({})


def _directives(value: str) -> Directives:
    found: dict[str, str | None] = {}
    for member in list_members([value]):
        name, equals, argument = member.partition("=")
        name = name.strip(_OWS).lower()
        if name not in found:
            found[name] = _unquoted(argument) if equals else None
    return MappingProxyType(found)


_memoized_directives = lru_cache(_MEMO_ENTRIES)(_directives)


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL) if _QUOTED.fullmatch(text) else text


class MediaType(NamedTuple):
    """A Content-Type as WHATWG MIME Sniffing reads it (section 4.4)."""

    #: "type/subtype" in lower case; "" when the value names none.
    essence: str
    #: Parameter name in lower case -> value; the first of a name counts.
    parameters: Mapping[str, str]

    @property
    def is_xml(self) -> bool:
        return self.essence in ("text/xml", "application/xml") or self.essence.endswith("+xml")

    @property
    def is_json(self) -> bool:
        return self.essence in ("application/json", "text/json") or self.essence.endswith("+json")


def media_type(value: str) -> MediaType:
    """A Content-Type value, read leniently: a quoted value may lack its closing quote."""
    return _memoized_media_type(value) if len(value) <= _MEMO_CHARS else _media_type(value)


def _media_type(value: str) -> MediaType:
    head, _, rest = value.partition(";")
    essence = head.strip("\t\n\r ").lower()
    kind, slash, subtype = essence.partition("/")
    if not (slash and _TOKEN.fullmatch(kind) and _TOKEN.fullmatch(subtype)):
        essence = ""
    parameters: dict[str, str] = {}
    at = 0
    while at < len(rest):
        at = _skip_blanks(rest, at)
        end = _first_of(rest, ";=", at)
        name = rest[at:end].lower()
        at = end
        if at >= len(rest):
            break
        if rest[at] == ";":
            at += 1
            continue
        at += 1
        if rest[at : at + 1] == '"':
            match = re.compile(r'"((?:[^"\\]|\\.)*)', re.DOTALL).match(rest, at)
            assert match is not None  # it starts with the quote
            text = re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL)
            at = _first_of(rest, ";", match.end())
        else:
            end = _first_of(rest, ";", at)
            text = rest[at:end].rstrip("\t\n\r ")
            at = end
            if not text:
                at += 1
                continue
        at += 1
        if _TOKEN.fullmatch(name) and name not in parameters:
            parameters[name] = text
    return MediaType(essence, MappingProxyType(parameters))


_memoized_media_type = lru_cache(_MEMO_ENTRIES)(_media_type)


def charset(value: str) -> str | None:
    """The charset label of a Content-Type, by the grammar of RFC 9110 (8.3.1, 5.6.6), or None.

    Several media types joined by commas are read one after the other; the first charset counts. A value
    that is neither a token nor a closed quoted string is no value. Whether the label means an encoding is
    for the label table to say.
    """
    for one in list_members([value]):
        for parameter in _split(one, ";")[1:]:
            name, _, text = parameter.strip(_OWS).partition("=")
            if name.lower() == "charset" and _VALUE.fullmatch(text):
                return _unquoted(text) or None
    return None


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in "\t\n\r ":
        at += 1
    return at


def _first_of(text: str, stops: str, at: int) -> int:
    while at < len(text) and text[at] not in stops:
        at += 1
    return at
