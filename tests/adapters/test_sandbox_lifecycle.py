"""Backends come up when needed, are proven first, come back when they die, and leave nothing behind."""

import asyncio
import contextlib
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from retinue.adapters.sandbox import Code, LocalSandbox, SandboxFailed, bubblewrap, guest_process
from retinue.adapters.sandbox import backend as backends
from tests.adapters.sandbox_ways import backend, descendants, failure, needs, orphans

pytest_plugins = ("tests.adapters.sandbox_fixtures",)

PYTHON = Code(runtime="python", source="def main(input): return input")
JAVASCRIPT = Code(runtime="javascript", source="function main(input) { return input }")
SLEEP = Code(runtime="python", source="import time\ndef main(input): time.sleep(input)")


@pytest.fixture
async def own_sandbox(tmp_path):
    """A sandbox that a test may ruin."""
    needs("bwrap")
    made = LocalSandbox(tmp_path, at_once=2)
    # The same backend with every version of Python.
    made._functions["python"] = [backend(made, "bubblewrap.python_functions")]
    yield made
    await made.close()


async def test_nothing_runs_before_the_first_call_and_nothing_after_the_last(tmp_path):
    needs("bwrap")
    before = descendants(os.getpid())
    made = LocalSandbox(tmp_path)
    assert descendants(os.getpid()) == before
    assert (await made.run(PYTHON, 1, timeout_s=10)).output == 1
    assert descendants(os.getpid()) - before
    await made.close()
    async with asyncio.timeout(5):
        while descendants(os.getpid()) - before:
            await asyncio.sleep(0.01)
    assert list(tmp_path.iterdir()) == []


async def test_the_status_names_every_backend(sandbox):
    status = await sandbox.status()
    assert set(status) == {
        *("wasm.javascript", "wasm.python"),
        *("bubblewrap.python_functions", "bubblewrap.python", "bubblewrap.node"),
    }
    assert (
        status["wasm.javascript"]
        == status["bubblewrap.python_functions"]
        == status["bubblewrap.python"]
        == "ok"
    )
    assert status["wasm.python"] == "ok" or "pyeryx" in status["wasm.python"]


async def test_a_killed_backend_comes_back(own_sandbox, sandbox_processes):
    assert (await own_sandbox.run(PYTHON, 1, timeout_s=10)).output == 1
    running = asyncio.create_task(own_sandbox.run(SLEEP, 60, timeout_s=60))
    await _wait_until(lambda: _is_busy(own_sandbox))
    for pid in sandbox_processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    failed = await failure(running)
    # The one that was killed first tells: the process that runs the code, or the one that watches it.
    assert failed.kind in {"sandbox_unavailable", "runtime_error"}
    assert await _comes_back(own_sandbox)


async def _comes_back(sandbox: LocalSandbox) -> bool:
    """Call until it succeeds: calls fail until the death of the backend is noticed."""
    async with asyncio.timeout(20):
        while True:
            with contextlib.suppress(SandboxFailed):
                return (await sandbox.run(PYTHON, 2, timeout_s=10)).output == 2


@pytest.fixture
def sandbox_processes():
    """The processes that a test's own sandbox started."""
    before = descendants(os.getpid())
    return lambda: descendants(os.getpid()) - before


def _is_busy(sandbox: LocalSandbox) -> bool:
    return sandbox._places._free < 2


async def _wait_until(happens) -> None:
    async with asyncio.timeout(10):
        while not happens():
            await asyncio.sleep(0.01)


async def test_only_so_many_run_at_once_and_the_rest_wait(own_sandbox):
    await own_sandbox.run(PYTHON, None, timeout_s=10)
    slow = [asyncio.create_task(own_sandbox.run(SLEEP, 0.3, timeout_s=10)) for _ in range(2)]
    await _wait_until(lambda: own_sandbox._places._free == 0)
    waiting = asyncio.create_task(own_sandbox.run(PYTHON, "waited", timeout_s=10))
    failed = await failure(own_sandbox.run(PYTHON, None, timeout_s=0.05))
    assert (failed.kind, failed.message) == (
        "sandbox_unavailable",
        "Too many functions and scripts are running. Try again later.",
    )
    assert not waiting.done()
    assert (await waiting).output == "waited"
    await asyncio.gather(*slow)
    assert own_sandbox._places._free == 2


