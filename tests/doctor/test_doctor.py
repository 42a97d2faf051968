"""`retinue doctor`: what it finds, what it says to do, and what it never prints."""

import asyncio
import errno
import json
import resource
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from retinue.cli.backups.create import create_backup
from retinue.cli.doctor import machine_checks
from retinue.cli.doctor.commands import run_doctor, run_probe
from retinue.cli.doctor.findings import Finding
from retinue.cli.doctor.machine_checks import check_machine
from retinue.cli.doctor.service_checks import check_services
from retinue.kit import storage_watch
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from tests.factories.weights import fetch_weights

NOBODY = "127.0.0.1:9"
SECRET = "s3cret-of-the-mail-server"


class DiskUsage(NamedTuple):
    total: int
    used: int
    free: int


async def findings(settings: Settings) -> dict[str, Finding]:
    return {finding.name: finding async for finding in check_services(settings)}


def machine(settings: Settings, *warnings: str) -> dict[str, Finding]:
    return {finding.name: finding for finding in check_machine(settings, list(warnings))}


async def test_a_healthy_instance_has_no_failures(service) -> None:
    found = await findings(service.settings)
    expected = {"database", "clock", "latency", "revision", "audit_heads", "events", "key", "sealed_values"}
    assert expected <= found.keys()
    assert {name for name in expected if found[name].status != "ok"} <= {"latency"}, found
    assert ("pgvector" in found) is bool(service.settings.database_url)


@pytest.mark.either_database
async def test_what_the_database_tells_is_reported(service, admin) -> None:
    database = service.instance.database
    batch = [
        ("UPDATE audit_heads SET hash = 'other' WHERE sequence > 0", [[]]),
        ("UPDATE alembic_version SET version_num = '9999'", [[]]),
    ]
    await database.apply(batch[:1])
    found = await findings(service.settings)
    assert (found["audit_heads"].status, "retinue audit verify" in found["audit_heads"].hint) == (
        "fail",
        True,
    )
    await database.apply(batch[1:])
    found = await findings(service.settings)
    assert (found["revision"].status, found["revision"].detail[:27]) == (
        "fail",
        "the database is at 9999, th",
    )
    assert "key" not in found, "nothing is opened that this version does not know"


@pytest.mark.either_database
async def test_a_wrong_key_is_a_failure(service) -> None:
    other = Secret("q83vEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJq80=")
    found = await findings(replace(service.settings, master_key=other))
    assert (found["key"].status, found["key"].detail) == (
        "fail",
        "the master key does not match the database",
    )


@pytest.mark.either_database
async def test_services_that_do_not_answer_are_failures(service, caplog, capsys) -> None:
    settings = replace(
        service.settings, redis_url=f"redis://{NOBODY}", smtp_url=Secret(f"smtp://mailer:{SECRET}@{NOBODY}")
    )
    with pytest.raises(typer.Exit) as ended:
        await asyncio.to_thread(run_doctor, settings, [], is_json=True)
    assert ended.value.exit_code == 2
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert report["status"] == "fail"
    found = {check["name"]: check for check in report["checks"]}
    assert (found["redis"]["status"], found["smtp"]["status"]) == ("fail", "fail")
    assert found["redis"]["detail"].startswith(f"Redis at {NOBODY} cannot be used: it refused the connection")
    assert "Check RETINUE_REDIS_URL" in found["redis"]["detail"]
    assert found["smtp"]["detail"].startswith(f"The mail server at {NOBODY} cannot be used: it refused")
    assert all(check["hint"] for check in report["checks"] if check["status"] != "ok")
    assert SECRET not in printed.out + printed.err + caplog.text


@pytest.mark.either_database
async def test_the_machine_and_the_settings_are_looked_at(service, tmp_path: Path) -> None:
    settings = service.settings
    assert machine(settings)["last_backup"].status == "warn"
    await asyncio.to_thread(create_backup, settings, tmp_path / "backup.tar", None, 0)
    found = machine(settings)
    names = ("settings", "base_url", "sample_secrets", "egress", "last_backup", "file_system")
    assert {name: found[name].status for name in names} == dict.fromkeys(names, "ok")
    (settings.data_dir / "master.key").chmod(0o604)
    bad = replace(
        settings,
        base_url="http://agents.example.com",
        admin_password=Secret("changeme"),
        egress_allow=("0.0.0.0/0",),
    )
    found = machine(bad, "unknown setting RETINUE_TYPO")
    statuses = {name: found[name].status for name in ("settings", "base_url", "sample_secrets", "egress")}
    assert statuses == {"settings": "warn", "base_url": "warn", "sample_secrets": "fail", "egress": "fail"}
    assert (found["data_dir"].status, found["data_dir"].hint[:11]) == ("warn", "chmod o-rwx")
    assert "changeme" not in str(found)


