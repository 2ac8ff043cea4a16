"""The sensor of the 429 trend in real Dagster: observations on the domain, canary runs, orders in the ledger."""

from __future__ import annotations

import time

import dagster as dg

from crawl_assets.automation.throttling import canary_word, throttling_trend
from practice_site import practice_web_process, site_config
from resources.frontier.base import Ack, Discovery, Verdict
from resources.installation_resource import InstallationResource
from resources.web.urls import key
from tests.dagster.conftest import House
from tests.health.nights import DOMAIN, Answers, log_rows

GOOD: Answers = (60, 0, 0)


def write_log(house: House, *minutes: Answers, domain: str = DOMAIN) -> None:
    """Minutes of answers that end just now, and one more row that closes the last window."""
    frontier = house.installation.open_frontier()
    start = time.time() - 60.0 * (len(minutes) + 1)
    for row in log_rows([*minutes, (1, 0, 0)], start=start, run_id=f"run-{start}"):
        url = row.url.replace(DOMAIN, domain)
        frontier.enqueue([Discovery(key(url), url, domain)], row.started_at)
        (claim,) = frontier.claim(domain, 1, "w", 60, row.started_at)
        log = row.__class__(
            **{name: getattr(row, name) for name in row.__slots__} | {"url": url, "domain": domain}
        )
        frontier.commit([Ack(claim, Verdict.DONE, row.started_at, log=log)], row.started_at)
    frontier.close()


def look(house: House) -> dg.SensorResult | dg.SkipReason:
    resource = InstallationResource(data=str(house.installation.data), sites=str(house.installation.sites))
    with dg.build_sensor_context(instance=house.instance) as context:
        found = throttling_trend(context, installation=resource)
    assert isinstance(found, dg.SensorResult | dg.SkipReason)
    return found


def test_a_quiet_log_is_skipped_in_words(house: House) -> None:
    house.write_site([DOMAIN])
    write_log(house, GOOD, GOOD, GOOD)
    found = look(house)
    assert isinstance(found, dg.SkipReason)
    assert found.skip_message == "1 domain(s) watched, 0 held back, no trend"


def test_each_action_is_an_observation_on_the_domain_and_an_order_in_the_ledger(house: House) -> None:
    house.write_site([DOMAIN])
    write_log(house, GOOD, (60, 1, 0), (60, 3, 0))
    found = look(house)
    assert isinstance(found, dg.SensorResult)
    (event,) = found.asset_events
    assert (event.asset_key.to_user_string(), event.partition) == ("fetched_pages", DOMAIN)
    assert event.metadata["trend action"].value == "ease"
    assert event.metadata["rate factor"].value == 0.7
    assert event.metadata["429 share"].value == 0.05
    ledger = house.installation.open_ledger()
    assert [(c.kind, c.factor) for c in ledger.commands()] == [("slow_down", 0.7)]
    ledger.close()
    house.instance.report_runless_asset_event(event)
    assert isinstance(look(house), dg.SkipReason), "what was done is not done again"


def test_a_ban_asks_the_canaries_of_the_domain_and_its_neighbours(house: House) -> None:
    house.write_site(["a.example", "b.example", "c.example", DOMAIN, "e.example"])
    write_log(house, GOOD, (60, 0, 58), (60, 0, 60))
    found = look(house)
    assert isinstance(found, dg.SensorResult)
    assert [e.metadata["trend action"].value for e in found.asset_events] == ["pause", "ask_canary"]
    (request,) = found.run_requests or []
    assert request.job_name == "canaries"
    assert request.tags["dagster/asset_partition_range_start"] == "b.example"
    assert request.tags["dagster/asset_partition_range_end"] == "e.example"


def test_the_word_of_a_canary_run_is_read_from_its_check(house: House) -> None:
    configs = [site_config(n_products=5, host=f"127.0.0.{n}", walled=n == 3) for n in (2, 3)]
    with practice_web_process(configs) as sites:
        well, walled = (s.domain for s in sites)
        house.write_site([well, walled])
        before = time.time() - 1
        assert canary_word(house.instance, well, before) is None
        job = house.loaded.resolve_job_def("canaries")
        result = job.execute_in_process(
            instance=house.instance,
            tags={"dagster/asset_partition_range_start": well, "dagster/asset_partition_range_end": walled},
            run_config={
                "resources": {
                    "installation": {
                        "config": {
                            "data": str(house.installation.data),
                            "sites": str(house.installation.sites),
                        }
                    }
                }
            },
            raise_on_error=False,
        )
        assert result.success
        assert canary_word(house.instance, well, before) == "passed"
        assert canary_word(house.instance, walled, before) == "them"
        assert canary_word(house.instance, well, time.time() + 60) is None
