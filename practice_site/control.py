"""/_control/…: what tests ask and switch while the site runs. Linked nowhere, never logged, never limited.

    GET  /_control/health
    GET  /_control/config
    GET  /_control/requests?since=N&prefix=/book/&status=429&kind=product&client=127.0.0.1&limit=N
    GET  /_control/stats?since=N&window=1.0
    GET  /_control/expected?sitemaps=1&max_depth=N     pages, redirects, dead ends of the truth
    GET  /_control/items                                the rows a correct crawl ends with
    POST /_control/reset                                forget requests, attempts, buckets and bans
    POST /_control/night?n=2
    POST /_control/set?rate=20&wall_rate=0              any field of Behaviour

With `all=1` a POST goes to every site of the process. Answers are JSON; mistakes are 400 with `error`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from practice_site.wire import Answer, Request, ending, head

if TYPE_CHECKING:
    from practice_site.server import PracticeSite

__all__ = ["CONTROL_PATH", "control_answer"]

CONTROL_PATH = "/_control/"
READING = {"health", "config", "requests", "stats", "expected", "items"}
SWITCHING = {"reset", "night", "set"}


def control_answer(site: PracticeSite, request: Request) -> Answer:
    """Do what `request` asks of `site` and say so."""
    path, _, query = request.target.removeprefix(CONTROL_PATH).partition("?")
    arguments = dict(parse_qsl(query, keep_blank_values=True))
    status, result = 200, None
    try:
        if path in READING and request.method == "GET":
            result = _read(site, path, arguments)
        elif path in SWITCHING and request.method == "POST":
            everyone = arguments.pop("all", "") == "1"
            for one in site.web if everyone else [site]:
                _switch(one, path, arguments)
            result = {"ok": True, "night": site.config.night}
        else:
            known = ", ".join(sorted(READING)) + " (GET); " + ", ".join(sorted(SWITCHING)) + " (POST)"
            status, result = 404, {"error": f"no control {request.method} {path!r}; there are {known}"}
    except (ValueError, KeyError) as error:
        status, result = 400, {"error": f"{path}: {error}"}
    body = json.dumps(result, ensure_ascii=False).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start = head(status, headers)
    return Answer(b"".join((start, ending(int(site.epoch()), request.closing), body)), close=request.closing)


def _read(site: PracticeSite, path: str, arguments: dict[str, str]) -> Any:
    since = int(arguments.get("since", "0"))
    if path == "health":
        return {"ok": True, "url": site.url, "night": site.config.night}
    if path == "config":
        return site.config.to_json()
    if path == "requests":
        status = arguments.get("status")
        found = site.log.select(
            since=since,
            prefix=arguments.get("prefix", ""),
            status=int(status) if status else None,
            kind=arguments.get("kind", ""),
            client=arguments.get("client", ""),
        )
        return [entry._asdict() for entry in found[: int(arguments.get("limit", len(found)))]]
    if path == "stats":
        return site.log.statistics(window=float(arguments.get("window", "1.0")), since=since)
    if path == "items":
        return site.truth().expected_items()
    depth = arguments.get("max_depth")
    return (
        site.truth()
        .walk(sitemaps=arguments.get("sitemaps", "1") == "1", max_depth=int(depth) if depth else None)
        .to_json()
    )


def _switch(site: PracticeSite, path: str, arguments: dict[str, str]) -> None:
    if path == "reset":
        site.reset()
    elif path == "night":
        site.set_night(int(arguments["n"]))
    else:
        site.set(**arguments)
