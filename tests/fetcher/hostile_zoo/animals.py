"""All beasts there are: importing this module fills `BEASTS`."""

from __future__ import annotations

import ssl

from . import bodies, codings, heads, http2, pages, redirects, resets, secure
from .certificates import HOST, authority_pem, server_context
from .keeper import BEASTS, Beast

__all__ = ["ALL", "HOST", "authority_pem", "tls_of"]

_FAMILIES = (heads, bodies, codings, redirects, pages, resets, secure, http2)
ALL = [BEASTS[name] for name in sorted(BEASTS)]


def tls_of(beast: Beast) -> ssl.SSLContext | None:
    """The server's TLS settings of a cage; None for plain text."""
    if beast.secure in ("", "plain"):
        return None
    return server_context(beast.secure, *(["h2"] if beast.http2 else []))
