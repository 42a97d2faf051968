"""The manifest: everything that a domain adds to the instance."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec

from retinue.kit.context.config_schemas import ConfigSchema
from retinue.kit.context.continuations import Continuation
from retinue.kit.context.conversation_access import ConversationAccess
from retinue.kit.context.process_state import ProcessState
from retinue.kit.context.references import Reference
from retinue.kit.context.search_sources import SearchSource
from retinue.kit.context.subscription_actions import SubscriptionAction, WorkflowStarter
from retinue.kit.context.tool_kinds import ToolKind
from retinue.kit.db.models import Record
from retinue.kit.events.declare import Event, Listener
from retinue.kit.events.routing import Router
from retinue.kit.jobs.declare import JobHandler
from retinue.kit.metrics.sampler import DatabaseGauge
from retinue.kit.principal import Principal


class Permission(msgspec.Struct, frozen=True):
    key: str
    description: str
    roles: frozenset[str] = frozenset()

    @property
    def category(self) -> str:
        return self.key.partition(":")[0]


class Authenticator(msgspec.Struct, frozen=True):
    """`identify(instance, request)` returns the principal of such a caller, or raises `Unauthorized`."""

    kind: Literal["user", "embed_key"]
    identify: Callable[[Any, Any], Awaitable[Principal]]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    records: tuple[type[Record], ...] = ()
    routes: tuple[Any, ...] = ()
    events: tuple[type[Event], ...] = ()
    jobs: tuple[JobHandler[Any], ...] = ()
    listeners: tuple[Listener, ...] = ()
    permissions: tuple[Permission, ...] = ()
    references: tuple[Reference, ...] = ()
    tool_kinds: tuple[ToolKind, ...] = ()
    config_schemas: tuple[ConfigSchema, ...] = ()
    authenticators: tuple[Authenticator, ...] = ()
    routers: tuple[Router, ...] = ()
    actions: tuple[SubscriptionAction, ...] = ()
    workflow_starters: tuple[WorkflowStarter, ...] = ()
    continuations: tuple[Continuation, ...] = ()
    conversation_access: tuple[ConversationAccess, ...] = ()
    search_sources: tuple[SearchSource, ...] = ()
    provided: tuple[Any, ...] = ()
    """Interfaces that a domain below declares and this one implements, found in the registry by type."""
    process_state: tuple[ProcessState[Any], ...] = ()
    gauges: tuple[DatabaseGauge, ...] = ()

    @property
    def declared(self) -> tuple[Any, ...]:
        return (
            *self.jobs,
            *self.listeners,
            *self.permissions,
            *self.references,
            *self.tool_kinds,
            *self.authenticators,
            *self.routers,
            *self.actions,
            *self.workflow_starters,
            *self.continuations,
            *self.conversation_access,
            *self.search_sources,
            *self.provided,
            *self.process_state,
            *self.gauges,
        )
