"""The nightly audit of merged URLs: asks a few links as they were spelled, and compares with the stored page.

Its requests go in the lane of their domain, after its pages: at the domain's pace and window, under its lease, asked
of robots.txt and scope like any other, at most `urls.audit` of them a night. They change no URL's state.

Numbered cases of a spelling's answer: 1. nothing to compare (failure, error status, wall, too large): unclear;
2. a redirect to the canonical URL: the server says the same as the rule; 3. a page whose words are those of the
stored one (`web.page_likeness`): the same; 4. anything else is a suspicion, and the canonical URL is asked as well:
the stored body may be old, and some pages differ at every request. Different is what then still differs by more than
twice of what the canonical page differs from itself.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resources.clock import Clock
from resources.fetcher.base import FetchResult
from resources.pages.base import PageHead, PageStoreError
from resources.web.encoding import to_utf8
from resources.web.html_type import is_html
from resources.web.page_likeness import Reading, distance, read_html, read_other
from resources.web.urls import canonical, join, key
from resources.web.walls import judge as judge_wall

from ..parser_guard import ParserGuard
from ..robots_gate import RobotsGate
from ..storage import Storage
from .sample import AND, MergedPair, MergeSample, Outcome, sample_name

if TYPE_CHECKING:
    from ..lane import Lane

__all__ = ["MergeAudit", "Probe"]

#: Words that may differ before a page is suspected of being another: dates, counters, a teaser.
ALIKE = 0.1
#: How much farther than from itself a page must be from another.
CLEARLY = 2.0
#: Links asked of one rule a night. Each costs one request, two where it is suspected.
PER_RULE = 3
REQUESTS_PER_PAIR = 2
#: Larger bodies would hold up the crawl: they are compared in its own loop.
MAX_BODY = 1_000_000
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a URL answered: a reading, or where it redirects to, or neither and why."""

    reading: Reading | None = None
    target: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """One request of an audit. With `answer`, that of the spelling, it asks the canonical URL."""

    label: str
    spelling: str
    canonical: str
    stored: PageHead
    answer: _Answer | None = None

    @property
    def url(self) -> str:
        """What is requested."""
        return self.spelling if self.answer is None else self.canonical


