"""A URL's record as bytes, as Redis keeps it; `lua/record.lua` reads and writes the same layout.

Little-endian: age (4), state, source (1 each), depth (2), priority (4, signed), attempts, fetches (2 each),
redirects (1), status (2, 0: none), flags (2), discovered_at (double). While nothing but depth and priority would
say anything, and each fits one byte, the head is short: 128 is added to the source, depth and priority have one byte
each, and attempts, fetches, redirects and status are left out. Then what the flags say is there:

====  ==============  =========================      ====  ========  =====================================
   1  not_before      double                           64  hash      its length (1), the content hash
   2  done_at         double                          128  cause     its length (2), UTF-8
   4  due_at          double                          256  detail    its length (2), UTF-8
   8  lastmod         double                          512  parent    the 16-byte key
  16  next_eligible   double                         1024  the URL begins with https:// and the domain
  32  failed_at       double                         2048  the URL begins with http:// and the domain
====  ==============  =========================      ====  ========  =====================================

and last the URL, without its beginning where a flag stands for it. The age is the place in the order of
discovery among the domain's URLs of the same priority; scripts give it, so records travel without it.

Costs: 18 bytes (29 once it was fetched) and the URL without `https://domain`, 16 more with a parent.
"""

from __future__ import annotations

import struct

from resources.frontier.base import Ack, Claim, Discovery, Source, State, UrlRecord

__all__ = ["ack_bytes", "claim_of", "discovery_bytes", "record_bytes", "record_of", "text"]

_AGE = 4
_LONG, _SHORT = struct.Struct("<BBHiHHBHHd"), struct.Struct("<BBBbHd")
_IS_SHORT = 128
_DOUBLE = struct.Struct("<d")
_LENGTH = struct.Struct("<H")
_ACK = struct.Struct("<BBHdddd")
_TIMES = ("not_before", "done_at", "due_at", "lastmod", "next_eligible_at", "failed_at")
_LASTMOD, _HASH, _CAUSE, _DETAIL, _PARENT, _HTTPS, _HTTP = 8, 64, 128, 256, 512, 1024, 2048
_NONE = float("nan")
#: Longest cause or detail that is kept; a URL has no bound here.
_TEXT_MAX = 4096


def text(raw: bytes) -> str:
    """Text as it was given, lone surrogates included."""
    return raw.decode("utf-8", "surrogatepass")


def _raw(words: str) -> bytes:
    return words.encode("utf-8", "surrogatepass")


def _short(words: str) -> bytes:
    raw = _raw(words)
    return raw if len(raw) <= _TEXT_MAX else raw[:_TEXT_MAX].decode("utf-8", "ignore").encode()


def _tail(url: str, domain: str, parent: bytes | None) -> tuple[int, bytes]:
    flags, raw = 0, b""
    if parent is not None:
        if len(parent) != 16:
            raise ValueError(f"{url}: the key of its parent has 16 bytes, not {len(parent)}")
        flags, raw = _PARENT, parent
    for flag, scheme in ((_HTTPS, "https://"), (_HTTP, "http://")):
        if domain and url.startswith(scheme + domain):
            return flags | flag, raw + _raw(url[len(scheme) + len(domain) :])
    return flags, raw + _raw(url)


def _head(
    state: State,
    source: Source,
    depth: int,
    priority: int,
    numbers: tuple[int, int, int, int],
    flags: int,
    discovered_at: float,
) -> bytes:
    """The fields that are always there; `numbers`: attempts, fetches, redirects, status."""
    if not any(numbers) and depth < 256 and -128 <= priority < 128:
        return _SHORT.pack(state, source | _IS_SHORT, depth, priority, flags, discovered_at)
    attempts, fetches, redirects, status = numbers
    return _LONG.pack(
        state, source, min(depth, 65535), priority, min(attempts, 65535), min(fetches, 65535),
        min(redirects, 255), status, flags, discovered_at,
    )  # fmt: skip


