"""Messages to systemd (`Type=notify`, `Type=notify-reload`), if it started this process."""

import asyncio
import os
import signal
import socket
import time


def survive_hangups() -> None:
    """Let no SIGHUP end this process, from its start on; a process that can reload installs a handler later.

    A function and not SIG_IGN, which the programs that this process starts would inherit.
    """
    signal.signal(signal.SIGHUP, lambda *_: None)


class ServiceNotifier:
    """Sends datagrams to `$NOTIFY_SOCKET`; without one, nothing happens."""

    def __init__(self, address: str, watchdog_seconds: float = 0) -> None:
        self._address = address
        self._watchdog_seconds = watchdog_seconds
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    def from_environment(cls) -> "ServiceNotifier":
        """Read what systemd has set, and remove it: other processes of ours must not speak for this one."""
        address = os.environ.pop("NOTIFY_SOCKET", "")
        microseconds = os.environ.pop("WATCHDOG_USEC", "")
        pid = os.environ.pop("WATCHDOG_PID", "")
        is_watched = microseconds.isdigit() and pid in {"", str(os.getpid())}
        return cls(address, int(microseconds) / 1e6 if is_watched else 0)

    def ready(self) -> None:
        self._send("READY=1")

    def reloading(self) -> None:
        # systemd compares the time with that of its own signal.
        self._send(f"RELOADING=1\nMONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def stopping(self, within_seconds: float) -> None:
        """Say that the service stops, and ask for this time, whatever the unit's `TimeoutStopSec` is."""
        self._send(f"STOPPING=1\nEXTEND_TIMEOUT_USEC={round(within_seconds * 1e6)}")

    def start_watchdog(self) -> None:
        """Report from the event loop that it still turns, twice in each period that systemd allows."""
        if self._address and self._watchdog_seconds:
            self._send("WATCHDOG=1")
            delay = self._watchdog_seconds / 2
            self._timer = asyncio.get_running_loop().call_later(delay, self.start_watchdog)

    def stop_watchdog(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _send(self, text: str) -> None:
        if not self._address:
            return
        # An abstract name begins with a zero byte, which systemd writes as @.
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as endpoint:
                endpoint.sendto(text.encode(), address)
        except OSError:
            pass  # the service manager is gone, and with it whoever wants to know
