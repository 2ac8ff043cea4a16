"""Product tokens: the name a crawler is addressed by in robots.txt.

RFC 9309 2.2.1 spells a token with letters, `_` and `-`. Sites also address `MJ12bot` or `360Spider`, so
this project reads digits as part of a token too, on both sides of the comparison. A token is compared
whole and without regard to case: it is never a prefix or a substring match.
"""

from __future__ import annotations

import re

__all__ = ["is_product_token", "leading_token", "product_token"]

_TOKEN = re.compile(r"[A-Za-z0-9_-]+")

#: Products every browser claims to be; a crawler that imitates one names itself somewhere else.
_BORROWED = frozenset(
    {
        "mozilla",
        "applewebkit",
        "khtml",
        "gecko",
        "chrome",
        "safari",
        "version",
        "mobile",
        "firefox",
        "edg",
        "opr",
    }
)

#: The crawler's own name in "Mozilla/5.0 (compatible; NightBot/1.0; +https://bot.example/)".
_COMPATIBLE = re.compile(r"\bcompatible;[ \t]*([A-Za-z0-9_-]+)", re.IGNORECASE)

_COMMENT = re.compile(r"\([^()]*\)?")


def is_product_token(text: str) -> bool:
    """Whether `text` as a whole is a token a robots.txt group can address."""
    return _TOKEN.fullmatch(text) is not None


def leading_token(value: str) -> str:
    """The token of a `User-agent` line: what stands before the first character no token has.

    `foo/1.2` and `foo bar` address `foo`; a value that begins with another character addresses nobody
    and gives the empty string.
    """
    found = _TOKEN.match(value)
    return found[0] if found else ""


def product_token(user_agent: str) -> str:
    """The token by which a site would address a crawler that sends this User-Agent header.

    Cases, in order:
    1. the first word is the crawler's own: `NightBot/1.0 (+https://bot.example/)` is `NightBot`;
    2. the first word is borrowed from browsers and a comment says `compatible; NightBot/1.0`;
    3. the first word is borrowed and a later product is not: `Mozilla nightbot 9` is `nightbot`;
    4. everything is borrowed: the first word itself.
    Without any word the answer is the empty string, which no group but `*` addresses.
    """
    text = user_agent.strip(" \t")
    first = leading_token(text)
    if first.lower() not in _BORROWED:
        return first
    named = _COMPATIBLE.search(text)
    if named:
        return named[1]
    for word in _COMMENT.sub(" ", text).split():
        token = leading_token(word)
        if token and token.lower() not in _BORROWED and not token[0].isdigit():
            return token
    return first