@pytest.mark.either_database
async def test_a_full_disk_is_a_failure(service, monkeypatch) -> None:
    """Measured as `/health` does, by writing: free blocks say nothing of a quota."""
    settings = service.settings
    monkeypatch.setattr(machine_checks.shutil, "disk_usage", lambda _: DiskUsage(20 * 10**9, 0, 15 * 10**9))
    assert machine(settings)["free_space"].detail == "15.0 GB of 20.0 GB are free"
    monkeypatch.setattr(storage_watch.tempfile, "TemporaryFile", refuse_to_write)
    found = machine(settings)["free_space"]
    assert (found.status, str(settings.data_dir) in found.detail) == ("fail", True)
    monkeypatch.setattr(machine_checks.shutil, "disk_usage", lambda _: DiskUsage(8 * 10**8, 0, 40_000_000))
    assert machine(settings)["free_space"].detail.endswith("; 40 MB of 800 MB are free")


def refuse_to_write(**_: object) -> None:
    raise OSError(errno.EDQUOT, "Disk quota exceeded")


@pytest.mark.either_database
async def test_what_a_server_on_loopback_allows_is_not_called_nothing(service) -> None:
    unknown = replace(service.settings, base_url="", bound_hosts=(), egress_allow=None)
    assert "a server on loopback allows 127.0.0.0/8" in machine(unknown)["egress"].detail
    public = replace(unknown, base_url="https://agents.example.com")
    assert machine(public)["egress"].detail == "private addresses allowed: none"


async def run_doctor_command(settings: Settings, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(typer.Exit) as ended:
        await asyncio.to_thread(run_doctor, settings, [], is_json=False)
    return ended.value.exit_code, capsys.readouterr().out


@pytest.mark.either_database
async def test_a_good_machine_has_no_warnings(service, tmp_path, capsys, monkeypatch) -> None:
    """Also with Python 3.11, which has no `wasm.python`: bubblewrap runs its functions instead."""
    monkeypatch.setattr("retinue.cli.doctor.service_checks.MAX_LATENCY_MS", float("inf"))
    await asyncio.to_thread(create_backup, service.settings, tmp_path / "backup.tar", None, 0)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # As a login shell of Debian has it.
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, soft), hard))
    try:
        code, text = await run_doctor_command(replace(service.settings, models_dir=fetch_weights()), capsys)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if code and "free_space" in text:
        pytest.skip("the disk of this machine is nearly full")
    assert code == 0, text
    assert "Python functions by " in text


@pytest.mark.either_database
async def test_code_that_cannot_run_is_named(service, capsys, monkeypatch) -> None:
    """Without bubblewrap Python 3.11 runs no Python function; scripts alone would be a note."""
    monkeypatch.setenv("PATH", "/nowhere")
    found = await findings(service.settings)
    assert "bubblewrap (bwrap) is not installed" in found["sandboxes"].detail
    is_needed = sys.version_info < (3, 12)
    assert found["sandboxes"].status == ("warn" if is_needed else "ok")
    assert ("no Python functions (" in found["sandboxes"].detail) is is_needed


@pytest.mark.either_database
def test_a_folder_without_an_instance_is_a_failure(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "nowhere")
    assert machine(settings)["data_dir"].status == "fail"
    assert asyncio.run(findings(settings))["database"].status == "fail"
    assert not (tmp_path / "nowhere").exists(), "looking creates nothing"


@pytest.fixture
async def fake_server() -> AsyncIterator[Any]:
    """A server that answers every request with one status and body."""
    reply = {"status": 200, "body": b'{"status":"ok","database":"ok","vault":"open"}'}

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 {reply['status']} Any\r\nContent-Length: {len(reply['body'])}\r\n\r\n"
        writer.write(head.encode() + reply["body"])
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        reply["url"] = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/health/ready"
        yield reply


@pytest.mark.either_database
@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (200, b'{"status":"ok","database":"ok","vault":"open"}', 0),
        (503, b'{"status":"unavailable","database":"ok","vault":"sealed"}', 2),
        (200, b"<html>another's page</html>", 2),
    ],
)
async def test_a_probe_asks_the_server_only(fake_server, capsys, tmp_path, status, body, code) -> None:
    fake_server.update(status=status, body=body)
    settings = Settings(data_dir=tmp_path / "nowhere")
    with pytest.raises(typer.Exit) as ended:
        await asyncio.to_thread(run_probe, settings, fake_server["url"], is_json=False)
    assert ended.value.exit_code == code, capsys.readouterr()


@pytest.mark.either_database
def test_a_probe_of_nobody_fails(tmp_path, capsys) -> None:
    with pytest.raises(typer.Exit) as ended:
        run_probe(Settings(data_dir=tmp_path), f"http://{NOBODY}/health/ready", is_json=False)
    assert ended.value.exit_code == 2
    assert "does not answer" in capsys.readouterr().out


def test_missing_extras_are_listed_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(data_dir=tmp_path)
    assert machine(settings)["extras"].detail == "all are installed"
    monkeypatch.setattr(machine_checks, "is_installed", lambda extra: extra not in {"local", "speech"})
    found = machine(settings)
    detail = "not installed: local, speech; pip install 'retinue[local,speech]' adds them"
    assert (found["extras"].status, found["extras"].detail) == ("ok", detail)
    assert not found.keys() & {"models", "model_sums"}
