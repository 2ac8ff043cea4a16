"""The version of everything between a stored body and its rows."""

from __future__ import annotations

__all__ = ["PARSER_VERSION"]

#: Raised whenever the same body would give other rows: every page is then read again from the page store.
#: What a site file changes has a version of its own, `Site.extraction_version`.
PARSER_VERSION = "3"
