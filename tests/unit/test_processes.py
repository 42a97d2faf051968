"""Parts of `serve --processes N` without processes: slots, sockets, run files, systems that lack calls."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from retinue.cli.processes import reload_command
from retinue.cli.processes.listeners import close_listeners, has_balanced_ports, open_listeners
from retinue.cli.processes.orphans import reap_orphans
from retinue.cli.processes.reload_command import run_reload
from retinue.cli.processes.run_file import RunFile, find_supervisors, read_state
from retinue.cli.processes.slots import DEATH_WINDOW_SECONDS, MAX_DEATHS, Slot
from retinue.cli.processes.supervisor import Supervisor
from retinue.kit.errors import CannotStart
from retinue.kit.http.listening_sockets import bind
from retinue.kit.jobs.worker_ids import machine_id
from retinue.kit.machine import available_cores
from retinue.kit.setting_values import process_count
from retinue.kit.settings import Settings
from retinue.kit.systemd import ServiceNotifier

pytestmark = pytest.mark.either_database


async def test_a_slot_restarts_at_once_and_then_later_and_later() -> None:
    slot, delays = Slot(0), []
    for number in range(MAX_DEATHS - 1):
        slot.record_death(100.0 + number)
        delays.append(slot.restart_delay(100.0 + number))
        assert not slot.is_failing(100.0 + number)
    assert delays == [0.0, 0.5, 1.0, 2.0]
    slot.record_death(110.0)
    assert slot.is_failing(110.0)


async def test_deaths_that_are_long_ago_do_not_count() -> None:
    slot = Slot(0)
    for number in range(20):
        now = number * DEATH_WINDOW_SECONDS / (MAX_DEATHS - 1.5)
        slot.record_death(now)
        assert not slot.is_failing(now)
    assert slot.restart_delay(now + 1000) == 0.0


def test_every_slot_has_sockets_of_its_own_on_one_port() -> None:
    slots = open_listeners("127.0.0.1", 0, 3)
    try:
        for (listener,) in slots:
            listener.listen()
        assert len({listener.getsockname() for (listener,) in slots}) == 1
        assert len({listener.fileno() for (listener,) in slots}) == 3
        port = slots[0][0].getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            open_listeners("127.0.0.1", port, 2)
    finally:
        close_listeners(slots)


@pytest.mark.parametrize("lacks", ["the option", "balancing"])
def test_without_balanced_ports_the_slots_share_their_sockets(
    monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    if lacks == "the option":
        monkeypatch.delattr(socket, "SO_REUSEPORT")
    else:
        monkeypatch.setattr("sys.platform", "darwin")
    assert not has_balanced_ports()
    slots = open_listeners("127.0.0.1", 0, 3)
    close_listeners(slots[1:])
    assert slots[0] is slots[1] is slots[2]


def test_a_system_without_a_timeout_for_silent_peers_listens_without_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(socket, "TCP_USER_TIMEOUT")
    monkeypatch.delattr(socket, "TCP_NOTSENT_LOWAT")
    (listener,) = bind("127.0.0.1", 0)
    listener.close()


def test_cores_are_counted_where_nobody_says_which_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert process_count("auto") == available_cores() >= 1
    monkeypatch.delattr(os, "sched_getaffinity")
    assert process_count("auto") == os.cpu_count()
    assert process_count("3") == 3
    with pytest.raises(ValueError, match="at least 1"):
        process_count("0")


def test_the_first_process_of_a_container_reaps_what_others_left(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ours.pid, os.WEXITED | os.WNOWAIT)
    assert reap_orphans({ours.pid}) == 0
    assert ours.wait() == 0
    left = subprocess.Popen(["true"])
    os.waitid(os.P_PID, left.pid, os.WEXITED | os.WNOWAIT)
    assert reap_orphans({ours.pid}) == 1
    with pytest.raises(ChildProcessError):
        os.waitpid(left.pid, 0)
    left.returncode = 0
    monkeypatch.delattr(os, "waitid")
    assert reap_orphans(()) == 0


def test_a_supervisor_is_found_by_its_file_while_it_lives(tmp_path: Path) -> None:
    assert list(find_supervisors(tmp_path)) == []
    file = RunFile(tmp_path, 4)
    (path,) = find_supervisors(tmp_path)
    file.record_reload_begun()
    file.record_reload_ended("no such file")
    state = read_state(path)
    assert state is not None
    assert (state.pid, state.processes, state.reload_count) == (os.getpid(), 4, 1)
    assert state.reload_error == "no such file"
    file.close()
    assert list(find_supervisors(tmp_path)) == []


def test_the_command_waits_for_a_reload_that_began_after_its_signal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = RunFile(tmp_path, 2)
    file.record_reload_begun()
    later = iter(
        [
            lambda: file.record_reload_ended(""),
            file.record_reload_begun,
            lambda: file.record_reload_ended("no such file"),
        ]
    )
    monkeypatch.setattr(reload_command.os, "kill", lambda _pid, _number: None)
    monkeypatch.setattr(reload_command.time, "sleep", lambda _: next(later)())
    with pytest.raises(CannotStart, match="no such file"):
        run_reload(Settings(data_dir=tmp_path), 10)
    file.close()


def test_the_command_understands_the_file_of_an_older_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server that was not restarted since an upgrade goes on with the code that it was started with."""
    file = RunFile(tmp_path, 2)
    (path,) = find_supervisors(tmp_path)
    old = {"pid": os.getpid(), "machine": machine_id(), "processes": 2, "reload_error": ""}
    path.write_text(json.dumps({**old, "reload_count": 3}))

    def reload(_pid: int, _number: int) -> None:
        path.write_text(json.dumps({**old, "reload_count": 4}))

    monkeypatch.setattr(reload_command.os, "kill", reload)
    run_reload(Settings(data_dir=tmp_path), 10)
    assert capsys.readouterr().out == f"2 processes of the server {os.getpid()} replaced.\n"
    file.close()


async def test_systemd_hears_of_a_stop_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while a reload runs, whose end the supervisor would otherwise await."""
    notifier, told = ServiceNotifier(""), []
    monkeypatch.setattr(notifier, "_send", told.append)
    Supervisor(Settings(data_dir=tmp_path), [], notifier)._stop()
    assert [text.partition("\n")[0] for text in told] == ["STOPPING=1"]


def test_the_file_of_a_killed_supervisor_is_not_believed(tmp_path: Path) -> None:
    file = RunFile(tmp_path, 2)
    content = next(find_supervisors(tmp_path)).read_bytes()
    file.close()
    left = tmp_path / "run" / "serve-1.json"
    left.write_bytes(content)
    assert list(find_supervisors(tmp_path)) == []
    assert not left.exists()
    left.write_bytes(content.replace(b'"machine":"', b'"machine":"elsewhere-'))
    assert list(find_supervisors(tmp_path)) == []
    assert left.exists()
