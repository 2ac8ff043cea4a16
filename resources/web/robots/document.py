"""A parsed robots.txt: who is addressed, by which rules, and what else it tells (RFC 9309 2.2).

Groups: user-agent lines one after the other share the rules that follow. Only a user-agent line after a
rule begins a new group; blank lines, comments, sitemaps, crawl delays and unknown lines never do. Groups
that name the same token are merged. A token nobody names falls to the `*` groups, else all is allowed.

Crawl-delay, Request-rate and Visit-time belong to no standard. Here, as in the files people write, they
hold for the user-agent lines directly above: another such line or a rule in between ends the run, so
that `User-agent: a / Crawl-delay: 1 / User-agent: b / Disallow: /` gives the delay to `a` alone while both
share the rule. A token that is named but given no delay does not inherit that of `*`. Of several delays
the longest is kept.

**Guarantees.** `parse` takes any octets, never raises, and is linear in time and memory: groups hold their
rules once, however many tokens share them. Rules compile once per token and are kept.
"""

from __future__ import annotations

from urllib.parse import urljoin

from .agents import leading_token, product_token
from .directives import (
    RequestRate,
    VisitTime,
    parse_crawl_delay,
    parse_request_rate,
    parse_visit_time,
)
from .lines import decode, split_field, split_lines, within_limit
from .rules import Rule, RuleSet

__all__ = ["Robots", "parse"]

#: Compiled rule sets kept per file: a crawler asks for one token, a comparison tool for a handful.
_COMPILED_KEPT = 64


class _Settings:
    """What one run of user-agent lines was told beside rules."""

    __slots__ = ("crawl_delay", "request_rate", "visit_time")

    def __init__(self) -> None:
        self.crawl_delay: float | None = None
        self.request_rate: RequestRate | None = None
        self.visit_time: VisitTime | None = None


class _Agent:
    """One token with the groups and settings that name it; both may be shared with other tokens."""

    __slots__ = ("groups", "settings")

    def __init__(self) -> None:
        self.groups: list[list[Rule]] = []
        self.settings: list[_Settings] = []


class Robots:
    """The content of one robots.txt. Make it with `parse`."""

    __slots__ = ("_agents", "_compiled", "lenient_sitemaps", "parsed_bytes", "records", "sitemaps")

    def __init__(self) -> None:
        self._agents: dict[str, _Agent] = {}
        self._compiled: dict[str, RuleSet] = {}
        #: Sitemap values in the order of the file, each once, absolute where the file's URL is known.
        self.sitemaps: list[str] = []
        #: `sitemaps` plus `Site-map:` lines and lines that are nothing but a URL.
        self.lenient_sitemaps: list[str] = []
        #: Lines that were understood; 0 for an HTML page or an empty file.
        self.records = 0
        #: Octets of the body that were looked at.
        self.parsed_bytes = 0

    def __repr__(self) -> str:
        return f"<Robots {self.records} records, agents {sorted(self._agents)[:8]}, {len(self.sitemaps)} sitemaps>"

    @property
    def tokens(self) -> list[str]:
        """Product tokens the file names, lower case, `*` among them, in the order of the file."""
        return list(self._agents)

    def rules_for(self, token: str) -> RuleSet:
        """The rules that hold for a product token (or User-Agent header); compiled once."""
        found = self._compiled.get(token)
        if found is None:
            if len(self._compiled) >= _COMPILED_KEPT:
                self._compiled.clear()
            agent = self._agent(token)
            rules = [rule for group in agent.groups for rule in group] if agent else []
            found = self._compiled[token] = RuleSet(rules)
        return found

    def crawl_delay(self, token: str) -> float | None:
        """Seconds the site asks to leave between two requests; None when it does not say."""
        delays = [s.crawl_delay for s in self._settings(token) if s.crawl_delay is not None]
        return max(delays, default=None)

    def request_rate(self, token: str) -> RequestRate | None:
        """The slowest rate the site asks for; None when it does not say."""
        rates = [s.request_rate for s in self._settings(token) if s.request_rate is not None]
        return min(rates, key=lambda rate: rate.requests / rate.seconds, default=None)

    def visit_time(self, token: str) -> VisitTime | None:
        """The part of the day the site asks to be crawled in; None when it does not say."""
        return next((s.visit_time for s in self._settings(token) if s.visit_time is not None), None)

    def _agent(self, token: str) -> _Agent | None:
        return self._agents.get(product_token(token).lower()) or self._agents.get("*")

    def _settings(self, token: str) -> list[_Settings]:
        agent = self._agent(token)
        return agent.settings if agent else []


