"""Bytes of HTTP/1.1 answers: heads, codings, dates, and what the refusals say. Pure functions."""

from __future__ import annotations

import gzip
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Literal, NamedTuple

import brotli

__all__ = ["CHALLENGE", "REFUSALS", "Answer", "Request", "accepted_coding", "coded", "ending", "head"]

Coding = Literal["", "gzip", "br"]
# Below this many bytes a coding makes bodies longer.
LEAST_TO_CODE = 200

CHALLENGE = b"""<!DOCTYPE html>
<html lang="en-US"><head><title>Just a moment...</title>
<meta name="robots" content="noindex,nofollow"><meta http-equiv="refresh" content="390">
</head><body><div class="main-wrapper" role="main"><div class="main-content">
<noscript><div id="challenge-error-text">Enable JavaScript and cookies to continue</div></noscript>
<p>Checking your browser before you enter the shop.</p></div></div>
<script>window._cf_chl_opt={cType:"managed"};</script>
<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script></body></html>
"""
REFUSALS: dict[str, bytes] = {
    "limited": b"<!DOCTYPE html><title>Too many requests</title><h1>Too many requests</h1>\n",
    "banned": b"<!DOCTYPE html><title>Forbidden</title><h1>Forbidden</h1><p>Your address is banned.</p>\n",
    "walled": CHALLENGE,
    "overloaded": b"<!DOCTYPE html><title>Busy</title><h1>The server is busy</h1>\n",
    "error": b"<!DOCTYPE html><title>Error</title><h1>Something went wrong</h1>\n",
    "down": b"<!DOCTYPE html><title>Down</title><h1>Down for maintenance</h1>\n",
}


class Request(NamedTuple):
    """One parsed request. Header names are lower case; a header sent twice keeps its last value."""

    method: str
    target: str
    headers: dict[bytes, bytes]
    client: str
    connection: int
    closing: bool
    """The connection ends after this answer."""

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")


class Answer(NamedTuple):
    payload: bytes
    delay: float = 0.0
    close: bool = False
    drop: Literal["", "reset", "hang"] = ""
    """Do not answer: abort the connection, or leave it open in silence."""


@lru_cache(maxsize=512)
def accepted_coding(accept_encoding: str, offered: str) -> Coding:
    """The coding to use. `offered`: both, gzip, brotli or off. q=0 refuses; brotli goes before gzip."""
    accepted = set()
    for part in accept_encoding.lower().split(","):
        name, _, parameter = part.partition(";")
        quality = parameter.strip().removeprefix("q=").strip()
        if not quality or quality.strip("0."):
            accepted.add(name.strip())
    if offered in {"both", "brotli"} and "br" in accepted:
        return "br"
    if offered in {"both", "gzip"} and accepted & {"gzip", "x-gzip"}:
        return "gzip"
    return ""


def coded(body: bytes, coding: Coding) -> bytes:
    """`body` in `coding`; equal bytes for equal input."""
    if coding == "gzip":
        return gzip.compress(body, 5, mtime=0)
    if coding == "br":
        packed: bytes = brotli.compress(body, quality=4)
        return packed
    return body


def head(status: int, headers: list[tuple[str, str]]) -> bytes:
    """Status line and headers without the empty line, which `ending` brings."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", "Server: nightjar"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n").encode("latin-1")


@lru_cache(maxsize=8)
def ending(epoch: int, closing: bool) -> bytes:
    """The Date header, Connection: close if need be, and the empty line."""
    connection = "Connection: close\r\n" if closing else ""
    return f"Date: {formatdate(epoch, usegmt=True)}\r\n{connection}\r\n".encode("latin-1")
