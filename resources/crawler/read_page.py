"""One page, read: its links, whether to follow them, is it a wall. What crosses to another process and back.

A pure function of everything it depends on: `PageReader` (page_links.py) calls it here or has it called in a child.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from resources.record import record
from resources.web.html_document import parse_and_tell
from resources.web.http_fields import field_lines
from resources.web.links import extract
from resources.web.outlinks import LinkMemo, read_outlinks
from resources.web.robots_meta import robots_directives
from resources.web.urls import UrlPolicy, canonical_of_joined
from resources.web.walls import Verdict
from resources.web.walls import judge as judge_wall

__all__ = ["ReadPage", "ReadTask", "read_task"]


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
