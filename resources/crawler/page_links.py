"""Reads what the crawl itself needs from a page: its encoding, its links, whether to follow them, is it a wall.

Everything else (titles, items, anchors) is read by the parse stage from the stored body. The parser is native
code: `ParserGuard` says which pages it may see in this process, and which are read in another.
"""

from __future__ import annotations

from resources.fetcher.base import FetchResult
from resources.web.encoding import to_utf8
from resources.web.html_type import is_html
from resources.web.outlinks import LinkMemo
from resources.web.walls import Verdict
from resources.web.walls import judge as judge_wall

from .parser_guard import ParserGuard
from .read_page import ReadPage, ReadTask, read_task
from .territory import DomainRules

__all__ = ["PageReader"]

#: Bodies larger than this are stored but their links are not followed at crawl time, and no wall is that large.
MAX_PARSE = 10_000_000


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
