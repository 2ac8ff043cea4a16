"""Where a crawl goes next from a page: its links, and the metas that may forbid to follow them.

The crawl's hot path: most pages are read without a tree (`plain_markup`), the others in one walk over theirs. What a link
is, is said in `links`, and all agree. Costs (30 KB, 150 anchors): a plain page 150 µs; a walk over a tree 40 µs and 0.3 µs
an anchor; a distinct address 2 µs where it must be joined and 0.2 µs where `LinkMemo` knows the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from .css import css
from .links import MAX_LINKS, base_in
from .plain_links import Pointers, TagMemo, read_plain
from .url_merging import STANDARD
from .url_policy import DEFAULT_POLICY, UrlPolicy
from .urls import MAX_URL_LENGTH, canonical, canonical_of_joined, in_document_encoding, joiner

__all__ = ["LinkMemo", "Outlinks", "outlinks", "plain_outlinks", "read_outlinks"]

#: One selector for everything: a walk over all elements costs more than leaving out the few that are no links.
_POINTERS = "[href],meta"

#: Pages of a domain that were not plain, one after the other, until only one in so many is looked at.
_MISSED, _ASKED_AGAIN = 8, 16
#: Domains of which that is known: what is forgotten costs a few looks.
_MOST_DOMAINS = 20_000

#: Merged links told of one page: a list may link each of its lines in several orders.
MAX_MERGED = 40


def _tag_id(tag: str) -> int:
    """The parser's number for a tag: comparing it is cheaper than making the name."""
    node = LexborHTMLParser(f"<{tag}>").css_first(tag)
    assert node is not None and node.tag_id is not None  # it has just been written there
    return node.tag_id


_ANCHORS = (_tag_id("a"), _tag_id("area"))
_META, _BASE = _tag_id("meta"), _tag_id("base")


@dataclass(slots=True)
class Outlinks:
    """`links`: (canonical URL, nofollow) of the distinct links in document order, without the page itself;
    nofollow when every anchor to it says so. `metas`: (name, content) as `robots_meta.robots_metas` gives them.
    `merged`: some links that rules of the site merge with others: (form by the standards alone, canonical form);
    only of addresses that were joined for this page, which `LinkMemo` has not answered."""

    links: list[tuple[str, bool]]
    metas: list[tuple[str, str]]
    merged: list[tuple[str, str]]


class LinkMemo:
    """How the addresses on the pages of one folder resolve: navigation stands on all of them.

    Exact, not a guess: what is remembered depends on nothing of the page but its folder and the policy of its
    domain. Two generations of `room` addresses, 250 bytes each: what is asked for again stays. `tags`: the same of the
    tags of plain pages.
    """

    def __init__(self, room: int = 32_768) -> None:
        self.tags = TagMemo()
        self._not_plain: dict[str, int] = {}
        self._room = self._left = room
        self._folders: dict[tuple[str, str], dict[str, str | None]] = {}
        self._older: dict[tuple[str, str], dict[str, str | None]] = {}

    def folder(self, domain: str, base: str) -> tuple[dict[str, str | None], dict[str, str | None]] | None:
        """The answers for documents with this base, to be read and added to, and older ones that are still true; None
        for a base that is not spelled as the URL parser spells it."""
        end = base.find("?")
        slash = base.rfind("/", 0, end if end >= 0 else len(base))
        if slash < 8 or "\\" in base or "#" in base:
            return None
        if self._left <= 0:
            self._folders, self._older = {}, self._folders
            self._left = self._room
        place = (domain, base[: slash + 1])
        return self._folders.setdefault(place, {}), self._older.get(place, {})

    def added(self, count: int) -> None:
        self._left -= count

    def may_be_plain(self, domain: str) -> bool:
        """Whether to look: pages of one site are made alike, and where none was plain most need not be asked."""
        missed = self._not_plain.get(domain, 0)
        return missed < _MISSED or missed % _ASKED_AGAIN == 0

    def was_plain(self, domain: str, *, plain: bool) -> None:
        if not plain:
            if len(self._not_plain) > _MOST_DOMAINS:
                self._not_plain.clear()
            self._not_plain[domain] = self._not_plain.get(domain, 0) + 1
        elif domain in self._not_plain:
            del self._not_plain[domain]


def _same_in_folder(ref: str) -> bool:
    """Whether all documents of a folder mean the same by `ref`.

    Not so for the empty address and one that is only a query (after blanks, which the parser strips), nor for
    ``http:`` without slashes; a query in another encoding than UTF-8 depends on the document too.
    """
    return (
        len(ref) <= MAX_URL_LENGTH
        and ref.isascii()
        and ref[:1] > " "
        and ref[0] != "?"
        and (":" not in ref or ref.startswith(("http://", "https://")))
    )


