"""The parent of the parse step: keeps child processes busy and alive, and finds the page that killed one.

A child that dies (a crash in native code, out of memory) or stays on one page longer than `page_timeout_s` is
replaced; its chunk is parsed again without the culprit, which is recorded. Any other page is unharmed.
"""

from __future__ import annotations

import mmap
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from types import TracebackType
from typing import BinaryIO, cast

from resources.installation import Installation
from resources.site.catalog import Catalog

from .messages import PROGRESS, Chunk, ChunkDone, LostPage, Start, receive, send
from .report import ParseError

__all__ = ["PAGE_TIMEOUT_S", "ParserPool"]

#: Parsing is bounded to about a second by work budgets; whatever takes this long will not end.
PAGE_TIMEOUT_S = 30.0
#: How often hanging children are looked for.
_LOOK_EVERY_S = 0.5
#: Times that a chunk may kill children while no page is being parsed (full disk, no memory) before it is given up.
_MAX_BLANK_DEATHS = 2


class _Child:
    """One worker process and the chunk it is at."""

    def __init__(self, start: Start) -> None:
        with tempfile.TemporaryFile() as shared:
            shared.truncate(PROGRESS.size)
            self._progress = mmap.mmap(shared.fileno(), PROGRESS.size)
            PROGRESS.pack_into(self._progress, 0, -1, 0.0)
            self.process = subprocess.Popen(
                [sys.executable, "-m", "resources.warehouse.parse.worker", str(shared.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=(shared.fileno(),),
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
                    # numpy starts a thread a processor for matrices, which no page has.
                    "OPENBLAS_NUM_THREADS": "1",
                },
            )
        self.chunk: Chunk | None = None
        self._send(start)

    def _send(self, message: object) -> None:
        try:
            send(cast("BinaryIO", self.process.stdin), message)
        except BrokenPipeError:
            pass  # it is dead; reading its answer will say so

    def give(self, chunk: Chunk) -> None:
        PROGRESS.pack_into(self._progress, 0, -1, time.monotonic())
        self.chunk = chunk
        self._send(chunk)

    def answer(self) -> ChunkDone:
        """EOFError if it died."""
        done = receive(cast("BinaryIO", self.process.stdout))
        assert isinstance(done, ChunkDone)
        return done

    def position(self) -> tuple[int, float]:
        """(page of the chunk, -1 for none; since when on the monotonic clock)."""
        page, since = PROGRESS.unpack_from(self._progress, 0)
        return page, since

    def stop(self) -> int:
        """End it and return its exit status (negative: a signal)."""
        if self.process.stdin is not None:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        try:
            status = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        return status


class ParserPool:
    """Child processes for as many domains as are parsed in a row. Use as a context manager; children start late."""

    def __init__(
        self,
        installation: Installation,
        catalog: Catalog,
        processes: int | None = None,
        page_timeout_s: float = PAGE_TIMEOUT_S,
    ) -> None:
        self.processes = max(1, processes if processes is not None else min(4, os.cpu_count() or 1))
        self.catalog = catalog
        self._start = Start(installation, catalog)
        self._timeout = page_timeout_s
        self._children: list[_Child] = []
        self._waiting: deque[Chunk] = deque()
        self._blank_deaths: dict[tuple[str, int], int] = {}
        self._runs = False
        self.stop = threading.Event()
        """Set from any thread: the parse steps at hand end with ParseError, and stage nothing."""

    def __enter__(self) -> ParserPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(at_once=kind is not None)

    def __repr__(self) -> str:
        busy = sum(child.chunk is not None for child in self._children)
        return f"ParserPool({busy} of {len(self._children)} children busy, up to {self.processes})"

    def close(self, *, at_once: bool = False) -> None:
        for child in self._children:
            if at_once or child.chunk is not None:
                child.process.kill()
        for child in self._children:
            child.stop()
        self._children.clear()

    def pids(self) -> list[int]:
        return [child.process.pid for child in self._children]

    def run(self, chunks: Iterable[Chunk]) -> Generator[tuple[Chunk, ChunkDone | ParseError], None, None]:
        """Parse chunks (numbers unique per domain) and give each one's result, in the order in which they end.

        Chunks are taken as children become free, and one ahead, which is made while they work. `lost` of the chunk that
        is given names the pages that cost a child its life. ParseError as a result: the chunk cannot be parsed for a
        reason that is no page's fault. Whoever does not take all results closes the iterator: children that are still
        at a chunk are ended then, so that nobody else is given what becomes of it. One run at a time.
        """
        if self._runs:
            raise RuntimeError("the pool is at the chunks of another run: take all its results, or close it")
        self._runs = True
        self._blank_deaths.clear()
        try:
            yield from self._results(iter(chunks))
        finally:
            self._waiting.clear()
            self._end_those(lambda chunk: True)
            self._runs = False

    def give_up(self, domain: str) -> None:
        """Forget the chunks of `domain` that were taken; children that are at one are ended. A result that is there
        already may still be given."""
        self._waiting = deque(chunk for chunk in self._waiting if chunk.domain != domain)
        self._end_those(lambda chunk: chunk.domain == domain)

    def check_stop(self) -> None:
        """ParseError if it is asked to stop."""
        if self.stop.is_set():
            raise ParseError("asked to stop; nothing of this parse step is staged")

    def _end_those(self, concerned: Callable[[Chunk], bool]) -> None:
        for child in [each for each in self._children if each.chunk is not None and concerned(each.chunk)]:
            self._children.remove(child)
            child.chunk = None
            child.process.kill()
            child.stop()

    def _results(self, source: Iterator[Chunk]) -> Iterator[tuple[Chunk, ChunkDone | ParseError]]:
        while self._hand_out(source):
            if not self._waiting and (ahead := next(source, None)) is not None:
                self._waiting.append(ahead)
            for child in self._ready():
                chunk = child.chunk
                if chunk is None:
                    continue  # ended with the domain of a result before
                try:
                    done: ChunkDone | ParseError = child.answer()
                except EOFError:
                    buried = self._bury(child, chunk)
                    if isinstance(buried, Chunk):
                        self._waiting.appendleft(buried)
                        continue
                    done = buried
                child.chunk = None
                self._hand_out(source)  # it need not wait for what is done with its result
                yield chunk, done

    def _hand_out(self, source: Iterator[Chunk]) -> bool:
        """Give every free child a chunk, those of dead ones first; False when all is done."""
        while True:
            idle = next((child for child in self._children if child.chunk is None), None)
            if idle is None and len(self._children) >= self.processes:
                return True
            chunk = self._waiting.popleft() if self._waiting else next(source, None)
            if chunk is None:
                return any(child.chunk is not None for child in self._children)
            if idle is None:
                idle = _Child(self._start)
                self._children.append(idle)
            idle.give(chunk)

    def _ready(self) -> list[_Child]:
        """Children that have something to say (an answer, or their end); hanging ones are killed meanwhile."""
        with selectors.DefaultSelector() as selector:
            for child in self._children:
                if child.chunk is not None:
                    assert child.process.stdout is not None
                    selector.register(child.process.stdout, selectors.EVENT_READ, child)
            while True:
                self.check_stop()
                events = selector.select(min(_LOOK_EVERY_S, self._timeout))
                if events:
                    return [key.data for key, _ in events]
                now = time.monotonic()
                for child in self._children:
                    page, since = child.position()
                    if child.chunk is not None and page >= 0 and now - since > self._timeout:
                        child.process.send_signal(signal.SIGKILL)

    def _bury(self, child: _Child, chunk: Chunk) -> Chunk | ParseError:
        """Take a dead child off the list; its chunk without the culprit. ParseError: there is none, time and again."""
        self._children.remove(child)
        page, since = child.position()
        stuck_s = time.monotonic() - since
        status = child.stop()
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        if not 0 <= page < len(chunk.heads):
            this = chunk.domain, chunk.number
            deaths = self._blank_deaths[this] = self._blank_deaths.get(this, 0) + 1
            if deaths > _MAX_BLANK_DEATHS:
                return ParseError(
                    f"parser processes for {chunk.domain} keep ending ({how}) while no page is being parsed: "
                    "look at the log above, at free memory and at the disk of the data folder"
                )
            return chunk
        head = chunk.heads[page]
        hung = status == -signal.SIGKILL and stuck_s >= self._timeout
        lost = LostPage(
            head,
            "parser_hang" if hung else "parser_crash",
            f"took longer than {self._timeout:g} s" if hung else f"the parser process ended with {how}",
        )
        rest = [each for at, each in enumerate(chunk.heads) if at != page]
        return Chunk(chunk.number, chunk.domain, chunk.run_id, chunk.folder, rest, [*chunk.lost, lost])
