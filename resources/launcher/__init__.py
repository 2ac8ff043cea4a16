"""Dagster runs on many machines: `FleetRunLauncher` for dagster.yaml, `resources.launcher.app` for the workers.

run_launcher:
  module: resources.launcher
  class: FleetRunLauncher
  config: {broker: {env: NIGHTCRAWL_BROKER}, heartbeat: {env: NIGHTCRAWL_HEARTBEAT}, default_queue: crawl}

celery -A resources.launcher.app worker -Q crawl --concurrency 2
"""

from resources.launcher.fleet import FleetRunLauncher

__all__ = ["FleetRunLauncher"]
