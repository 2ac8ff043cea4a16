"""Site files: what is accepted, and that every mistake is told with its line, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.site.catalog import Catalog
from resources.site.load import SiteFileError, default_name, load_site_text, load_sites, read_sites
from resources.site.model import is_public_host, normal_domain

GOOD = "domains: [shop.example]\n"


def problems(text: str, file: str = "shop.yaml", folder: Path | None = None) -> list[str]:
    """`line: field: message` of everything wrong with `text`."""
    _, found = load_site_text(text, file, folder)
    return [f"{p.line}: {p.field}: {p.message}" for p in found]


def only(text: str) -> str:
    found = problems(text)
    assert len(found) == 1, found
    return found[0]


def test_domains_are_all_a_file_needs() -> None:
    site, found = load_site_text(GOOD, "My Shop (2).yaml")
    assert found == [] and site is not None
    assert site.name == "my-shop-2" and site.domains == ("shop.example",)
    assert site.sitemaps == "auto" and site.pace.rate is None and site.schedule == "0 1 * * *"


@pytest.mark.parametrize(
    ("line", "where", "words"),
    [
        ("sedes: [a]", "sedes", "did you mean 'seeds'?"),
        ("pace: {rat: 3}", "pace.rat", "did you mean 'rate'?"),
        ("pace: {xyz: 3}", "pace.xyz", "known are: burst, concurrency"),
        ("items: {book: {feilds: {}, fields: {a: h1}}}", "items.book.feilds", "did you mean 'fields'?"),
        ("items: {book: {fields: {a: {cs: h1}}}}", "items.book.fields.a.cs", "did you mean 'css'?"),
        ("seeds: https://shop.example/", "seeds", "expected a list: write ['https://shop.example/']"),
        ("scope: {max_depth: deep}", "scope.max_depth", "valid integer"),
        ("scope: {exclude: [cart]}", "scope.exclude[0]", "start it with '/'"),
        ("scope: {exclude: ['re:(']}", "scope.exclude[0]", "regular expression '('"),
        ("scope: 5", "scope", "expected keys and values below it (found 5)"),
        ("pace: {rate: fast}", "pace.rate", "write 'auto', 'unlimited'"),
        ("pace: {rate: 0}", "pace.rate", "above zero"),
        ("pace: {concurrency: 9}", "pace.concurrency", "needs 'rate: unlimited'"),
        ("pace: {jitter: 0.95}", "pace.jitter", "less than or equal to 0.9"),
        ("pace: {min_rate: 300}", "pace.min_rate", "above max_rate"),
        ("pace: {window: {start: 22:00, end: 6:00}}", "pace.window.end", "two digits each"),
        ("pace: {window: {start: 22:00, end: 22:00}}", "pace.window.end", "leave the window out"),
        ("pace: {window: {start: 22:00, end: 06:00, zone: Mars}}", "pace.window.zone", "Europe/Berlin"),
        ("pace: {window: {start: 22:00, end: 06:00, days: [sat, someday]}}", "pace.window.days[1]", "'sun'"),
        ("schedule: every night", "schedule", "five fields"),
        ("schedule: 0 0 31 2 *", "schedule", "never comes"),
        ("zone: Berlin", "zone", "IANA time zone"),
        ("cache: {ttl: soon}", "cache.ttl", "is no duration"),
        ("cache: {min_ttl: 2d, max_ttl: 1d}", "cache.min_ttl", "longer than max_ttl"),
        ("cache: {rules: [{match: /a}]}", "cache.rules[0].ttl", "is required"),
        ("retry: {attempts: 9}", "retry.retry_pass_attempts", "at least 'attempts'"),
        ("limits: {total_timeout: 0}", "limits.total_timeout", "greater than 0"),
        ("limits: {max_body: many}", "limits.max_body", "'20 MB'"),
        ("identity: {contact: me}", "identity.contact", "neither a URL nor a mail address"),
        ("identity: {headers: {Host: x}}", "identity.headers.Host", "remove it"),
        ('identity: {headers: {X-A: "a\\nb"}}', "identity.headers.X-A", "printable"),
        ("sitemaps: [nowhere]", "sitemaps[0]", "no http(s) URL"),
        ("canaries: [{url: /}]", "canaries[0].url", "write it whole"),
        ("canaries: [{url: 'https://other.example/'}]", "canaries[0].url", "not among 'domains'"),
        ("items: {pages: {fields: {a: h1}}}", "items.pages", "table of Nightcrawl"),
        ("items: {'a; drop': {fields: {a: h1}}}", "items.a; drop", "lower-case letters"),
        ("items: {book: {fields: {url: h1}}}", "items.book.fields.url", "every item table has"),
        ("items: {book: {fields: {}}}", "items.book.fields", "at least one field"),
        ("items: {book: {fields: {a: 'h1['}}}", "items.book.fields.a", "CSS selector 'h1['"),
        ("items: {book: {each: '>>', fields: {a: h1}}}", "items.book.each", "CSS selector '>>'"),
        ("items: {book: {fields: {a: {css: h1, regex: '(?=x)'}}}}", "items.book.fields.a.regex", "no look-around"),
        ("items: {book: {fields: {a: {css: h1, constant: b}}}}", "items.book.fields.a", "exactly one source"),
        ("items: {book: {fields: {a: {data: jsonld}}}}", "items.book.fields.a.data", "jsonld"),
        ("items: {book: {fields: {a: {css: p, currency: euro}}}}", "items.book.fields.a.currency", "ISO 4217"),
        ("items: {book: {fields: {a: {css: p, date_format: '%Q'}}}}", "items.book.fields.a.date_format", "'%Q'"),
        ("items: {book: {key: b, fields: {a: h1}}}", "items.book.key", "not among the fields"),
        ("items: {book: {key: a, fields: {a: h1}}}", "items.book.fields.a", "required: true"),
        ("proxies: {urls: [ftp://x]}", "proxies.urls[0]", "socks5://"),
        ("proxies: {urls: ['http://u:secret@p:1']}", "proxies.urls[0]", "${NAME}"),
        ("allow_private_addresses: [lan]", "allow_private_addresses[0]", "10.1.0.0/16"),
        ("name: Shop!", "name", "lower-case letters"),
    ],
)  # fmt: skip
def test_each_mistake_names_line_field_and_cure(line: str, where: str, words: str) -> None:
    found = only(GOOD + line + "\n")
    assert found.startswith(f"2: {where}: "), found
    assert words in found
    assert "secret" not in found


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("domains: [a.example\n", 2, "not valid YAML"),
        ("domains: [a.example]\nname: a\nname: b\n", 3, "given twice"),
        ("domains: &x [a.example]\nseeds: *x\n", 2, "aliases"),
        ("- a\n", 1, "begin with 'domains"),
        ("", 1, "begin with 'domains"),
        ("domains: [a.example]\nx: !!python/object:os.system {}\n", 2, "not valid YAML"),
        ("a: " + "[" * 5000, 0, "nested too deeply"),
        ("domains: []\n", 1, "at least one host"),
        ("name: a\n", 1, "is required"),
        ("domains: ['https://a.example/']\n", 1, "write the host only"),
        ("domains: [a.example, A.example]\n", 1, "listed twice"),
    ],
)
def test_what_is_no_site_file_at_all(text: str, line: int, words: str) -> None:
    found = problems(text)
    assert any(p.startswith(f"{line}: ") and words in p for p in found), found


def test_all_problems_are_told_at_once() -> None:
    found = problems(
        "domains: [shop.com, 'http://x']\n"
        "sedes: []\n"
        "schedule: never\n"
        "robots: ignore\n"
        "pace: {rate: unlimited}\n"
        "items:\n"
        "  book:\n"
        "    fields:\n"
        "      a: 'h1['\n"
        "      b: {css: h2, type: colour}\n"
    )
    told = {p.split(": ")[0] + " " + p.split(": ")[1] for p in found}
    assert told == {
        "1 domains[1]", "2 sedes", "3 schedule", "4 robots", "5 pace.rate", "9 items.book.fields.a",
        "10 items.book.fields.b.type", "1 identity.contact",
    }  # fmt: skip


def test_public_hosts_need_a_contact_and_manners() -> None:
    assert "identity.contact: is required for public hosts (shop.com)" in only("domains: [shop.com]\n")
    assert problems("domains: [shop.com]\nidentity: {contact: crawl@acme.example}\n") == []
    assert problems("domains: [shop.com]\nidentity: {user_agent: 'A/1 (+https://acme.example)'}\n") == []
    private = "domains: [127.0.0.1:8080, shop.example, localhost, '[::1]:80', 10.0.0.1]\nrobots: ignore\n"
    assert problems(private + "pace: {rate: unlimited, concurrency: 30}\n") == []


@pytest.mark.parametrize(
    ("domain", "public"),
    [("shop.com", True), ("8.8.8.8", True), ("8.8.8.8:80", True), ("[2606:4700::1]", True), ("*.shop.com", True),
     ("localhost:3000", False), ("127.0.0.2:8080", False), ("[::1]:8080", False), ("a.test", False)],
)  # fmt: skip
def test_public_host(domain: str, public: bool) -> None:
    assert is_public_host(domain) is public


def test_yaml_is_read_as_people_write_it() -> None:
    site, found = load_site_text(
        GOOD + "sitemaps: off\npace:\n  window: {start: 22:00, end: 06:00}\n"
        "items: {book: {match: /b/*, fields: {a: {css: h1, constant: null, true_values: [yes, no, on]}}}}\n",
        "shop.yaml",
    )
    assert found == [] and site is not None and site.pace.window is not None
    assert site.sitemaps == "off" and site.pace.window.start == "22:00"
    assert site.items["book"].fields["a"].true_values == ("yes", "no", "on")
    assert site.items["book"].match == ("/b/*",)


def test_seeds_are_checked_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_text(
        "# books\nhttps://shop.example/{1..9}\nnonsense\nhttps://u:pw@other.example/\n"
    )
    text = (
        GOOD + "seeds:\n- https://shop.example/{1..3}\n- ftp://shop.example/\n- '@urls.txt'\n- '@../up.txt'\n"
        "- '@none.txt'\n- https://shop.example/{1..5..0}\n- https://shop.example/{1..99999999}\n"
    )
    found = problems(text, folder=tmp_path)
    assert [p.split(":")[0] for p in found] == ["4", "5", "5", "6", "7", "8", "9"]
    assert "urls.txt:3: 'nonsense'" in found[1] and "urls.txt:4" in found[2]
    assert "pw" not in found[2] and "other.example, which is not among 'domains'" in found[2]
    assert "outside the folder" in found[3]


def test_files_are_told_together_and_share_neither_domain_nor_name(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("domains: [one.example]\n")
    (tmp_path / "b.yml").write_text("name: a\ndomains: [two.example, ONE.example]\nzone: x\n")
    (tmp_path / "c.yaml").write_bytes(b"domains:\n- \xff\n")
    (tmp_path / ".hidden.yaml").write_text("nonsense")
    with pytest.raises(SiteFileError) as caught:
        load_sites(tmp_path)
    told = str(caught.value)
    assert f"{tmp_path}/b.yml:2: domains[1]: 'one.example' is also covered by {tmp_path}/a.yaml" in told
    assert f"{tmp_path}/b.yml:3: zone" in told
    assert f"{tmp_path}/c.yaml:2: is not UTF-8" in told
    sites, left_out = read_sites(tmp_path)
    assert [s.name for s in sites] == ["a"] and len(left_out) == 3


def test_equal_names_are_a_problem_of_the_second_file(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("domains: [one.example]\n")
    (tmp_path / "b.yaml").write_text("domains: [two.example]\nname: a\n")
    _, found = read_sites(tmp_path)
    assert [(p.line, p.field) for p in found] == [(2, "name")]


def test_a_file_is_read_again_when_it_or_its_list_of_seeds_has_changed(tmp_path: Path) -> None:
    path, seeds = tmp_path / "a.yaml", tmp_path / "seeds.txt"
    path.write_text("domains: [one.example]\n")
    (first,), _ = read_sites(tmp_path)
    assert read_sites(tmp_path)[0] == [first]
    path.write_text("domains: [two.example]\n")
    assert read_sites(tmp_path)[0][0].domains == ("two.example",)
    path.write_text("domains: [two.example]\nseeds: ['@seeds.txt']\n")
    assert "seeds.txt" in str(read_sites(tmp_path)[1])
    seeds.write_text("https://two.example/\n")
    assert read_sites(tmp_path)[1] == []


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD + "#" * 1_000_000)
    with pytest.raises(SiteFileError, match="file of URLs"):
        load_sites(tmp_path)


def test_the_most_specific_entry_covers_a_domain(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("domains: ['*.shop.example']\n")
    (tmp_path / "b.yaml").write_text("domains: [special.shop.example, 'shop.example:8080']\n")
    catalog = Catalog.load(tmp_path)
    names = {d: s.name for d in ("x.shop.example", "y.x.shop.example", "special.shop.example", "shop.example:8080")
             if (s := catalog.for_domain(d))}  # fmt: skip
    assert names == {
        "x.shop.example": "a",
        "y.x.shop.example": "a",
        "special.shop.example": "b",
        "shop.example:8080": "b",
    }
    assert catalog.for_domain("shop.example") is None and catalog.for_domain("evilshop.example") is None
    assert len(Catalog.load(tmp_path / "b.yaml")) == 1


def test_domains_have_one_spelling() -> None:
    assert normal_domain("Shop.EXAMPLE:443") == normal_domain("shop.example:80") == "shop.example"
    assert normal_domain("bücher.example") == "xn--bcher-kva.example"
    assert normal_domain("*.Shop.example:8080") == "*.shop.example:8080"


@pytest.mark.parametrize("text", ["?", "? true", "1.50: x", "~: x", "true: {a: b}", "0x1: []"])
def test_a_key_that_is_no_word_is_told_like_any_unknown_key(text: str) -> None:
    site, found = load_site_text(text, "x.yaml")
    assert site is None
    assert any("unknown key" in p.message and p.line == 1 for p in found)


@given(st.text(max_size=200))
def test_no_text_breaks_the_loader(text: str) -> None:
    site, found = load_site_text(text, "x.yaml")
    assert (site is None) == bool(found)


@given(st.dictionaries(st.sampled_from(["domains", "seeds", "pace", "items", "scope", "sitemaps", "identity", "canaries"]),
                       st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8),
                                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
                                    max_leaves=6), max_size=5))  # fmt: skip
def test_no_document_breaks_the_loader(value: dict[str, object]) -> None:
    import json

    site, found = load_site_text(json.dumps(value), "x.yaml")
    assert (site is None) == bool(found)
    assert all(p.line >= 1 for p in found)


@given(st.text(max_size=80))
def test_every_file_has_a_usable_default_name(stem: str) -> None:
    name = default_name(stem.replace("/", "") + ".yaml")
    assert load_site_text(f"domains: [a.example]\nname: '{name}'\n", "x")[1] == []
