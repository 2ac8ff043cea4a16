"""`deploy/kubernetes/`: valid for current Kubernetes, and what a crawl needs of it is there."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

import pytest
import yaml

from tests.deploy.files import COMPOSE, KUBERNETES, documents, loaded

VERSIONS = ("1.34", "1.36", "1.37")
FILES = [
    p
    for p in sorted(KUBERNETES.glob("*.yaml"))
    if p.stem not in ("kustomization",) and "values" not in p.stem
]


def everything() -> list[dict[str, Any]]:
    return [each for path in FILES for each in documents(path.read_text())]


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [each for each in everything() if each["kind"] == kind]


@pytest.mark.parametrize("version", VERSIONS)
def test_manifests_are_valid(version: str) -> None:
    validate = pytest.importorskip("kubernetes_validate")
    checked = 0
    for each in everything():
        if each["apiVersion"].startswith("keda.sh/"):
            continue  # a resource definition of KEDA; see below
        validate.validate(each, version, strict=True)
        checked += 1
    assert checked >= 10


def test_a_mistake_would_be_found() -> None:
    validate = pytest.importorskip("kubernetes_validate")
    broken = yaml.safe_load(yaml.safe_dump(of_kind("Deployment")[0]))
    broken["spec"]["template"]["spec"]["containers"][0]["comand"] = ["x"]
    with pytest.raises(validate.ValidationError):
        validate.validate(broken, VERSIONS[-1], strict=True)


def test_kustomize_builds_all_of_it() -> None:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("no kubectl here")
    out = subprocess.run([kubectl, "kustomize", str(KUBERNETES)], capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr
    built = documents(out.stdout)
    assert {(e["kind"], e["metadata"]["name"]) for e in everything()} <= {
        (e["kind"], e["metadata"]["name"]) for e in built
    }
    images = re.findall(r"image: (\S+)", out.stdout)
    assert images and set(images) == {"registry.example/nightcrawl:0.1.0"}


def test_every_pod_has_limits_no_rights_and_a_read_only_root() -> None:
    for deployment in of_kind("Deployment"):
        pod = deployment["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
        for container in pod["containers"]:
            assert container["resources"]["limits"]["memory"] and container["resources"]["requests"]["cpu"]
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] and not context["allowPrivilegeEscalation"]
            assert context["capabilities"] == {"drop": ["ALL"]}


def test_whoever_holds_leases_has_time_to_hand_them_back() -> None:
    from resources.crawler.order import CrawlOrder

    drain = CrawlOrder((), "").drain_s
    for name in ("nightcrawl-runs", "nightcrawl-worker"):
        (deployment,) = (each for each in of_kind("Deployment") if each["metadata"]["name"] == name)
        pod = deployment["spec"]["template"]["spec"]
        assert pod["terminationGracePeriodSeconds"] >= 3 * drain
        assert "replicas" not in deployment["spec"], "KEDA's: an apply would undo its scaling"


def test_disruptions_are_bounded() -> None:
    budgets = {
        each["spec"]["selector"]["matchLabels"]["app.kubernetes.io/name"]
        for each in of_kind("PodDisruptionBudget")
    }
    assert budgets == {"nightcrawl-runs", "nightcrawl-worker"}


def test_secrets_are_only_referred_to() -> None:
    assert not of_kind("Secret")
    for path in KUBERNETES.glob("*.yaml"):
        for line in path.read_text().splitlines():
            assert not re.search(r"(?i)(password|secret_?(access_)?key): *['\"]?[a-z0-9]{6,}", line), (
                path,
                line,
            )
    values = loaded(KUBERNETES / "values.yaml")
    assert "postgresqlPassword" not in values["postgresql"]
    assert values["generatePostgresqlPasswordSecret"] is False


def test_workers_scale_on_queues_that_exist() -> None:
    """Structure as KEDA 2 documents it; no cluster was asked."""
    by_name = {each["metadata"]["name"]: each for each in of_kind("ScaledObject")}
    deployments = {each["metadata"]["name"] for each in of_kind("Deployment")}
    assert {each["spec"]["scaleTargetRef"]["name"] for each in by_name.values()} <= deployments
    runs = {each["type"]: each for each in by_name["nightcrawl-runs"]["spec"]["triggers"]}
    queue = loaded(COMPOSE / "dagster.yaml")["run_launcher"]["config"]["default_queue"]
    assert runs["redis"]["metadata"]["listName"] == queue
    (auth,) = of_kind("TriggerAuthentication")
    assert runs["redis"]["authenticationRef"]["name"] == auth["metadata"]["name"]
    for each in by_name.values():
        for trigger in each["spec"]["triggers"]:
            assert all(isinstance(value, str) for value in trigger["metadata"].values()), (
                "KEDA takes only strings"
            )


def test_metrics_that_scale_are_metrics_we_have() -> None:
    from prometheus_client import CollectorRegistry, generate_latest

    from resources.installation import Installation
    from resources.metrics.installation import InstallationMetrics

    text = (KUBERNETES / "autoscaling.yaml").read_text()
    wanted = set(re.findall(r"nightcrawl_[a-z_]+", text))
    registry = CollectorRegistry()
    registry.register(
        InstallationMetrics(
            Installation.from_environment({"NIGHTCRAWL_FRONTIER": "memory:", "NIGHTCRAWL_LEDGER": "memory:"})
        )
    )
    have = set(re.findall(r"^(nightcrawl_[a-z_]+)", generate_latest(registry).decode(), re.M))
    assert wanted and wanted <= have


def test_fetching_pods_do_not_reach_the_metadata_service_or_the_cluster() -> None:
    (policy,) = of_kind("NetworkPolicy")
    blocks = [
        to["ipBlock"] for rule in policy["spec"]["egress"] for to in rule.get("to", ()) if "ipBlock" in to
    ]
    assert any("169.254.0.0/16" in block["except"] for block in blocks)
    assert any("10.0.0.0/8" in block["except"] for block in blocks)


def test_the_chart_gets_the_same_instance_as_compose() -> None:
    values, compose = loaded(KUBERNETES / "values.yaml"), loaded(COMPOSE / "dagster.yaml")
    custom = values["runLauncher"]["config"]["customRunLauncher"]
    assert custom == compose["run_launcher"]
    runs = values["additionalInstanceConfig"]["concurrency"]["runs"]
    assert runs == compose["concurrency"]["runs"]
    monitoring = values["dagsterDaemon"]["runMonitoring"]
    assert monitoring["maxResumeRunAttempts"] == 0
    assert monitoring["startTimeoutSeconds"] == compose["run_monitoring"]["start_timeout_seconds"]
    assert (
        monitoring["freeSlotsAfterRunEndSeconds"]
        == compose["run_monitoring"]["free_slots_after_run_end_seconds"]
    )
