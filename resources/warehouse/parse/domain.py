"""Domains from the page store into staging, one after the other and without a pause in between.

While the last chunks of a domain are parsed, the first ones of the next are made and handed out; the batch of the
first is written while the children are at the second. One scan is open at a time. Of the steps that wait for their
last chunks, as many as there are children and one, only the counts and the pages that are gone are held.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing

from resources.frontier.base import Frontier
from resources.installation import Installation
from resources.pages.base import PageStore

from .messages import Chunk, ChunkDone
from .pool import ParserPool
from .report import ParseError, ParseReport
from .step import DomainStep

__all__ = ["parse_domain", "parse_domains"]

#: Pages that are lost work when a child dies, against files per table: half a second of one core.
_CHUNK = 500
#: Smaller chunks than this cost more in files than they gain in balance: 3 ms each, as much as four pages.
_SMALLEST_CHUNK = 25


def parse_domain(
    installation: Installation,
    domain: str,
    *,
    run_id: str,
    force: bool = False,
    processes: int | None = None,
    pool: ParserPool | None = None,
) -> ParseReport:
    """`parse_domains` of one. What it would give instead of a report is raised."""
    ((_, outcome),) = parse_domains(
        installation, [domain], run_id=run_id, force=force, processes=processes, pool=pool
    )
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def parse_domains(
    installation: Installation,
    domains: Iterable[str],
    *,
    run_id: str,
    force: bool = False,
    processes: int | None = None,
    pool: ParserPool | None = None,
) -> Generator[tuple[str, ParseReport | Exception], None, None]:
    """Parse the pages of `domains` that changed since they were loaded (all with `force`) and stage their rows.

    Gives each domain once, as it ends: what was staged, or why nothing was, which costs no other domain anything. (One
    without changed pages may be given with the next that has any.)
    That is a ParseError where no site file covers it or its parsing cannot go on, else what a store or the disk raised.
    Nothing goes on while the caller does not ask for the next one; closing the iterator ends what is being parsed.

    Never opens DuckDB, makes no request. One parse step of a domain at a time. A step that dies stages nothing;
    batches staged and not loaded yet stay, and their pages are parsed once more. `pool`: share child processes
    between calls. Raises ParseError when the pool is asked to stop: what was not given by then is not staged.
    """
    if pool is None:
        with ParserPool(installation, installation.catalog(), processes) as own:
            yield from parse_domains(installation, domains, run_id=run_id, force=force, pool=own)
        return
    steps = _Steps(installation, list(dict.fromkeys(domains)), pool, run_id, force=force)
    try:
        with closing(pool.run(steps.chunks())) as results:
            for chunk, done in results:
                steps.take(chunk, done)
                yield from steps.ended()
        yield from steps.ended()
    finally:
        steps.close()


class _Steps:
    """The steps of several domains: their chunks in a row, and what became of those that ended."""

    def __init__(
        self,
        installation: Installation,
        domains: Sequence[str],
        pool: ParserPool,
        run_id: str,
        *,
        force: bool,
    ) -> None:
        self._installation = installation
        self._domains = domains
        self._pool = pool
        self._run_id = run_id
        self._force = force
        self._tables = installation.open_tables()
        self._opened: tuple[PageStore, Frontier] | None = None
        self._steps: dict[str, DomainStep] = {}
        self._ended: deque[tuple[str, ParseReport | Exception]] = deque()
        #: Stored pages of the domain at hand that are left, and of some that follow.
        self._expected: deque[int] = deque()

    def chunks(self) -> Iterator[Chunk]:
        """Those of one domain after the other, each made when it is asked for."""
        for at, domain in enumerate(self._domains):
            self._pool.check_stop()
            try:
                step = self._begin(at)
            except Exception as error:
                self._fail_reading(domain, error)
            else:
                yield from self._chunks_of(step)
            if self._expected:
                self._expected.popleft()

    def take(self, chunk: Chunk, done: ChunkDone | ParseError) -> None:
        """A chunk came back. Numbered cases: 1. its domain failed while it was on its way; 2. it cannot be
        parsed; 3. it is."""
        step = self._steps.get(chunk.domain)
        if step is None:
            return
        if isinstance(done, ParseError):
            self._fail(chunk.domain, done)
            return
        try:
            step.add(done, chunk.lost)
        except Exception as error:
            self._fail(chunk.domain, error)
        else:
            self._stage_if_whole(step)

    def ended(self) -> Iterator[tuple[str, ParseReport | Exception]]:
        """What ended since it was last asked."""
        while self._ended:
            yield self._ended.popleft()

    def close(self) -> None:
        self._steps.clear()
        self._close_stores()

    def _begin(self, at: int) -> DomainStep:
        domain = self._domains[at]
        site = self._pool.catalog.for_domain(domain)
        if site is None:
            raise ParseError(
                f"no site file covers {domain}: its rows stay as they are; add a site file to parse it"
            )
        if self._opened is None:
            self._opened = self._installation.open_pages(), self._installation.open_frontier()
        store, frontier = self._opened
        step = DomainStep(self._tables, site, store, frontier, domain, self._run_id, force=self._force)
        self._look_ahead(at, store)
        self._steps[domain] = step
        return step

    def _look_ahead(self, at: int, store: PageStore) -> None:
        """Count on until chunks need not be small yet. Every domain is counted once."""
        enough = _CHUNK * self._shares
        left = sum(self._expected)
        for further in range(at + len(self._expected), len(self._domains)):
            if self._expected and left >= enough:
                return
            pages, _, _ = store.counts(self._domains[further])
            self._expected.append(pages)
            left += pages

    @property
    def _shares(self) -> int:
        return self._pool.processes * 2

    def _chunks_of(self, step: DomainStep) -> Iterator[Chunk]:
        """Each is a share of the pages that are left in all domains, so that all processes end at about the same time
        whatever their pages cost, with few files for the bulk of them."""
        while step.domain in self._steps:
            left = self._expected[0]
            size = max(_SMALLEST_CHUNK, min(_CHUNK, sum(self._expected) // self._shares))
            if left > size:
                size = -(-left // -(-left // size))  # no small rest
            try:
                chunk = step.chunk(size)
            except Exception as error:
                self._fail_reading(step.domain, error)
                return
            if chunk is None:
                self._stage_if_whole(step)
                return
            self._expected[0] = max(0, left - size)
            yield chunk

    def _stage_if_whole(self, step: DomainStep) -> None:
        if not step.is_whole:
            return
        try:
            report = step.stage()
        except Exception as error:
            self._fail(step.domain, error)
        else:
            del self._steps[step.domain]
            self._ended.append((step.domain, report))

    def _fail(self, domain: str, error: Exception) -> None:
        self._steps.pop(domain, None)
        self._pool.give_up(domain)
        self._ended.append((domain, error))

    def _fail_reading(self, domain: str, error: Exception) -> None:
        """The next domain opens the stores anew: what this one left of a connection is not its trouble."""
        self._fail(domain, error)
        self._close_stores()

    def _close_stores(self) -> None:
        if self._opened is not None:
            store, frontier = self._opened
            self._opened = None
            frontier.close()
            store.close()
