"""What a limiter looks like from outside: its rate and burst, from the requests it took and those it refused.

Model: a leaky bucket of capacity C (requests it takes at once) that leaks L requests a second; nginx `limit_req`
with burst b is C = b + 1. Each accepted request raises the level by one, a refused one does not count. For a
given L the level before each request follows from the accepted arrivals alone, so

* every accepted request proves C >= level after it,
* every refused request proves C < level it would have made.

One refusal leaves a curve of pairs (L, C); a second one at another pattern of arrivals cuts it. Between, prior
knowledge decides: limits are written by people, who write round numbers (20 r/s burst 5, 100 r/m, 1 r/s burst 10).

Cost: one pass over the arrivals for each candidate L, about 5 ms for 400 arrivals. It runs at refusals and at
reviews whose distance doubles, never per request.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["LimitEstimate", "estimate_limit", "level_bounds"]

# Mantissas people write, and how readily. Others are covered by the even grid below.
_ROUND = {
    1.0: 1.0, 1.2: 0.25, 1.5: 0.35, 2.0: 0.9, 2.5: 0.45, 3.0: 0.5, 4.0: 0.4, 5.0: 1.0, 6.0: 0.35, 7.5: 0.15, 8.0: 0.3,
}  # fmt: skip
# A rate of no particular roundness, per grid point: all together about a fifth of the belief.
_PLAIN = 0.03
_GRID_STEP = 1.04
# Bursts: nginx counts those beyond the first (C = b + 1), token buckets count all (C = b).
_CAPACITY = {
    1: 0.7, 2: 0.5, 3: 0.5, 4: 0.5, 5: 0.6, 6: 1.0, 7: 0.15, 8: 0.2, 9: 0.25, 10: 0.5, 11: 0.7, 12: 0.15, 13: 0.15,
    15: 0.25, 16: 0.25, 20: 0.5, 21: 0.7, 25: 0.15, 26: 0.2, 30: 0.3, 31: 0.3, 40: 0.2, 41: 0.2, 50: 0.4, 51: 0.4,
    60: 0.4, 61: 0.2, 100: 0.4, 101: 0.3, 120: 0.2, 200: 0.2, 300: 0.2, 500: 0.2, 600: 0.2, 1000: 0.2,
}  # fmt: skip
# Levels are known to that part of a request, and to what the noise of arrival times makes of them.
_NOISE, _NOISE_MAX = 0.08, 0.4
_TIME_NOISE_S, _TIME_NOISE_SHARE = 0.001, 0.1  # of the round trip
# Misses beyond so many noises are contradictions.
_TOLERANCE = 3.0
# Expected goodput alone would gamble on the highest rates.
_CAUTION = 1.1
# Weights this small mean that no leaky bucket explains what was seen.
_NONSENSE = 1e-4


@dataclass(slots=True, frozen=True)
class LimitEstimate:
    """A belief over limits: `rates` ascending (requests per second) with normalized `weights`."""

    rates: tuple[float, ...]
    weights: tuple[float, ...]
    best_rate: float
    best_capacity: float  # requests taken at once at the best rate

    def expected_best(self, above: float = 0.0) -> float:
        """The rate r that promises most: about r times the belief that the limit is r or more.

        `above`: suppose that the limit is higher than that.

        More caution would be paid with every request; a wrong guess costs one refusal, and corrects itself.
        """
        left, best, chosen = self.above(above), 0.0, self.rates[0]
        for rate, weight in zip(self.rates, self.weights, strict=True):
            if rate <= above:
                continue
            promise = rate * max(0.0, left) ** _CAUTION
            if promise > best:
                best, chosen = promise, rate
            left -= weight
        # The even grid has points just below every round number; the belief sits on the number.
        near = [
            (w, r)
            for r, w in zip(self.rates, self.weights, strict=True)
            if abs(r / chosen - 1) < _GRID_STEP - 1
        ]
        return max(near)[1]

    def above(self, rate: float) -> float:
        """The belief that the limit is higher than `rate`."""
        return sum(w for r, w in zip(self.rates, self.weights, strict=True) if r > rate)


def level_bounds(arrivals: Sequence[float], leak: float, whole: bool = True) -> tuple[float, float]:
    """(highest level after an accepted arrival, lowest level a refused one would have made) for a leak rate.

    `arrivals`: instants of sending, ascending by absolute value, refused ones negative. `inf` when none was refused.
    `whole`: nothing was sent before the first of them. Otherwise the level they found is unknown, and a refusal
    tells nothing until the bucket has been empty.
    """
    level = 0.0
    last = abs(arrivals[0]) if arrivals else 0.0
    highest = 0.0
    lowest = math.inf
    known = whole
    for instant in arrivals:
        if instant > 0:
            level -= leak * (instant - last)
            if level > 0.0:
                level += 1.0
            else:
                known = known or level < 0.0
                level = 1.0
            last = instant
            if level > highest:
                highest = level
        elif known:
            # Not clamped at an empty bucket: refused long after it was empty is a strong contradiction.
            would = level - leak * (-instant - last) + 1.0
            if would < lowest:
                lowest = would
    return highest, lowest


def estimate_limit(
    histories: Sequence[Sequence[float]],
    low: float,
    high: float,
    round_trip_s: float = 0.0,
    whole: Sequence[bool] | None = None,
    noisy: float = 1.0,
) -> LimitEstimate | None:
    """The belief over rates in [low, high] given stretches of arrivals (`whole`: each, see `level_bounds`).

    `noisy`: how many times the usual noise the times of arrival have; more on a machine with too much to do.

    None when no leaky bucket in that range explains them (another limiter, or traffic that is not ours).
    """
    rates: list[float] = []
    weights: list[float] = []
    best = (0.0, low, 1.0)
    for rate, prior in _candidates(low, high):
        noise = noisy * min(_NOISE_MAX, _NOISE + rate * (_TIME_NOISE_S + _TIME_NOISE_SHARE * round_trip_s))
        highest, lowest = 0.0, math.inf
        for history, all_of_it in zip(histories, whole or (True,) * len(histories), strict=True):
            above, below = level_bounds(history, rate, all_of_it)
            highest = max(highest, above)
            lowest = min(lowest, below)
            if highest > lowest + _TOLERANCE * noise:
                break
        weight, capacity = _capacity_weight(highest, lowest, noise)
        rates.append(rate)
        weights.append(prior * weight)
        if prior * weight > best[0]:
            best = (prior * weight, rate, capacity)
    total = sum(weights)
    if total < _NONSENSE:
        return None
    return LimitEstimate(tuple(rates), tuple(weight / total for weight in weights), best[1], best[2])


def _capacity_weight(highest: float, lowest: float, noise: float) -> tuple[float, float]:
    """How well any capacity fits `highest <= C < lowest`, and the one that fits best."""
    if highest > lowest + _TOLERANCE * noise:
        return 0.0, lowest
    total, best_weight, best_capacity = 0.0, 0.0, highest
    for capacity, prior in _CAPACITY.items():
        miss = max(0.0, highest - capacity, capacity - lowest)
        if miss > _TOLERANCE * noise:
            continue
        weight = prior * math.exp(-0.5 * (miss / noise) ** 2)
        total += weight
        if weight > best_weight:
            best_weight, best_capacity = weight, float(capacity)
    # A capacity nobody thought of is possible too.
    middle = highest if math.isinf(lowest) else (highest + lowest) / 2
    total += 0.03 * math.exp(-0.5 * (max(0.0, highest - lowest) / noise) ** 2)
    return total, best_capacity if best_weight else middle


def _candidates(low: float, high: float) -> list[tuple[float, float]]:
    """Rates to consider with their prior weight, ascending."""
    found = []
    rate = low
    while rate <= high:
        found.append((rate, _PLAIN))
        rate *= _GRID_STEP
    for unit, belief in ((1.0, 1.0), (60.0, 0.5)):  # per second, per minute
        decade = 10.0 ** math.floor(math.log10(low * unit))
        while decade <= high * unit:
            found.extend(
                (mantissa * decade / unit, weight * belief)
                for mantissa, weight in _ROUND.items()
                if low <= mantissa * decade / unit <= high and (unit == 1.0 or mantissa * decade / unit < 5)
            )
            decade *= 10.0
    found.sort()
    return found
