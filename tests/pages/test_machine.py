"""Any order of calls, compared with a dictionary of lists that is the contract written out."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from resources.pages.base import Kind, PageHead
from tests.pages.backends import Backend, each
from tests.pages.samples import article, version

PATHS = st.sampled_from(["/a", "/b", "/c"])
NAMES = ("one.example", "two.example")
DOMAINS = st.sampled_from(NAMES)
_BODIES = (b"", b"one", b"two", article(1), article(2))
BODIES = st.sampled_from(range(len(_BODIES))).map(_BODIES.__getitem__)
KINDS = st.sampled_from([Kind.PAGE, Kind.ROBOTS])
PLACES = tuple(product(NAMES, Kind))
#: How a store tells what it has of a domain.
WAYS = ("scan", "read", "counts")


class PagesMachine(RuleBasedStateMachine):
    backend: Backend

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.pages = self.backend.fresh(self.folder)
        self.model: dict[tuple[Kind, bytes], list[PageHead]] = {}
        self.bodies: dict[bytes, bytes] = {}
        self.at = 0.0
        self.steps = 0

    def place(self, head: PageHead) -> None:
        known = self.model.get((head.kind, head.key), [])
        if known and known[0].content_hash == head.content_hash:
            older = known[1:]
            head = replace(head, changed_at=known[0].changed_at)
        else:
            older = known[:1]
        if known:
            head = replace(head, first_seen_at=known[0].first_seen_at)
        self.model[head.kind, head.key] = [head, *older]

    @rule(batch=st.lists(st.tuples(PATHS, BODIES, DOMAINS, KINDS), max_size=4))
    def put(self, batch: list[tuple[str, bytes, str, Kind]]) -> None:
        versions = []
        for path, body, domain, kind in batch:
            self.at += 1
            versions.append(version(path, body, self.at, domain, kind=kind))
            self.bodies[versions[-1].head.content_hash] = body
        self.pages.put(versions)
        for stored in versions:
            self.place(stored.head)

    @rule(data=st.data(), value=st.text(st.characters(exclude_categories=[]), max_size=5))
    def touch(self, data: st.DataObject, value: str) -> None:
        if not self.model:
            return
        known = self.model[data.draw(st.sampled_from(sorted(self.model)))]
        self.at += 1
        head = replace(known[0], validated_at=self.at, headers=(("X", value),))
        self.pages.touch([head])
        known[0] = head

    @rule(data=st.data())
    def quarantine(self, data: st.DataObject) -> None:
        choices = [key for kind, key in sorted(self.model) if kind == Kind.PAGE]
        if not choices:
            return
        key = data.draw(st.sampled_from(choices))
        head, *older = self.model.pop((Kind.PAGE, key))
        self.pages.quarantine(head, "block", "1", "why")
        if older:
            self.model[Kind.PAGE, key] = older
        self.place(replace(head, kind=Kind.QUARANTINE, verdict="block", verdict_version="1", note="why"))

    @rule(domain=DOMAINS)
    def forget(self, domain: str) -> None:
        gone = [place for place, known in self.model.items() if known[0].domain == domain]
        assert self.pages.forget(domain) == sum(kind == Kind.PAGE for kind, _ in gone)
        for place in gone:
            del self.model[place]

    @rule(domain=DOMAINS, dense=st.booleans())
    def maintain(self, domain: str, dense: bool) -> None:
        self.pages.maintain(domain, dense=dense)

    @rule(domain=DOMAINS)
    def prune(self, domain: str) -> None:
        count = 0
        for known in self.model.values():
            if known[0].domain == domain:
                count += len(known) - 1
                del known[1:]
        assert self.pages.prune(domain, 0) == count

    @rule()
    def reopen(self) -> None:
        if self.backend.durable:
            self.pages.close()
            self.pages = self.backend.fresh(self.folder)

    @invariant()
    def as_the_model(self) -> None:
        for (kind, key), known in self.model.items():
            history = self.pages.history(key, kind)
            assert history == known
            assert [self.pages.body(head) for head in history] == [
                self.bodies[head.content_hash] for head in known
            ]
        for domain in NAMES:
            assert self.pages.verify(domain) == []
        # Three ways tell the same, and on S3 each asks the server: at each step one of them a domain and kind, in turn.
        self.steps += 1
        for turn, (domain, kind) in enumerate(PLACES, self.steps):
            self.told_as_the_model(domain, kind, [WAYS[turn % len(WAYS)]])

    def told_as_the_model(self, domain: str, kind: Kind, ways: Sequence[str]) -> None:
        expected = sorted(
            (known[0].key, known[0], self.bodies[known[0].content_hash])
            for (of, _), known in self.model.items()
            if of == kind and known[0].domain == domain
        )
        if "scan" in ways:
            assert [head for _, head, _ in expected] == list(self.pages.scan(domain, kind))
        if "read" in ways:
            read = {head.key: (head, body) for head, body in self.pages.read(domain, kind)}
            assert read == {key: (head, body) for key, head, body in expected}
        if "counts" in ways:
            assert self.pages.counts(domain, kind)[0] == len(expected)

    def teardown(self) -> None:
        try:
            for domain, kind in PLACES:
                self.told_as_the_model(domain, kind, WAYS)
            for domain in NAMES:
                assert self.pages.verify(domain) == []
        finally:
            self.pages.close()
            shutil.rmtree(self.folder)


@each()
def test_any_order_of_calls(backend: Backend) -> None:
    machine = type(f"{backend.name}_machine", (PagesMachine,), {"backend": backend})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=12, stateful_step_count=20, deadline=None)
    )