class _Reader:
    """Applies one record after the other to a `Robots`."""

    def __init__(self, robots: Robots, url: str | None, *, proper: bool) -> None:
        self._robots = robots
        self._url = url
        self._proper = proper
        # Dictionaries keep the order of the file and drop repetitions.
        self._sitemaps: dict[str, None] = {}
        self._lenient_sitemaps: dict[str, None] = {}
        # None before the first user-agent line: rules there address nobody.
        self._group: list[Rule] | None = None
        self._settings: _Settings | None = None
        self._after_rule = False
        self._after_setting = False

    def record(self, field: str, value: str, line: int) -> None:
        self._robots.records += 1
        if field == "user-agent":
            self._user_agent(value)
        elif field in ("allow", "disallow"):
            self._after_rule = True
            # An empty value is no rule, yet the line ends the list of user agents.
            if value and self._group is not None:
                self._group += Rule.read(field == "allow", value, line)
        elif field in ("sitemap", "site-map"):
            self.sitemap(value, lenient=field == "site-map" or not self._proper)
        else:
            self._setting(field, value)

    def _user_agent(self, value: str) -> None:
        if self._after_rule or self._group is None:
            self._group = []
        if self._after_rule or self._after_setting or self._settings is None:
            self._settings = _Settings()
        self._after_rule = self._after_setting = False
        star = value[:1] == "*" and (len(value) == 1 or value[1] in " \t")
        token = "*" if star else leading_token(value).lower()
        if not token:
            return
        agent = self._robots._agents.setdefault(token, _Agent())
        if not agent.groups or agent.groups[-1] is not self._group:
            agent.groups.append(self._group)
        if not agent.settings or agent.settings[-1] is not self._settings:
            agent.settings.append(self._settings)

    def _setting(self, field: str, value: str) -> None:
        self._after_setting = True
        settings = self._settings
        if settings is None:
            return
        if field == "crawl-delay":
            delay = parse_crawl_delay(value)
            if delay is not None:
                settings.crawl_delay = max(delay, settings.crawl_delay or 0.0)
        elif field == "request-rate":
            settings.request_rate = parse_request_rate(value) or settings.request_rate
        else:
            settings.visit_time = parse_visit_time(value) or settings.visit_time

    def sitemap(self, value: str, *, lenient: bool) -> None:
        if not value:
            return
        if self._url is not None:
            try:
                value = urljoin(self._url, value)
            except ValueError:
                # Not a URL (such as "http://[x"): kept as written, for whoever fetches it to report.
                pass
        self._lenient_sitemaps.setdefault(value)
        if not lenient:
            self._sitemaps.setdefault(value)

    def finish(self) -> None:
        self._robots.sitemaps = list(self._sitemaps)
        self._robots.lenient_sitemaps = list(self._lenient_sitemaps)


def parse(body: bytes, url: str | None = None) -> Robots:
    """Read a robots.txt. `url` is where it was asked for: relative sitemaps are resolved against it."""
    robots = Robots()
    counted = within_limit(body)
    robots.parsed_bytes = len(counted)
    text, proper = decode(counted)
    reader = _Reader(robots, url, proper=proper)
    for number, line in split_lines(text):
        record = split_field(line)
        if record:
            reader.record(*record, number)
        elif line.startswith(("http://", "https://")) and not any(c in line for c in ' \t<>"'):
            reader.sitemap(line, lenient=True)
    reader.finish()
    return robots
