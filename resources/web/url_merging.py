"""Which rules of a site made two spellings one URL: what an audit of merged URLs names, and how it is undone.

The *standard form* of a URL is its canonical form under no site rule at all; where the site's policy gives another
one, rules have merged the two. Pure; a few µs a URL, asked only of samples.
"""

from __future__ import annotations

from dataclasses import replace

from .tracking_parameters import TRACKING_PARAMETERS
from .url_policy import UrlPolicy
from .urls import canonical, canonical_of_joined

__all__ = ["STANDARD", "cure_of", "merging_rules", "standard_form"]

#: Merges only what the standards call the same.
STANDARD = UrlPolicy(drop_tracking=False)


def standard_form(url: str) -> str | None:
    """The canonical form under the standards alone; None when it is no http(s) URL."""
    return canonical(url, STANDARD)


def merging_rules(standard: str, policy: UrlPolicy) -> tuple[str, ...]:
    """The rules that change `standard` (a standard form), each as `key of the site file: what it names`.

    Numbered cases: 1. an index page; 2. the trailing slash; 3. parameters left out, one rule a pattern or name;
    4. parameters without a value; 5. parameters in another order. Empty: the policy leaves it as it is.
    """
    found: list[str] = []
    path = standard.partition("?")[0]
    if policy.index_pages:
        only = replace(STANDARD, index_pages=policy.index_pages)
        if canonical_of_joined(path, only) != path:
            found.append(f"urls.index_pages: {path.rpartition('/')[2]}")
            path = canonical_of_joined(path, only)
    if policy.trailing_slash != "keep":
        only = replace(STANDARD, trailing_slash=policy.trailing_slash)
        if canonical_of_joined(path, only) != path:
            found.append(f"urls.trailing_slash: {policy.trailing_slash}")
    _, mark, query = standard.partition("?")
    if mark:
        found += _query_rules(standard, query, policy)
    return tuple(dict.fromkeys(found))


def _query_rules(standard: str, query: str, policy: UrlPolicy) -> list[str]:
    if policy.drop_query:
        return ["scope.query: drop"]
    found = []
    for pair in query.split("&") if query else ():
        name, _, value = pair.partition("=")
        rule = _dropped_by(name, policy) if pair else None
        if rule is not None:
            found.append(rule)
        elif not policy.keep_blank and not value:
            found.append(f"blank parameters left out: {name}")
    if policy.sort_query:
        unsorted = canonical_of_joined(standard, replace(policy, sort_query=False))
        if canonical_of_joined(unsorted, policy) != unsorted:
            found.append("urls.sort_query")
    return found


def _dropped_by(name: str, policy: UrlPolicy) -> str | None:
    """The rule that leaves out the parameter of this name."""
    for pattern in policy.drop_parameters:
        if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])):
            return f"urls.drop_parameters: {pattern}"
    names = policy.parameter_filter
    if names is None or not names.drops(name):
        return None
    if policy.drop_tracking and name.lower() in TRACKING_PARAMETERS:
        return f"urls.drop_tracking: {name.lower()}"
    return f"scope.query: drop ({name})"


def cure_of(rule: str) -> str:
    """What to change in the site file when `rule` merges different pages."""
    key, _, detail = rule.partition(": ")
    if key == "urls.drop_parameters":
        return f"take {detail} out of urls.drop_parameters"
    if key == "urls.drop_tracking":
        return (
            f"set urls.drop_tracking: false and list the tracking parameters other than {detail} in "
            "urls.drop_parameters"
        )
    if key == "scope.query":
        return "set scope.query: keep, and list the parameters that select nothing in urls.drop_parameters"
    if key == "urls.index_pages":
        return f"take {detail} out of urls.index_pages"
    if key == "urls.trailing_slash":
        return "set urls.trailing_slash: keep"
    if key == "urls.sort_query":
        return "set urls.sort_query: false"
    return f"take the rule back: {rule}"