def read_outlinks(
    tree: LexborHTMLParser,
    page_url: str,
    encoding: str = "utf-8",
    policy: UrlPolicy = DEFAULT_POLICY,
    *,
    memo: LinkMemo | None = None,
    domain: str = "",
) -> Outlinks:
    """See `Outlinks`. `memo` with the `domain` whose policy this is: remembers across pages.

    Raw addresses are made distinct before they are joined: a page has some 185 anchors with 75 addresses.
    """
    hints: dict[str, bool] = {}
    metas: list[tuple[str, str]] = []
    bases = []
    for node in css(tree, _POINTERS):
        tag = node.tag_id
        if tag in _ANCHORS:
            attributes = node.attributes
            href = (attributes.get("href") or attributes.get("xlink:href") or "").partition("#")[0]
            if hints.get(href, True):
                rel = attributes.get("rel")
                hints[href] = rel is not None and "nofollow" in rel.lower().split()
        elif tag == _META:
            attributes = node.attributes
            if name := attributes.get("name"):
                metas.append((name, attributes.get("content") or ""))
        elif tag == _BASE:
            bases.append(node)
    return _outlinks((hints, metas), page_url, base_in(bases, page_url), encoding, policy, memo, domain)


def plain_outlinks(
    markup: bytes,
    page_url: str,
    encoding: str,
    policy: UrlPolicy,
    *,
    memo: LinkMemo,
    domain: str,
) -> Outlinks | None:
    """What `read_outlinks` finds in the tree of `markup` (UTF-8), without one; None where that takes a tree."""
    if not memo.may_be_plain(domain):
        memo.was_plain(domain, plain=False)
        return None
    pointers = read_plain(markup, memo.tags)
    memo.was_plain(domain, plain=pointers is not None)
    return pointers and _outlinks(pointers, page_url, page_url, encoding, policy, memo, domain)


def _outlinks(
    pointers: Pointers,
    page_url: str,
    base: str,
    encoding: str,
    policy: UrlPolicy,
    memo: LinkMemo | None,
    domain: str,
) -> Outlinks:
    hints, metas = pointers
    merged: list[tuple[str, str]] = []
    answers = memo.folder(domain, base) if memo is not None else None
    if answers is None:
        return Outlinks(_resolved(hints, page_url, base, encoding, policy, {}, {}, merged), metas, merged)
    known, older = answers
    before = len(known)
    links = _resolved(hints, page_url, base, encoding, policy, known, older, merged)
    assert memo is not None  # it gave `known`
    memo.added(len(known) - before)
    return Outlinks(links, metas, merged)


def _resolved(
    hints: dict[str, bool],
    page_url: str,
    base: str,
    encoding: str,
    policy: UrlPolicy,
    known: dict[str, str | None],
    older: dict[str, str | None],
    merged: list[tuple[str, str]],
) -> list[tuple[str, bool]]:
    """The canonical form of each address that has one; answers that hold in the whole folder go to `known`, those that
    were asked for in `older` as well."""
    own = canonical(page_url, policy)
    resolve: Callable[[str], str | None] | None = None
    found: dict[str, bool] = {}
    for href, nofollow in hints.items():
        try:
            url = known[href]
        except KeyError:
            if href in older:
                url = known[href] = older[href]
            else:
                if resolve is None:
                    resolve = joiner(base)
                url = _address(href, resolve, encoding, policy, merged)
                if _same_in_folder(href):
                    known[href] = url
        if url is not None and url != own:
            found[url] = nofollow and found.get(url, True)
            if len(found) >= MAX_LINKS:
                break
    return list(found.items())


def _address(
    href: str,
    resolve: Callable[[str], str | None],
    encoding: str,
    policy: UrlPolicy,
    merged: list[tuple[str, str]],
) -> str | None:
    if len(href) > MAX_URL_LENGTH:
        return None
    joined = resolve(href if href.isascii() else in_document_encoding(href, encoding))
    if joined is None or len(joined) > MAX_URL_LENGTH:
        return None
    url = canonical_of_joined(joined, policy)
    if (policy.touches_path or (policy.touches_query and "?" in joined)) and len(merged) < MAX_MERGED:
        standard = canonical_of_joined(joined, STANDARD)
        if standard != url:
            merged.append((standard, url))
    return url


def outlinks(
    tree: LexborHTMLParser, page_url: str, encoding: str = "utf-8", policy: UrlPolicy = DEFAULT_POLICY
) -> list[tuple[str, bool]]:
    """`read_outlinks(…).links`."""
    return read_outlinks(tree, page_url, encoding, policy).links
