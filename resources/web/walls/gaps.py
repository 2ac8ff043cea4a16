"""The longest stretch without a gap of each pattern: who finds the pattern finds its stretch. For `pieces`.

What Python reads of the patterns in the tables takes it 30 ms, as much as a process of the crawler has time for a hundred
pages: so it is written down in `piece_table.py`, and this is only needed when the tables have changed:

    python -m resources.web.walls.gaps

writes it again. Until then the patterns are read by every process, which is as right, but slower.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .pieces import BLANKS

__all__ = ["pieces"]

#: Python's own reading of its patterns; it has no public name. (`sre_parse` is to be removed.)
_parser: Any = importlib.import_module("re._parser")

#: At least as wide as Python's classes for text; the blank stands for all that `normal` makes a blank of.
_CLASSES = {
    "CATEGORY_WORD": r"\w\x{80}-\x{10ffff}",
    "CATEGORY_SPACE": BLANKS,
    "CATEGORY_DIGIT": r"\d\pN",
}
#: What `normal` writes as these.
_WRITTEN = {"'": "'’‘ʼ", '"': '"“”', "-": "\\-‐‑", " ": BLANKS}
#: `normal` writes an ellipsis as three of them: what holds one is a gap.
_ELLIPSIS = "."
#: A class of more members than this tells little.
_TELLING = 3
#: Scripts that say a word in one or two characters begin here.
_DENSE = 0x2E80
#: They only narrow what a pattern matches.
_NARROWING = ("AT", "ASSERT", "ASSERT_NOT")
#: A piece that tells as much need not be the most telling one, if it begins a word.
_ENOUGH_TOLD = 10.0
#: What needs no second look.
_LETTERS = frozenset(map(ord, "abcdefghijklmnopqrstuvwxyz0123456789"))

#: A stretch without gaps in RE2 syntax, after how much it tells: about as many as its letters.
_Stretch = tuple[float, str]


class _Part(NamedTuple):
    """A part of a pattern: what is before its first gap and after its last one, and the most telling stretch.

    Without a gap all three are the whole.
    """

    start: _Stretch
    best: _Stretch
    end: _Stretch
    gapless: bool


_NOTHING: _Stretch = (0.0, "")
_GAP = _Part(_NOTHING, _NOTHING, _NOTHING, False)


def _gapless(stretch: _Stretch) -> _Part:
    return _Part(stretch, stretch, stretch, True)


def pieces(pattern: str, flags: int = 0, *, at_words: bool = False) -> tuple[list[str], list[str]]:
    """The pieces of a pattern of `re`, in RE2 syntax: those that begin a word, and others. ValueError if it has none.

    Each alternative has one. `at_words`: the pattern is only asked for where a word begins.
    """
    begun: list[str] = []
    others: list[str] = []
    for items in _alternatives(list(_parser.parse(pattern, flags))):
        part = _sequence(items)
        begins = at_words and _opens_a_word(items)[0]
        if begins and part.start[0] >= min(part.best[0], _ENOUGH_TOLD):
            begun.append(part.start[1])
        elif part.best[0]:
            others.append(part.best[1])
        else:
            raise ValueError(
                f"an alternative of {pattern!r} has no stretch without gaps: every text may hold it"
            )
    return begun, others


def _alternatives(items: list[Any]) -> Iterator[list[Any]]:
    """What the pattern may be, as far as it begins with a choice."""
    while items and items[0][0].name in _NARROWING:
        items = items[1:]
    if items and items[0][0].name == "SUBPATTERN":
        yield from _alternatives([*items[0][1][3], *items[1:]])
    elif items and items[0][0].name == "BRANCH":
        for branch in items[0][1][1]:
            yield from _alternatives([*branch, *items[1:]])
    else:
        yield items


def _opens_a_word(items: Any) -> tuple[bool, bool]:
    """Whether it can only begin with an ASCII letter or digit, and whether it may be empty."""
    opens = True
    for operation, argument in items:
        match operation.name:
            case "LITERAL":
                return opens and chr(argument).isascii() and chr(argument).isalnum(), False
            case "SUBPATTERN":
                each, empty = _opens_a_word(argument[3])
            case "BRANCH":
                branches = [_opens_a_word(branch) for branch in argument[1]]
                each, empty = all(one for one, _ in branches), any(none for _, none in branches)
            case "MAX_REPEAT" | "MIN_REPEAT":
                each, empty = _opens_a_word(argument[2])
                empty = empty or argument[0] == 0
            case "AT" | "ASSERT" | "ASSERT_NOT":
                each, empty = True, True
            case _:
                return False, False
        opens = opens and each
        if not empty:
            return opens, False
    return opens, True


def _sequence(items: Any) -> _Part:
    start: _Stretch | None = None
    best = _NOTHING
    told, run = 0.0, ""
    for operation, argument in items:
        if operation is _parser.LITERAL and argument in _LETTERS:
            told += 1.0
            run += chr(argument)
            continue
        part = _item(operation.name, argument)
        stretch = (told + part.start[0], run + part.start[1])
        if not part.gapless:
            start = start or stretch
            best = max(best, stretch, part.best)
            stretch = part.end
        told, run = stretch
    last = (told, run)
    return _gapless(last) if start is None else _Part(start, max(best, last), last, False)


def _item(operation: str, argument: Any) -> _Part:
    match operation:
        case "LITERAL":
            return _literal(argument)
        case "IN":
            return _class([(kind.name, value) for kind, value in argument])
        case "AT" | "ASSERT" | "ASSERT_NOT":
            return _gapless(_NOTHING)  # they only narrow
        case "SUBPATTERN":
            return _sequence(argument[3])
        case "BRANCH":
            return _any_of([_sequence(branch) for branch in argument[1]])
        case "MAX_REPEAT" | "MIN_REPEAT":
            least, most, repeated = argument
            return _repeat(int(least), int(most), _sequence(repeated))
    return _GAP


@cache
def _literal(number: int) -> _Part:
    return _class([("LITERAL", number)])


def _class(members: list[tuple[str, Any]]) -> _Part:
    """One character of a class."""
    written, blank = "", False
    telling = 1.0 if len(members) <= _TELLING else 0.2
    for kind, value in members:
        if kind == "LITERAL" and chr(value) != _ELLIPSIS:
            written += _character(chr(value))
            blank = blank or chr(value) == " "
        elif kind == "RANGE" and not value[0] <= ord(_ELLIPSIS) <= value[1]:
            written += f"{_escaped(chr(value[0]))}-{_escaped(chr(value[1]))}"
            telling = 0.2
        elif kind == "CATEGORY" and value.name in _CLASSES:
            written += _CLASSES[value.name]
            telling = 0.2
            blank = blank or value.name == "CATEGORY_SPACE"
        else:
            return _GAP
    if blank:  # one of the normal text may be many
        return _gapless((0.2, f"[{written}]+"))
    if len(members) == 1 and members[0][0] == "LITERAL" and members[0][1] > _DENSE:
        telling = 2.5
    return _gapless((telling, written if len(written) == 1 else f"[{written}]"))


def _character(character: str) -> str:
    return _WRITTEN.get(character) or _escaped(character)


def _escaped(character: str) -> str:
    return character if character.isalnum() else f"\\x{{{ord(character):x}}}"


def _any_of(parts: list[_Part]) -> _Part:
    best = [part.best for part in parts]
    if all(part.gapless for part in parts):
        return _gapless(_either(best))
    return _Part(
        _tell([part.start for part in parts]), _tell(best), _tell([part.end for part in parts]), False
    )


def _tell(stretches: list[_Stretch]) -> _Stretch:
    """One of them; an empty one fits everywhere, and then the others beside it tell nothing."""
    return _either(stretches) if all(text for _, text in stretches) else _NOTHING


def _either(stretches: list[_Stretch]) -> _Stretch:
    return min(stretches)[0], "(?:" + "|".join(text for _, text in stretches) + ")"


def _repeat(least: int, most: int, part: _Part) -> _Part:
    # 1. once or not at all; 2. maybe not at all; 3. once; 4. several times: once will do, and a gap follows.
    if part.gapless and (least, most) == (0, 1):
        return _gapless((0.0, f"(?:{part.best[1]})?"))
    if least == 0:
        return _GAP
    return part if (least, most) == (1, 1) else _Part(part.start, part.best, part.end, False)


def _write() -> None:
    from .clearing import MAY_HOLD_MARK, MAY_SAY
    from .quick import MAY_TITLE

    rows = []
    for each in (MAY_TITLE, MAY_SAY, MAY_HOLD_MARK):
        begun, others = each.read()
        rows.append(f"    {each.digest!r}: (\n        {begun!r},\n        {others!r},\n    ),\n")
    table = Path(__file__).with_name("piece_table.py")
    source = table.read_text("utf-8")
    start = source.index("PIECES: ")
    table.write_text(
        f"{source[:start]}PIECES: dict[str, tuple[str, str]] = {{\n{''.join(rows)}}}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    _write()
