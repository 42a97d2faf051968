"""Subscriptions. The values of the headers in their configuration are entered, not in the file."""

import msgspec

from retinue.events import service
from retinue.events.models import Subscription
from retinue.events.schemas import SubscriptionCreate, SubscriptionUpdate
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.tenant_file.document import convert_values
from retinue.tenant_file.integration_parts import SubscriptionPart
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import ReferenceIndex
from retinue.tenant_file.sections.base import FileSection, load_all, masked_headers


def _name(_names: ReferenceIndex, subscription: Subscription) -> str:
    return f"{subscription.event_type} {subscription.action_type.value}"


def _header_names(subscription: Subscription) -> list[str]:
    headers = subscription.action_config.get("headers")
    return sorted(headers) if isinstance(headers, dict) else []


async def _export(_ctx: Context, names: ReferenceIndex, subscription: Subscription) -> SubscriptionPart:
    headers = _header_names(subscription)
    config = {name: value for name, value in subscription.action_config.items() if name != "headers"}
    return SubscriptionPart(
        event_type=subscription.event_type,
        action_type=subscription.action_type.value,
        action_config=names.to_references(config),
        headers=headers,
        own_secrets=bool(headers),
        filters=names.to_references(subscription.filters),
        active=subscription.active,
    )


def _fields(names: ReferenceIndex, part: SubscriptionPart, stored: list[str]) -> JsonObject:
    if "headers" in part.action_config:
        raise Invalid({"action_config.headers": "cannot be set here: name them in headers, enter the values"})
    config = names.to_ids(msgspec.to_builtins(part.action_config), "action_config")
    if part.headers:
        config["headers"] = masked_headers(part.headers, stored)
    return {
        "event_type": part.event_type,
        "action_type": part.action_type,
        "action_config": config,
        "filters": names.to_ids(part.filters, "filters"),
        "active": part.active,
    }


async def _create(ctx: Context, names: ReferenceIndex, change: PlannedChange) -> Subscription:
    fields = _fields(names, change.part, [])
    return await service.create(ctx, convert_values(SubscriptionCreate, fields))


async def _update(
    ctx: Context, names: ReferenceIndex, change: PlannedChange, subscription: Subscription
) -> None:
    fields = _fields(names, change.part, _header_names(subscription))
    await service.update(ctx, subscription, convert_values(SubscriptionUpdate, fields))


SECTION = FileSection(
    name="subscriptions",
    write_key="events:write",
    load=load_all(Subscription),
    natural_name=_name,
    export=_export,
    create=_create,
    update=_update,
    delete=service.delete,
    secrets_note="the values of its headers",
)
