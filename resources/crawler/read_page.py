"""One page, read: its links, whether to follow them, is it a wall. What crosses to another process and back.

A pure function of everything it depends on: `PageReader` (page_links.py) calls it here or has it called in a child.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from resources.record import record
from resources.web.html_document import parse_and_tell
from resources.web.http_fields import field_lines
from resources.web.links import extract
from resources.web.outlinks import LinkMemo, Outlinks, plain_outlinks, read_outlinks
from resources.web.robots_meta import robots_directives
from resources.web.urls import UrlPolicy, canonical_of_joined
from resources.web.walls import Verdict, clear
from resources.web.walls import judge as judge_wall

__all__ = ["SMALL_TREE", "ReadPage", "ReadTask", "read_task"]

#: The tree of a page up to this size costs no more than finding out that it is not needed.
SMALL_TREE = 12_000


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
    """Read, without a tree where none is needed: a plain page that shows at once that it is no wall.

    Parsing is bounded in time and memory by `parse_html`, for all that is known of the parser.
    """
    verdict: Verdict | None = None
    if memo is not None and not task.frames and len(task.utf8) > SMALL_TREE:
        verdict = clear(task.status, task.headers, task.utf8)
        if verdict is not None and (plain := _read_plain(task, memo)) is not None:
            return _page(task, _links(task, plain), verdict, plain)
    tree, cut = parse_and_tell(task.utf8)
    found = read_outlinks(tree, task.url, task.encoding, task.policy, memo=memo, domain=task.domain)
    links = _links(task, found)
    if task.frames and links is not None:
        framed = extract(tree, task.url, task.encoding, frames=True).frames
        links = list(dict.fromkeys([*links, *(canonical_of_joined(url, task.policy) for url in framed)]))
    if verdict is None:
        verdict = judge_wall(task.status, task.headers, task.utf8, task.url, tree, disposable=True)
    return _page(task, links, verdict, found, str(cut or ""))


def _read_plain(task: ReadTask, memo: LinkMemo) -> Outlinks | None:
    return plain_outlinks(task.utf8, task.url, task.encoding, task.policy, memo=memo, domain=task.domain)


def _page(
    task: ReadTask, links: list[str] | None, verdict: Verdict, found: Outlinks, cut: str = ""
) -> ReadPage:
    return ReadPage(
        task.encoding, task.encoding_source, links or [], links is not None, verdict, found.merged, cut
    )


def _links(task: ReadTask, found: Outlinks) -> list[str] | None:
    """Those to follow; None if the page forbids it."""
    if not task.obey_nofollow:
        return [url for url, _ in found.links]
    robots_tags = field_lines(task.headers, "x-robots-tag")
    if not robots_directives(found.metas, robots_tags, task.token).follow:
        return None
    return [url for url, nofollow in found.links if not nofollow]
