"""Where a redirect leads: to the page, or to a login, a consent page, a queue, a challenge, the home page."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

from .header_marks import LOCATION_MARKS
from .signs import Sign

__all__ = ["judge_redirect"]

#: Addresses of a home page; leading from one of them to `/` is tidying up, not a dead URL.
_HOME = re.compile(
    r"/?(index|default|home|main|start|welcome|logout|signout|log-out|sign-out)?(\.\w{2,5})?/?|/[a-z]{2}([-_][a-z]{2,4})?/?(index\.\w+)?",
    re.I,
)
_HOME_TARGET = re.compile(r"/?|/[a-z]{2}([-_][a-z]{2})?/?|/(index|home)(\.\w{2,5})?/?", re.I)

#: Longer ones only cost time in the patterns.
_MAX_URL = 2000


def judge_redirect(url: str, location: str) -> Sign | None:
    """A sign if the target is not the page asked for. A target mark that the asked URL has too proves nothing:
    who asks for `/login` gets `/login/`."""
    if not location.strip():
        return None
    try:
        target = urljoin(url, location.strip())[:_MAX_URL]
        asked, led = urlsplit(url), urlsplit(target)
        asked_host, led_host = asked.hostname or "", led.hostname or ""
    except ValueError:
        return None
    for pattern, vendor, kind in LOCATION_MARKS:
        if pattern.search(target) and not pattern.search(url):
            return Sign(kind, vendor, f"redirect to {target}"[:200], 7)
    same_site = asked_host.removeprefix("www.") == led_host.removeprefix("www.")
    if same_site and not led.query and _HOME_TARGET.fullmatch(led.path) and not _HOME.fullmatch(asked.path):
        return Sign("soft_404", None, f"redirect to the home page {target}"[:200], 5)
    return None
