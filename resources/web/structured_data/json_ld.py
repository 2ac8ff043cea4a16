"""JSON-LD blocks of a page (JSON-LD 1.1 §7: `script` elements of type application/ld+json), as they are served.

A broken block costs that block only, and most broken blocks are repaired: comments, CDATA and comment wrappers,
raw control characters, trailing commas and semicolons, escapes that JSON does not know, several values in a row,
quotation marks inside strings.
Values are bounded so that whoever walks or stores them is safe: nesting, the digits of numbers, lone surrogates.
Nothing is expanded and no context is fetched: objects come as written.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any

__all__ = ["MAX_DEPTH", "is_json_ld_type", "parse_block"]

#: Nesting that a block may have; schema.org data in earnest stays below 20.
MAX_DEPTH = 64
#: Digits of a whole number that stay a number (128 bits); longer ones stay text: they are names, not amounts.
_MAX_DIGITS = 38
#: Characters of a block: the largest product lists seen have about two million.
_MAX_BLOCK = 8_000_000

_STRING = r'"(?:[^"\\]++|\\.)*+"?+'
_COMMENT = re.compile(rf"({_STRING})|/\*.*?(?:\*/|\Z)|//[^\n\r]*|<!--.*?-->|<!--|-->", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=[\s,]*+[}}\]])", re.DOTALL)
#: Escapes of JSON; of JavaScript; a backslash that is meant.
_ESCAPE = re.compile(r"""\\(u[0-9a-fA-F]{4}|["\\/bfnrt])|\\x([0-9a-fA-F]{2})|\\(['`\n\r]|\Z)|\\""")
#: What may come behind the quotation mark that ends a string.
_AFTER_STRING = re.compile(r'"\s*+(?:\Z|[}\]:]|,\s*+(?:\Z|["{\[}\]\d-]|true|false|null))')
_IN_STRING = re.compile(r'\\.|"', re.DOTALL)
_CDATA = re.compile(r"(?:/\*|//)?[ \t]*(?:<!\[CDATA\[|\]\]>)[ \t]*(?:\*/)?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK = " \t\r\n\f\v\u00a0\u2028\u2029\ufeff\0;,"


def is_json_ld_type(value: str) -> bool:
    """Whether a `type` attribute names JSON-LD: parameters, case and blanks do not matter."""
    return value.partition(";")[0].strip().lower() == "application/ld+json"


def parse_block(text: str) -> tuple[list[dict[str, Any]], str | None]:
    """The objects of one block (arrays are flattened, other values dropped), and what was wrong with it.

    Both may be given: a repaired block has its objects and a problem.
    """
    text = text.strip(_BLANK)
    if not text:
        return [], None
    if len(text) > _MAX_BLOCK:
        return [], f"JSON-LD block of {len(text)} characters: too long, not read"
    problem: str | None = None
    try:
        try:
            values = [_DECODER.decode(text)]
        except ValueError as defect:
            values, rest = _repaired(text)
            problem = f"JSON-LD block repaired ({defect})"
            if rest:
                problem = f"JSON-LD block broken ({defect}): {len(values)} values before that kept"
    except RecursionError:
        return [], "JSON-LD block is nested too deeply: not read"
    found: list[dict[str, Any]] = []
    for value in values:
        if _depth(value) > MAX_DEPTH:
            return [], f"JSON-LD block is nested deeper than {MAX_DEPTH}: not read"
        found += _objects(value)
    if "\\ud" in text.lower() and _has_surrogate(found):
        found = [_without_surrogates(item) for item in found]
    return found, problem


def _repaired(text: str) -> tuple[list[Any], bool]:
    """Values that can be read after repair, and whether something unreadable was left."""
    if '"' not in text and "&quot;" in text:
        text = html.unescape(text)
    if "CDATA" in text or "]]>" in text:
        text = _CDATA.sub("", text).strip(_BLANK)
    if text.startswith("<!--") and text.endswith("-->") and text[4:-3].lstrip(_BLANK)[:1] in ("{", "["):
        text = text[4:-3]
    text = _COMMENT.sub(lambda m: m[1] or " ", text)
    text = _TRAILING_COMMA.sub(lambda m: m[1] or "", text)
    text = _ESCAPE.sub(_escape, text).strip(_BLANK)
    values, unread = _values(text)
    if unread and (requoted := _requoted(text)) != text:
        again, still = _values(requoted)
        if not still:
            return again, False
    return values, unread


def _values(text: str) -> tuple[list[Any], bool]:
    """The values that stand in a row, and whether something unreadable was left."""
    values: list[Any] = []
    at = 0
    while at < len(text):
        try:
            value, at = _DECODER.raw_decode(text, at)
        except ValueError:
            return values, True
        values.append(value)
        while at < len(text) and text[at] in _BLANK:
            at += 1
    return values, False


def _escape(found: re.Match[str]) -> str:
    if found[1]:
        return found[0]
    if found[2]:
        return f"\\u00{found[2]}"
    return found[3] if found[3] is not None else "\\\\"


def _requoted(text: str) -> str:
    """Quotation marks inside strings escaped: those behind which no string can end. One pass."""
    parts: list[str] = []
    kept, at = 0, text.find('"')
    while at >= 0:
        for inside in _IN_STRING.finditer(text, at + 1):
            if inside[0] != '"':
                continue
            if _AFTER_STRING.match(text, inside.start()):
                at = text.find('"', inside.end())
                break
            parts += (text[kept : inside.start()], "\\")
            kept = inside.start()
        else:
            break
    return "".join((*parts, text[kept:]))


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_DIGITS else digits[:_MAX_DIGITS]


def _fraction(digits: str) -> float | str:
    value = float(digits)
    # JSON has no infinity; neither has what stores this.
    return value if abs(value) != float("inf") else digits[:_MAX_DIGITS]


def _no_number(_: str) -> None:
    """NaN and Infinity are no JSON; null loses nothing that they said."""


#: strict=False: raw line breaks and tabs inside strings are read.
_DECODER = json.JSONDecoder(strict=False, parse_int=_whole, parse_float=_fraction, parse_constant=_no_number)


def _depth(value: Any) -> int:
    """Levels of nesting, without recursion."""
    level, deepest = [value], 0
    while level:
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        level = [each for each in inner if isinstance(each, (dict, list))]
        deepest += 1
    return deepest


def _objects(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value] if value else []
    if isinstance(value, list):
        return [found for each in value for found in _objects(each)]
    return []


def _has_surrogate(value: Any) -> bool:
    return _SURROGATE.search(json.dumps(value, ensure_ascii=False)) is not None


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(each) for each in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(each) for key, each in value.items()}
    return value
