"""Actions of subscriptions, and the start of workflows, which upper domains declare in their manifests."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from retinue.kit.context import Context
from retinue.kit.context.config_schemas import ConfigSchema, ConfigStruct
from retinue.kit.events.routing import DispatchedEvent
from retinue.kit.json_types import JsonObject


class ActingSubscription(msgspec.Struct, frozen=True):
    """The parts of a subscription that its action needs."""

    id: str
    created_by: str
    config: JsonObject


def _is_done_at_once(config: JsonObject) -> bool:  # noqa: ARG001  the signature of `is_delivered_later`
    return False


class SubscriptionAction(msgspec.Struct, frozen=True):
    """One `action_type`: `check` validates a config before it is stored, `perform` acts on an event.

    `config` declares the keys that both read.

    `perform` runs in the transaction of a job, so what it stores and defers happens exactly once. It must not
    call outside; an error that it raises becomes the subscription's `last_error`. If `is_delivered_later`,
    it has only enqueued a message, and whoever delivers that records the outcome.
    """

    type: str
    check: Callable[[Context, JsonObject], Awaitable[None]]
    perform: Callable[[Context, ActingSubscription, DispatchedEvent], Awaitable[None]]
    config: ConfigStruct
    is_delivered_later: Callable[[JsonObject], bool] = _is_done_at_once

    @property
    def config_schema(self) -> ConfigSchema:
        fields = ("SubscriptionCreate.action_config", "SubscriptionUpdate.action_config")
        return ConfigSchema(fields=fields, kind=self.type, schema=self.config)


class WorkflowStarter(msgspec.Struct, frozen=True):
    """Starts workflows for lower domains: `start(ctx, start)` returns the id of the execution."""

    start: Callable[[Context, "WorkflowStart"], Awaitable[str]]
    exists: Callable[[Context, str], Awaitable[bool]]


class WorkflowStart(msgspec.Struct, frozen=True):
    workflow_id: str
    input: Any
    trigger: str
    """`form`, `webhook`, `event`, `schedule`, `manual`."""
    source_id: str = ""
