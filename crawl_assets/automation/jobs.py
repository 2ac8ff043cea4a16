"""The jobs: the whole night, and parts of it that people start by hand."""

from __future__ import annotations

import dagster as dg

from crawl_assets.automation.nights import PLAN, REPORT
from crawl_assets.checks import canary
from crawl_assets.stages import fetch, publish, raw, retry, seed
from crawl_assets.stages.course import SPECS
from crawl_assets.stages.sweep import RETRY_EVERYWHERE
from crawl_assets.stages.tables import TABLES

__all__ = ["CANARIES", "FETCH", "JOBS", "MAX_RUNTIME_S", "NIGHT", "PUBLISH", "REPARSE", "RETRY"]

#: A run that is still there after a day has lost its way; budgets and windows end crawls long before.
MAX_RUNTIME_S = 86_400

_CRAWLING = {"dagster/max_runtime": str(MAX_RUNTIME_S), "nightcrawl/kind": "crawl"}

NIGHT = dg.define_asset_job(
    "night",
    selection=dg.AssetSelection.assets(*(spec.key for spec in SPECS)),
    description=(
        "Everything for the chosen domains: canaries, seeds, fetch, retry pass, raw bodies, tables, audit, publish. "
        "The schedule `nightly` launches it; launched by hand it goes on where the last one ended."
    ),
    tags=_CRAWLING,
)

FETCH = dg.define_asset_job(
    "fetch",
    selection=dg.AssetSelection.assets(seed.ASSET, fetch.ASSET, retry.ASSET, raw.ASSET),
    description="Seeds, fetch, retry pass and raw bodies; the tables stay as they are.",
    tags=_CRAWLING,
)

RETRY = dg.define_asset_job(
    "retry",
    selection=dg.AssetSelection.assets(retry.ASSET, raw.ASSET, *TABLES, publish.ASSET),
    description=(
        "Only the failures, and the tables of what came of them. `causes: [dns, http_500]` takes some; "
        "`retry_all: true` also those not due yet."
    ),
    tags=_CRAWLING,
)

REPARSE = dg.define_asset_job(
    "reparse",
    selection=dg.AssetSelection.assets(*TABLES, publish.ASSET),
    description="Tables again from the page store, without a single request: after a selector was mended.",
    tags={"nightcrawl/kind": "reparse"},
)

PUBLISH = dg.define_asset_job(
    "publish",
    selection=dg.AssetSelection.assets(publish.ASSET),
    description=(
        "Publishes what is loaded. `publish_anyway: true` also where an audit failed: by your decision these rows "
        "replace the published ones."
    ),
    tags={"nightcrawl/kind": "publish"},
)

CANARIES = dg.define_asset_job(
    "canaries",
    selection=dg.AssetSelection.checks(dg.AssetCheckKey(canary.SPEC.asset_key, canary.SPEC.name)),
    description="Only the canary pages of each domain. Nothing is crawled or stored.",
    tags={"nightcrawl/kind": "canaries"},
)

JOBS = (NIGHT, FETCH, RETRY, RETRY_EVERYWHERE, REPARSE, PUBLISH, CANARIES, PLAN, REPORT)
