"""What of a URL is compared with a rule, and the one spelling both sides are brought to.

RFC 9309 2.2.2: octets outside ASCII are percent-encoded, escapes of unreserved characters are decoded,
other escapes keep their meaning (`%2F` is not `/`) with upper-case hex digits. Printable characters that
a URL may not contain (`<`, `"`, space …) are encoded as well. A literal `*` or `$` is spelled `%2A` or
`%24` here, so that rules can keep the bare characters for wildcard and end (RFC 9309 2.2.3).

Pure and total: any string gives an answer. A URL that already has the normal spelling, which is nearly
every one, costs one regular expression search.
"""

from __future__ import annotations

import re

__all__ = ["escape", "match_path"]

#: Anything that may need a new spelling: outside RFC 3986's characters, or `%`, `*`, `$`.
_UNUSUAL = re.compile(r"[^A-Za-z0-9\-._~:/?#\[\]@!&'()+,;=]")

_ESCAPE_OR_OCTET = re.compile(rb"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#\[\]@!&'()+,;=%]")

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://")

#: The first character after an authority; `;` begins parameters of an empty path.
_PATH_START = re.compile(r"[/?;]")


def _respell(found: re.Match[bytes]) -> bytes:
    octets = found[0]
    if len(octets) == 1:
        return b"%%%02X" % octets[0]
    octet = int(octets[1:], 16)
    return bytes((octet,)) if octet in _UNRESERVED else octets.upper()


def escape(text: str) -> str:
    """`text` in the spelling compared: see the module's first lines. A lone `%` stays as it is."""
    if _UNUSUAL.search(text) is None:
        return text
    # Strings may hold lone surrogates when they come from broken JSON or HTML; they too get octets.
    return _ESCAPE_OR_OCTET.sub(_respell, text.encode("utf-8", "surrogatepass")).decode("ascii")


def match_path(url: str) -> str:
    """Path, parameters and query of `url`, beginning with `/`, without the fragment, in normal spelling.

    Takes absolute URLs, `//host/path`, `host/path` and bare paths `/path`. Dot segments are left alone:
    callers pass URLs that a URL parser has already resolved.
    """
    fragment = url.find("#")
    if fragment >= 0:
        url = url[:fragment]
    if url.startswith("https://"):
        start = 8
    elif url.startswith("http://"):
        start = 7
    elif url.startswith("//"):
        start = 2
    else:
        scheme = _SCHEME.match(url)
        start = scheme.end() if scheme else 0
    found = _PATH_START.search(url, start)
    if found is None:
        return "/"
    path = url[found.start() :]
    return escape(path if path[0] == "/" else "/" + path)
