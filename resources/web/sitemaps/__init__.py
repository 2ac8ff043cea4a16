"""Sitemaps and feeds: reading them (`parse`, `entries`, `Reader`) and finding them (`Discovery`).

Pure functions and sans-IO objects; nothing here fetches, and no external entity or DTD is ever asked for.
"""

from __future__ import annotations

from .discovery import Advertised, Discovery, DiscoveryLimits, Outcome, advertised, in_protocol_scope
from .document import Document, Entry, Kind, Limits
from .lastmod import epoch, normalise
from .reader import Reader, entries, parse

__all__ = [
    "Advertised",
    "Discovery",
    "DiscoveryLimits",
    "Document",
    "Entry",
    "Kind",
    "Limits",
    "Outcome",
    "Reader",
    "advertised",
    "entries",
    "epoch",
    "in_protocol_scope",
    "normalise",
    "parse",
]
