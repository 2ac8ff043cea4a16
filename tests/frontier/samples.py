"""Short ways to write down URLs, acks and log rows, and that the books balance."""

from __future__ import annotations

import hashlib
from typing import Any

from resources.frontier.base import Ack, Claim, Discovery, FetchLogRow, Frontier, Verdict

SHOP = "shop.example"
NEWS = "news.example"


def key(url: str) -> bytes:
    return hashlib.blake2b(url.encode(), digest_size=16).digest()


def url(path: str, domain: str = SHOP, **fields: Any) -> Discovery:
    full = f"https://{domain}/{path}"
    return Discovery(key(full), full, domain, **fields)


def done(claim: Claim, at: float, **fields: Any) -> Ack:
    return Ack(claim, Verdict.DONE, at, **fields)


def log_row(path: str, domain: str = SHOP, **fields: Any) -> FetchLogRow:
    values: dict[str, Any] = {
        "url": f"https://{domain}/{path}", "domain": domain, "run_id": "r1", "worker": "w1", "attempt": 1,
        "started_at": 5.0, "ttfb_ms": 2.5, "duration_ms": 7.0, "status": 200, "outcome": "ok",
    }  # fmt: skip
    return FetchLogRow(**{**values, **fields})


def balanced(frontier: Frontier, *domains: str) -> None:
    for domain in domains or (SHOP, NEWS):
        assert frontier.counts(domain) == frontier.recount(domain)
