"""The part of a site file that says who asks: user agent, contact, headers."""

from __future__ import annotations

import re

from pydantic import Field, field_validator

from resources.web.urls import domain_of, url_without_credentials

from .base import Rules
from .problems import FieldError

__all__ = ["Identity"]

#: Headers that frame the request or belong to the cache: a value from a site file would break one or the other.
CRAWLERS_OWN_HEADERS = frozenset({"host", "connection", "content-length", "transfer-encoding", "te", "upgrade", "trailer",
                                  "accept-encoding", "if-none-match", "if-modified-since", "if-match", "range"})  # fmt: skip


class Identity(Rules):
    """Who the crawler says it is. Sites block strangers first."""

    user_agent: str | None = None
    """Product token and contact, as in `AcmePrices/1.0 (+https://acme.example/bot)`. Made from `contact` if
    unset."""
    contact: str | None = None
    """A URL or mail address where the site's owner reaches you. Required for public hosts."""
    from_header: bool = True
    """Send `From:` (RFC 9110 §10.1.2) when `contact` is a mail address."""
    agents: tuple[str, ...] = ()
    """Opt-in pool of user agents; each domain keeps one of them for good."""
    headers: dict[str, str] = Field(default={})
    """More request headers. `${NAME}` is taken from the environment and never logged."""

    @field_validator("user_agent")
    @classmethod
    def _printable(cls, value: str | None) -> str | None:
        if value is not None and (not value.strip() or not value.isascii() or not value.isprintable()):
            raise ValueError(
                "user_agent must be printable ASCII, as in 'AcmePrices/1.0 (+https://acme.example/bot)'"
            )
        return value

    @field_validator("agents")
    @classmethod
    def _printable_agents(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for index, agent in enumerate(value):
            if not agent.strip() or not agent.isascii() or not agent.isprintable():
                raise FieldError("a user agent is printable ASCII", index)
        return value

    @field_validator("contact")
    @classmethod
    def _reachable(cls, value: str | None) -> str | None:
        if value is None:
            return None
        mail = re.fullmatch(r"[!-?A-~]+@[!-?A-~]+", value)
        if not mail and domain_of(value) is None:
            raise ValueError(
                f"{url_without_credentials(value)!r} is neither a URL nor a mail address: write one where the "
                "site's owner reaches you, as in 'https://acme.example/bot' or 'crawl@acme.example'"
            )
        return value

    @field_validator("headers")
    @classmethod
    def _header_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if not re.fullmatch(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", name):
                raise FieldError(f"{name!r} is no header name: letters, digits and dashes only", name)
            if not text.isprintable() or not text.isascii():
                raise FieldError("a header value is one line of printable ASCII", name)
            if name.lower() == "user-agent":
                raise FieldError("write identity.user_agent instead", name)
            if name.lower() in CRAWLERS_OWN_HEADERS:
                raise FieldError("is the crawler's own business: remove it", name)
        return value
