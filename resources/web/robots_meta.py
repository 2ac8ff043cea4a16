"""What a page and its response tell robots: `<meta name=robots>` and X-Robots-Tag, the strictest of all.

No RFC defines them; the rules are those that the large search engines publish: values are a comma-separated
list, compared without case; a meta named after a bot, or a header line that begins with a bot's name, is for
that bot only; unknown values mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from selectolax.lexbor import LexborHTMLParser

from .http_date import parse_http_date

__all__ = ["Directives", "robots_directives", "robots_metas"]


@dataclass(frozen=True, slots=True)
class Directives:
    """What the page allows. `unavailable_after` is in epoch seconds; once it has passed, `index` is False.

    `max_snippet`, `max_video_preview` (seconds) are None or -1 for no limit; `max_image_preview` is ``none``,
    ``standard`` or ``large``.
    """

    index: bool = True
    follow: bool = True
    archive: bool = True
    snippet: bool = True
    image_index: bool = True
    translate: bool = True
    ai: bool = True
    image_ai: bool = True
    max_snippet: int | None = None
    max_image_preview: str | None = None
    max_video_preview: int | None = None
    unavailable_after: float | None = None


#: What most pages say.
_NOTHING_SAID = Directives()
#: Value -> the permissions it takes away.
_FORBIDS: dict[str, tuple[str, ...]] = {
    "noindex": ("index",),
    "nofollow": ("follow",),
    "none": ("index", "follow"),
    "noarchive": ("archive",),
    "nocache": ("archive",),
    "nosnippet": ("snippet",),
    "noimageindex": ("image_index",),
    "notranslate": ("translate",),
    "noai": ("ai",),
    "noimageai": ("image_ai",),
}
_NAMED_VALUES = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
#: A product token before a colon (RFC 9309 2.2.1 allows these characters).
_BOT_PREFIX = re.compile(r"\s*([A-Za-z][A-Za-z0-9_.-]*)\s*:(.*)", re.DOTALL)
_IMAGE_PREVIEWS = ("none", "standard", "large")


def robots_metas(tree: LexborHTMLParser) -> list[tuple[str, str]]:
    """(name, content) of the page's named metas, wherever they stand: in a body they hold as well."""
    return [
        (meta.attrs.get("name") or "", meta.attrs.get("content") or "")
        for meta in tree.css("meta[name][content]")
    ]


def robots_directives(
    metas: Iterable[tuple[str, str]], x_robots_tags: Iterable[str], bot: str, now: float | None = None
) -> Directives:
    """The strictest reading for `bot` (a product token) of (name, content) pairs and header lines.

    `now` (epoch seconds) decides whether `unavailable_after` has passed; the default is the real time.
    """
    token = bot.lower()
    values: list[str] = []
    for name, content in metas:
        if name.strip().lower() in ("robots", token):
            values.extend(_split(content))
    for line in x_robots_tags:
        values.extend(_of_header(line, token))
    return _strictest(values, now) if values else _NOTHING_SAID


def _split(content: str) -> list[str]:
    """Comma-separated values; a piece of a date that follows a comma goes back to its date."""
    found: list[str] = []
    for piece in content.split(","):
        previous = found[-1].lower() if found else ""
        if previous.lstrip().startswith("unavailable_after") and re.match(r"\s*\d", piece):
            found[-1] += "," + piece
        else:
            found.append(piece)
    return [piece.strip() for piece in found if piece.strip()]


def _of_header(line: str, token: str) -> Iterator[str]:
    """The values of one header line that are for `token`.

    A bot's name holds up to the next bot's name in the same line: proxies join lines.
    """
    meant = True
    for piece in _split(line):
        prefix = _BOT_PREFIX.fullmatch(piece)
        if prefix and prefix.group(1).lower() not in _NAMED_VALUES:
            meant = prefix.group(1).lower() in (token, "robots")
            piece = prefix.group(2).strip()
        if meant and piece:
            yield piece


def _strictest(values: Iterable[str], now: float | None) -> Directives:
    denied: set[str] = set()
    snippets: list[int] = []
    videos: list[int] = []
    images: list[int] = []
    moments: list[float] = []
    for value in values:
        name, colon, argument = value.partition(":")
        name, argument = name.strip().lower(), argument.strip()
        if not colon:
            denied.update(_FORBIDS.get(name, ()))
        elif name == "unavailable_after":
            moment = _moment(argument)
            moments += [] if moment is None else [moment]
        elif name == "max-image-preview" and argument.lower() in _IMAGE_PREVIEWS:
            images.append(_IMAGE_PREVIEWS.index(argument.lower()))
        elif name in ("max-snippet", "max-video-preview") and re.fullmatch(r"[0-9]{1,9}", argument):
            (snippets if name == "max-snippet" else videos).append(int(argument))
    ends = min(moments) if moments else None
    if ends is not None and ends <= (datetime.now(UTC).timestamp() if now is None else now):
        denied.add("index")
    allowed = dict.fromkeys(denied, False)
    return Directives(
        **allowed,
        max_snippet=min(snippets, default=None),
        max_image_preview=_IMAGE_PREVIEWS[min(images)] if images else None,
        max_video_preview=min(videos, default=None),
        unavailable_after=ends,
    )


def _moment(text: str) -> float | None:
    """Epoch seconds of a date in any of the forms that the engines take: RFC 822, RFC 850, ISO 8601."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return parse_http_date(text, lenient=True)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
