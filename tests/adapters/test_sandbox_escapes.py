"""Every attempt to get out is refused on every backend, and the server and the next call notice nothing."""

import json
import platform
from pathlib import Path

import pytest

from retinue.adapters.sandbox.guest.syscalls import NEWEST_SYSCALL, SYSCALL_NUMBERS
from tests.adapters.sandbox_attacks import ATTACKS, source_of
from tests.adapters.sandbox_javascript import NODE_ATTACKS, QUICKJS_ATTACKS, source_in
from tests.adapters.sandbox_ways import JAVASCRIPT, PYTHON, failure, on
from tests.sampling import sample_cases

pytest_plugins = ("tests.adapters.sandbox_fixtures",)

REFUSED = [
    "io_uring_setup",
    "bpf",
    "userfaultfd",
    "perf_event_open",
    "keyctl",
    "add_key",
    "open_by_handle_at",
]
REFUSED += [
    "process_vm_readv",
    "pidfd_getfd",
    "setns",
    "pivot_root",
    "chroot",
    "fsopen",
    "move_mount",
    "kexec_load",
]
REFUSED += ["init_module", "quotactl", "syslog", "memfd_create", "shmget", "mknodat", "capset", "kcmp"]


# One attack on each thing that surrounds the sandbox.
PYTHON_IN_SHORT = [
    "reads_environment_of_the_server",
    "reads_the_data_dir",
    "follows_a_symbolic_link_out",
    "connects_to_loopback",
    "connects_to_an_abstract_socket",
    "opens_namespaces",
    "signals_the_server",
    "keeps_descriptors_of_the_server",
]
NODE_IN_SHORT = [
    "environment of the server",
    "data dir",
    "another program",
    "loopback",
    "abstract socket",
    "signal the server",
]


@pytest.mark.parametrize("name", sample_cases(ATTACKS, keep=PYTHON_IN_SHORT))
@on(*PYTHON)
async def test_python_cannot_get_out(way, name, surroundings, canaries):
    outcome = await way(source_of(name), surroundings)
    assert "escaped" not in outcome.output, outcome.output
    assert canaries.visitors() == []


@on("bubblewrap.python_functions", "bubblewrap.python")
async def test_dangerous_system_calls_are_refused_by_number(way):
    column = ("x86_64", "aarch64").index(platform.machine())
    numbers = {name: SYSCALL_NUMBERS[name][column] for name in REFUSED} | {"newest": NEWEST_SYSCALL + 1}
    source = """
import ctypes

def main(numbers):
    libc = ctypes.CDLL(None, use_errno=True)
    answers = {}
    for name, number in numbers.items():
        ctypes.set_errno(0)
        answers[name] = (libc.syscall(number, 0, 0, 0, 0, 0), ctypes.get_errno())
    return answers
"""
    answers = (await way(source, numbers)).output
    assert len(answers) == len(REFUSED) + 1
    assert {name for name, answer in answers.items() if answer not in ([-1, 1], [-1, 38])} == set()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86_64 has a second set of numbers")
@on("bubblewrap.python_functions", "bubblewrap.python")
async def test_the_second_set_of_system_call_numbers_is_refused(way):
    source = "import ctypes\ndef main(n):\n    return ctypes.CDLL(None).syscall(0x40000000 | n, 0, 0, 0)"
    assert (await way(source, SYSCALL_NUMBERS["getpid"][0])).output == -1


@on("wasm.python", "bubblewrap.python_functions")
@pytest.mark.parametrize(
    "call", ["os.fork()", "os.execv('/bin/true', ['true'])", "os.posix_spawn('/bin/true', ['t'], {})"]
)
async def test_a_python_function_starts_no_process(way, call):
    failed = await failure(way(f"import os\ndef main(input):\n    {call}"))
    assert failed.kind == "runtime_error"


@on("wasm.python", "bubblewrap.python_functions")
async def test_a_python_function_starts_no_thread(way):
    source = "import threading\ndef main(input):\n    threading.Thread(target=print).start()"
    assert (await failure(way(source))).kind == "runtime_error"


@pytest.mark.parametrize("name", QUICKJS_ATTACKS)
@on("wasm.javascript")
async def test_javascript_finds_no_way_to_the_host(way, name, surroundings, canaries):
    outcome = await way(source_in(QUICKJS_ATTACKS, name), surroundings)
    assert "escaped" not in outcome.output, outcome.output
    assert canaries.visitors() == []


@pytest.mark.parametrize("name", sample_cases(NODE_ATTACKS, keep=NODE_IN_SHORT))
@on("bubblewrap.node")
async def test_node_cannot_get_out(way, name, surroundings, canaries):
    outcome = await way(source_in(NODE_ATTACKS, name), surroundings)
    assert "escaped" not in outcome.output, outcome.output
    assert canaries.visitors() == []


@on(*PYTHON, *JAVASCRIPT)
async def test_no_path_of_the_host_is_in_an_error(way, unharmed, sandbox_dir):
    is_python = way.runtime == "python"
    broken = "def main(input):\n    input.missing" if is_python else "function main(input) { null.missing }"
    failed = await failure(way(broken, {}))
    told = json.dumps([failed.message, failed.logs])
    home = str(Path(__file__).parent.parent.parent)
    assert [path for path in (home, str(sandbox_dir), str(Path.home())) if path in told] == []
