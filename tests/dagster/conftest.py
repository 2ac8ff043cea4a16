"""A real Dagster instance on disk, a real installation, practice sites in a process of their own."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.definitions.partitions.context import partition_loading_context
from dagster._core.storage.defs_state.base import set_defs_state_storage
from dagster._core.storage.partition_status_cache import get_and_update_asset_status_cache_value

from crawl_assets.definitions import defs
from crawl_assets.partitions import domains, sync_partitions
from practice_site import site_yaml
from resources.installation import Installation

#: Every stage, in order.
NIGHT = (
    "seed_frontier",
    "fetched_pages",
    "retried_failures",
    "raw_html",
    "pages",
    "links",
    "items",
    "published",
)


@pytest.fixture(scope="session", autouse=True)
def quick_collections() -> Iterator[None]:
    """What was loaded before the first test stays, and need not be looked through after each."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def no_instance_of_another_test(quick_collections: None) -> Iterator[None]:
    """Dagster asks the state storage of the instance that was entered last when definitions are loaded. A context of a
    schedule or sensor leaves its instance only when it is collected, at whatever moment, and the one that was entered
    before, which may be gone, is the last one then. So those of tests before are collected first."""
    gc.collect()
    with set_defs_state_storage(None):
        yield


@dataclass
class House:
    """An installation with its Dagster instance."""

    installation: Installation
    instance: dg.DagsterInstance
    loaded: dg.Definitions

    def write_site(self, hosts: str | Sequence[str], name: str = "practice", **changes: Any) -> Path:
        path = self.installation.sites / f"{name}.yaml"
        changes.setdefault("pace", {"rate": "unlimited"})
        path.write_text(site_yaml(hosts, name=name, changes=changes))
        sync_partitions(self.instance, self.installation)
        return path

    def run(
        self,
        *assets: str,
        first: str,
        last: str = "",
        config: dict[str, Any] | None = None,
        tags: dict[str, str] | None = None,
    ) -> dg.ExecuteInProcessResult:
        """Materialize assets (with their checks) over a range of domains in one run."""
        job = self.loaded.resolve_implicit_global_asset_job_def()
        return job.execute_in_process(
            instance=self.instance,
            asset_selection=[dg.AssetKey(a) for a in assets],
            tags={
                "dagster/asset_partition_range_start": first,
                "dagster/asset_partition_range_end": last or first,
                **(tags or {}),
            },
            run_config=self.config(config),
            raise_on_error=False,
        )

    def config(self, stages: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run config that points at this installation."""
        folders = {"data": str(self.installation.data), "sites": str(self.installation.sites)}
        return {
            "ops": {"stages": {"config": stages or {}}},
            "resources": {"installation": {"config": folders}},
        }

    def partitions(self, asset: str) -> tuple[set[str], set[str]]:
        """(materialized and not failed since, failed) partitions of an asset, as the UI shows them."""
        with partition_loading_context(dynamic_partitions_store=self.instance):
            value = get_and_update_asset_status_cache_value(
                self.instance, dg.AssetKey(asset), domains, self.instance
            )
            assert value is not None
            failed = set(value.deserialize_failed_partition_subsets(domains).get_partition_keys())
            done = set(value.deserialize_materialized_partition_subsets(domains).get_partition_keys())
        return done - failed, failed

    def metadata(self, asset: str, domain: str) -> dict[str, Any]:
        """The latest materialization's metadata of a domain, as plain values."""
        records = self.instance.fetch_materializations(
            dg.AssetRecordsFilter(dg.AssetKey(asset), asset_partitions=[domain]), limit=1
        ).records
        assert records, f"{asset}/{domain} was never materialized"
        event = records[0].asset_materialization
        assert event is not None
        return {k: v.value for k, v in event.metadata.items()}

    def checks(self, asset: str, name: str) -> dict[str, tuple[bool, str]]:
        """Latest evaluation by domain: (passed, words)."""
        found: dict[str, tuple[bool, str]] = {}
        key = dg.AssetCheckKey(dg.AssetKey(asset), name)
        for record in self.instance.event_log_storage.get_asset_check_execution_history(key, limit=1000):
            event = record.event.dagster_event if record.event else None
            if event is None or event.event_type_value != "ASSET_CHECK_EVALUATION":
                continue
            data = event.asset_check_evaluation_data
            found.setdefault(str(data.partition), (data.passed, data.description or ""))
        return found

    def check_metadata(self, asset: str, name: str, domain: str, *labels: str) -> tuple[Any, ...]:
        """Entries of the latest evaluation of a domain, as plain values."""
        key = dg.AssetCheckKey(dg.AssetKey(asset), name)
        for record in self.instance.event_log_storage.get_asset_check_execution_history(key, limit=1000):
            event = record.event.dagster_event if record.event else None
            if event is not None and event.event_type_value == "ASSET_CHECK_EVALUATION":
                data = event.asset_check_evaluation_data
                if data.partition == domain:
                    return tuple(data.metadata[label].value for label in labels)
        raise AssertionError(f"{name} was never evaluated for {domain}")


@pytest.fixture(scope="session")
def fresh_instance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an instance nothing was done with: making its databases takes longer than most tests."""
    folder = tmp_path_factory.mktemp("instance")
    with dg.DagsterInstance.local_temp(str(folder)) as instance:
        instance.get_runs(limit=1)
        instance.all_asset_keys()
        instance.all_instigator_state()
    return folder


@pytest.fixture
def house(tmp_path: Path, fresh_instance: Path) -> Iterator[House]:
    installation = Installation.at(tmp_path / "data", tmp_path / "sites").prepare()
    installation.sites.mkdir()
    shutil.copytree(fresh_instance, tmp_path / "dagster")
    with dg.DagsterInstance.local_temp(str(tmp_path / "dagster")) as instance:
        yield House(installation, instance, defs())
