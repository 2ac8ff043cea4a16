"""Rules of one user agent, compiled for many questions.

The rule with the most octets wins; of equally long ones an `allow` wins (RFC 9309 2.2.2). `*` stands for
any characters and a final `$` for the end. Octets are counted in the normal spelling of `paths`, so that
`/%7Eann` and `/~ann` are the same rule with the same weight. A value that begins with neither `/` nor `*`
matches nothing. `Allow: /shop/index.html` allows `/shop/` as well, as all large parsers read it.

**Cost.** A question costs one dictionary lookup for each distinct length of a plain rule, plus one
substring test for each wildcard rule that could begin like the path. No backtracking: pieces
between wildcards are found leftmost, one after the other, so one rule is linear in path and rule whatever
the file says. Decisions are made when rules are compiled; a question allocates nothing but the path.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .paths import escape, match_path

__all__ = ["Decision", "Rule", "RuleSet"]

#: Wildcard rules are filed under this many leading characters: `/` and two that tell folders apart.
_HEAD = 3


@dataclass(frozen=True, slots=True)
class Decision:
    """May a URL be fetched, and which line of robots.txt (1-based) says so; no line: nothing speaks of it."""

    allowed: bool
    line: int | None
    rule: str


_NO_RULE = Decision(True, None, "no rule matches")
_ROBOTS_TXT = Decision(True, None, "robots.txt itself is always allowed")


class Rule:
    """One `Allow` or `Disallow` line with a value."""

    __slots__ = ("allow", "anchored", "decision", "line", "octets", "pieces")

    def __init__(self, allow: bool, value: str, line: int, written: str | None = None) -> None:
        """`written` is what the file says where that is not `value`."""
        self.allow = allow
        self.line = line
        self.anchored = value.endswith("$")
        body = value[:-1] if self.anchored else value
        pieces = [escape(piece) for piece in body.split("*")]
        # A `$` inside the value is one octet of the rule, though its normal spelling has three.
        self.octets = (
            sum(map(len, pieces)) - 2 * body.count("$") + len(pieces) - 1 + (1 if self.anchored else 0)
        )
        # `**` matches what `*` matches: only first and last piece may be empty.
        self.pieces = (pieces[0], *(p for p in pieces[1:-1] if p), *pieces[1:][-1:])
        self.decision = Decision(allow, line, f"{'Allow' if allow else 'Disallow'}: {written or value}")

    @classmethod
    def read(cls, allow: bool, value: str, line: int) -> list[Rule]:
        """The rule a line stands for, and for an allowed index page that of its folder."""
        rules = [cls(allow, value, line)]
        folder, slash, page = value.rpartition("/")
        if allow and slash and page in ("index.html", "index.htm"):
            rules.append(cls(True, f"{folder}/$", line, written=value))
        return rules

    @property
    def plain(self) -> bool:
        """A prefix and nothing else, whose length is its weight."""
        return len(self.pieces) == 1 and not self.anchored and self.octets == len(self.pieces[0])

    @property
    def order(self) -> tuple[int, bool, int]:
        """Sorts the winner first."""
        return (-self.octets, not self.allow, self.line)

    def matches(self, path: str) -> bool:
        """Whether the rule speaks of `path` (in normal spelling)."""
        pieces = self.pieces
        first = pieces[0]
        if not path.startswith(first):
            return False
        if len(pieces) == 1:
            return not self.anchored or len(path) == len(first)
        at = len(first)
        for piece in pieces[1:-1]:
            at = path.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
        last = pieces[-1]
        if self.anchored:
            return len(path) - len(last) >= at and path.endswith(last)
        return path.find(last, at) >= 0


class RuleSet:
    """All rules that hold for one product token, ready to `decide`."""

    __slots__ = ("_anywhere", "_by_head", "_lengths", "_plain", "_rules")

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = sorted(rules, key=lambda rule: rule.order)
        self._plain: dict[str, int] = {}
        self._by_head: dict[str, list[tuple[int, str]]] = {}
        self._anywhere: list[tuple[int, str]] = []
        for rank, rule in enumerate(self._rules):
            prefix = rule.pieces[0]
            if rule.plain:
                self._plain.setdefault(prefix, rank)
                continue
            # What a path has to contain whatever else: a cheap test before `matches`.
            entry = (rank, max(rule.pieces, key=len))
            if len(prefix) >= _HEAD:
                self._by_head.setdefault(prefix[:_HEAD], []).append(entry)
            else:
                self._anywhere.append(entry)
        self._lengths = sorted({len(prefix) for prefix in self._plain}, reverse=True)

    def __len__(self) -> int:
        return len(self._rules)

    def __repr__(self) -> str:
        return f"<RuleSet of {len(self._rules)} rules, {len(self._plain)} of them plain prefixes>"

    def decide(self, url: str) -> Decision:
        """The decision for an absolute URL or a path with its query. Never raises.

        The host is not looked at: ask the robots.txt of the URL's own origin.
        """
        path = match_path(url)
        if path == "/robots.txt":
            return _ROBOTS_TXT
        rules = self._rules
        best = len(rules)
        plain = self._plain
        for length in self._lengths:
            rank = plain.get(path[:length])
            if rank is not None:
                best = rank
                break
        # Ranks rise, so each list is left at the first rule that matches or cannot win any more.
        for entries in (self._by_head.get(path[:_HEAD], ()), self._anywhere):
            for rank, needed in entries:
                if rank >= best:
                    break
                if needed in path and rules[rank].matches(path):
                    best = rank
                    break
        return rules[best].decision if best < len(rules) else _NO_RULE
