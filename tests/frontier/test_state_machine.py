"""Any sequence of operations, on any back-end, gives what a plain model of the contract gives.

The model is a dict of states; after every step each domain balances (`counts` = `recount` = model), and what
may be claimed is what the model says, in its order.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from resources.frontier.base import Ack, Claim, Discovery, State, StateCounts, Verdict
from tests.frontier.backends import BACKENDS, Backend
from tests.frontier.samples import NEWS, SHOP, url

DOMAINS = (SHOP, NEWS)
#: Thousands of small synced transactions: on a disk they would wait for it most of the time.
MEMORY_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None
paths = st.integers(0, 11)
domains = st.sampled_from(DOMAINS)
#: Which of the latest claims, how it ends, whether it counts, how much later it is due, what it links to.
Pick = tuple[int, Verdict, bool, float | None, int | None]
picks = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(Verdict),
        st.booleans(),
        st.sampled_from([None, -1.0, 5.0, 5.0]),
        st.none() | paths,
    ),
    min_size=1,
    max_size=4,
)


@dataclass
class Row:
    discovery: Discovery
    age: int
    state: State
    attempts: int = 0
    not_before: float | None = None
    cause: str = ""
    done_at: float | None = None
    due_at: float | None = None
    eligible_at: float | None = None
    token: int = 0
    owner: str = ""
    until: float = 0.0

    def ready(self, now: float) -> bool:
        return self.state is State.PENDING and (self.not_before is None or self.not_before <= now)


class Machine(RuleBasedStateMachine):
    backend: Backend

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY_DISK)
        self.frontier = self.backend.fresh(Path(self.folder.name))
        self.rows: dict[bytes, Row] = {}
        self.claims: list[Claim] = []
        self.now = 100.0
        self.age = 0

    def teardown(self) -> None:
        self.frontier.close()
        self.folder.cleanup()

    # -- the model ---------------------------------------------------------------------------------
    def of(self, domain: str, *states: State) -> list[Row]:
        return [row for row in self.rows.values() if row.discovery.domain == domain and row.state in states]

    def met(self, discovery: Discovery) -> str:
        row = self.rows.get(discovery.key)
        if row is None:
            self.age += 1
            state = State.EXCLUDED if discovery.excluded else State.PENDING
            self.rows[discovery.key] = Row(discovery, self.age, state, cause=discovery.excluded)
            return "excluded" if discovery.excluded else "new"
        dated = discovery.lastmod is not None and row.done_at is not None and row.done_at < discovery.lastmod
        if dated and row.state is State.DONE:
            self.pend(row)
            return "due_again"
        return "known"

    def pend(self, row: Row, not_before: float | None = None, *, fresh: bool = True) -> None:
        row.state, row.token, row.owner, row.not_before = State.PENDING, 0, "", not_before
        if fresh:
            row.attempts = 0

    # -- the operations ----------------------------------------------------------------------------
    @initialize()
    def start(self) -> None:
        self.enqueue([(path, SHOP, path % 3, "", None) for path in range(4)])

    @rule(seconds=st.sampled_from([0.0, 1.0, 7.0, 60.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(
        batch=st.lists(
            st.tuples(
                paths, domains, st.integers(0, 2), st.sampled_from(["", "", "trap"]),
                st.sampled_from([None, None, -5.0, 0.0, 5.0]),
            ),
            max_size=6,
        )
    )  # fmt: skip
    def enqueue(self, batch: list[tuple[int, str, int, str, float | None]]) -> None:
        urls = self.discoveries(batch)
        result = self.frontier.enqueue(urls, self.now)
        self.check_enqueued(result, urls)

    def discoveries(self, batch: list[tuple[int, str, int, str, float | None]]) -> list[Discovery]:
        # A key once per batch: which date wins within one batch is nobody's promise.
        distinct = {
            (path, domain): (priority, reason, ahead) for path, domain, priority, reason, ahead in batch
        }
        return [
            url(
                str(path), domain, priority=priority, excluded=reason,
                lastmod=None if ahead is None else self.now + ahead,
            )
            for (path, domain), (priority, reason, ahead) in distinct.items()
        ]  # fmt: skip

    def check_enqueued(self, result: Any, urls: list[Discovery]) -> None:
        outcomes = [self.met(discovery) for discovery in urls]
        for name in ("new", "known", "due_again", "excluded"):
            assert getattr(result, name) == outcomes.count(name), name

    @rule(domain=domains, limit=st.sampled_from([0, 1, 2, 20]), worker=st.sampled_from(["w1", "w2"]))
    def claim(self, domain: str, limit: int, worker: str) -> None:
        got = self.frontier.claim(domain, limit, worker, 10.0, self.now)
        ready = [row for row in self.of(domain, State.PENDING) if row.ready(self.now)]
        ready.sort(key=lambda row: (row.discovery.priority, row.age))
        assert [claim.url for claim in got] == [row.discovery.url for row in ready[:limit]]
        for claim, row in zip(got, ready, strict=False):
            assert (claim.attempts, claim.done_at) == (row.attempts, row.done_at)
            assert claim.token not in {old.token for old in self.claims}
            row.state, row.token, row.owner, row.until = State.LEASED, claim.token, worker, self.now + 10.0
        for row in ready:
            row.not_before = None
        self.claims += got

    @rule(picks=picks)
    def commit(self, picks: list[Pick]) -> None:
        if not self.claims:
            return
        acks = [self.ack(*pick) for pick in picks]
        result = self.frontier.commit(acks, self.now)
        accepted = [ack for ack in acks if self.acked(ack)]
        assert (result.acked, result.stale) == (len(accepted), len(acks) - len(accepted))
        outcomes = [self.met(link) for ack in accepted for link in ack.outlinks]
        assert (result.enqueued.new, result.enqueued.known) == (
            outcomes.count("new"),
            outcomes.count("known"),
        )
        assert sum(result.new_by_domain.values()) == result.enqueued.new

    @rule(domain=domains, picks=picks)
    def claim_and_commit(self, domain: str, picks: list[Pick]) -> None:
        self.claim(domain, 2, "w1")
        self.commit(picks)

    def ack(self, pick: int, verdict: Verdict, counts: bool, later: float | None, path: int | None) -> Ack:
        claim = self.claims[-1 - pick % len(self.claims)]
        at = None if later is None else self.now + later
        return Ack(
            claim, verdict, self.now, due_at=at, not_before=at, counts_attempt=counts, cause=verdict.name,
            next_eligible_at=at,
            outlinks=[] if path is None else [url(str(path), claim.domain)],
        )  # fmt: skip

    def acked(self, ack: Ack) -> bool:
        row = self.rows.get(ack.claim.key)
        if row is None or row.token != ack.claim.token:
            return False
        row.token, row.owner = 0, ""
        parked = ack.not_before if ack.not_before is not None and ack.not_before > self.now else None
        if ack.verdict is Verdict.RELEASED:
            self.pend(row, parked, fresh=False)
            return True
        row.cause = ack.cause
        if ack.verdict is Verdict.EXCLUDED:
            row.state = State.EXCLUDED
            return True
        row.attempts += ack.counts_attempt
        if ack.verdict is Verdict.RETRY:
            self.pend(row, parked, fresh=False)
        elif ack.verdict is Verdict.DONE:
            row.state, row.done_at, row.due_at = State.DONE, ack.at, ack.due_at
        else:
            row.state, row.eligible_at = State.FAILED, ack.next_eligible_at
        return True

    @rule(domain=st.none() | domains)
    def reap(self, domain: str | None) -> None:
        expired = [
            row
            for name in DOMAINS
            for row in self.of(name, State.LEASED)
            if row.until <= self.now and domain in (None, name)
        ]
        assert self.frontier.reap(self.now, domain) == len(expired)
        for row in expired:
            self.pend(row, fresh=False)

    @rule(worker=st.sampled_from(["w1", "w2"]), release=st.booleans())
    def worker_goes_on_or_stops(self, worker: str, release: bool) -> None:
        held = [row for row in self.rows.values() if row.owner == worker]
        if release:
            assert self.frontier.release_worker(worker, self.now) == len(held)
        else:
            assert self.frontier.extend(worker, 10.0, self.now) == len(held)
        for row in held:
            row.until = self.now + 10.0
            if release:
                self.pend(row, fresh=False)

    @rule(domain=domains, force=st.booleans())
    def requeue_due(self, domain: str, force: bool) -> None:
        due = [
            row
            for row in self.of(domain, State.DONE)
            if force or (row.due_at is not None and row.due_at <= self.now)
        ]
        assert self.frontier.requeue_due(domain, self.now, force=force) == len(due)
        for row in due:
            self.pend(row)

    @rule(domain=domains, force=st.booleans())
    def retry_failed(self, domain: str, force: bool) -> None:
        eligible = [
            row
            for row in self.of(domain, State.FAILED)
            if force or (row.eligible_at is not None and row.eligible_at <= self.now)
        ]
        assert self.frontier.retry_failed(domain, self.now, force=force) == len(eligible)
        for row in eligible:
            self.pend(row, fresh=False)

    @rule(domain=domains, reasons=st.sets(st.sampled_from(["trap", "EXCLUDED", "scope"])))
    def reconsider(self, domain: str, reasons: set[str]) -> None:
        rows = [row for row in self.of(domain, State.EXCLUDED) if row.cause in reasons]
        assert self.frontier.reconsider_excluded(domain, reasons, self.now) == len(rows)
        for row in rows:
            row.cause = ""
            self.pend(row)

    @rule(chosen=st.sets(paths, max_size=3), domain=domains)
    def exclude_pending(self, chosen: set[int], domain: str) -> None:
        keys = [url(str(path), domain).key for path in chosen]
        hit = [self.rows[key] for key in keys if key in self.rows and self.rows[key].state is State.PENDING]
        assert self.frontier.exclude_pending(keys, "scope", "", self.now) == len(hit)
        for row in hit:
            row.state, row.cause, row.not_before = State.EXCLUDED, "scope", None

    @rule(domain=domains)
    def move_out_and_back(self, domain: str) -> None:
        rows = list(self.frontier.records(domain))
        assert [row.key for row in rows] == sorted(row.discovery.key for row in self.of(domain, *State))
        assert self.frontier.put_records(rows) == len(rows)
        assert list(self.frontier.records(domain)) == rows
        for row in self.of(domain, State.LEASED):
            row.token = -1  # the lease stands, but no ack of ours fits it any more

    @rule(domain=domains)
    def reset(self, domain: str) -> None:
        gone = self.of(domain, *State)
        assert self.frontier.reset(domain) == len(gone)
        for row in gone:
            del self.rows[row.discovery.key]

    # -- what always holds -------------------------------------------------------------------------
    @invariant()
    def balances(self) -> None:
        present = {}
        for domain in DOMAINS:
            expected = StateCounts(*(len(self.of(domain, state)) for state in State))
            assert self.frontier.counts(domain) == expected == self.frontier.recount(domain)
            if expected.discovered:
                present[domain] = expected
        assert self.frontier.all_counts() == present

    @invariant()
    def knows_when_work_is_ready(self) -> None:
        for domain in DOMAINS:
            waits = [row.not_before or self.now for row in self.of(domain, State.PENDING)]
            expected = max(self.now, min(waits)) if waits else None
            assert self.frontier.next_ready_at(domain, self.now) == expected

    @invariant()
    def knows_exactly_what_it_met(self) -> None:
        keys = [url(str(path), domain).key for path in range(12) for domain in DOMAINS]
        assert self.frontier.known(keys) == set(self.rows)


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.name)
def test_any_sequence_of_operations_follows_the_model(backend: Backend) -> None:
    machine = type("MachineOfBackend", (Machine,), {"backend": backend})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def test_sweeps_change_nothing_that_can_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same on SQLite with a key index that sweeps all the time and remembers next to nothing."""
    monkeypatch.setattr("resources.frontier.sqlite.key_levels.SWEEP_AT", 3)
    monkeypatch.setattr("resources.frontier.sqlite.key_levels.FULL_AT", 8)
    monkeypatch.setattr("resources.frontier.sqlite.key_index.WARM_KEYS", 2)
    sqlite = next(backend for backend in BACKENDS if backend.name == "sqlite")
    test_any_sequence_of_operations_follows_the_model(sqlite)
