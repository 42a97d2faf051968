"""What a subscription can do, told by upper domains through their manifests."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from retinue.kit.events.routing import Happened

if TYPE_CHECKING:
    from retinue.kit.context import Context


class Subscribed(msgspec.Struct, frozen=True):
    """The subscription that acts, as far as an action has to know it."""

    id: str
    created_by: str
    config: dict[str, Any]


class Action(msgspec.Struct, frozen=True):
    """One `action_type`: `check` refuses a config when it is stored, `perform` acts on an event.

    `perform` runs in the transaction of a job, so what it stores and defers happens exactly once; it must not
    wait for the outside world, and what it raises is the subscription's `last_error`.
    """

    type: str
    check: Callable[["Context", dict[str, Any]], Awaitable[None]]
    perform: Callable[["Context", Subscribed, Happened], Awaitable[None]]


class WorkflowStarter(msgspec.Struct, frozen=True):
    """How anything below the workflows starts one: `start(ctx, start)` returns the id of the execution."""

    start: Callable[["Context", "WorkflowStart"], Awaitable[str]]
    exists: Callable[["Context", str], Awaitable[bool]]


class WorkflowStart(msgspec.Struct, frozen=True):
    workflow_id: str
    input: Any
    trigger: str
    """`form`, `webhook`, `event`, `schedule`, `manual`."""
    source_id: str = ""
