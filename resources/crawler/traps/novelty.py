"""What a page says that others of its kind have not said: the evidence that tells a real page from one more of a trap.

A page is taken apart into *atoms*: texts as they stand between two tags, pairs of neighbouring words in them, images
and other embedded things, sentences in scripts, links, numbers. What stands in links says something about other pages and is not text of this one. Atoms that no page
before had are *new*. Digits that follow from the number in the page's own address are none (`Page 17`), other
numbers are weak evidence (a price, but a time of day as well).

No language is assumed: a word is what stands between spaces and signs, whatever the script. Pure, no parser: it must
be cheap and may be wrong about markup, as long as it takes equal pages for equal. 0.3 ms for a page of 25 KB, 1 ms if `deep`, linear in any bytes, so the
guard asks only about pages that are suspicious already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from xxhash import xxh32_intdigest

from .slots import is_token

__all__ = ["LIST_LINKS", "Memory", "Novelty", "PageAtoms", "Verdict", "page_atoms"]

#: Bytes of a body that are read: what makes pages differ stands before that.
MAX_BYTES = 400_000
#: Of its scripts so many.
MAX_SCRIPT = 200_000
#: Atoms of one family, 60 bytes each; then the older half is forgotten, which makes pages look newer than they are.
MAX_ATOMS = 40_000
#: Atoms that are kept for the next night: 12 bytes each in the frontier's named value.
MAX_SAVED = 3_000
#: A page with so many links of its own may be a list. Where combinations are suspected, what counts in one are more
#: new pairs of words than a heading has.
LIST_LINKS, LIST_TEXT = 3, 6
#: Share of a list's own links that must be new: a finite list shows every entry once, a random one repeats itself.
LIST_SHARE = 0.8
#: New numbers on one page that are more than a clock.
NUMBERS = 2
#: For pages of a calendar: new words, pairs of them, or numbers that are more than a date has in any writing.
DATED_WORDS, DATED_PAIRS, DATED_NUMBERS = 3, 15, 4

Verdict = Literal["new", "doubtful", "old"]

#: What is no text of the page, by the end tag that closes it. And what ends a link that nobody has closed.
_CLOSED_BY = {name: b"/" + name for name in (b"a", b"script", b"style")}
_APART = (b"a", b"s")
#: A link that leads nowhere is text: the heads of things that unfold.
_NO_LINK = (b'href="#', b"href='#", b"javascript:", b"href=#")
_BLOCKS = (b"main", b"article", b"section", b"h1", b"h2", b"table", b"footer", b"body")
# All of these see lower case.
#: A tag, its name first: a `<` that is none ends where the next begins, so that no text is read twice.
_TAG = re.compile(rb"<([^<>]*)>")
#: Things a page embeds, and what it says about its pictures. (`content` of `meta` holds tokens that change.)
_SOURCE = re.compile(rb"src(?:set)?\s*=\s*[\"']?([^\"'\s>#]+)")
_BACKGROUND = re.compile(rb"url\([\"']?([^\"')\s>#]+)")
_LATE_SOURCE = re.compile(rb"(?:poster|data-(?:original|lazy|image|full|large))\s*=\s*[\"']?([^\"'\s>#]+)")
#: Files that are the same whatever the query: it only keeps caches from holding an old one.
_STATIC = re.compile(rb"(\.(?:js|css|png|gif|jpe?g|webp|svg|avif|ico|woff2?))\?.*", re.DOTALL)
_SAID = re.compile(rb" alt=(?:\"([^\"]{0,300})\"|'([^']{0,300})')")
#: Only from the start of a word, and never back into it: linear in a text without spaces too.
_WITH_DIGITS = re.compile(rb"(?<![a-z0-9\x80-\xff])[a-z\x80-\xff]*+\d[a-z0-9\x80-\xff]*+(?:[.,:]\d+)*")
_PIECE = re.compile(rb"[a-z0-9\x80-\xff]+|#")
#: Texts in scripts: a page may be a shell that the browser fills from data. Tokens have no spaces.
_QUOTED = re.compile(rb"\"([^\"\n]{3,20000})\"")
_SENTENCE = re.compile(rb"\s|\\u|[\x80-\xff]")
_DIGITS = re.compile(rb"\d+")
_LETTER = re.compile(rb"[a-z\x80-\xff]")
_NUMBER = re.compile(rb"\d+(?:[.,:]\d+)*")
#: Whole numbers, as `1,200` too.
_WHOLE, _SIGNS = re.compile(rb"\d{1,12}|\d{1,3}(?:[.,]\d{3}){1,3}"), re.compile(rb"[.,]")


@dataclass(slots=True)
class PageAtoms:
    """Hashes of what one page says. `links`: to places outside its own family."""

    texts: set[int] = field(default_factory=set)
    pairs: set[int] = field(default_factory=set)
    words: set[int] = field(default_factory=set)
    embedded: set[int] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    scripts: set[int] = field(default_factory=set)
    links: set[int] = field(default_factory=set)

    def all(self) -> set[int]:
        return self.texts | self.pairs | self.words | self.embedded | self.numbers | self.scripts | self.links


@dataclass(frozen=True, slots=True)
class Novelty:
    """How many atoms of each kind are new. `own_links`: links that the page before did not have."""

    texts: int
    pairs: int
    words: int
    embedded: int
    numbers: int
    scripts: int
    links: int
    own_links: int

    def verdict(self, *, dated: bool = False, proven: bool = False, listing: bool = False) -> Verdict:
        """`dated`: a page of a calendar, `proven`: one that has said much. `listing`: one of a family that may combine
        known entries anew.

        Numbered cases: 1. a list among such: more text than a heading; 2. it embeds something new, or new data; 3. a
        calendar of which little is known: it says more than a date; 4. a list whose entries were not listed before;
        5. other pages: any new text, several numbers; 6. a single number or link is doubtful.
        """
        is_list = self.own_links >= LIST_LINKS
        if listing and is_list:
            return "new" if self.pairs >= LIST_TEXT else "old"
        if self.embedded or self.scripts:
            return "new"
        if dated and not proven:
            much = self.words >= DATED_WORDS or self.pairs >= DATED_PAIRS or self.numbers >= DATED_NUMBERS
            return "new" if much else "old"
        if is_list and self.links >= LIST_SHARE * self.own_links:
            return "new"
        if self.texts or self.pairs or self.numbers >= NUMBERS:
            return "new"
        return "doubtful" if self.numbers or self.links else "old"


class Memory:
    """The atoms of the pages of one family so far."""

    __slots__ = ("_before", "_links", "_older", "_recent")

    def __init__(self, saved: Iterable[int] = ()) -> None:
        self._recent: set[int] = set(saved)
        self._older: set[int] = set()
        self._links: set[int] = set()
        self._before: set[int] = set()

    def __len__(self) -> int:
        return len(self._recent) + len(self._older)

    def look(self, page: PageAtoms) -> Novelty:
        """What is new in `page`, which is remembered."""
        own = page.links - self._links
        found = Novelty(
            self._new(page.texts), self._new(page.pairs), self._new(page.words), self._new(page.embedded),
            self._new(page.numbers), self._new(page.scripts), self._new(own), len(own),
        )  # fmt: skip
        self._before = page.all()
        self._recent |= self._before
        self._links = page.links
        if len(self._recent) > MAX_ATOMS:
            self._older, self._recent = self._recent, set(self._before)
        return found

    def own_links(self, page: PageAtoms) -> int:
        """Links that the page before did not have."""
        return len(page.links - self._links)

    def clear(self) -> None:
        self._recent, self._older, self._links, self._before = set(), set(), set(), set()

    def to_save(self) -> list[int]:
        """All of it, or what the last page said, for the night after."""
        whole = self._recent | self._older
        return sorted(whole if len(whole) <= MAX_SAVED else self._before)[:MAX_SAVED]

    def _new(self, some: set[int]) -> int:
        unknown = some - self._recent
        return len(unknown - self._older) if self._older else len(unknown)


def page_atoms(
    body: bytes, number: int | None, links: Sequence[str], family: str, *, deep: bool = False
) -> PageAtoms:
    """Take a page apart. `number`: the one in its address; `family`: what the addresses of its kind begin with; `deep`:
    words and pairs of them are wanted too.
    """
    text = body[:MAX_BYTES]
    if b"\0" in text[:400]:
        text = text.replace(b"\0", b"")  # UTF-16: for this purpose, Latin text with holes
    text = text.lower()
    atoms = PageAtoms()
    atoms.links = {xxh32_intdigest(url.encode(), 5) for url in links if not url.startswith(family)}
    sources = _SOURCE.findall(text)
    if b"poster" in text or b"data-" in text:
        sources += _LATE_SOURCE.findall(text)
    if b"url(" in text:
        sources += _BACKGROUND.findall(text)
    sources = [_STATIC.sub(rb"\1", name) if b"?" in name else name for name in sources]
    atoms.embedded = {xxh32_intdigest(name, 3) for name in sources}
    said = [one or other for one, other in _SAID.findall(text)]
    shown, script = _texts(text)
    quoted = (each for each in set(_QUOTED.findall(script)) if _SENTENCE.search(each) is not None)
    atoms.scripts.update(xxh32_intdigest(_DIGITS.sub(b"#", each), 4) for each in quoted)
    numbers = _read(shown.union(said), _own_numbers(number), atoms, deep)
    count = number or 0
    atoms.numbers = {xxh32_intdigest(piece, 2) for piece in numbers if not _follows(piece, count)}
    return atoms


def _texts(html: bytes) -> tuple[set[bytes], bytes]:
    """(the texts between tags that are not in a link, what stands in scripts)."""
    shown: set[bytes] = set()
    scripts: list[bytes] = []
    within = b""  # the end tag that is waited for
    pieces = _TAG.split(html)
    shown.add(pieces[0])
    for tag, text in zip(pieces[1::2], pieces[2::2], strict=True):
        if within:
            if tag.startswith(within):
                within = b""
            elif within == b"/script":
                scripts.append(text)
                continue
            elif within != b"/a" or not tag.startswith(_BLOCKS):
                continue
            else:
                within = b""  # a link that nobody closed
        elif tag.startswith(_APART):
            name = tag.split(None, 1)[0]
            nowhere = name == b"a" and (b"href" not in tag or any(mark in tag for mark in _NO_LINK))
            if name in _CLOSED_BY and not nowhere and not tag.endswith(b"/"):
                within = _CLOSED_BY[name]
                if name == b"script":
                    scripts.append(text)
                continue
        shown.add(text)
    return shown, b"\n".join(scripts)[:MAX_SCRIPT]


def _own_numbers(number: int | None) -> frozenset[bytes]:
    """How the number of a page and of its neighbours is written."""
    if number is None:
        return frozenset()
    return frozenset(str(n).encode() for n in range(max(0, number - 1), number + 2))


def _read(texts: set[bytes], own: frozenset[bytes], atoms: PageAtoms, deep: bool) -> set[bytes]:
    """Fill in what the texts say; the numbers in them."""
    numbers: set[bytes] = set()
    for text in texts:
        if _DIGITS.search(text) is not None:
            text = _WITH_DIGITS.sub(lambda found: _numbered(found[0], own, numbers), text)
        if _LETTER.search(text) is None:
            continue
        atoms.texts.add(xxh32_intdigest(b" ".join(text.split()), 6))
        if deep:
            pieces = _PIECE.findall(text)
            atoms.words.update(xxh32_intdigest(word, 1) for word in set(pieces))
            pairs = set(pairwise(pieces))
            atoms.pairs.update(xxh32_intdigest(one + b" " + other, 0) for one, other in pairs)
    return numbers


def _follows(piece: bytes, count: int) -> bool:
    """Whether a number says where in a list a page is: `Showing 381 to 400` on page 20."""
    if count < 2 or _WHOLE.fullmatch(piece) is None:
        return False
    value = int(_SIGNS.sub(b"", piece))
    return any(value % n <= 1 for n in (count - 1, count) if n > 1)


def _numbered(piece: bytes, own: frozenset[bytes], numbers: set[bytes]) -> bytes:
    """A piece of text without what its digits say. Numbered cases: 1. the page's own number, alone or with letters;
    2. another number, or what a machine made; 3. a name with digits, `m4x12`.
    """
    rest = _DIGITS.sub(lambda digits: b"#" if _plain(digits[0]) in own else digits[0], piece)
    if _DIGITS.search(rest) is None:
        return rest
    if _NUMBER.fullmatch(piece) is not None or is_token(piece.decode("latin-1")):
        numbers.add(piece)
        return b"#"
    return piece


def _plain(digits: bytes) -> bytes:
    return digits.lstrip(b"0") or b"0"
