"""How soon the pages of the UI that an operator uses show what they are opened for, in a real browser.

A page counts from the navigation to the moment its words can be read and nothing says "Loading" any more; every
GraphQL query it sends meanwhile is timed as the page itself sees it. The webserver's CPU is told of the last visit, with
all that comes in the seconds after the page is shown: the log of a run goes on.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from tests.dagster.browser import Browser

__all__ = ["Page", "Seen", "look", "operator_pages"]

#: Longer than this and the page is broken, not slow.
GIVE_UP_S = 90.0
#: Between two visits: queries of the last page that are still under way would count against the next.
REST_S = 2.0
#: What a page asks for after it is shown is over by then.
AFTER_S = 6.0

#: How often the page is looked at: as much as this may be told too late.
LOOK_S = 0.1

_LISTEN = """
(() => { const real = window.fetch; window.asked = [];
  window.fetch = async (where, how) => {
    if (!String(where && where.url || where).includes('/graphql')) return real(where, how);
    let name = '?'; try { name = JSON.parse(how.body).operationName || '?'; } catch {}
    const one = {name, from: performance.now(), ms: null}; window.asked.push(one);
    const answer = await real(where, how);
    answer.clone().text().then(() => { one.ms = performance.now() - one.from; }, () => {});
    return answer;
  }; })()"""


@dataclass(frozen=True, slots=True)
class Page:
    """`words`: what it is opened for."""

    name: str
    path: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """`seconds`: of each visit, the first after something was written; `slowest`: the slowest query of all visits and its seconds; `cpu_s`: what the webserver
    spent on the last one."""

    page: Page
    seconds: tuple[float, ...]
    slowest: str
    slowest_s: float
    cpu_s: float


def operator_pages(domains: Sequence[str], run_id: str) -> list[Page]:
    one = quote(domains[len(domains) // 2], safe="")
    groups = "/asset-groups"
    return [
        Page("asset graph", groups, ("Global asset lineage", "3_frontier")),
        Page("asset", "/assets/fetched_pages", ("Latest materialization", "Description")),
        Page("its partitions", "/assets/fetched_pages?view=partitions", ("Materialized (", "Failed (")),
        Page("one partition", f"/assets/fetched_pages?view=partitions&partition={one}", ("pages per s",)),
        Page("its events", "/assets/fetched_pages?view=events", ("Metadata", "materialized in run")),
        Page("its checks", "/assets/fetched_pages?view=checks", ("conservation", "Latest execution")),
        Page("a check", "/assets/fetched_pages?view=checks&checkDetail=budget", ("Latest execution",)),
        Page("night report", "/assets/night_report", ("in one sentence",)),
        Page("asset catalog", "/assets", ("fetched_pages",)),
        Page("runs", "/runs", ("Success", "night")),
        Page("runs timeline", "/overview/activity/timeline", ("nightcrawl", "night")),
        Page("one run", f"/runs/{run_id}", (run_id[:8], "ASSET_")),
        Page("automation", "/automation", ("nightly", "site_files")),
        Page("a sensor", "/locations/nightcrawl/sensors/site_files", ("site_files", "Latest tick")),
        Page("a schedule", "/locations/nightcrawl/schedules/nightly", ("nightly", "Latest tick")),
        Page("backfills", "/runs/?view=backfills", ("Backfills",)),
        Page("pools", "/deployment/concurrency", ("crawl",)),
        Page("jobs", "/jobs", ("retry_everywhere",)),
    ]


def look(
    browser: Browser,
    origin: str,
    pages: Sequence[Page],
    cpu: Callable[[], float],
    write: Callable[[], None],
    visits: int = 3,
) -> Iterator[Seen]:
    """Each page so many times, one after another, as somebody clicks through them. `cpu`: seconds the webserver has
    used. `write`: an event, before the first visit, so that nothing is remembered of what the event log says."""
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=_LISTEN)
    browser.open(origin, "Runs")  # the application itself: a browser keeps it
    for page in pages:
        seconds, asked, before = [], [], 0.0
        write()
        for _ in range(visits):
            time.sleep(REST_S)
            before = cpu()
            seconds.append(_visit(browser, origin + page.path, page.words))
            asked += [q for q in browser.run("window.asked") if q["ms"] is not None]
        time.sleep(AFTER_S)
        spent = cpu() - before
        slowest_s, slowest = max(((float(q["ms"]) / 1000, str(q["name"])) for q in asked), default=(0.0, ""))
        yield Seen(page, tuple(seconds), slowest, slowest_s, spent)


def _visit(browser: Browser, url: str, words: Sequence[str]) -> float:
    """Seconds until the page shows the words, on its own clock."""
    browser.run("window.old = true")
    browser.call("Page.navigate", url=url)
    wanted = f"{json.dumps(list(words))}.every(w => document.body.innerText.includes(w))"
    there = f"!window.old && document.body && {wanted} && !document.body.innerText.includes('Loading')"
    try:
        browser.wait_until(there, GIVE_UP_S, LOOK_S)
    except AssertionError as error:
        raise RuntimeError(f"{url} does not show {words}: {browser.text[:2000]}") from error
    return float(browser.run("performance.now()")) / 1000
