"""Where everything of one installation lives, from the environment. One place to change for many machines.

    NIGHTCRAWL_DATA      everything of this installation         ./data
    NIGHTCRAWL_SITES     the folder of site files, or one file   ./sites
    NIGHTCRAWL_FRONTIER  sqlite path, redis:// or postgresql://  <data>/frontier.sqlite
    NIGHTCRAWL_PAGES     sqlite path, files:// or s3://          <data>/pages.sqlite
    NIGHTCRAWL_LEDGER    sqlite path, redis:// or postgresql://  <data>/ledger.sqlite, or the shared frontier
    NIGHTCRAWL_TABLES    a folder or s3://                       <data>/tables

On disk, below the data folder: `frontier.sqlite`, `pages.sqlite`, `ledger.sqlite` (SQLite, WAL),
`tables/` (`warehouse.duckdb`, `published.duckdb`, `staging/*.parquet`), `reports/`, `dagster/`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported where needed: a command that only counts URLs should not load every parser
    import random

    from resources.clock import Clock
    from resources.frontier.base import Frontier
    from resources.pacing.ledger.base import Ledger
    from resources.pacing.pacer import Pacer
    from resources.pages.base import PageStore
    from resources.site.catalog import Catalog
    from resources.site.load import Problem
    from resources.warehouse.storage import TableStorage

__all__ = ["Installation"]


@dataclass(frozen=True, slots=True)
class Installation:
    """Plain settings; the `open_*` methods make the connections. Picklable, so worker processes can have it."""

    data: Path
    sites: Path
    frontier: str
    pages: str
    ledger: str
    tables: str

    @classmethod
    def at(cls, data: Path, sites: Path | None = None) -> Installation:
        """The one-machine form below `data`."""
        return cls(
            data=data,
            sites=sites or data / "sites",
            frontier=str(data / "frontier.sqlite"),
            pages=str(data / "pages.sqlite"),
            ledger=str(data / "ledger.sqlite"),
            tables=str(data / "tables"),
        )

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> Installation:
        """As the variables in the module docstring say; relative paths are below the working directory."""
        env = os.environ if environ is None else environ
        data = Path(env.get("NIGHTCRAWL_DATA") or "data").absolute()
        base = cls.at(data, Path(env.get("NIGHTCRAWL_SITES") or "sites").absolute())
        frontier = env.get("NIGHTCRAWL_FRONTIER") or base.frontier
        shared = frontier.startswith(("redis://", "rediss://", "postgresql://", "postgres://"))
        return replace(
            base,
            frontier=frontier,
            pages=env.get("NIGHTCRAWL_PAGES") or base.pages,
            ledger=env.get("NIGHTCRAWL_LEDGER") or (frontier if shared else base.ledger),
            tables=env.get("NIGHTCRAWL_TABLES") or base.tables,
        )

    @property
    def tables_folder(self) -> Path:
        """The tables, or this machine's copies of them where they are in an object store."""
        return self.data / "tables" if self.tables.startswith("s3://") else Path(self.tables)

    @property
    def published(self) -> Path:
        """The read-only database consumers open: replaced whole, never locked. In an object store, this machine's
        copy, made by `resources.warehouse.read`."""
        return self.tables_folder / "published.duckdb"

    @property
    def reports(self) -> Path:
        return self.data / "reports"

    @property
    def shared(self) -> bool:
        """Whether several machines work on one frontier."""
        return "://" in self.frontier and not self.frontier.startswith("sqlite:")

    def prepare(self) -> Installation:
        """Create the folders."""
        for folder in (self.data, self.tables_folder, self.reports):
            folder.mkdir(parents=True, exist_ok=True)
        return self

    def catalog(self) -> Catalog:
        """The site files; SiteFileError lists every problem."""
        from resources.site.catalog import Catalog

        return Catalog.load(self.sites, self.parsed_sites)

    def usable_catalog(self) -> tuple[Catalog, list[Problem]]:
        """The site files that can be used, and the problems of the others: one bad file stops no night."""
        from resources.site.catalog import Catalog

        return Catalog.load_usable(self.sites, self.parsed_sites)

    @property
    def parsed_sites(self) -> Path:
        """Where processes leave each other what thousands of site files parsed to; may be deleted at any time."""
        return self.data / "site-files.parsed"

    def open_frontier(self) -> Frontier:
        from resources.frontier.open import open_frontier

        return open_frontier(self.frontier)

    def open_pages(self) -> PageStore:
        from resources.pages.open import open_pages

        return open_pages(self.pages)

    def open_pacer(self, clock: Clock, ledger: Ledger, rng: random.Random) -> Pacer:
        """Where the ledger is shared, so is the pace."""
        from resources.pacing.shared.open import open_exchange

        exchange = open_exchange(self.ledger)
        if exchange is None:
            from resources.pacing.pacer import Pacer

            return Pacer(clock, ledger, rng=rng)
        from resources.pacing.shared.pacer import SharedPacer

        return SharedPacer(clock, ledger, exchange, rng)

    def open_ledger(self) -> Ledger:
        from resources.pacing.ledger.open import open_ledger

        return open_ledger(self.ledger)

    def open_tables(self) -> TableStorage:
        """Where tables are kept; what DuckDB opens is behind its `warehouse` and `published`."""
        from resources.warehouse.storage import open_tables

        return open_tables(self)
