"""A name server that is far away, dead or lying, as the system's own resolver meets it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.name_server import DEAD_NAMES

NAMESPACES = ["unshare", "--map-root-user", "--net", "--mount", "sh", "-c"]
FILES = {
    "resolv.conf": "nameserver 127.0.0.1\noptions timeout:5 attempts:2\n",
    "nsswitch.conf": "hosts: files dns\n",
}


@pytest.fixture
def in_namespaces(tmp_path):
    """Runs a module in a network of its own, with a name server at 127.0.0.1."""
    setup = ["ip link set lo up"]
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
        setup.append(f"mount --bind {tmp_path / name} /etc/{name}")

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*NAMESPACES, " && ".join([*setup, command])],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    try:
        problem = run("true").stderr
    except FileNotFoundError:
        problem = "there is no unshare"
    if problem:
        pytest.skip(f"namespaces cannot be made here: {problem}")
    return run


@pytest.mark.one_service("calls out of one process")
def test_a_bad_name_server_delays_only_the_names_it_does_not_answer_and_cannot_lead_inside(in_namespaces):
    ended = in_namespaces(f"cd {Path.cwd()} && exec {sys.executable} -m tests.kit.name_server")
    assert ended.returncode == 0, ended.stderr
    seen = json.loads(ended.stdout)
    assert seen["longest_s"] < 1
    assert seen["dead_ended_in_time"] == DEAD_NAMES
    # A connection is found by its name, so one look-up (an A and an AAAA question) served all calls.
    assert seen["questions"] <= 2
    assert (seen["lies_refused"], seen["canary"]) == (25, 0)