async def test_processes_that_nobody_uses_come_to_rest_and_back(own_sandbox, monkeypatch):
    monkeypatch.setattr(backends, "REST_AFTER_SECONDS", 0.05)
    monkeypatch.setattr(backends, "REST_AFTER_PROBE_SECONDS", 0.05)
    for code, name in ((JAVASCRIPT, "wasm.javascript"), (PYTHON, "bubblewrap.python_functions")):
        resting = backend(own_sandbox, name)
        for number in range(2):
            assert (await own_sandbox.run(code, number, timeout_s=20)).output == number
            await _wait_until(lambda resting=resting: not resting._is_alive())
        assert own_sandbox.known()[name] == "ok"
    # A call that takes longer than the time until rest is not disturbed, nor those after it.
    slow = asyncio.create_task(own_sandbox.run(SLEEP, 0.4, timeout_s=20))
    for _ in range(5):
        assert (await own_sandbox.run(PYTHON, "quick", timeout_s=20)).output == "quick"
        await asyncio.sleep(0.05)
    assert (await slow).output is None


async def test_a_call_that_is_cancelled_dies(own_sandbox, sandbox_processes):
    await own_sandbox.run(PYTHON, None, timeout_s=10)
    idle = sandbox_processes()
    running = asyncio.create_task(own_sandbox.run(SLEEP, 60, timeout_s=60))
    await _wait_until(lambda: sandbox_processes() - idle)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await _wait_until(lambda: sandbox_processes() == idle and own_sandbox._places._free == 2)


async def test_who_gives_up_waiting_for_the_start_harms_nobody(own_sandbox, sandbox_processes):
    first = asyncio.create_task(own_sandbox.run(PYTHON, 1, timeout_s=10))
    second = asyncio.create_task(own_sandbox.run(PYTHON, 2, timeout_s=10))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).output == 2
    assert first.cancelled()
    once = sandbox_processes()
    assert (await own_sandbox.run(PYTHON, 3, timeout_s=10)).output == 3
    await _wait_until(lambda: sandbox_processes() == once)


async def test_closing_while_it_starts_leaves_nothing(own_sandbox, sandbox_processes):
    starting = asyncio.create_task(own_sandbox.run(PYTHON, 1, timeout_s=10))
    await _wait_until(sandbox_processes)
    await own_sandbox.close()
    await asyncio.wait([starting])
    assert starting.cancelled() or starting.exception()
    await _wait_until(lambda: not sandbox_processes())


async def test_an_input_that_is_no_json_takes_no_place(own_sandbox):
    with pytest.raises(TypeError):
        await own_sandbox.run(PYTHON, object(), timeout_s=10)
    assert own_sandbox._places._free == 2


def test_data_and_libraries_are_covered_where_a_mount_would_show_them(tmp_path):
    (tmp_path / "data").mkdir()
    assert "/python/data" in bubblewrap._covered(tmp_path / "data", ((str(tmp_path), "/python"),))
    assert "/usr/share" in bubblewrap._covered(Path("/usr/share"), ())


async def test_a_place_is_free_again_only_when_its_process_is_gone(own_sandbox):
    await own_sandbox.run(PYTHON, None, timeout_s=10)
    for _ in range(4):
        # On a busy machine it may still be under construction when its time is up.
        failed = await failure(own_sandbox.run(SLEEP, 60, timeout_s=0.05))
        assert failed.kind in {"timeout", "sandbox_unavailable"}
    await _wait_until(lambda: own_sandbox._places._free == 2)


