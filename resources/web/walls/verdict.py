"""Is this body the page that was asked for? A verdict with kind, vendor and evidence.

How it decides, cheapest first:
1. a header only a refusal carries decides;
2. the status: 304, 204, redirects (by where they lead), 520-530 (the origin is down, no wall);
3. a 2xx page with many links or paragraphs whose title is no wall's title is cleared at once (a few µs);
4. else the page is looked at (0.1-0.2 ms): one strong mark of a vendor decides if the page has no content of its own;
   weaker signs (whole titles, sentences, widgets, error status) are added up.
Words in the text of a page with content decide nothing, and neither do cookies or scripts that only show that a
vendor is present.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from .header_marks import ANSWERING_SERVERS, BLOCK_HEADERS
from .markers import DATA_MARKS
from .page import Page, decoded, parse_page, plain_page
from .quick import has_content, wall_title
from .raw_marks import glance
from .redirects import judge_redirect
from .signs import Sign, score, strong_sign, structure

__all__ = ["DETECTOR_VERSION", "Verdict", "clear", "judge"]

#: Stored with each verdict; a quarantined body is judged again when this changes.
DETECTOR_VERSION = "2"

_BLOCK_HEADER_NAMES = frozenset(name for name, *_ in BLOCK_HEADERS)
_KEPT_HEADERS = frozenset({"server", "location", "content-type", "www-authenticate"})
#: Points that make a wall; see `signs`.
_ENOUGH = 4
#: Kinds a 5xx or 429 answer can still be beside what its status says.
_ACTIVE = frozenset({"challenge", "captcha", "hard_block", "rate_limit", "geo_block", "queue"})
#: Statuses that refuse without words: RFC 9110 and the numbers vendors made up.
_REFUSALS = {
    402: "paywall",
    418: "hard_block",
    429: "rate_limit",
    444: "hard_block",
    451: "geo_block",
    999: "hard_block",
}
#: Where an element of this class is, the text may say a code of Cloudflare's.
_CLOUDFLARE_CODE = b"cf-error-code"
_CLEAR_ERRORS = {404: "not_found", 410: "not_found", 408: "server_error", 425: "server_error"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """blocked: the body is not the page asked for.

    kind: challenge, captcha, hard_block, rate_limit, geo_block, forbidden, login_wall, consent_wall, paywall,
    queue, js_required, soft_404, parked, maintenance or empty; if not blocked ok, server_error, not_found,
    forbidden, no_content or not_modified. confidence: 0 to 1.
    """

    blocked: bool
    kind: str
    vendor: str | None = None
    evidence: tuple[str, ...] = ()
    confidence: float = 1.0


_OK = Verdict(False, "ok")


def judge(
    status: int,
    headers: Sequence[tuple[str, str]],
    body: bytes | str,
    url: str,
    tree: LexborHTMLParser | None = None,
    *,
    disposable: bool = False,
) -> Verdict:
    """The verdict on one answer. `body` is decoded (bytes: UTF-8), `url` the one that answered; `tree`, if the
    caller has parsed the body already, is left unchanged unless it is `disposable`. Never raises on content."""
    kept, header_sign = _read_headers(headers)
    if header_sign is None:
        if _clear(status, body):
            return _OK
        if status in (204, 205) or status < 200:
            return Verdict(False, "no_content")
        if status == 304:
            return Verdict(False, "not_modified")
        if 300 <= status < 400:
            sign = judge_redirect(url, kept.get("location", ""))
            return _OK if sign is None else _blocked(sign)
    content = _content(kept.get("content-type", ""), body)
    if content == "data":
        return _judge_data(status, kept, decoded(body), header_sign)
    if content == "text":
        page = plain_page(decoded(body))
    else:
        octets = body if isinstance(body, bytes) else body.encode("utf-8", "replace")
        seen = glance(octets)
        # Of a page that is not there only strong marks count: where none can be, its places need no look.
        plainly_gone = status in _CLEAR_ERRORS and not (seen.marks or _CLOUDFLARE_CODE in octets)
        detailed = not (200 <= status < 300 or plainly_gone)
        page = parse_page(body, tree, seen=seen, detailed=detailed, disposable=disposable)
    strong = header_sign
    found = strong_sign(page, error=status >= 400)
    if strong is None or (found is not None and found.vendor == strong.vendor):
        strong = found or strong
    empty = not page.weight and not decoded(body).strip()
    return _judge_page(status, kept, page, url, strong, content, empty=empty)


def clear(status: int, headers: Sequence[tuple[str, str]], body: bytes | str) -> Verdict | None:
    """The verdict of `judge` if it takes no look at the page (case 3), else None."""
    return _OK if _clear(status, body) and _read_headers(headers)[1] is None else None


def _clear(status: int, body: bytes | str) -> bool:
    return 200 <= status < 300 and status != 247 and has_content(body) and not wall_title(body)


def _read_headers(headers: Sequence[tuple[str, str]]) -> tuple[dict[str, str], Sign | None]:
    """Those that say something besides, the first of each name; the first that only a refusal carries."""
    kept: dict[str, str] = {}
    sign: Sign | None = None
    for name, value in headers:
        lower = name.lower()
        if lower in _KEPT_HEADERS:
            kept.setdefault(lower, value)
        elif lower in _BLOCK_HEADER_NAMES and sign is None:
            sign = _header_sign(lower, value)
    return kept, sign


def _header_sign(name: str, value: str) -> Sign | None:
    for header, pattern, vendor, kind in BLOCK_HEADERS:
        if header == name and pattern.search(value.strip()):
            return Sign(kind, vendor, f"header {name}: {value}"[:120], 10)
    return None


def _content(content_type: str, body: bytes | str) -> str:
    """html, text or data. A missing or unsure type is read from the first character."""
    kind = content_type.partition(";")[0].strip().lower()
    if "html" in kind:
        return "html"
    start = decoded(body[:1600])[:400].lstrip("\ufeff \t\r\n").lower()
    if not kind and (start.startswith("<") or not start):
        return "html"
    if kind in ("text/plain", "") and not start.startswith(("{", "[")):
        return "html" if start.startswith(("<!doctype html", "<html")) and not kind else "text"
    return "data"


def _judge_data(status: int, headers: dict[str, str], text: str, header_sign: Sign | None) -> Verdict:
    """JSON, XML, images and the like: only a vendor's own answer format or the status says no."""
    if header_sign is not None:
        return _blocked(header_sign)
    if len(text) < 20_000:
        for pattern, vendor, kind in DATA_MARKS:
            if found := pattern.search(text):
                return Verdict(True, kind, vendor, (f"answer format: {found[0][:80]}",), 0.95)
    if status in _CLEAR_ERRORS:
        return Verdict(False, _CLEAR_ERRORS[status])
    if status >= 500 and status != 999:
        return Verdict(False, "server_error")
    if status in _REFUSALS:
        return Verdict(True, _REFUSALS[status], _server(headers), (f"status {status}",), 0.9)
    if status == 401 and "www-authenticate" in headers:
        return Verdict(False, "forbidden", None, ("header www-authenticate",))
    if 400 <= status < 500:
        kind = headers.get("content-type", "").lower()
        an_api = "json" in kind or (not kind and text.lstrip()[:1] in ("{", "["))
        if status != 403 or an_api:
            return Verdict(False, "forbidden")
        bucket = "<code>accessdenied</code>" in text[:1000].lower()
        return Verdict(True, "forbidden", "s3" if bucket else _server(headers), ("status 403",), 0.5)
    if not text.strip() and "json" in headers.get("content-type", "").lower():
        return Verdict(True, "empty", None, ("no body",), 0.8)
    return _OK


