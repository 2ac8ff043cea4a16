"""Links that a site's rules have merged with others: a bounded sample per domain and rule, kept between nights.

A page that is confirmed by a 304 names no links, so the sample of earlier nights is kept: `PAIRS` links of each of at
most `RULES` rules, 20 KB a domain at the very worst. Each link met has the same chance to be in it (reservoir
sampling; Vitter 1985, algorithm R). A link that several rules changed stands under all of them together.
Where the rules merge nothing, nothing is gathered and nothing kept.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from resources.web.url_merging import merging_rules
from resources.web.url_policy import UrlPolicy
from resources.web.urls import canonical

from ..outlinks import authority

__all__ = ["MergeSample", "MergedPair", "sample_name"]

#: Links kept of one rule: enough for a few nights whose first choice is not stored or not to be compared.
PAIRS = 5
#: Rules of one domain: a site file has a handful, the tracking list some forty.
RULES = 40
#: Longer spellings are no use as an example.
MAX_URL = 1_000
#: The same night: a domain is audited again after that long.
AGAIN_AFTER_S = 12 * 3600.0
_VERSION = 1
#: Between the rules of a link that several changed.
AND = " + "

Outcome = Literal["same", "different", "unclear"]


def sample_name(domain: str) -> str:
    """Under which a sample is kept among the frontier's named values."""
    return f"merged:{domain}"


@dataclass(frozen=True, slots=True)
class MergedPair:
    """One comparison. `rules`: those that merged `url` into `canonical`; `distance`: 0 equal, 1 nothing in common."""

    rules: tuple[str, ...]
    url: str
    canonical: str
    outcome: Outcome
    words: str
    distance: float = 0.0


class MergeSample:
    """One domain's. `saved`: what `to_json` gave; spellings that `policy` no longer merges alike are forgotten."""

    def __init__(self, domain: str, policy: UrlPolicy, saved: str | None, rng: random.Random) -> None:
        known: dict[str, Any] = json.loads(saved) if saved else {}
        if known.get("version") != _VERSION:
            known = {}
        self._domain = domain
        self._policy = policy
        self._rng = rng
        #: By rules: how many links were met, and the chosen ones (spelling to canonical form).
        self._met: dict[str, int] = {}
        self._chosen: dict[str, dict[str, str]] = {}
        for label, (met, pairs) in known.get("links", {}).items():
            kept = {url: to for url, to in pairs if self._label(url, to) == label}
            if kept:
                self._met[label], self._chosen[label] = met, kept
        self.audited_at: float = known.get("audited_at", 0.0)
        #: What the last audit found.
        self.found = [
            pair
            for values in known.get("found", ())
            if self._label((pair := MergedPair(**values | {"rules": tuple(values["rules"])})).url, pair.canonical)
            == AND.join(pair.rules)
        ]  # fmt: skip
        self.dirty = False

    def __repr__(self) -> str:
        return f"<MergeSample {self._domain}: {len(self._chosen)} rules>"

    def __len__(self) -> int:
        return sum(map(len, self._chosen.values()))

    def _label(self, url: str, to: str) -> str:
        """The rules that merge `url` into `to` now; empty when they do not."""
        return AND.join(merging_rules(url, self._policy)) if canonical(url, self._policy) == to else ""

    def saw(self, merged: Iterable[tuple[str, str]]) -> None:
        """Links of a page: (standard form, canonical form) where the two differ. Those elsewhere are not asked."""
        for url, to in merged:
            if len(url) > MAX_URL or authority(to) != self._domain:
                continue
            label = AND.join(merging_rules(url, self._policy))
            chosen = self._chosen.get(label)
            if chosen is None:
                if not label or len(self._chosen) >= RULES:
                    continue
                chosen = self._chosen[label] = {}
            if url in chosen:
                continue
            met = self._met[label] = self._met.get(label, 0) + 1
            if len(chosen) >= PAIRS:
                place = self._rng.randrange(met)
                if place >= PAIRS:
                    continue
                del chosen[list(chosen)[place]]
            chosen[url] = to
            self.dirty = True

    def due(self, now: float) -> bool:
        """Whether there is something to ask that was not asked this night."""
        return bool(self._chosen) and now - self.audited_at >= AGAIN_AFTER_S

    def candidates(self) -> Iterator[tuple[str, str, str]]:
        """(rules, spelling, canonical form), in turn one of each rule; links that one rule alone changed first.

        Those of several rules come last: only what they say of a rule that has no link of its own is news.
        """
        alone = [label for label in self._chosen if AND not in label]
        known = set(alone)
        together = [
            label for label in self._chosen if AND in label and not known.issuperset(label.split(AND))
        ]
        orders = {label: list(pairs.items()) for label, pairs in self._chosen.items()}
        for pairs in orders.values():
            self._rng.shuffle(pairs)  # not the same ones every night
        for labels in (alone, together):
            for place in range(PAIRS):
                for label in labels:
                    if place < len(orders[label]):
                        yield (label, *orders[label][place])

    def to_json(self) -> str:
        """The state to start the next night from."""
        links = {label: [self._met[label], list(pairs.items())] for label, pairs in self._chosen.items()}
        found = [asdict(pair) for pair in self.found]
        return json.dumps(
            {"version": _VERSION, "links": links, "audited_at": self.audited_at, "found": found}
        )
