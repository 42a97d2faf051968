"""Messages to systemd: a datagram each, to the socket that it names."""

import asyncio
import os
import socket
from pathlib import Path

import pytest

from retinue.kit.systemd import ServiceNotifier
from tests.e2e.processes import ServerProcess, launch_process

pytestmark = pytest.mark.either_database


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as endpoint:
        endpoint.bind(path)
        endpoint.settimeout(10)
        yield endpoint


def test_the_life_of_a_service_is_told(manager: socket.socket) -> None:
    notifier = ServiceNotifier.from_environment()
    assert "NOTIFY_SOCKET" not in os.environ
    notifier.ready()
    notifier.reloading()
    notifier.stopping(within_seconds=14.5)
    assert manager.recv(100) == b"READY=1"
    state, _, time = manager.recv(100).partition(b"\nMONOTONIC_USEC=")
    assert state == b"RELOADING=1"
    assert time.isdigit()
    assert manager.recv(100) == b"STOPPING=1\nEXTEND_TIMEOUT_USEC=14500000"


async def test_the_watchdog_hears_from_the_event_loop(
    manager: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "20000")
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
    notifier = ServiceNotifier.from_environment()
    notifier.start_watchdog()
    manager.setblocking(False)
    heard = []
    async with asyncio.timeout(10):
        while len(heard) < 3:
            try:
                heard.append(manager.recv(100))
            except BlockingIOError:
                await asyncio.sleep(0.005)
    notifier.stop_watchdog()
    assert set(heard) == {b"WATCHDOG=1"}


async def test_a_watchdog_of_another_process_is_left_alone(
    manager: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "20000")
    monkeypatch.setenv("WATCHDOG_PID", "1")
    ServiceNotifier.from_environment().start_watchdog()
    manager.setblocking(False)
    with pytest.raises(BlockingIOError):
        manager.recv(100)


def test_an_abstract_name_and_a_manager_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"retinue-test-{os.getpid()}"
    monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}")
    notifier = ServiceNotifier.from_environment()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as endpoint:
        endpoint.bind(f"\0{name}")
        notifier.ready()
        assert endpoint.recv(100) == b"READY=1"
    notifier.ready()


def test_without_systemd_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    ServiceNotifier.from_environment().ready()


async def test_a_worker_reports_that_it_still_turns(tmp_path: Path) -> None:
    """The unit's `WatchdogSec` demands it; without the report systemd would kill a working worker."""
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(120)
        server = ServerProcess(tmp_path)
        env = {**server.worker_env, "NOTIFY_SOCKET": address, "WATCHDOG_USEC": "200000"}
        worker = await launch_process(tmp_path / "worker.log", env, "-m", "retinue.cli", "worker")
        heard = [await asyncio.to_thread(manager.recv, 100) for _ in range(4)]
        assert heard == [b"READY=1", *[b"WATCHDOG=1"] * 3]
        worker.terminate()
        while not (await asyncio.to_thread(manager.recv, 100)).startswith(b"STOPPING=1\n"):
            pass
        assert await worker.wait() == 0
