"""What the Checks tab shows of a night: current results per domain, and red only where something was wrong."""

from __future__ import annotations

import dagster as dg
from dagster._core.definitions.partitions.context import partition_loading_context
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionResolvedStatus as Shown

from crawl_assets.partitions import domains
from crawl_assets.stages.course import CHECKS
from practice_site import practice_web_process, site_config
from tests.dagster.conftest import NIGHT, House


def shown(house: House, spec: dg.AssetCheckSpec) -> dict[Shown, set[str]]:
    """Partitions by the status that the UI gives them."""
    with partition_loading_context(dynamic_partitions_store=house.instance):
        states = house.instance.event_log_storage.get_asset_check_state([(spec.key, domains)])
        return {s: set(p.subset_value.get_partition_keys()) for s, p in states[spec.key].subsets.items()}


def test_each_check_shows_its_domains_green_or_red_and_none_as_missing(house: House) -> None:
    configs = [
        site_config(n_products=6, host=f"127.0.0.{n}", down="reset" if n == 3 else "off") for n in (2, 3, 4)
    ]
    with practice_web_process(configs) as sites:
        names = [s.domain for s in sites]
        house.write_site(names)
        for _ in ("the first night", "the second"):
            assert not house.run(*NIGHT, first=names[0], last=names[2]).success
            for spec in CHECKS:
                found = shown(house, spec)
                red = {names[1]} if spec.name == "canary" else set()
                assert found[Shown.FAILED] == red, spec.name
                assert found[Shown.SUCCEEDED] == set(names) - red, spec.name
                assert not found[Shown.EXECUTION_FAILED] and not found[Shown.SKIPPED], spec.name
    newest = house.instance.get_runs(limit=1)[0].run_id
    said = [e.user_message for e in house.instance.all_logs(newest) if "checks passed: " in e.user_message]
    assert {line.partition(": ")[0] for line in said} == set(names) and len(said) == len(names)
    assert "conservation" in said[0]
    passed, words = house.checks("fetched_pages", "conservation")[names[1]]
    assert passed and words == "not looked at: the domain fell at check canary"