async def test_a_sandbox_that_is_killed_while_it_is_built_leaves_nothing(own_sandbox, tmp_path):
    code = Code(runtime="python", source=SLEEP.source, packages=tmp_path)
    await own_sandbox.run(code, 0, timeout_s=10)
    for delay_ms in (0, 1, 2, 3, 4, 6, 8, 10, 15, 20, 30):
        failed = await failure(own_sandbox.run(code, 60, timeout_s=delay_ms / 1000))
        assert failed.kind in {"timeout", "sandbox_unavailable"}
    await _wait_until(lambda: own_sandbox._places._free == 2)
    await _wait_until(lambda: not orphans())


async def test_the_server_is_free_while_code_runs(own_sandbox):
    await own_sandbox.run(PYTHON, None, timeout_s=10)
    running = asyncio.create_task(own_sandbox.run(SLEEP, 0.3, timeout_s=10))
    longest, before = 0.0, time.monotonic()
    while not running.done():
        await asyncio.sleep(0.001)
        longest, before = max(longest, time.monotonic() - before), time.monotonic()
    assert longest < 0.25


async def test_without_bubblewrap_python_is_refused_and_javascript_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    made = LocalSandbox(tmp_path)
    try:
        failed = await failure(made.run(Code(runtime="python", packages=tmp_path), 1, timeout_s=10))
        assert failed.kind == "sandbox_unavailable"
        assert failed.message.endswith("bubblewrap.python: bubblewrap (bwrap) is not installed.")
        assert (await made.run(JAVASCRIPT, 1, timeout_s=10)).output == 1
    finally:
        await made.close()


async def test_without_node_scripts_for_it_are_refused(tmp_path, monkeypatch):
    needs("bwrap")
    (tmp_path / "bwrap").symlink_to(shutil.which("bwrap"))
    monkeypatch.setenv("PATH", str(tmp_path))
    made = LocalSandbox(tmp_path)
    try:
        failed = await failure(made.run(Code(runtime="javascript", packages=tmp_path), 1, timeout_s=10))
        assert failed.message == "No sandbox can run this code: bubblewrap.node: node is not installed."
    finally:
        await made.close()


@pytest.mark.parametrize(
    ("hole", "noticed"),
    [
        (("--share-net",), "open a network connection"),
        (("--uid", "0"), "be root"),
        (("--ro-bind", "/etc", "/etc"), "read the system"),
    ],
)
async def test_a_sandbox_with_a_hole_is_never_used(own_sandbox, monkeypatch, hole, noticed):
    """The probe is worth something only if it finds what it looks for."""
    monkeypatch.setattr(bubblewrap, "_CLOSED", (*bubblewrap._CLOSED, *hole))
    trouble = await backend(own_sandbox, "bubblewrap.python").trouble()
    assert trouble.startswith("the probe could ")
    assert noticed in trouble


HOLES = {
    "confine.filter_calls(program)": "pass",
    "confine.landlock()": "pass",
}


async def test_a_guest_process_that_locks_nothing_is_never_used(own_sandbox, monkeypatch, tmp_path):
    guest = tmp_path / "guest"
    shutil.copytree(guest_process.GUEST, guest)
    program = guest / "javascript.py"
    text = program.read_text()
    for line, instead in HOLES.items():
        assert line in text
        text = text.replace(line, instead)
    program.write_text(text)
    monkeypatch.setattr(guest_process, "GUEST", guest)
    trouble = await backend(own_sandbox, "wasm.javascript").trouble()
    for noticed in (
        "read the system",
        "read the application",
        "open a network connection",
        "start a process",
    ):
        assert noticed in trouble


async def test_a_guest_process_that_cannot_start_says_why(own_sandbox, monkeypatch, tmp_path):
    guest = tmp_path / "guest"
    shutil.copytree(guest_process.GUEST, guest)
    program = guest / "javascript.py"
    program.write_text(
        program.read_text().replace("from quickjs_rs import Runtime", "from not_installed import R")
    )
    monkeypatch.setattr(guest_process, "GUEST", guest)
    trouble = await backend(own_sandbox, "wasm.javascript").trouble()
    assert trouble == "ModuleNotFoundError: No module named 'not_installed'"
