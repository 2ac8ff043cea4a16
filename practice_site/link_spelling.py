"""Rewrites the links of a rendered page: session ids in every one, or equal spellings of the same URL."""

from __future__ import annotations

import hashlib
import re

from practice_site.catalogue import draw

__all__ = ["session_id", "untidy", "with_session_ids"]

# Links of the shop's own pages; /static and other hosts stay as they are.
_OWN_LINK = re.compile(r'(<a href=")(/(?!static/)[^"]*)(")')


def session_id(*key: object) -> str:
    """Eight hex digits that depend on `key` alone."""
    return hashlib.blake2b("\x1f".join(map(str, key)).encode(), digest_size=4).hexdigest()


def with_session_ids(html: str, *, seed: int, target: str) -> str:
    """Every own link gets a `sid` that depends on the page it stands on, session id of that page included."""
    count = 0

    def add(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        link = match[2]
        if "sid=" in link:
            return match[0]
        mark = "&amp;" if "?" in link else "?"
        return f"{match[1]}{link}{mark}sid={session_id(seed, target, count)}{match[3]}"

    return _OWN_LINK.sub(add, html)


def untidy(html: str, *, seed: int, target: str) -> str:
    """About half of the own links are spelled in another way that every URL standard calls the same."""

    def respell(match: re.Match[str]) -> str:
        link = match[2]
        choice = int(draw(seed, "untidy", target, link) * 10)
        if choice == 0:
            link += "#reviews"
        elif choice == 1:
            link = "/." + link
        elif choice == 2:
            link = "/books/.." + link
        elif choice == 3:
            link = re.sub(r"%[0-9A-F]{2}", lambda escape: escape[0].lower(), link)
        elif choice == 4 and link.startswith("/book"):
            link = "/%62ook" + link[5:]
        return f"{match[1]}{link}{match[3]}"

    return _OWN_LINK.sub(respell, html)
