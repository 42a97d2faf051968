"""What a domain is made of: the only thing anyone else must list."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec

from retinue.kit.actions import Action, WorkflowStarter
from retinue.kit.continuations import Continuation
from retinue.kit.db.models import Record
from retinue.kit.events.declare import Event
from retinue.kit.events.routing import Router
from retinue.kit.jobs.declare import JobKind
from retinue.kit.principal import Principal
from retinue.kit.references import Reference
from retinue.kit.tool_kinds import ToolKind


class Permission(msgspec.Struct, frozen=True):
    key: str
    description: str
    roles: frozenset[str] = frozenset()

    @property
    def category(self) -> str:
        return self.key.partition(":")[0]


class Listener(msgspec.Struct, frozen=True):
    """After the commit, `job` runs for each event whose type matches (`*` for every event).

    With `only`, for each whose data has these values: of the others it need not even hear.
    """

    event: str
    job: JobKind[Any]
    only: tuple[tuple[str, str], ...] = ()


class Authenticator(msgspec.Struct, frozen=True):
    """How callers of one kind prove who they are: `identify(instance, request)`, or `Unauthorized`."""

    kind: Literal["user", "embed_key"]
    identify: Callable[[Any, Any], Awaitable[Principal]]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    records: tuple[type[Record], ...] = ()
    routes: tuple[Any, ...] = ()
    events: tuple[type[Event], ...] = ()
    jobs: tuple[JobKind[Any], ...] = ()
    listeners: tuple[Listener, ...] = ()
    permissions: tuple[Permission, ...] = ()
    references: tuple[Reference, ...] = ()
    tool_kinds: tuple[ToolKind, ...] = ()
    authenticators: tuple[Authenticator, ...] = ()
    routers: tuple[Router, ...] = ()
    actions: tuple[Action, ...] = ()
    workflow_starters: tuple[WorkflowStarter, ...] = ()
    continuations: tuple[Continuation, ...] = ()
