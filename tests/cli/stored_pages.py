"""A small crawled domain without a crawl: rows and bodies as the crawler leaves them."""

from __future__ import annotations

from dataclasses import dataclass

import xxhash

from resources.frontier.base import Ack, Discovery, FetchLogRow, Verdict
from resources.installation import Installation
from resources.pages.base import Kind, PageHead, PageVersion
from resources.web.urls import key

__all__ = ["AT", "DOMAIN", "Stored", "store"]

DOMAIN = "shop.example"
AT = 1_767_225_600.0  # 2026-01-01


@dataclass(frozen=True)
class Stored:
    """One page to store."""

    path: str
    body: bytes
    at: float = AT
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"), ("ETag", '"v1"'))

    @property
    def url(self) -> str:
        return f"http://{DOMAIN}{self.path}"


def store(installation: Installation, *pages: Stored, failed: dict[str, str] | None = None) -> None:
    """`pages` done, `failed` (path to cause) as dead letters, all met on the front page."""
    frontier, bodies = installation.open_frontier(), installation.open_pages()
    urls = [p.url for p in pages] + [f"http://{DOMAIN}{path}" for path in failed or {}]
    parent = key(f"http://{DOMAIN}/")
    frontier.enqueue([Discovery(key(u), u, DOMAIN, 1, 20, parent=parent) for u in urls], AT)
    claims = {c.url: c for c in frontier.claim(DOMAIN, 1000, "test", 60.0, AT)}
    acks = []
    for page in pages:
        digest = xxhash.xxh3_128_digest(page.body)
        head = PageHead(
            key(page.url), page.url, DOMAIN, Kind.PAGE, 200, page.headers, digest, len(page.body), page.at, page.at,
            page.at, page.at, final_url=page.url, run_id="run-1", requested_at=page.at,
        )  # fmt: skip
        bodies.put([PageVersion(head, page.body)])
        if (claim := claims.pop(page.url, None)) is not None:
            log = FetchLogRow(page.url, DOMAIN, "run-1", "test", 1, page.at, 5.0, 9.0, 200, "ok")
            acks.append(
                Ack(
                    claim,
                    Verdict.DONE,
                    page.at,
                    due_at=page.at + 60,
                    status=200,
                    content_hash=digest,
                    log=log,
                )
            )
    for path, cause in (failed or {}).items():
        url = f"http://{DOMAIN}{path}"
        log = FetchLogRow(
            url, DOMAIN, "run-1", "test", 1, AT, None, 9.0, None, "failed", cause=cause, error="no luck"
        )
        acks.append(
            Ack(
                claims[url],
                Verdict.FAILED,
                AT,
                cause=cause,
                detail="no luck",
                next_eligible_at=AT + 600,
                log=log,
            )
        )
    frontier.commit(acks, AT)
    frontier.close()
    bodies.close()
