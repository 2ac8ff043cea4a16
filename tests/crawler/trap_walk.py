"""A crawl of a made-up web as the crawl loop does it, night after night, around a trap guard: no network, no clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from resources.crawler.traps.guard import Held, Refusal, TrapGuard
from resources.crawler.traps.trust import Trust
from resources.frontier.base import Claim, Discovery, Source
from resources.web.urls import key

__all__ = ["SITE", "Walk", "Web", "page"]

SITE = "https://shop.example"
#: From a path to (body, links), None: no such page.
Web = Callable[[str], tuple[str, list[str]] | None]


def page(main: str, links: Iterable[str] = (), *, title: str = "A shop") -> tuple[str, list[str]]:
    """A page with the frame that all pages of a site have; `links` stand in it as anchors that say nothing."""
    shown = list(links)
    anchors = "".join(f"<li><a href='{link}'>More</a></li>" for link in shown)
    frame = "<header><a href='/'>Home</a><nav><a href='/about'>About</a></nav></header>"
    foot = "<footer><p>A shop that sells things. All prices with tax.</p></footer>"
    return (
        f"<html><head><title>{title}</title></head><body>{frame}<main>{main}</main><ul>{anchors}</ul>{foot}</body></html>",
        ["/", "/about", *shown],
    )


@dataclass
class Walk:
    """`night` after night; `asked` holds the paths requested in the last one, `fetched` those that ever brought a page."""

    web: Web
    seeds: list[str]
    saved: str | None = None
    nights: int = 0
    asked: list[str] = field(default_factory=list)
    fetched: set[str] = field(default_factory=set)
    excluded: dict[str, str] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)
    trust: Trust = field(default_factory=Trust)
    guard: TrapGuard = field(default_factory=lambda: TrapGuard("shop.example", 0.0))

    def night(self, at_most: int = 20_000) -> list[str]:
        """Crawl what is pending: the first night everything, later what was excluded and may be asked again."""
        guard = self.guard = TrapGuard("shop.example", self.nights * 86_400.0, self.saved, self.trust)
        queue: deque[tuple[str, Source]] = deque()
        if not self.nights:
            queue.extend((SITE + seed, Source.SEED) for seed in self.seeds)
            self.met.update(url for url, _ in queue)
        self.nights += 1
        self.asked = []
        held: list[tuple[str, Source]] = []
        while len(self.asked) < at_most:
            for reason in guard.reconsider():
                again = [url for url, why in self.excluded.items() if why == reason]
                queue.extend((url, Source.LINK) for url in again)
                for url in again:
                    del self.excluded[url]
            if not queue:
                if not held:
                    break
                assert guard.stirred, "everything is held and nothing is on its way"
                guard.stirred = False
                queue.extend(held)
                held.clear()
            self._one(guard, *queue.popleft(), queue, held)
        self.saved = guard.to_json()
        return self.asked

    def _one(
        self,
        guard: TrapGuard,
        url: str,
        source: Source,
        queue: deque[tuple[str, Source]],
        held: list[tuple[str, Source]],
    ) -> None:
        claim = Claim(key(url), url, "shop.example", 0, 0, source, 0, 0, 1, 0.0)
        verdict = guard.judge(claim)
        if isinstance(verdict, Held):
            held.append((url, source))
            return
        if isinstance(verdict, Refusal):
            self.excluded[url] = verdict.reason
            if verdict.instead is not None and verdict.instead not in self.met:
                self.met.add(verdict.instead)
                queue.append((verdict.instead, Source.LINK))
            return
        path = url.removeprefix(SITE)
        self.asked.append(path)
        found = self.web(path)
        if found is None:
            guard.lost(claim)
            return
        self.fetched.add(path)
        body, links = found
        named = guard.rewrite([SITE + link for link in links])
        new = [Discovery(key(u), u, "shop.example") for u in dict.fromkeys(named) if u not in self.met]
        for each in guard.page(claim, body.encode(), key(body), named, new, lambda _: False):
            self.met.add(each.url)
            if each.excluded:
                self.excluded[each.url] = each.excluded
            else:
                queue.append((each.url, Source.LINK))
