"""Reads what the crawl itself needs from a page: its encoding, its links, whether to follow them, is it a wall.

Everything else (titles, items, anchors) is read by the parse stage from the stored body. The parser is native
code: `ParserGuard` says which pages it may see in this process, and which are read in another.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from resources.fetcher.base import FetchResult
from resources.record import record
from resources.web.encoding import to_utf8
from resources.web.html_document import parse_and_tell
from resources.web.html_type import is_html
from resources.web.http_fields import field_lines
from resources.web.links import extract
from resources.web.outlinks import LinkMemo, read_outlinks
from resources.web.robots_meta import robots_directives
from resources.web.urls import UrlPolicy, canonical_of_joined
from resources.web.walls import Verdict
from resources.web.walls import judge as judge_wall

from .parser_guard import ParserGuard
from .territory import DomainRules

__all__ = ["PageReader", "ReadPage", "ReadTask", "read_task"]

#: Bodies larger than this are stored but their links are not followed at crawl time, and no wall is that large.
MAX_PARSE = 10_000_000


@dataclass(slots=True)
class ReadPage:
    """`links` are canonical, distinct and without the page itself; none for what is no HTML."""

    encoding: str
    encoding_source: str
    links: list[str]
    follow: bool
    verdict: Verdict
    merged: list[tuple[str, str]] = field(default_factory=list)
    """As in `web.outlinks.Outlinks`."""
    cut: str = ""
    """Where the markup was cut and why, in words; empty for all but hostile and broken pages."""


@record(slots=True, frozen=True)
class ReadTask:
    """A page and everything that reading it depends on: what crosses to another process."""

    utf8: bytes
    encoding: str
    encoding_source: str
    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    domain: str
    policy: UrlPolicy
    token: str
    obey_nofollow: bool
    frames: bool


def read_task(task: ReadTask, memo: LinkMemo | None = None) -> ReadPage:
    """Parse and read. Bounded in time and memory by `parse_html`, for all that is known of the parser."""
    tree, cut = parse_and_tell(task.utf8)
    found = read_outlinks(tree, task.url, task.encoding, task.policy, memo=memo, domain=task.domain)
    obey = task.obey_nofollow
    robots_tags = field_lines(task.headers, "x-robots-tag")
    follow = not obey or robots_directives(found.metas, robots_tags, task.token).follow
    links = [url for url, nofollow in found.links if not (nofollow and obey)] if follow else []
    if task.frames and follow:
        framed = extract(tree, task.url, task.encoding, frames=True).frames
        links = list(dict.fromkeys([*links, *(canonical_of_joined(url, task.policy) for url in framed)]))
    verdict = judge_wall(task.status, task.headers, task.utf8, task.url, tree, disposable=True)
    return ReadPage(task.encoding, task.encoding_source, links, follow, verdict, found.merged, str(cut or ""))


class PageReader:
    """Reads bodies, here or behind the wall. Remembers nothing but how addresses resolve."""

    def __init__(self, guard: ParserGuard | None = None) -> None:
        self._memo = LinkMemo()
        self._guard = guard or ParserGuard()

    async def read_apart(self, key: bytes, result: FetchResult, rules: DomainRules) -> ReadPage | None:
        """The page if it is one that must not be parsed in this process, else None: `read` it. ParserLost."""
        body = result.body
        if len(body) > MAX_PARSE or not self._guard.distrusts(key, rules.domain, body):
            return None
        if not is_html(result.header("content-type"), body):
            return None
        return await self._guard.child.read(self._task(result, rules))

    def read(self, key: bytes, result: FetchResult, rules: DomainRules) -> ReadPage:
        """Numbered cases: 1. no HTML: no links; 2. too large to be parsed: stored as it is; 3. a page."""
        body, content_type = result.body, result.header("content-type")
        status = result.status or 200
        if not is_html(content_type, body):
            return ReadPage("", "", [], False, judge_wall(status, result.headers, body, result.url))
        if len(body) > MAX_PARSE:
            return ReadPage("", "", [], False, Verdict(False, "ok"))
        task = self._task(result, rules)
        return self._guard.here(key, rules.domain, len(body), lambda: read_task(task, self._memo))

    def _task(self, result: FetchResult, rules: DomainRules) -> ReadTask:
        utf8, decision = to_utf8(result.body, result.header("content-type"))
        scope = rules.site.scope
        return ReadTask(
            utf8, decision.encoding, decision.source, result.url, result.status or 200, result.headers, rules.domain,
            rules.policy, rules.token, scope.nofollow == "obey", scope.iframes,
        )  # fmt: skip
