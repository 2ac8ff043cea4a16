"""The address of a shared PostgreSQL: `postgresql://[user:password@]host[:port]/database[?schema=nightcrawl&…]`.

`schema` is where the frontier is; the ledger and the pace are beside it, in `<schema>_ledger`. Several installations
may share a database. Other parameters are libpq's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

if TYPE_CHECKING:
    import psycopg

__all__ = ["Address"]


@dataclass(slots=True, frozen=True)
class Address:
    """`dsn` is what libpq takes; `shown` is without credentials, for messages."""

    dsn: str
    shown: str
    schema: str

    @classmethod
    def parse(cls, text: str, failure: type[Exception], *, beside: str = "") -> Address:
        """`beside`: what the schema's name ends with. `failure` says what is wrong, or what is not installed."""
        try:
            import psycopg  # noqa: F401
        except ModuleNotFoundError:
            raise failure("PostgreSQL needs the package psycopg; install nightcrawl[fleet]") from None
        parts = urlsplit(text)
        options = dict(parse_qsl(parts.query))
        schema = options.pop("schema", "nightcrawl") + beside
        shown = f"postgresql://{parts.netloc.rpartition('@')[2]}{parts.path}"
        if not schema.replace("_", "").isalnum():
            raise failure(f"{shown}: schema {schema!r} must be a plain word")
        return cls(
            urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(options), "")), shown, schema
        )

    def connect(self, *settings: str) -> psycopg.Connection[Any]:
        """A connection whose every statement is a transaction, unless one is begun. `settings`: as `name=value`."""
        import psycopg

        words = [f"search_path={self.schema}", "client_min_messages=warning", *settings]
        return psycopg.connect(
            self.dsn, autocommit=True, connect_timeout=10, application_name="nightcrawl",
            options=" ".join(f"-c {word}" for word in words),
        )  # fmt: skip
