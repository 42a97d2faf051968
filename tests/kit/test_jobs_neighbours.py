"""Tests of dead workers: only those of the same machine are known to be gone."""

import os
import subprocess
import sys

from retinue.kit.jobs.worker_ids import is_known_dead, machine_id, new_worker_id


def test_a_worker_of_this_process_is_not_gone() -> None:
    assert not is_known_dead(new_worker_id())


def test_a_running_process_is_not_gone() -> None:
    assert not is_known_dead(f"{machine_id()}:{os.getppid()}:abcd1234")


def test_an_ended_process_of_this_machine_is_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert is_known_dead(f"{machine_id()}:{child.pid}:abcd1234")


def test_an_earlier_process_with_our_number_is_gone() -> None:
    assert is_known_dead(f"{machine_id()}:{os.getpid()}:not-ours")


def test_nothing_is_known_of_another_machine() -> None:
    assert not is_known_dead("elsewhere/0123456789ab:999999:abcd1234")
    assert not is_known_dead("an old form of the name")
