"""From a request to the bytes of its answer: gatekeeper, workers, faults, then validators and codings.

Bodies are rendered, coded and given their heads once, then kept until night or behaviour change, so that an
ordinary answer costs two look-ups and a join. Memory: the rendered site, about 10 KB a page; the endless pages
of traps and unknown URLs are not kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime

from practice_site.faults import FAULTY_KINDS, NO_FAULT, Faults
from practice_site.gatekeeper import Gatekeeper
from practice_site.request_log import RequestLog, SeenRequest
from practice_site.resource import Resource
from practice_site.shop import Shop
from practice_site.site_config import SiteConfig
from practice_site.wire import (
    LEAST_TO_CODE,
    REFUSALS,
    Answer,
    Coding,
    Request,
    accepted_coding,
    coded,
    ending,
    head,
)
from practice_site.worker_pool import WorkerPool

__all__ = ["Responder"]


class _Prepared:
    """A resource with its heads and coded bodies, made when first asked for."""

    __slots__ = ("etag", "fixed", "resource", "variants")

    def __init__(self, resource: Resource, fixed: list[tuple[str, str]], etag: str) -> None:
        self.resource = resource
        self.fixed = fixed
        self.etag = etag
        self.variants: dict[Coding, tuple[bytes, bytes]] = {}


class Responder:
    """Answers for one site and logs what it answered. Not thread-safe; never waits."""

    def __init__(
        self,
        config: SiteConfig,
        origin: str,
        log: RequestLog,
        clock: Callable[[], float],
        epoch: Callable[[], float],
    ) -> None:
        self.origin = origin
        self.log = log
        self.in_flight = 0
        self._clock = clock
        self._epoch = epoch
        self.gatekeeper = Gatekeeper(config.behaviour, clock, epoch)
        self.workers = WorkerPool(config.behaviour, clock)
        self.apply(config, ())

    def apply(self, config: SiteConfig, neighbours: Sequence[str]) -> None:
        """Switch to `config`. Attempts are counted anew on a new night; buckets, bans and queues stay."""
        self.config = config
        self.behaviour = config.behaviour
        self._neighbours = tuple(neighbours)
        self._shop: Shop | None = None
        self.faults = Faults(config)
        self.gatekeeper.behaviour = self.workers.behaviour = config.behaviour
        self._prepared: dict[str, _Prepared] = {}

    @property
    def shop(self) -> Shop:
        """Built at the first request, so that thousands of domains start at once."""
        if self._shop is None:
            self._shop = Shop(self.config, self.origin, self._neighbours)
        return self._shop

    def forget(self) -> None:
        """As if no request had ever come."""
        self.gatekeeper.forget()
        self.workers.forget()
        self.faults.forget()
        self.log.reset()

    def answer(self, request: Request) -> Answer:
        behaviour = self.behaviour
        target = request.target
        prepared = self._prepared.get(target) or self._prepare(target)
        # 1. the site is down, 2. the gatekeeper refuses, 3. all workers and waiting places are taken,
        # 4. the page has a fault at this attempt, 5. an ordinary answer.
        if behaviour.down != "off":
            return self._down(request, prepared)
        refusal = self.gatekeeper.judge(request.client)
        if refusal is not None:
            extra = [("Retry-After", refusal.retry_after)] if refusal.retry_after else []
            if refusal.outcome == "walled":
                extra.append(("cf-mitigated", "challenge"))
            return self._refuse(request, prepared, refusal.status, refusal.outcome, extra)
        delay = behaviour.latency
        if behaviour.workers:
            waiting = self.workers.admit()
            if waiting is None:
                return self._refuse(request, prepared, 503, "overloaded", [])
            delay += waiting
        fault = NO_FAULT
        if self.faults.any and prepared.resource.kind in FAULTY_KINDS and prepared.resource.status == 200:
            fault = self.faults.next(target)
        if fault.kind == "error":
            extra = [("Retry-After", "1")] if fault.status == 503 and behaviour.error_retry_after else []
            return self._refuse(request, prepared, fault.status, "error", extra, delay)
        return self._page(request, prepared, delay + fault.seconds, truncated=fault.kind == "truncated")

    def finished(self) -> None:
        """An answer with a delay has been sent (or its client has gone)."""
        self.in_flight -= 1

    def _page(self, request: Request, prepared: _Prepared, delay: float, *, truncated: bool) -> Answer:
        resource = prepared.resource
        coding: Coding = ""
        if resource.compressible and len(resource.body) >= LEAST_TO_CODE:
            coding = accepted_coding(request.header(b"accept-encoding"), self.behaviour.compression)
        variant = prepared.variants.get(coding)
        if variant is None:
            variant = prepared.variants[coding] = self._variant(prepared, coding)
        start, body = variant
        status, outcome = resource.status, "ok"
        if status == 200 and self._is_unchanged(request, prepared):
            status, outcome, body = 304, "not_modified", b""
            start = head(
                304, [pair for pair in prepared.fixed if pair[0] not in {"Content-Type", "Location"}]
            )
            if prepared.etag:
                start += f"ETag: {_etag(prepared.etag, coding)}\r\n".encode()
        elif request.method == "HEAD":
            body = b""
        elif truncated:
            body, outcome = body[: len(body) // 2], "truncated"
        return self._send(request, prepared, status, outcome, start, body, delay, close=truncated)

    def _prepare(self, target: str) -> _Prepared:
        resource = self.shop.resolve(target)
        behaviour = self.behaviour
        fixed = [("Content-Type", resource.content_type)]
        etag = ""
        if resource.location:
            # Both forms are allowed and common (RFC 9110, 10.2.2): clients must join.
            absolute = "" if resource.status in {307, 308} else self.shop.origin
            fixed.append(("Location", absolute + resource.location))
        if resource.last_modified and behaviour.last_modified:
            fixed.append(("Last-Modified", format_datetime(resource.last_modified, usegmt=True)))
        if resource.status == 200:
            control = behaviour.cache_control_static if resource.static else behaviour.cache_control
            if control:
                fixed.append(("Cache-Control", control))
            if behaviour.etag != "off":
                tag = hashlib.blake2b(resource.body, digest_size=8).hexdigest()
                etag = f'W/"{tag}"' if behaviour.etag == "weak" else f'"{tag}"'
        if behaviour.compression != "off":
            fixed.append(("Vary", "Accept-Encoding"))
        prepared = _Prepared(resource, [*fixed, *resource.headers], etag)
        if resource.kept:
            self._prepared[target] = prepared
        return prepared

    def _variant(self, prepared: _Prepared, coding: Coding) -> tuple[bytes, bytes]:
        body = coded(prepared.resource.body, coding)
        headers = [*prepared.fixed, ("Content-Length", str(len(body)))]
        if coding:
            headers.append(("Content-Encoding", coding))
        if prepared.etag:
            headers.append(("ETag", _etag(prepared.etag, coding)))
        return head(prepared.resource.status, headers), body

    def _is_unchanged(self, request: Request, prepared: _Prepared) -> bool:
        """RFC 9110, 13.2.2: If-None-Match decides alone when it is there, else If-Modified-Since."""
        if b"if-none-match" in request.headers:
            if not prepared.etag:
                return False
            ours = _opaque(prepared.etag)
            theirs = request.header(b"if-none-match")
            return theirs.strip() == "*" or any(_opaque(tag) == ours for tag in theirs.split(","))
        modified = prepared.resource.last_modified
        if (
            b"if-modified-since" not in request.headers
            or modified is None
            or not self.behaviour.last_modified
        ):
            return False
        return modified <= _http_date(request.header(b"if-modified-since"))

    def _down(self, request: Request, prepared: _Prepared) -> Answer:
        if self.behaviour.down == "503":
            return self._refuse(request, prepared, 503, "down", [])
        self._note(request, prepared, 0, "down", 0, 0.0)
        return Answer(b"", drop="reset" if self.behaviour.down == "reset" else "hang")

    def _refuse(
        self,
        request: Request,
        prepared: _Prepared,
        status: int,
        outcome: str,
        extra: list[tuple[str, str]],
        delay: float = 0.0,
    ) -> Answer:
        body = REFUSALS[outcome]
        headers = [("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(body))), *extra]
        sent = b"" if request.method == "HEAD" else body
        return self._send(request, prepared, status, outcome, head(status, headers), sent, delay)

    def _send(
        self,
        request: Request,
        prepared: _Prepared,
        status: int,
        outcome: str,
        start: bytes,
        body: bytes,
        delay: float,
        close: bool = False,
    ) -> Answer:
        self._note(request, prepared, status, outcome, len(body), delay)
        close = close or request.closing
        return Answer(b"".join((start, ending(int(self._epoch()), close), body)), delay, close)

    def _note(
        self, request: Request, prepared: _Prepared, status: int, outcome: str, size: int, delay: float
    ) -> None:
        if delay > 0:
            self.in_flight += 1
        log = self.log
        busy = self.in_flight if delay > 0 else self.in_flight + 1
        if busy > log.in_flight_peak:
            log.in_flight_peak = busy
        headers = request.headers
        log.append(
            SeenRequest(
                len(log.entries) + 1,
                self._clock(),
                self._epoch(),
                request.client,
                request.connection,
                request.method,
                request.target,
                prepared.resource.kind,
                status,
                outcome,
                size,
                b"if-none-match" in headers or b"if-modified-since" in headers,
                delay,
                request.header(b"user-agent"),
                request.header(b"accept-encoding"),
                self.config.night,
            )
        )


def _etag(tag: str, coding: Coding) -> str:
    """Strong tags differ by coding, as the bytes do; weak ones need not."""
    return f'{tag[:-1]}-{coding}"' if coding and not tag.startswith("W/") else tag


def _opaque(tag: str) -> str:
    """What two tags of the same page have in common: no W/, quotes or coding (weak comparison)."""
    return tag.strip().removeprefix("W/").strip('"').partition("-")[0]


def _http_date(text: str) -> datetime:
    """The moment, or the beginning of time if it cannot be read: an unreadable condition is ignored."""
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
