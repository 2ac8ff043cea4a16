"""The database: one connection, one schema, transactions that are tried again when two workers collide.

The address: `resources.shared_postgres.address`. A connection that broke is opened again by the next call. `synchronous_commit` is on for what must be durable and off for claims
and leases: on a crash of the server those are handed back anyway.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from resources.frontier.base import FrontierError, FrontierFull, State
from resources.frontier.postgres.statements import read_text
from resources.shared_postgres.address import Address

if TYPE_CHECKING:
    import psycopg

__all__ = ["CHUNK", "Database", "Writing", "clean"]

log = logging.getLogger(__name__)
T = TypeVar("T")

SCHEMA_VERSION = 1
#: Rows per transaction of the calls that may touch a whole domain.
CHUNK = 5_000
#: Attempts of a transaction that was chosen to end a deadlock.
ATTEMPTS = 8
#: About 20 MB of names; a crawl of more domains asks the database again for some.
NAMES_KEPT = 131_072

_ADD = (
    "UPDATE domain SET pending = pending + %s, leased = leased + %s, done = done + %s, failed = failed + %s,"
    " excluded = excluded + %s WHERE id = %s"
)


class Writing:
    """A write transaction that is going on, and how the counters change by its end."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self._moves: dict[int, list[int]] = {}

    def add(self, domain_id: int, state: State, count: int = 1) -> None:
        """`count` rows came into being (or, if negative, ceased to be) in `state`."""
        self._moves.setdefault(domain_id, [0] * len(State))[state] += count

    def move(self, domain_id: int, old: State, new: State, count: int = 1) -> None:
        """`count` rows went from one state to another."""
        self.add(domain_id, old, -count)
        self.add(domain_id, new, count)

    def forget_counters(self) -> None:
        """They have been written: what follows changes no row's state."""
        self._moves.clear()

    def write_counters(self) -> None:
        """Last, and in one order: the rows of domains are what all workers meet at."""
        rows = [(*numbers, domain_id) for domain_id, numbers in sorted(self._moves.items()) if any(numbers)]
        if rows:
            self.connection.cursor().executemany(_ADD, rows)


class Database:
    """See the module docstring. Used by one thread at a time."""

    def __init__(self, address: str) -> None:
        self._address = Address.parse(address, FrontierError)
        self.schema, self.shown = self._address.schema, self._address.shown
        import psycopg

        self.api = psycopg
        self._connection: psycopg.Connection[Any] | None = None
        self._names: dict[str, int] = {}
        with self.explained():
            self._prepare(self.connection())

    def __repr__(self) -> str:
        return f"<Database {self.shown} {self.schema}>"

    def connection(self) -> psycopg.Connection[Any]:
        """The connection, opened again if it broke."""
        if self._connection is None or self._connection.closed:
            self._connection = self.open()
        return self._connection

    def open(self) -> psycopg.Connection[Any]:
        return self._address.connect()

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        """Create the schema if it is not there; of several processes that start at once, the first one does."""
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"nightcrawl:{self.schema}",))
            row = connection.execute(
                "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s",
                (self.schema,),
            ).fetchone()
            # 1. not there; 2. somebody else's; 3. written by a newer Nightcrawl; 4. ours
            if row is None:
                connection.execute(f"CREATE SCHEMA {self.schema}".encode())
                connection.execute(read_text("schema.sql").encode())
                connection.execute(
                    f"COMMENT ON SCHEMA {self.schema} IS 'nightcrawl frontier {SCHEMA_VERSION}'".encode()
                )
                return
            words = (row[0] or "").split()
            if words[:2] != ["nightcrawl", "frontier"]:
                raise FrontierError(
                    f"{self.shown}: the schema {self.schema} is not ours; name another by ?schema="
                )
            if int(words[2]) > SCHEMA_VERSION:
                raise FrontierError(
                    f"{self.shown}: its schema version {words[2]} is newer; upgrade Nightcrawl"
                )

    # -- transactions ----------------------------------------------------------------------------
    def write(self, work: Callable[[Writing], T], *, durable: bool = True) -> T:
        """Run `work` in a transaction with its counters; again, if it was chosen to end a deadlock."""
        with self.explained():
            for attempt in range(ATTEMPTS):
                connection = self.connection()
                try:
                    with connection.transaction():
                        if not durable:
                            connection.execute("SET LOCAL synchronous_commit TO OFF")
                        writing = Writing(connection)
                        result = work(writing)
                        writing.write_counters()
                    return result
                except (self.api.errors.DeadlockDetected, self.api.errors.SerializationFailure):
                    self._names.clear()
                    if attempt == ATTEMPTS - 1:
                        raise
                except BaseException:
                    self._names.clear()
                    raise
        raise AssertionError("unreachable")

    def rows(self, statement: str, parameters: Any = None) -> list[Any]:
        """The rows of one statement."""
        with self.explained():
            return self.connection().execute(statement.encode(), parameters).fetchall()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn the database's errors into ours: where, what, and what to do."""
        try:
            yield
        except self.api.errors.DiskFull as wrong:
            raise FrontierFull(f"{self.shown}: its disk is full; nothing was lost: make room") from wrong
        except self.api.OperationalError as wrong:
            words = str(wrong).strip().partition("\n")[0]
            raise FrontierError(
                f"{self.shown}: it does not answer ({words}); see that the server runs and can be reached"
            ) from wrong
        except self.api.Error as wrong:
            raise FrontierError(f"{self.shown}: {str(wrong).strip()}") from wrong

    # -- domains ---------------------------------------------------------------------------------
    def find(self, name: str) -> int | None:
        """The id of a domain that has been met, else None."""
        known = self._names.get(name)
        if known is None:
            rows = self.rows("SELECT id FROM domain WHERE name = %s", (clean(name),))
            if rows:
                known = self._keep(name, rows[0][0])
        return known

    def intern(self, connection: psycopg.Connection[Any], names: set[str]) -> dict[str, int]:
        """Ids of domains, given now if need be. Within a transaction; in one order."""
        new = sorted(name for name in names if name not in self._names)
        if new:
            connection.execute(
                "INSERT INTO domain (name) SELECT * FROM unnest(%s::text[]) ON CONFLICT DO NOTHING", (new,)
            )
            for name, number in connection.execute(
                "SELECT name, id FROM domain WHERE name = ANY(%s::text[])", (new,)
            ):
                self._keep(name, number)
        return {name: self._names[name] for name in names}

    def _keep(self, name: str, number: int) -> int:
        if len(self._names) >= NAMES_KEPT:
            self._names.clear()
        self._names[name] = number
        return number

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def clean(words: str) -> str:
    """Text as PostgreSQL takes it: it has no NUL and no lone surrogates; neither is ever in a canonical URL."""
    return words.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
