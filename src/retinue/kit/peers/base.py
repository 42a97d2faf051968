"""The peers of a process; a process that serves alone has none."""

from collections.abc import Callable

import msgspec

from retinue.kit.limits.shared_store import SharedStore


class FirstReport(msgspec.Struct, frozen=True):
    """The state of the first process, which `/health` shows in all of them."""

    worker: str = "stalled"
    sandbox: dict[str, str] = msgspec.field(default_factory=dict)


class Peers:
    """A process without peers: it publishes to nobody and shares no limits."""

    expected = 1
    """How many processes there should be."""
    alive = 1
    """How many of them serve."""
    opened_at: str | None = None
    """When the first of them started; None for a process that serves alone."""
    slot = 0
    """The number of this process; the first one does what only one of them needs to do."""
    first_report: FirstReport = FirstReport()
    """The last report of the first process about itself."""
    limits: SharedStore | None = None

    def publish(self, topic: str, *keys: str) -> None:
        """Tell the other processes; nothing may depend on it, because a process may miss it."""

    def subscribe(self, topic: str, notify: Callable[[str], None]) -> None:
        """Call `notify` with each key that another process publishes under the topic."""

    def report(self, status: FirstReport) -> None:
        """Tell the other processes how this one does, if it is the first."""
