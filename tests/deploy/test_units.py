"""The units of systemd: they are understood, and expose little."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

UNITS = Path(__file__).parents[2] / "deploy" / "systemd"
NAMES = ("retinue.service", "retinue-worker@.service")
PROGRAM = "/opt/retinue/bin/retinue"
MAX_EXPOSURE = 3.0
pytestmark = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")


def analyze(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(("systemd-analyze", *arguments), capture_output=True, text=True, check=False)


def copy_unit(folder: Path, name: str, *change: str) -> Path:
    """Return the unit, changed for an environment that exists."""
    text = (UNITS / name).read_text().replace(PROGRAM, str(Path(sys.executable).with_name("retinue")))
    target = folder / name
    target.write_text(text.replace(*change) if change else text)
    return target


def exposure(unit: Path) -> float:
    said = analyze("security", "--offline=yes", "--no-pager", unit).stdout
    found = re.search(r"Overall exposure level for \S+ (\d+\.\d+)", said)
    assert found, said
    return float(found[1])


@pytest.mark.parametrize("name", NAMES)
def test_systemd_understands_the_unit(tmp_path: Path, name: str) -> None:
    said = analyze("verify", "--man=no", copy_unit(tmp_path, name))
    assert (said.returncode, said.stderr) == (0, "")
    wrong = analyze("verify", "--man=no", copy_unit(tmp_path, name, "ProtectHome=yes", "ProtectHoem=yes"))
    assert "ProtectHoem" in wrong.stderr


@pytest.mark.parametrize("name", NAMES)
def test_the_unit_exposes_little(tmp_path: Path, name: str) -> None:
    assert exposure(UNITS / name) <= MAX_EXPOSURE
    assert (
        exposure(copy_unit(tmp_path, name, "NoNewPrivileges=yes\nCapabilityBoundingSet=\n", ""))
        > MAX_EXPOSURE
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_sandboxes_need_stays_allowed(name: str) -> None:
    lines = dict(
        line.split("=", 1) for line in (UNITS / name).read_text().splitlines() if re.match(r"\w+=", line)
    )
    forbidding = {
        "RestrictNamespaces",
        "ProtectKernelTunables",
        "ProtectHostname",
        "ProtectProc",
        "ProcSubset",
        "MemoryDenyWriteExecute",
    }
    assert not lines.keys() & forbidding
    assert {"@mount", "seccomp", "landlock_restrict_self"} <= set(lines["SystemCallFilter"].split())
    assert "AF_NETLINK" in lines["RestrictAddressFamilies"].split()
    assert (lines["StateDirectory"], lines["User"], lines["DynamicUser"]) == ("retinue", "retinue", "yes")


def lines_of(name: str) -> list[str]:
    return [line for line in (UNITS / name).read_text().splitlines() if re.match(r"\w+=", line)]


@pytest.mark.parametrize("name", NAMES)
def test_a_unit_that_hangs_is_restarted_and_says_how_to_run_commands(name: str) -> None:
    assert "WatchdogSec=30" in lines_of(name)
    assert "Type=notify" in lines_of(name)
    text = (UNITS / name).read_text()
    for command in ("retinue-command backup", "retinue-command upgrade", "retinue-command doctor"):
        assert command in text


def record_command(folder: Path, *arguments: str) -> list[str]:
    """Return how `retinue-command` calls systemd-run; a program that prints its arguments plays its part."""
    stand_in = folder / "systemd-run"
    stand_in.write_text('#!/bin/sh\nfor argument in "$@"; do printf "%s\\n" "$argument"; done\n')
    stand_in.chmod(0o755)
    ran = subprocess.run(
        (UNITS / "retinue-command", *arguments),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": f"{folder}:/usr/bin:/bin"},
    )
    return ran.stdout.splitlines()


def test_commands_find_a_folder_for_backups_that_they_may_write_to(tmp_path: Path) -> None:
    """Their own user makes it: in a folder that root made, the service could not write."""
    called = record_command(tmp_path, "backup", "backups/a file.tar")
    command = called[called.index("/bin/sh") :]
    command[command.index(PROGRAM)] = "printf"
    command[command.index("backup")] = "%s\\n"
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout == "backups/a file.tar\n"
    assert (tmp_path / "backups").is_dir()
    guide = (UNITS.parents[1] / "docs" / "guides" / "installing.md").read_text()
    assert "mkdir -p /var/lib/retinue" not in guide


@pytest.mark.parametrize("name", NAMES)
def test_commands_run_as_the_unit_does(tmp_path: Path, name: str) -> None:
    called = record_command(tmp_path, "backup", "a file.tar", "--keep", "7")
    assert called[-5:] == [PROGRAM, "backup", "a file.tar", "--keep", "7"]
    assert "--pipe" in called
    properties = {found.removeprefix("--property=") for found in called if found.startswith("--property=")}
    unit = {line.replace("%S", "/var/lib") for line in lines_of(name)}
    assert properties <= unit, "and nothing that the unit does not say"
    shared = {"User", "DynamicUser", "StateDirectory", "StateDirectoryMode", "UMask", "EnvironmentFile"}
    assert {line.partition("=")[0] for line in properties} == shared
    (folder,) = (found.partition("=")[2] for found in called if found.startswith("--working-directory="))
    (variable,) = (found.partition("=")[2] for found in called if found.startswith("--setenv="))
    assert f"WorkingDirectory={folder}" in unit
    assert f"Environment={variable}" in unit
    transient = tmp_path / "retinue-transient.service"
    transient.write_text("[Service]\nType=exec\n" + "\n".join(sorted(properties)) + "\nExecStart=/bin/true\n")
    said = analyze("verify", "--man=no", transient)
    assert (said.returncode, said.stderr) == (0, "")
