"""The load step: staged rows, the fetch log and what frontier and ledger know, into the warehouse.

load.py             `load_domains`: batches, then snapshots, each in a transaction of its own
batch_rows.py       one staged batch
item_rows.py        its items, with the times when they were first seen and last changed
frontier_rows.py    fetch log, failed and excluded URLs, domains, nights
"""

from __future__ import annotations

from .load import DomainLoad, LoadReport, load_domains

__all__ = ["DomainLoad", "LoadReport", "load_domains"]
