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


def copied(folder: Path, name: str, *change: str) -> Path:
    """The unit for an environment that is there."""
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
    said = analyze("verify", "--man=no", copied(tmp_path, name))
    assert (said.returncode, said.stderr) == (0, "")
    wrong = analyze("verify", "--man=no", copied(tmp_path, name, "ProtectHome=yes", "ProtectHoem=yes"))
    assert "ProtectHoem" in wrong.stderr


@pytest.mark.parametrize("name", NAMES)
def test_the_unit_exposes_little(tmp_path: Path, name: str) -> None:
    assert exposure(UNITS / name) <= MAX_EXPOSURE
    assert (
        exposure(copied(tmp_path, name, "NoNewPrivileges=yes\nCapabilityBoundingSet=\n", "")) > MAX_EXPOSURE
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
