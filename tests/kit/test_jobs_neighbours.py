"""Whether a worker is surely gone is decided on the same machine only, and never by guessing."""

import os
import subprocess
import sys

from retinue.kit.jobs.neighbours import is_surely_gone, machine, new_worker_id


def test_a_worker_of_this_process_is_not_gone() -> None:
    assert not is_surely_gone(new_worker_id())


def test_a_running_process_is_not_gone() -> None:
    assert not is_surely_gone(f"{machine()}:{os.getppid()}:abcd1234")


def test_an_ended_process_of_this_machine_is_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert is_surely_gone(f"{machine()}:{child.pid}:abcd1234")


def test_an_earlier_process_with_our_number_is_gone() -> None:
    assert is_surely_gone(f"{machine()}:{os.getpid()}:not-ours")


def test_nothing_is_known_of_another_machine() -> None:
    assert not is_surely_gone("elsewhere/0123456789ab:999999:abcd1234")
    assert not is_surely_gone("an old form of the name")
