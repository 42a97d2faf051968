"""The running instance: the parts that the composition wires together, shared by every context."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from retinue.kit.clock import Clock
from retinue.kit.config_cache import ConfigCache
from retinue.kit.context.registry import Registry
from retinue.kit.crypto import KeyRing
from retinue.kit.db.engine import Database
from retinue.kit.limits import Limiter
from retinue.kit.metrics.files import MetricFiles
from retinue.kit.peers import Peers
from retinue.kit.settings import Settings
from retinue.kit.storage_watch import StorageWatch
from retinue.kit.tokens import TokenIssuer
from retinue.kit.tracing.policy import TracingPolicy
from retinue.kit.vault import Vault


@dataclass
class Instance:
    settings: Settings
    clock: Clock
    database: Database
    limiter: Limiter
    vault: Vault
    tokens: TokenIssuer
    registry: Registry
    has_routers: bool = False
    """Whether tenants can choose listeners of their own: webhooks, subscriptions, event triggers."""
    adapters: dict[Any, Any] = field(default_factory=dict)
    states: dict[Any, Any] = field(default_factory=dict)
    """The opened `ProcessState`s of the manifests, by type."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server is told to stop: no new turn begins, and those that run have the grace period."""
    shutting_down: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when that period is over or nothing runs any more: what still runs ends."""
    draining: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when another process takes over: what has no end of its own, such as an inbox, ends then."""
    peers: Peers = field(default_factory=Peers)
    work_arrived: Callable[[], None] = lambda: None
    worker_status: Callable[[], str] = lambda: "off"
    sandbox_status: Callable[[], dict[str, str]] = dict
    openapi: Callable[[], bytes] = lambda: b"{}"
    metrics: MetricFiles | None = None
    config_cache: ConfigCache = field(default_factory=ConfigCache)
    principals: ConfigCache = field(default_factory=ConfigCache)
    """The callers of the last seconds (`kit.principal_cache`)."""
    tracing: TracingPolicy = field(init=False)
    storage: StorageWatch = field(init=False)

    def __post_init__(self) -> None:
        self.tracing = TracingPolicy(self.settings)
        self.storage = StorageWatch(self.settings)

    def has_listeners(self, event_type: str, *, has_tenant_listeners: bool) -> bool:
        """Return whether anyone listens to events of this type: a domain, or listeners the tenant chose."""
        return self.registry.has_listener(event_type) or (has_tenant_listeners and self.has_routers)

    @property
    def is_stopping(self) -> bool:
        return self.stopping.is_set() or self.shutting_down.is_set()

    @property
    def ring(self) -> KeyRing:
        return self.vault.ring
