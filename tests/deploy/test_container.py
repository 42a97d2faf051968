"""The Dockerfile and the compose file, checked without Docker; the image itself is built in `test_image`."""

import asyncio
import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from retinue.kit.setting_loader import list_documented_settings, load_settings
from tests.e2e.processes import free_port, launch_process

ROOT = Path(__file__).parents[2]
DOCKERFILE, COMPOSE = ROOT / "deploy" / "Dockerfile", ROOT / "deploy" / "compose.yaml"
PROGRAMS = Path(sys.executable).parent


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"]
    return found


def test_hadolint_finds_nothing(tmp_path: Path) -> None:
    found = run(PROGRAMS / "hadolint", DOCKERFILE)
    assert (found.returncode, found.stdout) == (0, "")
    bad = tmp_path / "Dockerfile"
    bad.write_text("FROM debian:latest\nRUN cd /tmp\n")
    assert run(PROGRAMS / "hadolint", bad).returncode == 1


def test_the_compose_file_follows_its_schema() -> None:
    (schema,) = (
        file for file in metadata.files("check-jsonschema") or () if file.match("vendor/compose-spec.json")
    )
    validator = jsonschema_rs.validator_for(json.loads(schema.read_text()))
    document = yaml.safe_load(COMPOSE.read_text())
    assert list(validator.iter_errors(document)) == []
    document["services"]["api"]["restart"] = ["never"]
    assert not validator.is_valid(document)


def test_the_image_runs_as_nobody_in_particular_and_says_whether_it_is_ready() -> None:
    text = DOCKERFILE.read_text()
    assert "USER 10001:10001" in text
    assert re.findall(r"^VOLUME (\S+)$", text, re.MULTILINE) == ["/data"]
    assert 'CMD ["retinue", "doctor", "--probe"]' in text
    assert re.findall(r"^FROM runtime AS (\w+)$", text, re.MULTILINE) == ["base", "all"]


def test_there_is_no_password_in_it() -> None:
    for name, service in services().items():
        for variable, value in (service.get("environment") or {}).items():
            is_secret = re.search(r"PASSWORD|SECRET|KEY|DATABASE_URL", variable)
            assert not is_secret or (variable.endswith("_FILE") and value.startswith("/run/secrets/")), name
    secrets = yaml.safe_load(COMPOSE.read_text())["secrets"]
    assert all(secret.keys() == {"file"} for secret in secrets.values())
    ignored = (ROOT / ".gitignore").read_text().split()
    assert "deploy/secrets/" in ignored


def test_the_services_are_closed() -> None:
    found = services()
    assert found["api"]["ports"] == ["127.0.0.1:8080:8080"]
    for name, service in found.items():
        assert name == "api" or "ports" not in service
        if name != "database":
            assert service["read_only"] is True
            assert service["cap_drop"] == ["ALL"]
    for name in ("database", "redis"):
        assert found[name]["networks"] == ["back"]
    assert yaml.safe_load(COMPOSE.read_text())["networks"]["back"] == {"internal": True}


def test_it_sets_only_settings_that_exist() -> None:
    known = {setting.variable for setting in list_documented_settings()}
    for name in ("api", "worker"):
        for variable in services()[name]["environment"]:
            assert variable.removesuffix("_FILE") in known


def test_a_proxy_can_be_trusted_and_nobody_is_by_default() -> None:
    for name in ("api", "worker"):
        assert services()[name]["environment"]["RETINUE_TRUSTED_PROXIES"] == "${RETINUE_TRUSTED_PROXIES:-}"
    settings, warnings = load_settings({"RETINUE_TRUSTED_PROXIES": ""})
    assert (settings.trusted_proxies, warnings) == ((), [])


async def test_the_health_check_of_a_worker_asks_the_worker(tmp_path: Path) -> None:
    """The command of the compose file, at another port, beside a real worker and after its end."""
    worker = services()["worker"]
    _, *command = worker["healthcheck"]["test"]
    address = worker["environment"]["RETINUE_METRICS_ADDRESS"]
    assert command[-1] == f"http://{address}/health/live"
    port = free_port()
    command[0], command[-1] = str(PROGRAMS / "retinue"), f"http://127.0.0.1:{port}/health/live"
    env = {"RETINUE_DATA_DIR": str(tmp_path), "RETINUE_METRICS_ADDRESS": f"127.0.0.1:{port}"}
    process = await launch_process(tmp_path / "worker.log", env, "-m", "retinue.cli", "worker")
    async with asyncio.timeout(120):
        while (await asyncio.to_thread(run, *command)).returncode != 0:
            assert process.returncode is None, (tmp_path / "worker.log").read_text()
    process.terminate()
    assert await process.wait() == 0
    assert (await asyncio.to_thread(run, *command)).returncode != 0


def test_the_context_holds_what_a_build_needs() -> None:
    named = set((ROOT / ".dockerignore").read_text().split())
    build = re.findall(r'"([\w.]+)"', (ROOT / "pyproject.toml").read_text().partition("[project]")[0])
    assert {
        f"!{name}" for name in ("pyproject.toml", "src", "console", "packaging", "requirements.lock")
    } <= named
    assert "packaging" in build


@pytest.mark.parametrize("script", ["scripts/image.sh", ".ci/run"])
def test_the_scripts_can_be_read_by_a_shell(script: str) -> None:
    assert run("bash", "-n", script).stderr == ""
