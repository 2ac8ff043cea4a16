"""Which requests a stored response answers: Vary (RFC 9111, 4.1).

Values of the named request fields are compared after harmless differences are taken out: lines of one field
are joined, blanks around list members dropped, languages compared as a set of weighted ranges. Mind that the
crawler's own version is in its User-Agent: a new version makes every `Vary: User-Agent` entry miss, and
rightly so.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..http_fields import field_lines, first_value, list_members
from .exchange import Fields, Request, Stored

__all__ = ["add_variant", "matches", "select", "vary_names", "vary_values"]


def vary_names(headers: Fields) -> tuple[str, ...]:
    """The field names that Vary lists, in lower case, without repeats; ("*",) if it lists everything."""
    names = dict.fromkeys(name.lower() for name in list_members(field_lines(headers, "vary")))
    return ("*",) if "*" in names else tuple(names)


def vary_values(request_headers: Fields, names: Iterable[str]) -> Fields:
    """The fields of `names` that a request has, several lines of one joined: what is stored for matching."""
    found = []
    for name in names:
        lines = field_lines(request_headers, name)
        if lines:
            found.append((name, ", ".join(lines)))
    return tuple(found)


def matches(stored: Stored, request: Request) -> bool:
    """Whether the response stored for one request may answer `request`. `Vary: *` matches nothing."""
    names = vary_names(stored.headers)
    if names == ("*",):
        return False
    for name in names:
        then = _normalized(name, field_lines(stored.request_headers, name))
        now = _normalized(name, field_lines(request.headers, name))
        if then != now and not (name == "accept-language" and _is_in_preferred_language(stored, request)):
            return False
    return True


def select(variants: Iterable[Stored], request: Request) -> Stored | None:
    """The variant that answers `request`: of those that match the most recent one, or None."""
    return max((v for v in variants if matches(v, request)), key=lambda v: v.received_at, default=None)


def add_variant(variants: Iterable[Stored], new: Stored) -> tuple[Stored, ...]:
    """`variants` with `new`, which replaces those that answer the same requests."""
    asked = Request(headers=new.request_headers)
    return (*(v for v in variants if vary_names(v.headers) != ("*",) and not matches(v, asked)), new)


def _normalized(name: str, lines: list[str]) -> object:
    """A value that is equal for field values of the same meaning; None when the field is absent."""
    if not lines:
        return None
    if name == "accept-language":
        return frozenset(_languages(lines))
    return tuple(list_members(lines))


def _languages(lines: Iterable[str]) -> list[tuple[str, float]]:
    """Language ranges in lower case with their weights; the order says nothing (RFC 9110, 12.5.4)."""
    found = []
    for member in list_members(lines):
        language, _, parameters = member.partition(";")
        weight = 1.0
        name, _, value = parameters.strip().partition("=")
        if name.lower() == "q":
            try:
                weight = min(1.0, max(0.0, float(value)))
            except ValueError:
                weight = 0.0
        found.append((language.strip().lower(), weight))
    return found


def _is_in_preferred_language(stored: Stored, request: Request) -> bool:
    """Whether the stored answer is in the one language the request likes best: asking gains nothing."""
    language = first_value(stored.headers, "content-language")
    wanted = sorted(_languages(field_lines(request.headers, "accept-language")), key=lambda one: -one[1])
    if language is None or not wanted or wanted[0][1] == 0:
        return False
    only_one_best = len(wanted) == 1 or wanted[0][1] > wanted[1][1]
    return only_one_best and language.lower() == wanted[0][0]
