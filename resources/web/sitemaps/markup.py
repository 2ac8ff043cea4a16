"""A pull tokenizer for XML as it is really served: linear, bounded, and unable to fail.

It knows no schema and keeps no tree. What an XML parser would die of is read through: raw ampersands, tags that
are cut or never closed, quotes that never end, control characters, rubbish before the root. The DTD is never
fetched; of its internal subset only flat text entities are kept, and an entity that is external, or that
refers to others (the entity bomb), stands for nothing.

Cost: about 0.6 µs a token. Memory: the chunk, plus one tag or value of at most `Limits.value` characters.
"""

from __future__ import annotations

import html.entities
import re
from collections.abc import Generator, Iterator
from typing import Final

from .document import Limits, Problems

__all__ = ["CDATA", "CLOSE", "EMPTY", "LEAF", "OPEN", "TEXT", "Markup", "Token", "attributes"]

#: A token is (type, name, source of the attributes, text). LEAF is an element with nothing but text in it:
#: the same as OPEN, TEXT, CLOSE, at a third of the price. Text is as written, references not yet replaced.
Token = tuple[int, str, str, str]
OPEN: Final = 0
CLOSE: Final = 1
EMPTY: Final = 2
LEAF: Final = 3
TEXT: Final = 4
CDATA: Final = 5

_NAME = r"[^\W\d][^\s<>/=\"'&]*+"
_INSIDE = r"(?:[^<>\"'/]++|\"[^\"<]*+\"|'[^'<]*+'|/(?!>))*+"
_TAG = re.compile(rf"<(?:({_NAME})({_INSIDE})(?:(/>)|>(?:([^<]*+)</\1\s*+>)?)|/({_NAME})[^<>]*+>)")
_NAME_AT = re.compile(_NAME)
_DOCTYPE = re.compile(
    r"<!DOCTYPE((?:[^\[\]<>\"']++|\"[^\"]*+\"|'[^']*+')*+)"
    r"(?:\[((?:<!--(?:[^-]|-(?!->))*+-->|[^\]\"'<]++|\"[^\"]*+\"|'[^']*+'|<)*+)\]\s*+)?>",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"<!ENTITY\s++([\w.:-]++)\s++(?:\"([^\"]*+)\"|'([^']*+)'|(SYSTEM|PUBLIC))")
_REFERENCE = re.compile(r"&(?:#([0-9]{1,9})|#[xX]([0-9A-Fa-f]{1,8})|([A-Za-z_][\w.-]{0,63}));", re.ASCII)
_ATTRIBUTE = re.compile(r"([^\s=\"'/<>]+)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'<>]++))")
#: A flat entity longer than this, or more of them than this, is an attack and no abbreviation.
_ENTITY_LENGTH, _ENTITY_COUNT = 256, 100
#: What `<!` may begin; that many characters are needed to tell.
_CDATA_MARK, _COMMENT_MARK, _DOCTYPE_MARK = "<![CDATA[", "<!--", "<!DOCTYPE"


def attributes(source: str) -> dict[str, str]:
    """Attributes of a tag, values as written; the first of two equal names counts."""
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(source):
        found.setdefault(match[1], match[2] or match[3] or match[4] or "")
    return found


