"""Conditional requests: the ones the cache sends, and the ones its client sent (RFC 9111, 4.3; RFC 9110, 13)."""

from __future__ import annotations

from ..http_fields import field_lines, first_value, list_members
from .exchange import Fields, Request, Stored
from .freshness import http_date

__all__ = ["CONDITIONAL_FIELDS", "condition_fields", "is_conditional", "not_modified", "opaque_tag"]

#: Request fields, in lower case, that make the answer depend on what the asker has.
CONDITIONAL_FIELDS = frozenset(
    ["if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range"]
)


def condition_fields(stored: Stored, *, etag_only: bool = False) -> Fields:
    """The fields that ask "still the same?": the validators exactly as they were received, both if both.

    They are never re-formatted: a server compares strings. `etag_only`: for a stored response of another
    variant, where a date could confirm the wrong one (4.3.1).
    """
    fields = []
    etag = first_value(stored.headers, "etag")
    if etag:
        fields.append(("If-None-Match", etag))
    modified = first_value(stored.headers, "last-modified")
    if modified and not etag_only:
        fields.append(("If-Modified-Since", modified))
    return tuple(fields)


def is_conditional(request: Request) -> bool:
    """Whether `request` carries any condition."""
    return any(name.lower() in CONDITIONAL_FIELDS for name, _ in request.headers)


def opaque_tag(etag: str) -> str:
    """An entity tag without weakness and quotes: what weak comparison compares (RFC 9110, 8.8.3.2)."""
    tag = etag.strip()
    if tag[:2] in ("W/", "w/"):
        tag = tag[2:]
    return tag[1:-1] if len(tag) >= 2 and tag[0] == tag[-1] == '"' else tag


def not_modified(stored: Stored, request: Request) -> bool:
    """Whether the client's own condition lets a 304 answer it from the stored response (4.3.2).

    If-None-Match decides when it is there; else If-Modified-Since, against Last-Modified, without it Date,
    without that the time of receipt.
    """
    wanted = list_members(field_lines(request.headers, "if-none-match"))
    if wanted:
        etag = first_value(stored.headers, "etag")
        if "*" in wanted:
            return True
        return etag is not None and opaque_tag(etag) in map(opaque_tag, wanted)
    since = http_date(first_value(request.headers, "if-modified-since"))
    if since is None:
        return False
    for name in ("last-modified", "date"):
        value = http_date(first_value(stored.headers, name))
        if value is not None:
            return value <= since
    return stored.received_at <= since
