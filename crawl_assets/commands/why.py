"""`nightcrawl why URL`: the whole story of a URL, from every table that knows something of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .exit_codes import ExitCode
from .failures import CommandFailed
from .terminal import count, say, say_json, size, span

if TYPE_CHECKING:
    from resources.installation import Installation

__all__ = ["why"]


def why(
    url: Annotated[str, typer.Argument(help="As you met it; it is normalized first.")],
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Tell everything about a URL: normalization, who linked to it, state and reason, attempts, cache, robots, rows."""
    from resources.installation import Installation

    story = _story(Installation.from_environment(), url)
    if as_json:
        say_json(story)
    else:
        _tell(story)
    if not story["known"]:
        raise typer.Exit(ExitCode.BAD_NEWS)


def _story(installation: Installation, url: str) -> dict[str, Any]:
    import time

    from resources.crawler.territory import Territory
    from resources.web.urls import DEFAULT_POLICY, canonical, domain_of, key, redact, url_without_credentials

    from . import why_sources as sources

    domain = domain_of(url)
    if domain is None:
        raise CommandFailed(
            f"{redact(url)!r} is no http(s) URL: write it whole, as in https://shop.example/page"
        )
    rules = Territory(installation.catalog()).rules(domain)
    form = canonical(url, rules.policy if rules else DEFAULT_POLICY) or url
    now = time.time()
    story: dict[str, Any] = {
        "asked": url_without_credentials(url),
        "url": redact(form),
        "normalized": form != url,
        "domain": domain,
        "site": rules.site.name if rules else None,
        "scope": sources.scope(rules, form),
    }
    digest = key(form)
    story["frontier"] = sources.frontier_row(installation, digest)
    story["known"] = story["frontier"] is not None
    story["cache"] = sources.cached(installation, digest, rules, now)
    story["robots"] = sources.robots(installation, form, rules)
    story["fetches"] = sources.fetches(installation, form, domain)
    story.update(sources.rows(installation, form))
    return story


def _tell(s: dict[str, Any]) -> None:
    say(s["url"])
    if s["normalized"]:
        say(f"  normalized  from {s['asked']}")
    say(
        f"  domain      {s['domain']}, "
        + (f"site file {s['site']}" if s["site"] else "covered by no site file")
    )
    if s["scope"]:
        say(f"  scope       {s['scope']}")
    if (f := s["frontier"]) is None:
        say("  state       never met: no page, sitemap or seed has named it")
    else:
        _tell_state(f)
    for link in s["linked_from"][:5]:
        say(f"  linked from {link['from_url']}" + (f" ({link['anchor']})" if link["anchor"] else ""))
    if len(s["linked_from"]) > 5:
        say(f"              and {count(s['linked_from_count'] - 5)} more")
    if s["robots"]:
        say(f"  robots.txt  {s['robots']['words']}")
    _tell_cache(s["cache"])
    for fetch in s["fetches"][-8:]:
        words = f"attempt {fetch['attempt']}, {fetch['outcome']}, status {fetch['status'] or '–'}, {fetch['duration_ms']:.0f} ms"
        extra = "".join(f"; {fetch[name]}" for name in ("cause", "error", "rule") if fetch[name])
        say(f"  fetched     {fetch['started_at']}: {words}{extra}")
    for table, n in s["rows"].items():
        say(f"  rows        {table}: {count(n)}")
    for reject in s["rejected"][:5]:
        say(f"  rejected    {reject['item_type']}: {reject['reason']}: {reject['detail']}")


def _tell_state(f: dict[str, Any]) -> None:
    because = f": {f['cause']}" if f["cause"] else ""
    detail = f" ({f['detail']})" if f["detail"] else ""
    say(f"  state       {f['state']}{because}{detail}")
    if f["cause"].startswith("trap: ") and f["state"] == "excluded":
        from resources.crawler.traps.trust import advice

        say(f"  hint        {advice(f['cause'])}")
    say(
        f"  met         {f['discovered_at']} by {f['source']}, depth {f['depth']}"
        + (f", on {f['parent']}" if f["parent"] else "")
    )
    say(f"  attempts    {f['attempts']} counted, {f['fetches']} fetches, last status {f['status'] or '–'}")
    for name, words in (
        ("not_before", "not before"),
        ("lease_until", "leased until"),
        ("done_at", "last done"),
        ("due_at", "due again"),
        ("next_eligible_at", "retried from"),
    ):
        if f[name] is not None:
            owner = f" by {f['lease_owner']}" if name == "lease_until" and f["lease_owner"] else ""
            say(f"  {words:<11} {f[name]}{owner}")


def _tell_cache(c: dict[str, Any] | None) -> None:
    if c is None:
        say("  cache       no stored body")
        return
    say(
        f"  cache       {size(c['body_bytes'])}, {c['content_type'] or 'no type'}, {c['encoding'] or 'no encoding'} ({c['encoding_source'] or '–'})"
    )
    say(
        f"  body        {c['content_hash']}, fetched {c['fetched_at']}, changed {c['changed_at']}, {c['versions']} kept"
    )
    validators = ", ".join(f"{k}: {v}" for k, v in c["validators"].items()) or "none"
    say(f"  validators  {validators}; confirmed {c['validated_at']}")
    say(
        f"  freshness   {span(c['lifetime_s'])} by {c['lifetime_by']}" + ("" if c["fresh"] else ", now stale")
    )
    if c["quarantine"]:
        q = c["quarantine"]
        say(f"  quarantine  {q['verdict']} at {q['fetched_at']}: {q['note']}")
