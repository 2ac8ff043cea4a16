"""Pages that say nothing a wall says, cleared before anything in them is counted.

`signs` adds up what speaks for each kind of wall. Without a mark, a widget or an address of a wall only titles, headings
and sentences can; and without a title that fits, only some of the sentences can bring a kind to `ENOUGH`. So a page that
holds none of those, nor of the marks in the text, is no wall, whatever else `signs` would find. An ordinary page of 5 KB
is cleared for 30 µs, a third of what making a `Page` of it and counting its signs costs.
"""

from __future__ import annotations

import re

from .expression import Expression
from .header_marks import LOCATION_MARKS
from .markers import STRONG_MARKS
from .page import SHELL, Sight, normal
from .phrases import SENTENCES, Phrase
from .pieces import Pieces
from .quick import MAY_TITLE
from .signs import ENOUGH, LOCATION_SCAN, NO_RESULTS, NO_RESULTS_WEIGHT, PLAIN_CODE, QUOTED, moves

__all__ = ["DECIDING", "MAY_HOLD_MARK", "MAY_SAY", "may_quote", "no_mark", "no_wall"]


def _deciding() -> list[Expression]:
    """Sentences one of which is in every page that has `ENOUGH` points for a kind by sentences alone."""
    phrases = [*SENTENCES, Phrase("soft_404", NO_RESULTS_WEIGHT, NO_RESULTS)]
    left: dict[str, int] = {}
    needed = []
    # The longest patterns cost most: they are left out as long as all that is left out of a kind is not enough.
    for phrase in sorted(phrases, key=lambda phrase: -len(phrase.pattern.pattern)):
        if (weight := left.get(phrase.kind, 0) + phrase.weight) < ENOUGH:
            left[phrase.kind] = weight
        else:
            needed.append(phrase.pattern)
    return needed


DECIDING = tuple(_deciding())
_MARKS = [mark.pattern for mark in STRONG_MARKS if mark.zone in ("text", "title")]
# Only the sentences are whole words.
MAY_SAY = Pieces(
    [*_MARKS, *(each for each in DECIDING if each is NO_RESULTS)],
    at_words=[each for each in DECIDING if each is not NO_RESULTS],
)
MAY_HOLD_MARK = Pieces([*_MARKS, PLAIN_CODE])
#: `QUOTED` in text that is not `normal` yet: any quotation marks of a sort, any number of blanks, ellipses. One class
#: begins all, so that `re` leaps to where one may begin. (One
#: of the apostrophes is a letter.)
_MAY_QUOTE = re.compile(
    '["“”„«»「\'’‘ʼ](?:(?<=["“”„])[^"“”„]{5,}["“”]|(?<=[«»])[^«»]{5,}[«»]|(?<=「)[^「」]{2,}」'
    "|(?<=['’‘ʼ])(?<![^\\Wʼ]['’‘ʼ])[^'’‘ʼ]{5,}['’‘ʼ](?![^\\Wʼ]))"
)


def may_quote(text: str) -> bool:
    """Whether `QUOTED` may be found in `normal(text)`, if no dotted capital I is in it."""
    return _MAY_QUOTE.search(text) is not None


def no_wall(sight: Sight, url: str) -> bool:
    """Whether a 2xx page is certainly none. (False says nothing.)"""
    # 1. its places may hold marks, or it may be an empty shell; 2. its title or a heading may be a wall's; 3. its text may
    # be; 4. its address may be.
    if sight.seen.marks or not sight.weighs(SHELL):
        return False
    if MAY_TITLE.found("\n".join((sight.title, *sight.headings()))) or MAY_SAY.found(sight.text):
        return False
    # What stands before a quotation and after it is read as one.
    if may_quote(sight.text) and MAY_SAY.found(QUOTED.sub(" ", normal(sight.text))):
        return False
    return not any(moves(*LOCATION_MARKS[number][1:]) for number in LOCATION_SCAN.candidates(url))


def no_mark(sight: Sight) -> bool:
    """Whether no strong mark of a vendor is in the page, whatever its status. (False says nothing.)"""
    code = b"cf-error-code" if isinstance(sight.body, bytes) else "cf-error-code"
    return not (
        sight.seen.marks
        or code in sight.body  # type: ignore[operator]  # both are octets or both are text
        or MAY_HOLD_MARK.found(f"{sight.title}\n{sight.text}")
    )