def discovery_bytes(found: Discovery, now: float) -> bytes:
    """The record of a URL that was just met, without its age."""
    flags, tail = _tail(found.url, found.domain, found.parent)
    parts = b""
    if found.lastmod is not None:
        flags |= _LASTMOD
        parts = _DOUBLE.pack(found.lastmod)
    if found.excluded:
        flags |= _CAUSE
        cause = _short(found.excluded)
        parts += _LENGTH.pack(len(cause)) + cause
    state = State.EXCLUDED if found.excluded else State.PENDING
    head = _head(state, found.source, found.depth, found.priority, (0, 0, found.redirects, 0), flags, now)
    return head + parts + tail


def record_bytes(row: UrlRecord) -> bytes:
    """A whole record, without its age."""
    flags, tail = _tail(row.url, row.domain, row.parent)
    parts = []
    for number, name in enumerate(_TIMES):
        value = getattr(row, name)
        if value is not None:
            flags |= 1 << number
            parts.append(_DOUBLE.pack(value))
    if row.content_hash:
        flags |= _HASH
        parts.append(bytes([len(row.content_hash)]) + row.content_hash)
    for flag, words in ((_CAUSE, row.cause), (_DETAIL, row.detail)):
        if words:
            flags |= flag
            raw = _short(words)
            parts.append(_LENGTH.pack(len(raw)) + raw)
    numbers = (row.attempts, row.fetches, row.redirects, row.status or 0)
    head = _head(row.state, row.source, row.depth, row.priority, numbers, flags, row.discovered_at)
    return head + b"".join(parts) + tail


def record_of(key: bytes, domain: str, value: bytes, owner: bytes = b"", until: bytes = b"") -> UrlRecord:
    """The record in `value`; `owner` and `until` of its lease, b"" if it has none."""
    attempts = fetches = redirects = status = 0
    if value[_AGE + 1] & _IS_SHORT:
        state, source, depth, priority, flags, discovered_at = _SHORT.unpack_from(value, _AGE)
        source, at = source - _IS_SHORT, _AGE + _SHORT.size
    else:
        state, source, depth, priority, attempts, fetches, redirects, status, flags, discovered_at = (
            _LONG.unpack_from(value, _AGE)
        )
        at = _AGE + _LONG.size
    row = UrlRecord(
        key, "", domain, State(state), depth, priority, Source(source), None, discovered_at, attempts, fetches,
        redirects, status=status or None, lease_until=float(until) if until else None, lease_owner=text(owner),
    )  # fmt: skip
    for number, name in enumerate(_TIMES):
        if flags & 1 << number:
            setattr(row, name, _DOUBLE.unpack_from(value, at)[0])
            at += 8
    if flags & _HASH:
        row.content_hash = value[at + 1 : at + 1 + value[at]]
        at += 1 + value[at]
    for flag, name in ((_CAUSE, "cause"), (_DETAIL, "detail")):
        if flags & flag:
            (length,) = _LENGTH.unpack_from(value, at)
            setattr(row, name, text(value[at + 2 : at + 2 + length]))
            at += 2 + length
    if flags & _PARENT:
        row.parent = value[at : at + 16]
        at += 16
    scheme = "https://" if flags & _HTTPS else "http://" if flags & _HTTP else ""
    row.url = (scheme + domain if scheme else "") + text(value[at:])
    return row


def claim_of(key: bytes, domain: str, value: bytes, token: bytes, until: float) -> Claim:
    """What a worker is told of a URL it may fetch."""
    row = record_of(key, domain, value)
    return Claim(
        key, row.url, domain, row.depth, row.priority, row.source, row.attempts, row.redirects,
        int.from_bytes(token, "big"), until, row.done_at, row.parent,
    )  # fmt: skip


def ack_bytes(ack: Ack) -> bytes:
    """What `commit.lua` applies to the record: verdict, whether it counts, status, instants, texts, hash."""
    instants = (ack.at, ack.due_at, ack.not_before, ack.next_eligible_at)
    cause, detail, content_hash = _short(ack.cause), _short(ack.detail), ack.content_hash or b""
    return b"".join(
        (
            _ACK.pack(
                ack.verdict, 1 if ack.counts_attempt else 0, ack.status or 0,
                *(_NONE if instant is None else instant for instant in instants),
            ),
            _LENGTH.pack(len(cause)), cause, _LENGTH.pack(len(detail)), detail,
            bytes([len(content_hash)]), content_hash,
        )
    )  # fmt: skip
