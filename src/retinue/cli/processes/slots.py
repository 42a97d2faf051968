"""Slots: each has its listening sockets and one worker process, which is replaced when it dies."""

import asyncio
import os
import signal
from collections import deque

from retinue.cli.processes.fork_server_handle import ForkServerHandle
from retinue.kit.peers.keeper import Member

MAX_DEATHS = 5
DEATH_WINDOW_SECONDS = 30.0
_FIRST_DELAY_SECONDS = 0.5


class WorkerProcess:
    def __init__(self, member: Member, fork_server: ForkServerHandle) -> None:
        self.member = member
        self.fork_server = fork_server
        self.pid = 0
        self.exit_code: int | None = None
        self.exited = asyncio.Event()
        """Its exit code is known."""
        self.ready = asyncio.Event()
        self.gone = asyncio.Event()
        member.when_ready = self.ready.set

    @property
    def is_alive(self) -> bool:
        return not self.gone.is_set()

    def send_signal(self, number: signal.Signals) -> None:
        if not self.fork_server.is_gone:
            self.fork_server.send_signal(self.pid, number)
        elif self.is_alive:
            # Its link is open, so the number is still its own.
            os.kill(self.pid, number)


class Slot:
    def __init__(self, number: int) -> None:
        self.number = number
        self.worker: WorkerProcess | None = None
        self.turn = asyncio.Lock()
        """Held while a worker of this slot is started, so that a restart and a reload do not overlap."""
        self._deaths: deque[float] = deque(maxlen=MAX_DEATHS)

    def record_death(self, now: float) -> None:
        self._deaths.append(now)

    def is_failing(self, now: float) -> bool:
        """Return whether so many of its workers died in so short a time that another would not help."""
        return len(self._deaths) == MAX_DEATHS and now - self._deaths[0] <= DEATH_WINDOW_SECONDS

    def restart_delay(self, now: float) -> float:
        """Return how long to wait: nothing after the first death, then twice as long after each."""
        recent = sum(now - death <= DEATH_WINDOW_SECONDS for death in self._deaths)
        return 0.0 if recent <= 1 else _FIRST_DELAY_SECONDS * 2.0 ** (recent - 2)
