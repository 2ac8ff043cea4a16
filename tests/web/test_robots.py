"""robots.txt: groups, rules, paths, and what else a file says (RFC 9309)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.web.robots import Decision, diff, escape, match_path, parse, product_token, robots_url
from resources.web.robots.lines import SIZE_LIMIT
from resources.web.robots.rules import Rule, RuleSet


def allowed(body: str, url: str, token: str = "nightcrawl") -> bool:
    return parse(body.encode()).rules_for(token).decide(url).allowed


def test_a_decision_names_the_line_of_the_file() -> None:
    rules = parse(b"# shop\r\nUser-agent: *\r\n\r\nDisallow: /cart\r\nAllow: /cart/help\r\n").rules_for(
        "nightcrawl"
    )
    assert rules.decide("https://shop.example/cart?x=1") == Decision(False, 4, "Disallow: /cart")
    assert rules.decide("https://shop.example/cart/help") == Decision(True, 5, "Allow: /cart/help")
    assert rules.decide("https://shop.example/").line is None


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_line_numbers_are_the_same_whatever_ends_a_line(end: str) -> None:
    body = end.join(["User-agent: *", "", "Disallow: /a\u2028\x85", "Disallow: /x"])
    assert parse(body.encode()).rules_for("any").decide("/x").line == 4


class TestGroups:
    def test_a_rule_and_only_a_rule_ends_the_list_of_user_agents(self) -> None:
        body = (
            "User-agent: a\n\n# note\nSitemap: /s\nCrawl-delay: 1\nUnknown: x\nUser-agent: b\nDisallow: /x\n"
        )
        assert not allowed(body, "/x", "a") and not allowed(body, "/x", "b")

    def test_an_empty_rule_ends_it_too(self) -> None:
        body = "User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /\n"
        assert allowed(body, "/x", "a") and not allowed(body, "/x", "b")

    def test_groups_of_one_token_are_merged(self) -> None:
        body = (
            "User-agent: Bot\nDisallow: /a\nUser-agent: *\nDisallow: /c\nUser-agent: bot/2.0\nDisallow: /b\n"
        )
        assert [allowed(body, path, "BOT") for path in ("/a", "/b", "/c")] == [False, False, True]

    def test_a_token_is_compared_whole(self) -> None:
        assert allowed("User-agent: night\nDisallow: /\nUser-agent: nightcrawler\nDisallow: /\n", "/x")

    def test_rules_before_any_user_agent_address_nobody(self) -> None:
        assert allowed("Disallow: /\nUser-agent: other\nDisallow: /\n", "/x")

    def test_a_delay_holds_for_the_lines_directly_above(self) -> None:
        robots = parse(
            b"User-agent: a\nCrawl-delay: 1.5\nUser-agent: b\nDisallow: /\nUser-agent: *\nCrawl-delay: 9\n"
        )
        assert [robots.crawl_delay(token) for token in ("a", "b", "c")] == [1.5, None, 9.0]


@pytest.mark.parametrize(
    ("rule", "path", "matches"),
    [
        ("/a*b*c$", "/aXbYc", True),
        ("/a*b*c$", "/aXbYcZ", False),
        ("/a*bc$", "/abc", True),
        ("/ab*b$", "/ab", False),  # the last piece may not overlap the first
        ("/**x", "/x", True),
        ("*", "/", True),
        ("*$", "/", True),
        ("/$", "/", True),
        ("/$", "/a", False),
        ("x", "/x", False),
        ("/x$y", "/x$y", True),
        ("/x%24", "/x$", True),
        ("/%2A", "/*", True),
        ("/%2A", "/a", False),
        ("/%7euser", "/~user", True),
        ("/ä", "/%c3%a4", True),
        ("/a%2Fb", "/a/b", False),
        ("/a b", "/a%20b", True),
    ],
)
def test_patterns(rule: str, path: str, matches: bool) -> None:
    assert allowed(f"User-agent: *\nDisallow: {rule}\n", path) is not matches


def test_most_octets_win_and_allow_wins_a_draw() -> None:
    body = "User-agent: *\nDisallow: /a\nAllow: /a\nAllow: /b\nDisallow: /b*\nAllow: /ä\nDisallow: /%C3%A4\n"
    assert [allowed(body, path) for path in ("/a", "/b", "/ä")] == [True, False, True]


def test_an_allowed_index_page_allows_its_folder() -> None:
    body = "User-agent: *\nDisallow: /\nAllow: /shop/index.html\n"
    assert [allowed(body, p) for p in ("/shop/", "/shop/index.html", "/shop/x")] == [True, True, False]


def test_robots_txt_itself_is_always_allowed() -> None:
    assert allowed("User-agent: *\nDisallow: /", "https://e.example/robots.txt#x")


@pytest.mark.parametrize(
    "body", [b"\xef\xbb\xbfUser-agent: *\nDisallow: /x", "\ufeffUser-agent: *\nDisallow: /x".encode("utf-16")]
)
def test_byte_order_marks(body: bytes) -> None:
    assert not parse(body).rules_for("any").decide("/x").allowed


def test_bad_octets_and_nuls_spoil_only_their_line() -> None:
    robots = parse(b"User-agent: *\nDis\x00allow: /a\nDisallow: /b\xfc\nDisallow: /x\x00\n")
    assert [robots.rules_for("any").decide(p).allowed for p in ("/a", "/x")] == [True, False]


def test_of_a_long_file_whole_lines_within_500_kib_count() -> None:
    start = b"User-agent: *\nDisallow: /first\n"
    filler = b"#" * (SIZE_LIMIT - len(start) - 12) + b"\n"
    whole = parse(start + filler + b"Disallow: /" + b"\nDisallow: /late")
    cut = parse(start + filler + b"Disallow: /late")
    assert not whole.rules_for("any").decide("/x").allowed
    assert cut.rules_for("any").decide("/x").allowed
    assert not cut.rules_for("any").decide("/first").allowed


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("10", 10),
        ("0.5", 0.5),
        ("5 secs", 5),
        ("5 # s", 5),
        ("-1", None),
        ("nan", None),
        ("1e9", None),
        ("٣", None),
        ("0x1", None),
    ],
)
def test_crawl_delays(value: str, seconds: float | None) -> None:
    assert parse(f"User-agent: *\nCrawl-delay: {value}\n".encode()).crawl_delay("any") == seconds


def test_of_several_delays_the_longest_is_kept() -> None:
    assert parse(b"User-agent: *\nCrawl-delay: 5\nUser-agent: *\nCrawl-delay: 1\n").crawl_delay("x") == 5


def test_rates_and_visit_times() -> None:
    robots = parse(b"User-agent: *\nRequest-rate: 100/15m 0600-0845\nVisit-time: 22:00-04:30\n")
    rate, visit = robots.request_rate("any"), robots.visit_time("any")
    assert rate and visit and rate.window
    assert (rate.requests, rate.seconds, rate.window.start.isoformat()) == (100, 900, "06:00:00")
    assert (visit.start.isoformat(), visit.end.isoformat()) == ("22:00:00", "04:30:00")


def test_sitemaps_are_absolute_and_named_once() -> None:
    body = (
        b"Sitemap: /a.xml\nsitemap: https://e.example/a.xml # again\nSITEMAP: http://[bad\nSite-map: /b.xml\n"
    )
    robots = parse(body, "https://e.example/robots.txt")
    assert robots.sitemaps == ["https://e.example/a.xml", "http://[bad"]
    assert robots.lenient_sitemaps[-1] == "https://e.example/b.xml"


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("NightBot/1.0 (+https://bot.example/)", "NightBot"),
        ("Mozilla/5.0 (compatible; NightBot/1.0; +https://bot.example/)", "NightBot"),
        (
            "Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko; compatible; NightBot/2) Chrome/1 Safari/2",
            "NightBot",
        ),
        ("Mozilla delaybot 99.9", "delaybot"),
        ("Mozilla/5.0 (X11; Linux) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120 Safari/537", "Mozilla"),
        ("*", ""),
        ("", ""),
    ],
)
def test_product_tokens(header: str, token: str) -> None:
    assert product_token(header) == token


def test_a_robots_url_is_at_the_root_of_the_origin() -> None:
    assert robots_url("HTTPS://u:p@Shop.Example:443/a?b#c") == "https://shop.example/robots.txt"
    assert robots_url("ftp://shop.example/") is None and robots_url("/a") is None


def test_a_diff_shows_lines_out_and_in() -> None:
    text = diff(b"User-agent: *\nDisallow: /a\n", b"User-agent: *\r\nDisallow: /b\r\n")
    assert "-Disallow: /a" in text and "+Disallow: /b" in text
    assert diff(b"a\n", b"a\r\n") == ""
    many = [b"Disallow: /%d" % n for n in range(3000)]
    assert diff(b"\n".join(many), b"\n".join(reversed(many))) == "the same lines in another order"
    assert diff(b"", b"\n".join(many)).endswith("more lines")


LINES = st.lists(
    st.tuples(
        st.sampled_from(
            ["User-agent", "Disallow", "allow", "Crawl-delay", "Sitemap", "request-rate", "user agent", ""]
        ),
        st.sampled_from([": ", " ", ":", "\t"]),
        st.text("/*$%aA2F.?#ä \x00", max_size=12),
        st.sampled_from(["\n", "\r", "\r\n"]),
    ).map("".join),
    max_size=12,
).map(lambda lines: "".join(lines).encode())

URLS = st.text() | st.text("/*$%aA2F.?#ä;:", max_size=30).map(lambda path: "https://e.example/" + path)


@given(st.binary() | LINES, st.lists(URLS, max_size=4), st.text(), st.binary() | LINES)
def test_no_octets_and_no_url_raise(body: bytes, urls: list[str], token: str, other: bytes) -> None:
    robots = parse(body, "https://e.example/robots.txt")
    for url in urls:
        decision = robots.rules_for(token).decide(url)
        assert decision.allowed or decision.line is not None
    robots.crawl_delay(token), robots.request_rate(token), robots.visit_time(token)
    diff(body, other)


@given(st.text())
def test_a_path_has_one_spelling(text: str) -> None:
    path = match_path(text)
    assert (
        path.startswith("/") and path.isascii() and escape(path.replace("%25", "")) == path.replace("%25", "")
    )


def matches_by_table(pattern: str, path: str) -> bool:
    """The definition of matching, by dynamic programming: slow and obvious."""
    anchored = pattern.endswith("$")
    body = pattern[:-1] if anchored else pattern
    reached = {0}
    for char in body:
        if char == "*":
            reached = set(range(min(reached), len(path) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(path) and path[at] == char}
    return len(path) in reached if anchored else bool(reached)


PATTERNS = st.text("/ab*", min_size=1, max_size=8).flatmap(lambda body: st.sampled_from([body, body + "$"]))


@given(st.lists(st.tuples(st.booleans(), PATTERNS), max_size=6), st.text("/ab", max_size=10).map("/".__add__))
def test_the_compiled_rules_decide_as_the_definition_does(rules: list[tuple[bool, str]], path: str) -> None:
    compiled = RuleSet([Rule(allow, pattern, line) for line, (allow, pattern) in enumerate(rules, 1)])
    matching = [(len(pattern), allow) for allow, pattern in rules if matches_by_table(pattern, path)]
    # Absolute, since a bare "//a" would name a host.
    got = compiled.decide("https://e.example" + path).allowed
    assert got is (max(matching)[1] if matching else True)
