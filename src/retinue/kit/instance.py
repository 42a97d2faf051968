"""The running instance: what the composition wired together, shared by every context."""

import asyncio
import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from retinue.kit.clock import Clock
from retinue.kit.crypto import KeyRing
from retinue.kit.db.engine import Database
from retinue.kit.limits import Limiter
from retinue.kit.manifest import Manifest
from retinue.kit.metrics import Metrics
from retinue.kit.remembering import Memory
from retinue.kit.settings import Settings
from retinue.kit.tokens import TokenIssuer
from retinue.kit.vault import Vault


@dataclass
class Instance:
    settings: Settings
    clock: Clock
    database: Database
    limiter: Limiter
    vault: Vault
    tokens: TokenIssuer
    manifests: tuple[Manifest, ...]
    adapters: dict[Any, Any] = field(default_factory=dict)
    shutting_down: asyncio.Event = field(default_factory=asyncio.Event)
    work_arrived: Callable[[], None] = lambda: None
    worker_status: Callable[[], str] = lambda: "off"
    sandbox_status: Callable[[], dict[str, str]] = dict
    openapi: Callable[[], bytes] = lambda: b"{}"
    metrics: Metrics | None = None
    memory: Memory = field(default_factory=Memory)

    @functools.cached_property
    def _heard(self) -> frozenset[str]:
        return frozenset(listener.event for manifest in self.manifests for listener in manifest.listeners)

    @functools.cached_property
    def _has_routers(self) -> bool:
        return any(manifest.routers for manifest in self.manifests)

    def is_heard(self, event_type: str, *, is_listened_to: bool) -> bool:
        """Whether anyone listens to events of this type, in a tenant that has listeners of its own or not."""
        return event_type in self._heard or "*" in self._heard or (is_listened_to and self._has_routers)

    @property
    def ring(self) -> KeyRing:
        return self.vault.ring
