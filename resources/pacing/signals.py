"""The signs of a ban that are not a 429: a jump in 403s, walls, empty or shrunken bodies, failing requests.

Each kind is a bit in the last 32 answers and a long-run share. A sign is a *jump*: the recent share is far above
the domain's own. A domain that always had a third of forbidden pages is not in trouble; one that never had any is.
"""

from __future__ import annotations

from resources.pacing.base import Observation, Outcome

__all__ = ["SIGN_FORBIDDEN", "SIGN_SERVER", "SIGN_SHRUNK", "SIGN_TIMEOUT", "SIGN_WALL", "Signals"]

SIGN_FORBIDDEN = "403"
SIGN_WALL = "wall"
SIGN_SHRUNK = "empty bodies"
SIGN_SERVER = "5xx"
SIGN_TIMEOUT = "timeouts"
_KINDS = (SIGN_FORBIDDEN, SIGN_WALL, SIGN_SHRUNK, SIGN_SERVER, SIGN_TIMEOUT)

_WINDOW_MASK = (1 << 32) - 1
# Signs needed among the last 32 answers, beyond what the long-run share explains. Walls are rarely innocent.
_NEEDED = {SIGN_FORBIDDEN: 6, SIGN_WALL: 2, SIGN_SHRUNK: 6, SIGN_SERVER: 6, SIGN_TIMEOUT: 4}
# A body this much smaller than usual counts as shrunken ...
_SHRUNK_BELOW = 0.2
# ... when the usual size is known from that many pages.
_PAGES_TO_KNOW = 20
_BODY_FOLLOW = 0.05
_LONG_RUN_MIN = 32
# How much of the share at a reaction is taken for the domain's own from then on.
_BELIEVED_STEP, _BELIEVED_MAX = 0.25, 1.0


class Signals:
    """The recent answers of one domain."""

    __slots__ = ("_bits", "_long", "_reactions", "_seen", "bodies", "usual_body")

    def __init__(self, usual_body: float | None = None) -> None:
        self._bits = [0] * len(_KINDS)
        self._long = [0.0] * len(_KINDS)
        self._reactions = [0] * len(_KINDS)
        self._seen = 0
        self.usual_body = usual_body or 0.0
        self.bodies = _PAGES_TO_KNOW if usual_body else 0

    def good(self, body_bytes: int) -> None:
        """The usual case, kept cheap: a page with a body that is not shrunken."""
        self._seen += 1
        bits = self._bits
        if any(bits):
            for index in range(len(bits)):
                bits[index] = (bits[index] << 1) & _WINDOW_MASK
        self.bodies += 1
        self.usual_body += (body_bytes - self.usual_body) * max(_BODY_FOLLOW, 1.0 / self.bodies)

    @property
    def usual_body_known(self) -> float | None:
        """The mean body size in bytes once enough pages were seen."""
        return self.usual_body if self.bodies >= _PAGES_TO_KNOW else None

    def is_shrunk(self, observation: Observation) -> bool:
        """Whether a 200 brought an empty or much smaller body than this page (else: this domain) usually does."""
        usual = observation.usual_body_bytes
        if usual is None:
            if self.bodies < _PAGES_TO_KNOW:
                return False
            # Pages of one domain differ; only (nearly) nothing counts against the mean.
            return observation.body_bytes < min(256.0, _SHRUNK_BELOW * self.usual_body)
        return observation.body_bytes < _SHRUNK_BELOW * usual

    def seen(self, observation: Observation) -> str:
        """Record an answer; the sign that has jumped, or the empty string."""
        kind = self._kind(observation)
        if kind is None:
            if observation.outcome == Outcome.OK and observation.status == 200:
                self.good(observation.body_bytes)
            else:
                self._seen += 1
                self._bits = [(bits << 1) & _WINDOW_MASK for bits in self._bits]
            return ""
        self._seen += 1
        self._bits = [((bits << 1) | (index == kind)) & _WINDOW_MASK for index, bits in enumerate(self._bits)]
        recent = self._bits[kind].bit_count()
        name = _KINDS[kind]
        usual = self._long[kind] / self._seen * 32 if self._seen > _LONG_RUN_MIN else 0.0
        self._long[kind] += 1
        return name if recent >= _NEEDED[name] + 2 * usual else ""

    def reacted(self, sign: str) -> None:
        """After a reaction the next one needs fresh signs, and more of them each time.

        When going slower does not help, a share that stays is the domain's own: a forbidden folder, thin pages.
        """
        kind = _KINDS.index(sign)
        share = self._bits[kind].bit_count() / 32
        self._reactions[kind] += 1
        believed = min(_BELIEVED_MAX, _BELIEVED_STEP * self._reactions[kind])
        self._long[kind] = max(self._long[kind], self._seen * share * believed)
        self._bits = [0] * len(_KINDS)

    def _kind(self, observation: Observation) -> int | None:
        outcome, status = observation.outcome, observation.status
        if outcome == Outcome.WALL:
            return 1
        if outcome == Outcome.TIMEOUT:
            return 4
        if status == 403:
            return 0
        if status is not None and status >= 500 and status != 503:
            return 3
        if status == 200 and outcome == Outcome.OK and self.is_shrunk(observation):
            return 2
        return None
