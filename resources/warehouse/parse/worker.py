"""The child of the parse step: reads bodies from the page store, writes rows as Parquet files.

Run by `pool.py` as `python -m resources.warehouse.parse.worker <descriptor>`; the descriptor is of a small
shared file in which it says which page it is at, so that the parent knows the culprit when it dies or hangs.
It opens the page store and nothing else: no network, no frontier, no DuckDB.
"""

from __future__ import annotations

import gc
import mmap
import os
import signal
import sys
import time
from typing import BinaryIO

from resources.crawler.territory import Territory
from resources.extract.items import RejectedRow
from resources.extract.page import ExtractedPage, PageExtractor
from resources.extract.page_row import page_row
from resources.pages.base import PageHead, PageStore
from resources.process_end import end_without_collecting

from .changes import signature_of
from .messages import PROGRESS, Chunk, ChunkDone, Start, receive, send
from .staged_rows import StagedRows

__all__ = ["main"]


def _bare(head: PageHead, reason: str, detail: str) -> ExtractedPage:
    """The rows of a page that could not be parsed: what is known without it, and the reason."""
    reject = RejectedRow("", 0, "", reason, detail[:2_000], "{}")
    return ExtractedPage(page_row(head), rejects=[reject])


class _Worker:
    def __init__(self, start: Start, progress: mmap.mmap) -> None:
        self._store: PageStore = start.installation.open_pages()
        self._territory = Territory(start.catalog)
        self._progress = progress
        self._extractors: dict[str, PageExtractor] = {}

    def parse(self, chunk: Chunk) -> ChunkDone:
        rules = self._territory.rules(chunk.domain)
        if rules is None:
            raise LookupError(f"no site file covers {chunk.domain}")
        extractor = self._extractors.get(chunk.domain)
        if extractor is None:
            # One domain at a time is worked on; its memory of addresses need not outlive it.
            self._extractors.clear()
            extractor = self._extractors[chunk.domain] = PageExtractor(rules, self._territory)
        version = rules.site.extraction_version
        rows = StagedRows(rules.site.items, chunk.run_id)
        done = ChunkDone(chunk.number, {})
        for lost in chunk.lost:
            rows.add(
                lost.head.key, signature_of(lost.head, version), _bare(lost.head, lost.reason, lost.detail)
            )
        bodies = self._store.bodies(chunk.heads)
        for position, head in enumerate(chunk.heads):
            PROGRESS.pack_into(self._progress, 0, position, time.monotonic())
            body = next(bodies)
            if body is None:
                # Told by the integrity check of raw_html; read again as soon as a good body is there.
                done.missing += 1
                continue
            try:
                found = extractor.extract(head, body)
            except Exception as error:  # whatever a page makes our code do, it costs that page only
                done.errors += 1
                found = _bare(head, "parser_error", f"{type(error).__name__}: {error}")
            rows.add(head.key, signature_of(head, version), found)
        PROGRESS.pack_into(self._progress, 0, -1, time.monotonic())
        done.counts = rows.write(chunk.folder, chunk.number)
        return done

    def close(self) -> None:
        self._store.close()


def main() -> None:
    """Answer chunks until the parent closes the pipe."""
    # The parent decides when it ends; a Ctrl-C in the terminal reaches the whole group.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    progress = mmap.mmap(int(sys.argv[1]), PROGRESS.size)
    pipe_in: BinaryIO = sys.stdin.buffer
    # Whatever prints must not end up in the protocol.
    pipe_out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Trees and rows form no cycles; the collector would walk a million row values again and again.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    end_without_collecting()
    worker = _Worker(receive(pipe_in), progress)
    try:
        while True:
            try:
                chunk = receive(pipe_in)
            except EOFError:
                return
            send(pipe_out, worker.parse(chunk))
    finally:
        worker.close()


if __name__ == "__main__":
    main()
