"""What a process knows of its peers; a process that serves alone has none."""

from collections.abc import Callable

from retinue.kit.limits.shared_store import SharedStore


class Peers:
    """A process without peers: it publishes to nobody and shares no limits."""

    expected = 1
    """How many processes there should be."""
    alive = 1
    """How many of them serve."""
    opened_at: str | None = None
    """When the first of them started; None for a process that serves alone."""
    worker_status: str = "off"
    """The status of the background worker in the first process."""
    limits: SharedStore | None = None

    def publish(self, topic: str, *keys: str) -> None:
        """Tell the other processes; nothing may depend on it, because a process may miss it."""

    def subscribe(self, topic: str, notify: Callable[[str], None]) -> None:
        """Call `notify` with each key that another process publishes under the topic."""

    def report_worker(self, status: str) -> None:
        """Tell the other processes how the background worker of this one does."""
