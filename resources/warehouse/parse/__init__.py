"""The parse step: from stored bodies to Parquet files, in supervised processes, without DuckDB.

domain.py         `parse_domain`: what changed, who parses it, what is staged
changes.py        which pages have to be read again, and which are gone
pool.py           the parent: keeps workers alive, finds the page that killed one
worker.py         the child: bodies in, Parquet files out
staged_rows.py    rows as Arrow columns and files
batch.py          the manifest that makes staged files count
"""

from __future__ import annotations

from .domain import ParseReport, parse_domain
from .pool import ParseError, ParserPool

__all__ = ["ParseError", "ParseReport", "ParserPool", "parse_domain"]
