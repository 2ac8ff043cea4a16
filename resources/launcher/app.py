"""The Celery application of the workers: `celery -A resources.launcher.app worker -Q crawl --concurrency 2`.

    NIGHTCRAWL_BROKER     redis:// or amqp://; the same as in dagster.yaml    redis://127.0.0.1:6379/1
    NIGHTCRAWL_HEARTBEAT  redis:// for the signs of life                       the broker

A task is a whole run. SIGTERM to the worker (a deploy, a spot machine that is taken away) is handed to its runs:
they let requests in flight end, write everything, hand their leases back, and Dagster starts them elsewhere. Celery
alone would wait for crawls that take hours and then be killed.
"""

from __future__ import annotations

import logging
import os
import signal
from contextlib import suppress
from typing import Any

from celery import Celery
from celery.signals import task_postrun, task_prerun, worker_shutting_down
from celery.worker import state
from dagster_celery.config import DEFAULT_CONFIG
from dagster_celery.make_app import make_app
from dagster_celery.tasks import create_execute_job_task

from resources.launcher.signs_of_life import beating

__all__ = ["app", "execute_job"]

log = logging.getLogger(__name__)

BROKER = os.environ.get("NIGHTCRAWL_BROKER") or "redis://127.0.0.1:6379/1"
HEARTBEAT = os.environ.get("NIGHTCRAWL_HEARTBEAT") or BROKER

#: Longer than any run. A task that waits longer in one worker's hands would be given to a second one, and the run
#: would be started twice.
VISIBILITY_S = 7 * 86_400
#: A fresh process now and then: whatever leaks in hours of crawling is given back.
RUNS_PER_PROCESS = 20

_ON_REDIS = BROKER.startswith("redis")
_DEFAULTS: dict[str, Any] = dict(DEFAULT_CONFIG)
SETTINGS: dict[str, Any] = {
    **_DEFAULTS,
    # A worker that is busy for hours must not hold the next run while another is idle: on Redis nothing is fetched
    # ahead; RabbitMQ counts a run as held until it has ended, and its `consumer_timeout` must allow that.
    "worker_prefetch_multiplier": 1,
    "worker_disable_prefetch": _ON_REDIS,
    "task_acks_late": not _ON_REDIS,
    "worker_max_tasks_per_child": RUNS_PER_PROCESS,
    # Runs report to Dagster; nobody reads results.
    "task_ignore_result": True,
    "broker_connection_retry_on_startup": True,
    "broker_transport_options": {
        **_DEFAULTS["broker_transport_options"],
        **({"visibility_timeout": VISIBILITY_S} if _ON_REDIS else {}),
    },
    # Dagster has its own log; Celery's would swallow the crawl's.
    "worker_hijack_root_logger": False,
}

_make_app: Any = make_app  # not annotated
app: Celery = _make_app({"broker": BROKER, "backend": None, "include": [], "config_source": SETTINGS})
execute_job = create_execute_job_task(app)

_beating: dict[str, beating] = {}


def _begin(task_id: str, **_: Any) -> None:
    """In the pool's process, before the run: the task id is the run id (`FleetRunLauncher`)."""
    sign = beating(HEARTBEAT, task_id)
    sign.__enter__()
    _beating[task_id] = sign


def _end(task_id: str, **_: Any) -> None:
    if (sign := _beating.pop(task_id, None)) is not None:
        sign.__exit__()


def _drain(sig: str, **_: Any) -> None:
    """In the worker's main process: tell each running run to end well."""
    for request in list(state.active_requests):
        if request.worker_pid:
            log.warning("%s: asking run %s to drain", sig, request.id)
            with suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(request.worker_pid, signal.SIGTERM)


task_prerun.connect(_begin)
task_postrun.connect(_end)
worker_shutting_down.connect(_drain)