class MergeAudit:
    """`begin` fills a lane's probes, `answered` takes what came of one. Results are in the lane's sample."""

    def __init__(
        self, storage: Storage, gate: RobotsGate, clock: Clock, guard: ParserGuard, rng: random.Random
    ) -> None:
        self._storage = storage
        self._gate = gate
        self._clock = clock
        self._guard = guard
        self._rng = rng

    async def open(self, lane: Lane) -> None:
        """Give the lane the sample of earlier nights, to be added to."""
        get, name = self._storage.frontier.get_value, sample_name(lane.domain)
        saved = await self._storage.run(get, name)
        lane.merges = MergeSample(lane.domain, lane.rules.policy, saved, self._rng)

    def due(self, lane: Lane) -> bool:
        """Whether the lane's domain has anything to be asked this night."""
        sample = lane.merges
        return (
            sample is not None
            and lane.rules.site.urls.audit >= REQUESTS_PER_PAIR
            and sample.due(self._clock.now())
        )

    async def begin(self, lane: Lane) -> None:
        """Choose what is asked: links whose canonical page is stored, and which scope and robots.txt allow."""
        sample = lane.merges
        assert sample is not None
        sample.audited_at, sample.dirty, sample.found = self._clock.now(), True, []
        wanted = list(sample.candidates())
        keys = [key(to) for _, _, to in wanted]
        heads = await self._storage.patiently(self._storage.pages.heads, keys, domain=lane.domain)
        room = lane.rules.site.urls.audit // REQUESTS_PER_PAIR
        asked: dict[str, int] = {}
        for label, url, to in wanted:
            head = heads.get(key(to))
            if head is None or not 200 <= head.status <= 299 or asked.get(label, 0) >= PER_RULE:
                continue
            if not await self._allowed(lane, url):
                continue
            asked[label] = asked.get(label, 0) + 1
            lane.probes.append(Probe(label, url, to, head))
            if len(lane.probes) >= room:
                return

    async def _allowed(self, lane: Lane, url: str) -> bool:
        if lane.rules.exclusion(url, 0) is not None:
            return False
        return lane.rules.site.robots == "ignore" or (await self._gate.decide(url, lane.rules))[0].allowed

    async def answered(self, lane: Lane, probe: Probe, result: FetchResult) -> None:
        """Compare; a suspicion becomes one more probe."""
        assert lane.merges is not None
        answer = self._answer(lane, probe.url, result)
        if probe.answer is None:
            verdict = await self._first(lane, probe, answer)
        else:
            verdict = await self._second(lane, probe, probe.answer, answer)
        if isinstance(verdict, Probe):
            lane.probes.append(verdict)
        else:
            lane.merges.found.append(verdict)
            lane.merges.dirty = True

    async def _first(self, lane: Lane, probe: Probe, answer: _Answer) -> MergedPair | Probe:
        if answer.words:
            return _pair(probe, "unclear", answer.words)
        if answer.target == probe.canonical:
            return _pair(probe, "same", "the server redirects it to the canonical URL")
        if answer.reading is not None:
            stored = await self._stored(lane, probe)
            if stored is not None and (apart := distance(answer.reading, stored)) <= ALIKE:
                return _pair(probe, "same", _percent(apart), apart)
        return Probe(probe.label, probe.spelling, probe.canonical, probe.stored, answer)

    async def _second(self, lane: Lane, probe: Probe, spelled: _Answer, fresh: _Answer) -> MergedPair:
        if fresh.words:
            return _pair(probe, "unclear", f"the canonical URL: {fresh.words}")
        if spelled.target and spelled.target == fresh.target:
            return _pair(probe, "same", f"both redirect to {fresh.target}")
        if fresh.reading is None:
            return _pair(probe, "unclear", f"the canonical URL redirects to {fresh.target} now")
        if spelled.reading is None:
            return _pair(probe, "different", f"it redirects to {spelled.target}", 1.0)
        apart = distance(spelled.reading, fresh.reading)
        stored = await self._stored(lane, probe)
        own = distance(stored, fresh.reading) if stored is not None else 0.0
        if apart <= ALIKE:
            return _pair(probe, "same", f"{_percent(apart)}; the stored page is older", apart)
        words = f"{_percent(apart)}; from the stored one the canonical page differs by {own:.0%}"
        return _pair(probe, "different" if apart > CLEARLY * own else "unclear", words, apart)

    async def _stored(self, lane: Lane, probe: Probe) -> Reading | None:
        """The stored page's reading; None when it is not to be had (replaced meanwhile, damaged, too large)."""
        head = probe.stored
        try:
            body = await self._storage.run(self._storage.pages.body, head)
        except (KeyError, PageStoreError):
            return None
        types = [value for name, value in head.headers if name.lower() == "content-type"]
        return self._read(lane, head.url, body, types[0] if types else None)

    def _read(self, lane: Lane, url: str, body: bytes, content_type: str | None) -> Reading | None:
        """None: not to be parsed in this process."""
        if len(body) > MAX_BODY or self._guard.distrusts(key(url), lane.domain, body):
            return None
        if not is_html(content_type, body):
            return read_other(body)
        return self._guard.here(key(url), lane.domain, len(body), lambda: read_html(body, content_type))

    def _answer(self, lane: Lane, url: str, result: FetchResult) -> _Answer:
        status, content_type = result.status, result.header("content-type")
        if result.cause is not None or status is None:
            return _Answer(words=result.error or str(result.cause))
        if status in _REDIRECTS:
            joined = join(url, result.header("location") or "")
            target = canonical(joined, lane.rules.policy) if joined is not None else None
            return _Answer(target=target) if target else _Answer(words=f"status {status} without a target")
        if not 200 <= status <= 299:
            return _Answer(words=f"status {status}")
        reading = self._read(lane, url, result.body, content_type)
        if reading is None:
            return _Answer(words="too large or too odd to be compared")
        if is_html(content_type, result.body):
            utf8, _ = to_utf8(result.body, content_type)
            verdict = judge_wall(status, result.headers, utf8, url)
            if verdict.blocked:
                return _Answer(words=f"a wall: {verdict.kind}")
        return _Answer(reading)


def _pair(probe: Probe, outcome: Outcome, words: str, apart: float = 0.0) -> MergedPair:
    return MergedPair(
        tuple(probe.label.split(AND)), probe.spelling, probe.canonical, outcome, words, round(apart, 3)
    )


def _percent(apart: float) -> str:
    return f"{apart:.0%} of the words differ"
