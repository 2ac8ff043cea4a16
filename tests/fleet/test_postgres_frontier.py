"""What only the PostgreSQL frontier promises: cut connections, a schema that is ours, no waiting for claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from resources.frontier.base import FrontierError, StateCounts
from resources.frontier.postgres import PostgresFrontier
from tests.fleet.servers import postgres_place
from tests.frontier.samples import SHOP, done, url


def test_a_cut_connection_is_an_error_once_and_then_goes_on(tmp_path: Path) -> None:
    place = postgres_place(tmp_path)
    frontier, other = PostgresFrontier(place), PostgresFrontier(place)
    frontier.enqueue([url("a"), url("b")], 1.0)
    (a,) = frontier.claim(SHOP, 1, "w", 60, 2.0)
    pid = frontier._storage.connection().info.backend_pid
    other._storage.rows(f"SELECT pg_terminate_backend({pid})")
    with pytest.raises(FrontierError, match="see that the server runs"):
        frontier.commit([done(a, 3.0)], 3.0)
    assert frontier.commit([done(a, 3.0)], 3.0).acked == 1
    assert frontier.counts(SHOP) == StateCounts(pending=1, done=1) == other.recount(SHOP)
    frontier.close()
    other.close()


def test_a_claim_does_not_wait_for_another_that_is_going_on(tmp_path: Path) -> None:
    place = postgres_place(tmp_path)
    frontier, other = PostgresFrontier(place), PostgresFrontier(place)
    frontier.enqueue([url("a"), url("b"), url("c")], 1.0)
    connection = other._storage.connection()
    with connection.transaction():
        connection.execute("SELECT key FROM url ORDER BY priority, id LIMIT 1 FOR UPDATE")
        assert [claim.url for claim in frontier.claim(SHOP, 9, "w", 60, 2.0)] == [url("b").url, url("c").url]
    assert [claim.url for claim in other.claim(SHOP, 9, "v", 60, 2.0)] == [url("a").url]
    frontier.close()
    other.close()


def test_somebody_elses_schema_is_not_written_into(tmp_path: Path) -> None:
    place = postgres_place(tmp_path)
    frontier = PostgresFrontier(place)
    frontier._storage.connection().execute("CREATE SCHEMA theirs")
    frontier.close()
    with pytest.raises(FrontierError, match="theirs is not ours; name another"):
        PostgresFrontier(f"{place.partition('schema=')[0]}schema=theirs")
    with pytest.raises(FrontierError, match="does not answer"):
        PostgresFrontier("postgresql://127.0.0.1:1/none")
