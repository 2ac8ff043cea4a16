"""Image candidates of a `srcset` attribute (HTML 4.8.4.2.3, "parse a srcset attribute").

A candidate's URL runs to the next white space: commas belong to it, except at its end.
"""

from __future__ import annotations

import re

__all__ = ["srcset_urls"]

_SEPARATORS = re.compile(r"[\s,]*")
_URL = re.compile(r"\S+")
_WIDTH_OR_HEIGHT = re.compile(r"[0-9]+[wh]")
_DENSITY = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?x")


def srcset_urls(value: str) -> list[str]:
    """The URLs in order, unresolved; candidates with descriptors that contradict or mean nothing are left out."""
    found: list[str] = []
    at = 0
    while True:
        separators = _SEPARATORS.match(value, at)
        url_match = _URL.match(value, separators.end() if separators else at)
        if url_match is None:
            return found
        url, at = url_match.group(), url_match.end()
        if url.endswith(","):
            url = url.rstrip(",")
            descriptors: list[str] = []
        else:
            descriptors, at = _descriptors(value, at)
        if url and _meaningful(descriptors):
            found.append(url)


def _descriptors(value: str, at: int) -> tuple[list[str], int]:
    """White-space separated words up to the next comma outside parentheses, and where the next candidate begins."""
    words: list[str] = []
    word = ""
    depth = 0
    while at < len(value):
        char = value[at]
        at += 1
        if char == "," and not depth:
            break
        if char.isspace() and not depth:
            words.append(word)
            word = ""
            continue
        depth += (char == "(") - (char == ")" and depth > 0)
        word += char
    words.append(word)
    return [w for w in words if w], at


def _meaningful(descriptors: list[str]) -> bool:
    """One density, or a width with perhaps a height; nothing else, nothing twice, no zero sizes."""
    kinds = []
    for word in descriptors:
        if _WIDTH_OR_HEIGHT.fullmatch(word):
            if word[-1] == "w" and not int(word[:-1][:18]):
                return False
            kinds.append(word[-1])
        elif _DENSITY.fullmatch(word) and not word.startswith("-"):
            kinds.append("x")
        else:
            return False
    return len(set(kinds)) == len(kinds) and (kinds in ([], ["x"]) or ("w" in kinds and "x" not in kinds))