class Markup:
    """Feed it text, get tokens. Comments and processing instructions are passed over.

    `doctype` is what stands after `<!DOCTYPE`, once seen.
    """

    def __init__(self, limits: Limits, problems: Problems) -> None:
        self._limits, self._problems = limits, problems
        self._buffer = ""
        #: The end mark of the construct that the buffer begins inside of, "" in ordinary content.
        self._until = ""
        self.doctype: str | None = None
        self._entities: dict[str, str] = {}

    def text(self, written: str) -> str:
        """Text with its references replaced; what is no reference (`?a=1&b=2`) stays as it is."""
        return _REFERENCE.sub(self._replace, written) if "&" in written else written

    def _replace(self, match: re.Match[str]) -> str:
        decimal, hexadecimal, name = match.groups()
        if name is None:
            code = int(decimal) if decimal else int(hexadecimal, 16)
            return "\ufffd" if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)
        if name in self._entities:
            return self._entities[name]
        return html.entities.html5.get(name + ";", match[0])

    def feed(self, text: str, *, final: bool = False) -> Iterator[Token]:
        """Tokens that are complete; the rest waits for more, unless `final`. Iterate to the end."""
        buffer = self._buffer + text
        at = 0
        tag = _TAG.match
        while True:
            if self._until:
                kept, at, piece = self._inside(buffer, at, final=final)
                if piece:
                    yield (CDATA, "", "", piece)
                if kept:
                    break
                continue
            mark = buffer.find("<", at)
            if mark < 0:
                at = yield from self._tail(buffer, at, final=final)
                break
            if mark > at:
                words = buffer[at:mark]
                if not words.isspace():
                    yield (TEXT, "", "", words)
            match = tag(buffer, mark)
            if match is not None:
                at = match.end()
                name, inside, empty, words, closes = match.groups()
                if closes is not None:
                    yield (CLOSE, closes, "", "")
                elif empty is not None:
                    yield (EMPTY, name, inside, "")
                elif words is not None:
                    yield (LEAF, name, inside, words)
                else:
                    yield (OPEN, name, inside, "")
                continue
            at = mark
            step = self._special(buffer, at, final=final)
            if step is None:
                step = self._broken(buffer, at, final=final)
            if step is None:
                break
            at, token = step
            if token is not None:
                yield token
        self._buffer = "" if final else buffer[at:]

    def _tail(self, buffer: str, at: int, *, final: bool) -> Generator[Token, None, int]:
        """Text after which no tag has come yet; returns where the buffer is to begin again."""
        rest = buffer[at:]
        if not rest or rest.isspace():
            return len(buffer)
        if final or len(rest) > self._limits.value:
            yield (TEXT, "", "", rest)
            return len(buffer)
        return at

    def _inside(self, buffer: str, at: int, *, final: bool) -> tuple[bool, int, str]:
        """In a comment, instruction or CDATA: (wait for more?, where to go on, text of CDATA)."""
        until = self._until
        end = buffer.find(until, at)
        if until == "?>":
            # `<?xml version="1.0">` without its second `?` would swallow the file.
            tag, close = buffer.find("<", at), buffer.find(">", at)
            if 0 <= close < tag and not 0 <= end < tag:
                self._until = ""
                return False, close + 1, ""
        literal = until == "]]>"
        if end >= 0:
            self._until = ""
            return False, end + len(until), buffer[at:end] if literal else ""
        if until == "?>" and len(buffer) - at <= self._limits.value and not final:
            return True, at, ""
        keep = len(buffer) if final else max(at, len(buffer) - len(until) + 1)
        return True, keep, buffer[at:keep] if literal else ""

    def _special(self, buffer: str, at: int, *, final: bool) -> tuple[int, Token | None] | None:
        """`<!…` and `<?…`. None where it is neither, or not yet whole."""
        if buffer.startswith("<?", at):
            self._until = "?>"
            return at + 2, None
        if not buffer.startswith("<!", at):
            return None
        head = buffer[at : at + len(_CDATA_MARK)]
        if head == _CDATA_MARK:
            self._until = "]]>"
            return at + len(head), None
        if head.startswith(_COMMENT_MARK):
            self._until = "-->"
            return at + len(_COMMENT_MARK), None
        if len(head) < len(_CDATA_MARK) and not final:
            return None
        if head.upper() != _DOCTYPE_MARK:
            self._until = ">"
            return at + 2, None
        match = _DOCTYPE.match(buffer, at)
        if match is not None:
            self._read_doctype(match[1], match[2] or "")
            return match.end(), None
        if not final and len(buffer) - at <= self._limits.value:
            return None
        self._problems.add("the DOCTYPE never ends or is too long: skipped")
        self._until = ">"
        return at + 2, None

    def _broken(self, buffer: str, at: int, *, final: bool) -> tuple[int, Token | None] | None:
        """A `<` that begins no whole tag. None: wait for more.

        1. Nothing that could be a name follows: the character itself.  2. The tag is cut by the next `<`:
        it ends at its first `>`, or there.  3. No `<` follows: wait, unless at the end or too long.
        """
        if buffer.startswith("<!", at):
            return None
        closing = buffer.startswith("/", at + 1)
        name = _NAME_AT.match(buffer, at + 1 + closing)
        if name is None:
            if len(buffer) <= at + 1 + closing and not final:
                return None
            return at + 1, (TEXT, "", "", "&lt;")
        cut = buffer.find("<", at + 1)
        if cut < 0:
            if not final and len(buffer) - at <= self._limits.value:
                return None
            if final and buffer.find(">", at) < 0:
                self._problems.add("the document ends inside a tag")
                return len(buffer), None
            cut = len(buffer)
        end = buffer.find(">", at, cut)
        self._problems.add("a tag is not well-formed")
        after = cut if end < 0 else end + 1
        if closing:
            return after, (CLOSE, name[0], "", "")
        return after, (OPEN, name[0], buffer[name.end() : cut if end < 0 else end], "")

    def _read_doctype(self, name: str, subset: str) -> None:
        self.doctype = name.strip()
        for match in _ENTITY.finditer(subset):
            entity, double, single, external = match.groups()
            value = double if double is not None else single
            if entity in self._entities:
                continue
            flat = value is not None and not any(c in value for c in "&%<") and len(value) <= _ENTITY_LENGTH
            if len(self._entities) >= _ENTITY_COUNT:
                self._problems.add("too many entities are declared: the rest is refused")
                return
            self._entities[entity] = value if flat and value is not None else ""
            if not flat:
                what = "an external entity" if external else "an entity that refers to others"
                self._problems.add(f"{what} is declared: refused, it stands for nothing")
