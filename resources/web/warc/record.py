"""One record of an archive, and one piece of damage.

A record keeps its fields as they stood, in order, repeated ones too. Its block lives in memory up to 1 MiB
and in a temporary file beyond, so a record of any declared size costs bounded memory. Reading the payload is
lazy and bounded by the caller.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import BinaryIO, Literal

from .http_message import HttpHead, dechunk, decode_body, read_head, read_pieces

__all__ = ["Damage", "DamageKind", "Payload", "WarcRecord", "payload_digest"]

#: Largest decoded payload `WarcRecord.payload` gives unless told otherwise.
DEFAULT_PAYLOAD_LIMIT = 64 * 1024 * 1024
_HTTP_TYPES = ("response", "request", "revisit")
_ALGORITHMS = {"sha1", "sha256", "sha384", "sha512", "md5"}

#: Base64 digests occur in both alphabets (RFC 4648 sections 4 and 5).
_URL_SAFE = str.maketrans("+/", "-_")

DamageKind = Literal["torn", "corrupt", "header", "length", "garbage", "too_large", "not_addressable"]


@dataclass(frozen=True, slots=True)
class Payload:
    """A decoded payload. `cut` says that it was longer than the limit; `problems` what did not fit."""

    body: bytes
    cut: bool
    problems: tuple[str, ...]


@dataclass
class WarcRecord:
    """A record as read.

    offset, length: where it lies in the file, in file bytes; `addressable` is False when a reader cannot
    start at `offset` (several records in one gzip member, or one record across members).
    salvaged: found by searching behind damage, not by following lengths; a body may have forged it.
    remarks: oddities that do not touch the boundaries of the record.
    """

    version: str
    type: str
    headers: tuple[tuple[str, str], ...]
    block: BinaryIO
    block_length: int
    offset: int
    length: int = 0
    addressable: bool = True
    salvaged: bool = False
    remarks: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        return f"<WarcRecord {self.type} {self.target_uri} at {self.offset}+{self.length}, block {self.block_length}>"

    def header(self, name: str) -> str | None:
        """The first value of a WARC field, name in any case."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    @property
    def target_uri(self) -> str | None:
        """WARC-Target-URI without the angle brackets of the 1.0 grammar, blanks as %20 (no URI has any).

        ARC URLs are given as they stand: blanks in them are what the format's readers expect.
        """
        uri = self.header("WARC-Target-URI")
        if uri is None or self.version.startswith("ARC"):
            return uri
        if uri.startswith("<") and uri.endswith(">"):
            uri = uri[1:-1]
        return uri.replace(" ", "%20")

    @property
    def record_id(self) -> str | None:
        return self.header("WARC-Record-ID")

    @property
    def date(self) -> str | None:
        """WARC-Date as written (ISO 8601, UTC); for ARC converted to that form."""
        return self.header("WARC-Date")

    @cached_property
    def http(self) -> HttpHead | None:
        """Status line and fields of an HTTP block; None for other blocks (dns, warcinfo, resource …)."""
        if self.type not in _HTTP_TYPES:
            return None
        kind = (self.header("Content-Type") or "").lower()
        if self.version.startswith("WARC") and kind and not kind.startswith("application/http"):
            return None
        return read_head(self.block)

    def block_bytes(self) -> bytes:
        """The whole block. Costs its size in memory."""
        self.block.seek(0)
        return self.block.read()

    def payload(self, limit: int = DEFAULT_PAYLOAD_LIMIT) -> Payload:
        """The body as a client would see it: chunked framing and content codings undone."""
        problems: list[str] = []
        pieces = self._entity(problems)
        if self.http is not None:
            pieces = decode_body(pieces, self.http.all("content-encoding"), problems)
        body = bytearray()
        cut = False
        for piece in pieces:
            room = limit - len(body)
            body += piece[:room]
            if len(piece) > room:
                cut = True
                break
        return Payload(bytes(body), cut, tuple(problems))

    def block_digest_ok(self) -> bool | None:
        """Whether WARC-Block-Digest agrees; None if there is none or its algorithm is not known."""
        return _agrees(self.header("WARC-Block-Digest"), lambda: read_pieces(self.block, 0))

    def payload_digest_ok(self) -> bool | None:
        """Whether WARC-Payload-Digest agrees; None if it cannot be told (none, unknown, a revisit).

        ISO 28500: over the payload with its content coding. Writers differ on chunked framing, so both the
        framed and the unframed body count as agreement.
        """
        if self.type == "revisit":
            return None
        declared = self.header("WARC-Payload-Digest")
        start = self.http.size if self.http is not None else 0
        as_stored = _agrees(declared, lambda: read_pieces(self.block, start))
        if as_stored is not False:
            return as_stored
        return _agrees(declared, lambda: self._entity([]))

    def http_is_complete(self) -> bool:
        """Whether the block holds all of its HTTP message by the message's own Content-Length."""
        head = self.http
        if head is None:
            return False
        lengths = set(head.all("content-length"))
        declared = next(iter(lengths)) if len(lengths) == 1 else ""
        return (
            declared.isascii() and declared.isdigit() and self.block_length - head.size >= int(declared[:18])
        )

    def _entity(self, problems: list[str]) -> Iterator[bytes]:
        head = self.http
        if head is None:
            return read_pieces(self.block, 0)
        coding = ",".join(head.all("transfer-encoding")).lower()
        if "chunked" in [part.strip() for part in coding.split(",")]:
            return dechunk(self.block, head.size, problems)
        return read_pieces(self.block, head.size)


@dataclass(frozen=True, slots=True)
class Damage:
    """Something wrong with the file at a byte offset.

    partial: what could be read of the record it hit, if its header could; never to be taken for a whole one.
    """

    offset: int
    kind: DamageKind
    reason: str
    partial: WarcRecord | None = None

    def __str__(self) -> str:
        return f"byte {self.offset}: {self.reason}"


def payload_digest(body: bytes) -> str:
    """`sha1:` and base32, the form every archive tool writes (ISO 28500, 5.9)."""
    return "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode("ascii")


def _agrees(declared: str | None, pieces: Callable[[], Iterator[bytes]]) -> bool | None:
    if declared is None:
        return None
    algorithm, colon, value = declared.strip().partition(":")
    algorithm = algorithm.strip().lower().replace("-", "")
    value = value.strip()
    if not colon or not value or algorithm not in _ALGORITHMS:
        return None
    digest = hashlib.new(algorithm, usedforsecurity=False)
    for piece in pieces():
        digest.update(piece)
    raw = digest.digest()
    base32 = base64.b32encode(raw).decode("ascii").rstrip("=")
    base_64 = base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")
    bare = value.rstrip("=")
    return bare.upper() == base32 or value.lower() == raw.hex() or bare.translate(_URL_SAFE) == base_64
