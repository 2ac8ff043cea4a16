"""Numbers as people write them: grouping, decimal marks, signs, digits of every script.

The first number of a text counts ("4.5 out of 5" is 4.5). Which mark is the decimal one, in numbered cases:

1. the field says so;
2. ``.`` and ``,`` both occur: the one that comes last, if it occurs once; the other groups;
3. one mark several times: it groups;
4. one mark once, not followed by exactly three digits, or after a lone 0: it is the decimal mark;
5. one mark once before exactly three digits: ``,`` groups; ``.`` is decimal in numbers and groups in money,
   whose amounts have no three decimals.

Blanks (also narrow and no-break ones) and apostrophes group; the Arabic marks mean one thing each.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

from .bad_value import BadValue

__all__ = ["NUMBER", "decimal_of", "plain", "read_decimal", "read_integer"]

#: Longer texts hold no number but prose; only their beginning is looked at.
_LONGEST = 2_000
#: Digits of a number that still counts as one: DECIMAL(38) and doubles end there.
_MAX_DIGITS = 38
_GROUPS_ONLY = " \u00a0\u2009\u202f'’\u066c"
_MINUS = {
    "\u2212": "-",
    "\u2010": "-",
    "\u2011": "-",
    "\u2013": "-",
    "\ufe63": "-",
    "\uff0d": "-",
    "\uff0b": "+",
}
_TRANSLATE = {ord(k): v for k, v in _MINUS.items()} | {
    ord("\u066b"): ".",
    ord("\uff0e"): ".",
    ord("\uff0c"): ",",
}
#: A sign, then digits with marks between digits; a mark may also open (".5"). Blanks group only before three digits.
NUMBER = re.compile(
    r"(?P<sign>(?<![\w.,])[-+]\s?)?(?P<body>(?:[0-9]|(?<![\w.,])[.,](?=[0-9]))"
    r"(?:[0-9]|[.,'’\u066c](?=[0-9])|[ \u00a0\u2009\u202f](?=[0-9]{3}(?![0-9])))*)(?P<exp>[eE][-+]?[0-9]{1,3}(?![0-9\w]))?"
)


def plain(text: str) -> str:
    """`text` with digits of other scripts as ASCII ones and every kind of minus as ``-``."""
    text = text[:_LONGEST]
    if text.isascii():
        return text
    text = text.translate(_TRANSLATE)
    return "".join(
        str(unicodedata.decimal(c)) if not c.isascii() and unicodedata.decimal(c, None) is not None else c
        for c in text
    )


def decimal_of(body: str, mark: str | None, *, money: bool) -> Decimal:
    """The value of digits with marks, by the cases of the module docstring; BadValue where they contradict."""
    for group in _GROUPS_ONLY:
        body = body.replace(group, "")
    if sum(map(str.isdigit, body)) > _MAX_DIGITS:
        raise BadValue(f"a number of more than {_MAX_DIGITS} digits")
    mark = mark or _decimal_mark(body, money=money)
    other = "," if mark == "." else "."
    whole = body.replace(other, "")
    if mark and whole.count(mark) > 1:
        raise BadValue(f"{body!r} has the decimal mark {mark!r} more than once")
    return Decimal(whole.replace(",", ".") if mark else whole.replace(".", "").replace(",", ""))


def _decimal_mark(body: str, *, money: bool) -> str:
    dot, comma = body.count("."), body.count(",")
    if dot and comma:
        return "." if body.rfind(".") > body.rfind(",") else ","
    mark = "." if dot else ","
    count = dot or comma
    if count != 1:
        return "" if count else "."
    before, _, after = body.partition(mark)
    if len(after) != 3 or before in ("", "0"):
        return mark
    return "." if mark == "." and not money else ""


def read_decimal(text: str, mark: str | None = None, *, money: bool = False) -> Decimal:
    """The first number of `text`; `mark` is its decimal mark if known. BadValue if there is none."""
    found = NUMBER.search(plain(text))
    if found is None:
        raise BadValue(f"no number in {text[:80]!r}")
    value = decimal_of(found["body"], mark, money=money)
    if found["exp"]:
        value = value.scaleb(int(found["exp"][1:]))
    return -value if (found["sign"] or "").startswith("-") else value


def read_integer(text: str, mark: str | None = None) -> int:
    """The first number of `text` as a whole number of 64 bits; BadValue if it has a fraction or is larger.

    A lone dot before three digits groups here: whole numbers have no decimals.
    """
    value = read_decimal(text, mark, money=mark is None)
    # Asked before `int`: 1E+999 would be a thousand digits.
    if not -(2**63) <= value < 2**63:
        raise BadValue(f"{value:g} does not fit into 64 bits")
    whole = int(value)
    if whole != value:
        raise BadValue(f"{value} is no whole number")
    return whole
