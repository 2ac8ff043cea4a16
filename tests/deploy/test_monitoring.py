"""Metrics, alert rules and dashboard: they agree with each other and with what Prometheus can parse."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from resources.crawler.order import DomainReport
from resources.crawler.tally import Tally
from resources.frontier.base import Discovery, WorkerBeat
from resources.installation import Installation
from resources.metrics.installation import InstallationMetrics
from resources.metrics.serve import serving
from resources.metrics.worker import WorkerMetrics
from resources.pacing.ledger.base import LedgerRow
from tests.deploy.files import DEPLOY, loaded


class StillWorker:
    """A roamer between two crawls, with a tally."""

    def __init__(self) -> None:
        self.crawl = None
        self.tally = Tally()


def numbers(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def told(collector: Any) -> str:
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry).decode()


def names() -> set[str]:
    """Every metric there is, with one domain paused so that none is empty."""
    installation = Installation.from_environment(
        {"NIGHTCRAWL_FRONTIER": "memory:", "NIGHTCRAWL_LEDGER": "memory:"}
    )
    text = told(InstallationMetrics(installation)) + told(WorkerMetrics(StillWorker()))  # type: ignore[arg-type]
    return set(re.findall(r"^# TYPE (nightcrawl_[a-z_]+)", text, re.M))


def queries() -> list[str]:
    rules = [r["expr"] for g in loaded(DEPLOY / "prometheus" / "alerts.yaml")["groups"] for r in g["rules"]]
    board = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())
    return [*rules, *(target["expr"] for panel in board["panels"] for target in panel.get("targets", ()))]


def test_an_installation_tells_states_workers_and_paces(tmp_path: Path) -> None:
    installation = Installation.at(tmp_path / "data").prepare()
    frontier, ledger = installation.open_frontier(), installation.open_ledger()
    now = time.time()
    for number in range(3):
        domain = f"d{number}.example"
        urls = [Discovery(bytes([number, n] * 8), f"https://{domain}/{n}", domain) for n in range(number + 1)]
        frontier.enqueue(urls, now)
    frontier.claim("d2.example", 1, "w", 60, now)
    frontier.beat(WorkerBeat("w", "host", 1, now, now - 5, "d2.example", 7, "worker:w"))
    frontier.beat(WorkerBeat("r", "host", 2, now, now, "d1.example", 7, "some-run"))
    frontier.beat(WorkerBeat("i", "host", 3, now, now, "idle", 7, "worker:i"))
    ledger.save(
        [
            LedgerRow("d1.example", now, rate=2.5),
            LedgerRow("d9.example", now, paused_cause="429 at the floor"),
        ]
    )
    frontier.close()
    ledger.close()
    found = numbers(told(InstallationMetrics(installation, shown=1)))
    assert found["nightcrawl_up", ()] == 1
    assert found["nightcrawl_urls", (("state", "pending"),)] == 5
    assert found["nightcrawl_urls", (("state", "leased"),)] == 1
    assert found["nightcrawl_domains_with_work", ()] == 3
    assert found["nightcrawl_workers", (("doing", "crawling"),)] == 2
    assert found["nightcrawl_workers", (("doing", "idle"),)] == 1
    assert found["nightcrawl_runs_crawling", ()] == 1
    assert 4 < found["nightcrawl_worker_silence_seconds", ()] < 60
    assert found["nightcrawl_paces", (("held", "paused"),)] == 1
    assert found["nightcrawl_domain_paused", (("cause", "429 at the floor"), ("domain", "d9.example"))] == 1
    # Series of single domains stay bounded: only the longest queue was asked for.
    assert {key[1] for key in found if key[0] == "nightcrawl_domain_wait_seconds"} <= {
        (("domain", "d2.example"),),
        (("domain", "d1.example"),),
    }
    assert len({dict(key[1])["domain"] for key in found if key[0] == "nightcrawl_domain_urls"}) == 1


def test_storage_that_is_away_is_told_as_such() -> None:
    away = Installation.from_environment({"NIGHTCRAWL_FRONTIER": "redis://127.0.0.1:1/0"})
    assert numbers(told(InstallationMetrics(away))) == {("nightcrawl_up", ()): 0.0}


def test_sums_of_a_worker_only_grow_when_a_domain_comes_back() -> None:
    tally = Tally()
    first, second = DomainReport("a.example", requests=5, ok=4), DomainReport("a.example", requests=2, ok=2)
    first.statuses[200] = 4
    assert tally.sums([first])["ok"] == 4
    tally.end(first)
    assert tally.sums([first])["ok"] == 4  # still listed as running for a moment: not counted twice
    tally.end(first)
    assert tally.sums([second])["ok"] == 6 and tally.sums([second])["status 200"] == 4
    assert tally.sums([])["requests"] == 5


def test_an_endpoint_serves_what_prometheus_reads(tmp_path: Path) -> None:
    with serving(("127.0.0.1", 0), InstallationMetrics(Installation.at(tmp_path).prepare())) as port:
        answer = httpx.get(f"http://127.0.0.1:{port}/metrics")
    assert answer.status_code == 200 and ("nightcrawl_up", ()) in numbers(answer.text)


def test_every_query_parses() -> None:
    parser = pytest.importorskip("promql_parser")
    for query in queries():
        parser.parse(query)


def test_queries_ask_only_for_metrics_there_are() -> None:
    have = names()
    for query in queries():
        for name in re.findall(r"nightcrawl_[a-z_]+", query):
            assert name in have or name.removesuffix("_total") in have or f"{name}_total" in have, (
                name,
                query,
            )


def test_every_alert_says_what_to_do() -> None:
    for group in loaded(DEPLOY / "prometheus" / "alerts.yaml")["groups"]:
        for rule in group["rules"]:
            assert rule["for"] and rule["labels"]["severity"] in ("page", "ticket")
            assert rule["annotations"]["summary"] and len(rule["annotations"]["action"]) > 20


def test_the_dashboard_is_whole() -> None:
    board = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken and at["x"] + at["w"] <= 24, panel["title"]
        taken |= cells
        assert panel["type"] == "row" or panel["targets"], panel["title"]
