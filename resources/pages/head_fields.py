"""The wordy fields of a head as compact JSON, the same on every back-end.

What a store looks for or sums (key, kind, hash, sizes, times) it keeps in columns or names of its own; all
the rest is one JSON array: `[url, final_url, run_id, depth, encoding, encoding_source, verdict,
verdict_version, note, vary, headers]`, headers as `[name, value, name, value …]`. ASCII only, so that any
string survives, lone surrogates included. Heads of one domain's pages are nearly alike, so the first one makes
a dictionary in which the others shrink to what is their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain
from typing import Any

from resources.pages.base import PageHead

__all__ = ["decode_pairs", "encode_fields"]

_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), check_circular=False).encode


def encode_fields(head: PageHead) -> bytes:
    """The JSON array described above."""
    return _encode(
        [
            head.url,
            # Nearly always the same: once is enough.
            0 if head.final_url == head.url else head.final_url,
            head.run_id,
            head.depth,
            head.encoding,
            head.encoding_source,
            head.verdict,
            head.verdict_version,
            head.note,
            list(chain.from_iterable(head.vary)),
            list(chain.from_iterable(head.headers)),
        ]
    ).encode("ascii")


def decode_pairs(flat: Iterable[Any]) -> tuple[tuple[str, str], ...]:
    """`[name, value, name, value …]` as pairs."""
    each = iter(flat)
    return tuple(zip(each, each, strict=True))
