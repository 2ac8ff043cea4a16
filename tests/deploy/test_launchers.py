"""The instance files of `deploy/`: Dagster's own schema accepts them, and its classes take their values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.instance.config import dagster_instance_config
from dagster._core.launcher import WorkerStatus

from resources.launcher import FleetRunLauncher
from resources.launcher.signs_of_life import SETTLED_S, SignsOfLife, beating
from tests.deploy.files import COMPOSE, DEPLOY, loaded
from tests.fleet.servers import RedisServer

LAUNCHERS = DEPLOY / "launchers"


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    started = RedisServer()
    yield started
    started.stop()


def instance_of(folder: Path, settings: dict[str, Any]) -> dg.DagsterInstance:
    import yaml

    folder.mkdir(exist_ok=True)
    (folder / "dagster.yaml").write_text(yaml.safe_dump(settings))
    return dg.DagsterInstance.from_config(str(folder))


@pytest.mark.parametrize("name", ["celery", "docker", "kubernetes"])
def test_dagster_takes_each_launcher(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: RedisServer
) -> None:
    """The class is made from the file's values; what it would ask Docker or Kubernetes is not run here."""
    pytest.importorskip({"docker": "dagster_docker", "kubernetes": "dagster_k8s"}.get(name, "dagster_celery"))
    monkeypatch.setenv("NIGHTCRAWL_BROKER", server.address)
    monkeypatch.setenv("NIGHTCRAWL_HEARTBEAT", server.address)
    settings = loaded(LAUNCHERS / f"{name}.yaml")
    if name == "kubernetes":  # it would look for the cluster it runs in
        settings["run_launcher"]["config"]["load_incluster_config"] = False
        settings["run_launcher"]["config"]["kubeconfig_file"] = str(tmp_path / "kubeconfig")
        (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    with instance_of(tmp_path, settings) as instance:
        assert type(instance.run_launcher).__name__ == settings["run_launcher"]["class"]


KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: none
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
users: [{name: none, user: {}}]
"""


def test_the_instance_of_many_machines_differs_only_where_machines_differ(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many, one = loaded(COMPOSE / "dagster.yaml"), loaded(DEPLOY.parent / "dagster.yaml")
    assert set(many) - set(one) == {"run_launcher"}
    assert many["run_retries"] == one["run_retries"] and many["retention"] == one["retention"]
    assert many["run_monitoring"]["start_timeout_seconds"] > one["run_monitoring"]["start_timeout_seconds"]
    monkeypatch.setenv("NIGHTCRAWL_DAGSTER_POSTGRES", "postgresql+psycopg2://dagster@127.0.0.1/dagster")
    config, _ = dagster_instance_config(str(COMPOSE))  # refuses unknown keys and wrong values
    assert config["run_launcher"]["class"] == "FleetRunLauncher"


class TestFleetRunLauncher:
    """Against a real Redis; whole runs are in `test_engines`."""

    @pytest.fixture
    def launched(
        self, tmp_path: Path, server: RedisServer
    ) -> Iterator[tuple[dg.DagsterInstance, FleetRunLauncher]]:
        config = {"broker": server.address, "default_queue": "crawl"}
        launcher = {"module": "resources.launcher", "class": "FleetRunLauncher", "config": config}
        with instance_of(tmp_path, {"run_launcher": launcher}) as instance:
            assert isinstance(instance.run_launcher, FleetRunLauncher)
            yield instance, instance.run_launcher

    def test_a_run_lives_as_long_as_it_says_so(
        self,
        launched: tuple[dg.DagsterInstance, FleetRunLauncher],
        server: RedisServer,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        instance, launcher = launched
        run = _run(instance)
        with beating(server.address, run.run_id):
            assert launcher.check_run_worker_health(run).status is WorkerStatus.RUNNING
            assert "process" in (launcher.get_run_worker_debug_info(run) or "")
            assert 0 < server.client.ttl(SignsOfLife.key(run.run_id)) <= 15
        # Silence: not judged while the server is young, for it may have forgotten everybody.
        young = launcher.check_run_worker_health(run)
        assert young.status is WorkerStatus.RUNNING and "just started" in str(young.msg)
        monkeypatch.setattr(SignsOfLife, "settled", lambda self: True)
        lost = launcher.check_run_worker_health(run)
        assert lost.status is WorkerStatus.FAILED and "no sign of life" in str(lost.msg)

    def test_a_redis_that_is_away_declares_nobody_dead(
        self, launched: tuple[dg.DagsterInstance, FleetRunLauncher], server: RedisServer
    ) -> None:
        instance, launcher = launched
        server.kill()
        try:
            health = launcher.check_run_worker_health(_run(instance))
            assert health.status is WorkerStatus.RUNNING and "cannot be asked" in str(health.msg)
        finally:
            server.start()
        assert int(server.client.info("server")["uptime_in_seconds"]) < SETTLED_S

    def test_terminate_says_canceling_and_leaves_finished_runs_alone(
        self, launched: tuple[dg.DagsterInstance, FleetRunLauncher]
    ) -> None:
        instance, launcher = launched
        run = _run(instance, status=dg.DagsterRunStatus.STARTED, tags={"dagster-celery/task_id": "x"})
        assert launcher.terminate(run.run_id)
        found = instance.get_run_by_id(run.run_id)
        assert found is not None and found.status is dg.DagsterRunStatus.CANCELING
        over = _run(instance, status=dg.DagsterRunStatus.SUCCESS, tags={"dagster-celery/task_id": "y"})
        assert not launcher.terminate(over.run_id)
        never_sent = _run(instance, status=dg.DagsterRunStatus.STARTING)
        assert not launcher.terminate(never_sent.run_id)

    def test_resume_is_not_offered(self, launched: tuple[dg.DagsterInstance, FleetRunLauncher]) -> None:
        assert not launched[1].supports_resume_run and launched[1].supports_check_run_worker_health

    def test_a_broker_that_is_no_redis_needs_one_for_the_signs_of_life(self) -> None:
        with pytest.raises(ValueError, match="set `heartbeat: redis://"):
            FleetRunLauncher("crawl", "amqp://127.0.0.1")


def _run(instance: dg.DagsterInstance, **values: Any) -> dg.DagsterRun:
    from dagster._core.utils import make_new_run_id

    run = dg.DagsterRun(job_name="night", run_id=make_new_run_id(), **values)
    added = instance.add_run(run)
    assert added.run_id == run.run_id
    return run


def test_the_tag_of_the_task_is_dagsters() -> None:
    from dagster_celery.tags import DAGSTER_CELERY_TASK_ID_TAG

    assert DAGSTER_CELERY_TASK_ID_TAG == "dagster-celery/task_id"


def test_signs_end_with_the_block(server: RedisServer) -> None:
    signs = SignsOfLife(server.address)
    with beating(server.address, "r1"):
        sign = signs.of("r1")
        assert sign is not None and sign.pid
    assert signs.of("r1") is None
    signs.close()
