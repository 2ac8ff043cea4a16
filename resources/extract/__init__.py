"""From stored pages to rows: pages, links, structured data, items and rejects. No I/O, no database.

page.py              one body to all its rows: start here
page_row.py          the row of `pages`
link_rows.py         the rows of `links`
structured_rows.py   the rows of `structured_data`
items/               the rows of item types, and of `rejected_items`
values/              text as numbers, money, dates, truth
version.py           PARSER_VERSION
"""

from __future__ import annotations

from .version import PARSER_VERSION

__all__ = ["PARSER_VERSION"]
