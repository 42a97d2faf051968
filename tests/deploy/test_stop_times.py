"""Tests that units, chart and Compose wait longer for a stop than the server needs."""

import re
from pathlib import Path
from typing import Any

import pytest

from retinue.cli.processes.orders import KILL_AFTER_GRACE_SECONDS
from retinue.kit.http.server import STOP_SECONDS_AFTER_GRACE
from retinue.kit.settings import Settings
from scripts.chart import manifests

DEPLOY = Path(__file__).parents[2] / "deploy"
STOP_SECONDS = Settings(data_dir=Path("unused")).shutdown_grace + KILL_AFTER_GRACE_SECONDS


def number_after(text: str, name: str) -> float:
    found = re.search(rf"{name}[=:]\s*(\d+)s?$", text, re.MULTILINE)
    assert found, f"{name} is missing"
    return float(found[1])


def test_a_supervisor_waits_longer_than_its_workers_may_take() -> None:
    assert KILL_AFTER_GRACE_SECONDS > STOP_SECONDS_AFTER_GRACE


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("systemd/retinue.service", "TimeoutStopSec"),
        ("systemd/retinue-worker@.service", "TimeoutStopSec"),
        ("compose.yaml", "stop_grace_period"),
    ],
)
def test_nobody_is_killed_within_the_grace_period(file: str, name: str) -> None:
    assert number_after((DEPLOY / file).read_text(), name) > STOP_SECONDS


def pods(values: dict[str, Any]) -> dict[str, Any]:
    return {
        manifest["metadata"]["name"].removeprefix("retinue-"): manifest["spec"]["template"]["spec"]
        for manifest in manifests(values)
        if manifest["kind"] == "Deployment"
    }


def test_a_pod_also_waits_until_it_has_left_the_service() -> None:
    found = pods({})
    (container,) = found["api"]["containers"]
    drain_seconds = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert found["api"]["terminationGracePeriodSeconds"] > drain_seconds + STOP_SECONDS
    assert found["worker"]["terminationGracePeriodSeconds"] > STOP_SECONDS


def test_pods_get_the_time_that_a_longer_grace_period_needs() -> None:
    found = pods(
        {
            "api": {"terminationGracePeriodSeconds": 660},
            "worker": {"terminationGracePeriodSeconds": 330},
        }
    )
    assert {name: pod["terminationGracePeriodSeconds"] for name, pod in found.items()} == {
        "api": 660,
        "worker": 330,
    }


def test_the_unit_reloads_as_the_guide_says() -> None:
    unit = (DEPLOY / "systemd/retinue.service").read_text()
    assert "ExecReload=/opt/retinue/bin/retinue reload\n" in unit
