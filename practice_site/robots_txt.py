"""The shop's robots.txt, and what it forbids in this site's own terms (not a general matcher)."""

from __future__ import annotations

from practice_site.behaviour import Behaviour

__all__ = ["MOVED_TO", "is_allowed", "robots_txt"]

# Where `robots="redirect"` sends its readers.
MOVED_TO = "/robots-rules.txt"

DISALLOWED_PREFIXES = ("/account/", "/search")
ALLOWED_PREFIX = "/account/help"
DISALLOWED_PART = "sort="


def robots_txt(behaviour: Behaviour, origin: str) -> str:
    """The text; `origin` goes into the Sitemap line, which the RFC wants absolute."""
    lines = ["# Nightjar Books", "User-agent: *"]
    if behaviour.robots == "disallow_all":
        lines.append("Disallow: /")
    elif behaviour.robots == "allow_all":
        lines.append("Disallow:")
    else:
        lines += [
            "Disallow: /account/",
            f"Allow: {ALLOWED_PREFIX}",
            "Disallow: /search",
            f"Disallow: /*{DISALLOWED_PART}",
        ]
    if behaviour.crawl_delay:
        lines.append(f"Crawl-delay: {behaviour.crawl_delay:g}")
    lines += ["", "User-agent: greedybot", "Disallow: /", ""]
    if behaviour.sitemap != "off":
        lines += [f"Sitemap: {origin}/sitemap.xml", ""]
    return "\n".join(lines)


def is_allowed(behaviour: Behaviour, target: str) -> bool:
    """Whether a crawler other than greedybot may fetch `target` (path and query).

    1. a server error forbids everything (RFC 9309, 2.3.1.4), 2. no file allows everything,
    3. the file rules, the longest match first.
    """
    if behaviour.robots in {"error", "disallow_all"}:
        return False
    if behaviour.robots in {"none", "allow_all"}:
        return True
    if target.startswith(ALLOWED_PREFIX):
        return DISALLOWED_PART not in target
    return not target.startswith(DISALLOWED_PREFIXES) and DISALLOWED_PART not in target
