"""robots.txt as RFC 9309 says, and what sites write beside it. Pure: no I/O, no clock, no exceptions.

Reading order: `lines` (octets to records), `document` (records to groups), `paths` and `rules` (does a
rule speak of a URL), `agents` (who is addressed), `directives` (crawl delay and the like), `scope` (which
file governs a URL), `exchange` and `verdict` (what status codes, redirects and outages mean), `changes` (what is new).

    robots = parse(body)
    rules = robots.rules_for("nightcrawl")      # once per crawl
    rules.decide("https://shop.example/cart")   # -> Decision(allowed=False, line=4, rule="Disallow: /cart")
"""

from __future__ import annotations

from .agents import is_product_token, product_token
from .changes import diff
from .directives import RequestRate, VisitTime
from .document import Robots, parse
from .exchange import RobotsExchange
from .paths import escape, match_path
from .rules import Decision, RuleSet
from .scope import governs, robots_url
from .verdict import Answer, Copy, Outcome, Request, Verdict

__all__ = [
    "Answer",
    "Copy",
    "Decision",
    "Outcome",
    "Request",
    "RequestRate",
    "Robots",
    "RobotsExchange",
    "RuleSet",
    "Verdict",
    "VisitTime",
    "diff",
    "escape",
    "governs",
    "is_product_token",
    "match_path",
    "parse",
    "product_token",
    "robots_url",
]
