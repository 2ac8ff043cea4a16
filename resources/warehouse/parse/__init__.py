"""The parse step: from stored bodies to Parquet files, in supervised processes, without DuckDB.

domain.py         `parse_domains`: one domain after the other, without a pause in between; `parse_domain`: one
step.py           one domain: what changed, cut into chunks, and the batch they make
report.py         what a parse step tells of a domain
changes.py        which pages have to be read again, and which are gone
pool.py           the parent: keeps workers alive, finds the page that killed one
worker.py         the child: bodies in, Parquet files out
staged_rows.py    rows as Arrow columns and files
batch.py          the manifest that makes staged files count
"""

from __future__ import annotations

from .domain import parse_domain, parse_domains
from .pool import ParserPool
from .report import ParseError, ParseReport

__all__ = ["ParseError", "ParseReport", "ParserPool", "parse_domain", "parse_domains"]