def _judge_page(
    status: int,
    headers: dict[str, str],
    page: Page,
    url: str,
    strong: Sign | None,
    content: str,
    *,
    empty: bool,
) -> Verdict:
    if status == 999:
        vendor = "linkedin" if "linkedin" in url else (strong.vendor if strong else None)
        return Verdict(True, "hard_block", vendor, ("status 999",), 0.95)
    if strong is not None and not (520 <= status <= 530 and strong.vendor == "cloudflare"):
        if strong.kind == "server_error":
            return Verdict(False, "server_error", strong.vendor, (strong.evidence,))
        if status == 429 and strong.kind == "hard_block":
            strong = Sign("rate_limit", strong.vendor, strong.evidence, strong.points)
        if status == 451 and strong.kind == "hard_block":
            strong = Sign("geo_block", strong.vendor, strong.evidence, strong.points)
        return _blocked(strong)
    if status in _CLEAR_ERRORS:
        return Verdict(False, _CLEAR_ERRORS[status])
    if status == 247:
        return Verdict(True, "challenge", "reblaze", ("status 247",), 0.9)
    best = score(page, url, status)
    enough = best is not None and best.points >= _ENOUGH
    if status >= 500:
        if best is not None and enough and best.kind in _ACTIVE and not 520 <= status <= 530:
            return _blocked(best)
        return Verdict(False, "server_error", "cloudflare" if 520 <= status <= 530 else None)
    if status >= 400:
        return _judge_refusal(status, headers, best if enough else None)
    if best is not None and enough:
        return _blocked(best)
    if content == "html" or not urlsplit(url).path.lower().endswith((".txt", ".css", ".js", ".map")):
        shell = structure(page, empty=empty)
        if shell is not None:
            return _blocked(shell)
    return _OK


def _judge_refusal(status: int, headers: dict[str, str], best: Sign | None) -> Verdict:
    """4xx other than 404 and 410, without a strong mark."""
    server = _server(headers)
    if status in _REFUSALS:
        beside = best is not None and best.kind in ("captcha", "challenge", "queue", "geo_block")
        if best is not None and beside and status in (418, 429, 444):
            return _blocked(best)
        return Verdict(
            True, _REFUSALS[status], server or (best.vendor if best else None), (f"status {status}",), 0.95
        )
    if best is not None and best.kind in _ACTIVE | {"login_wall", "paywall", "consent_wall", "js_required"}:
        return _blocked(
            best if best.vendor or not server else Sign(best.kind, server, best.evidence, best.points)
        )
    if server is not None and status in (401, 403, 405, 406, 409, 415, 428):
        return Verdict(True, "hard_block", server, (f"status {status} of server {server}",), 0.7)
    if status == 401:
        return Verdict(True, "login_wall", None, ("status 401",), 0.9)
    if status == 428:
        return Verdict(True, "challenge", None, ("status 428",), 0.7)
    if status == 403:
        return Verdict(True, "forbidden", None, ("status 403",), 0.5)
    return Verdict(False, "forbidden", None, (f"status {status}",), 0.5)


def _server(headers: dict[str, str]) -> str | None:
    server = headers.get("server", "").lower()
    return next((vendor for mark, vendor in ANSWERING_SERVERS if mark in server), None) if server else None


def _blocked(sign: Sign) -> Verdict:
    return Verdict(True, sign.kind, sign.vendor, tuple(sign.evidence.split("\n")), min(1.0, sign.points / 8))
