"""What the cache reasons about: a request, a response, and a response as it is stored.

All three are frozen, picklable and JSON-able. Header fields are (name, value) pairs in the order received,
one pair a line. The body is not here: it lives in the page store, and `Stored.has_body` says if it still
does. Times are epoch seconds of the crawler's clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["Fields", "Request", "Response", "Stored"]

Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """A request about to be sent or just answered, with every field that goes out."""

    method: str = "GET"
    #: Absolute URL; only needed for methods other than GET (invalidation, answers to POST).
    url: str = ""
    headers: Fields = ()


@dataclass(frozen=True, slots=True)
class Response:
    """A final response from the origin, without its body."""

    status: int
    headers: Fields = ()
    #: When its request was sent: the time under way counts as age (RFC 9111, 4.2.3).
    requested_at: float | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored response. Connection-bound fields have been removed (RFC 9111, 3.1)."""

    status: int
    headers: Fields
    #: The request fields that Vary names, lines of one field joined; for a 206 also Range.
    request_headers: Fields
    requested_at: float
    received_at: float
    method: str = "GET"
    #: False when the page store has lost the body: such an entry neither answers nor validates.
    has_body: bool = True

    def without_body(self) -> Stored:
        return replace(self, has_body=False)

    def to_json(self) -> dict[str, Any]:
        """Plain lists and scalars, for `json.dumps`; `from_json` is its inverse."""
        return {
            "status": self.status,
            "headers": [list(pair) for pair in self.headers],
            "request_headers": [list(pair) for pair in self.request_headers],
            "requested_at": self.requested_at,
            "received_at": self.received_at,
            "method": self.method,
            "has_body": self.has_body,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Stored:
        """Raises KeyError when a field is missing."""
        return cls(
            status=int(data["status"]),
            headers=tuple((str(name), str(value)) for name, value in data["headers"]),
            request_headers=tuple((str(name), str(value)) for name, value in data["request_headers"]),
            requested_at=float(data["requested_at"]),
            received_at=float(data["received_at"]),
            method=str(data["method"]),
            has_body=bool(data["has_body"]),
        )
