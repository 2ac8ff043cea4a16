"""Addresses of entries: absolute, http or https, without fragment, each once.

Resolution is WHATWG URL's (blanks, dot segments, percent-encoding, IDNA), against the document's address.
"""

from __future__ import annotations

import re

from ada_url import join_url

from .document import Limits, Problems

__all__ = ["Addresses", "host", "resolve", "shown"]

_CREDENTIALS = re.compile(r"//[^/?#\s]*@")

#: What surrounds an address in real files beside blanks: zero-width characters and stray byte order marks.
_AROUND = " \t\r\n\f\v\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"


def resolve(base: str, reference: str) -> str | None:
    """`reference` against `base` in WHATWG form without fragment; None unless that is http or https."""
    try:
        absolute = join_url(base, reference) if base else join_url(reference, "")
    except ValueError:
        return None
    if not absolute.startswith(("https://", "http://")):
        return None
    return absolute.partition("#")[0] if "#" in absolute else absolute


def host(url: str) -> str:
    """Host with the port, if it is not the scheme's own, of an absolute address in WHATWG form."""
    return url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]


def shown(written: str) -> str:
    """An address for a message: short, quoted, and without the credentials that it may hold."""
    return repr(_CREDENTIALS.sub("//...@", written)[:120])


class Addresses:
    """Resolves the addresses of one document and drops repetitions. Memory: the addresses given out."""

    def __init__(self, url: str, limits: Limits, problems: Problems) -> None:
        self.base = url
        self._limits, self._problems = limits, problems
        own = host(resolve(url, "") or url)
        self._bare_host = own.lower() + "/"
        self._own = (f"https://{own}/", f"http://{own}/") if own else ()
        self._seen: set[str] = set()

    def absolute(self, written: str, base: str | None = None) -> str | None:
        """The address, or None (and a problem) where it is none that a crawler could fetch."""
        text = written.strip(_AROUND)
        if not text:
            return None
        if len(text) > self._limits.url:
            self._problems.add("an address is too long: dropped")
            return None
        if "&amp;" in text:
            # Escaped twice by a generator; no server means `&amp;` in an address.
            text = text.replace("&amp;", "&")
        if text[: len(self._bare_host)].lower() == self._bare_host:
            text = "//" + text
        found = resolve(base or self.base, text)
        if found is None:
            self._problems.add(f"not an http or https address: {shown(text)}")
        return found

    def first_time(self, absolute: str) -> bool:
        """Whether this address was not met before in this document."""
        if absolute in self._seen:
            return False
        self._seen.add(absolute)
        return True

    def cross_site(self, absolute: str) -> bool:
        """Whether it is on another host than the document."""
        return not absolute.startswith(self._own)
