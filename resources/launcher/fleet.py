"""`FleetRunLauncher`: one Celery task is one whole run, executed by a warm worker on any machine.

Dagster's own `CeleryRunLauncher` with what long crawls need of it:

* *Terminate* says "canceling" before it revokes the task. Without it the worker drains, reports an unexpected
  interruption, and the run stays STARTED for ever.
* *A lost machine* is noticed: a run without a sign of life (`signs_of_life`) has failed, and run_retries starts it
  on another worker. Celery alone shows a task of a dead worker as STARTED for ever. When Redis itself is away or
  has just come back, silence proves nothing and nobody is declared dead.
* *Resume* is not offered, since the task cannot be called (its argument has another name); a retried run goes on
  where the lost one ended anyway, because the frontier remembers.
* *The task id is the run id*, tagged before the task is sent: a warm worker is faster than a second write of tags
  and the two would overwrite each other.
* *No routing key of its own*: tasks go to the queue by its name, so that RabbitMQ delivers them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import redis
from celery import Task
from dagster import DagsterRun, Field, Noneable, StringSource
from dagster._core.launcher import CheckRunHealthResult, WorkerStatus
from dagster._serdes import ConfigurableClassData
from dagster_celery.launcher import CeleryRunLauncher
from dagster_celery.tags import (
    DAGSTER_CELERY_QUEUE_TAG,
    DAGSTER_CELERY_RUN_PRIORITY_TAG,
    DAGSTER_CELERY_TASK_ID_TAG,
)

from resources.launcher.signs_of_life import EXPIRES_S, SignsOfLife

__all__ = ["FleetRunLauncher"]


class FleetRunLauncher(CeleryRunLauncher):
    """See the module docstring. `heartbeat`: the Redis of the signs of life; default: the broker, if it is one."""

    def __init__(
        self,
        default_queue: str,
        broker: str | None = None,
        heartbeat: str | None = None,
        inst_data: ConfigurableClassData | None = None,
        **more: Any,
    ) -> None:
        super().__init__(default_queue=default_queue, broker=broker, inst_data=inst_data, **more)
        place = heartbeat or broker or ""
        if not place.startswith(("redis://", "rediss://")):
            raise ValueError(
                "run_launcher: lost workers are noticed through Redis: set `heartbeat: redis://host:6379/0`"
            )
        self._signs = SignsOfLife(place)

    @classmethod
    def config_type(cls) -> Any:
        schema: Any = super().config_type()
        return {
            **schema,
            "heartbeat": Field(
                Noneable(StringSource),
                is_required=False,
                description="Redis where running runs give signs of life. Default: the broker.",
            ),
        }

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData, config_value: Mapping[str, Any]
    ) -> FleetRunLauncher:
        return cls(inst_data=inst_data, **config_value)

    # -- launching -----------------------------------------------------------------------------------
    def _launch_celery_task_run(self, run: DagsterRun, task_signature: Task, routing_key: str) -> None:
        queue = run.tags.get(DAGSTER_CELERY_QUEUE_TAG, self.default_queue)
        tags = {DAGSTER_CELERY_TASK_ID_TAG: run.run_id}
        self._instance.add_run_tags(run.run_id, tags)
        task_signature.apply_async(task_id=run.run_id, queue=queue, priority=_priority(run))
        self._instance.report_engine_event(
            f"Sent to the queue {queue} of the broker.", run, cls=self.__class__
        )

    @property
    def supports_resume_run(self) -> bool:
        return False

    # -- ending --------------------------------------------------------------------------------------
    def terminate(self, run_id: str) -> bool:
        """Ask the run to drain. False if it is over or was never sent."""
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished or DAGSTER_CELERY_TASK_ID_TAG not in run.tags:
            return False
        self._instance.report_run_canceling(run)
        self.celery.control.revoke(run.tags[DAGSTER_CELERY_TASK_ID_TAG], terminate=True)
        return True

    # -- health --------------------------------------------------------------------------------------
    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        """Numbered cases: 1. Redis cannot be asked; 2. a sign of life; 3. Redis is back too shortly; 4. lost."""
        try:
            if self._signs.of(run.run_id) is not None:
                return CheckRunHealthResult(WorkerStatus.RUNNING)
            if not self._signs.settled():
                return CheckRunHealthResult(WorkerStatus.RUNNING, "Redis has just started: not judged yet")
        except redis.RedisError as error:
            return CheckRunHealthResult(WorkerStatus.RUNNING, f"not judged, Redis cannot be asked: {error}")
        return CheckRunHealthResult(
            WorkerStatus.FAILED,
            f"no sign of life for {EXPIRES_S} s: the worker or its machine is gone. Every page fetched is kept; "
            "its leases go back when they expire",
        )

    def get_run_worker_debug_info(
        self, run: DagsterRun, include_container_logs: bool | None = True
    ) -> str | None:
        """Where the run lives."""
        try:
            sign = self._signs.of(run.run_id)
        except redis.RedisError as error:
            return f"Redis cannot be asked: {error}"
        return None if sign is None else f"runs on {sign.host}, process {sign.pid}"

    def dispose(self) -> None:
        self._signs.close()
        super().dispose()


def _priority(run: DagsterRun) -> int:
    """Of the run's tag; 0 without one. A value that is no number is refused: the launch fails with it."""
    return int(run.tags.get(DAGSTER_CELERY_RUN_PRIORITY_TAG, 0))
