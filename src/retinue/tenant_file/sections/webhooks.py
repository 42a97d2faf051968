"""Webhooks. The secret that signs deliveries is generated; the values of custom headers are entered."""

from retinue.credentials.destinations import origin_of
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.text.header_masks import MASK
from retinue.tenant_file.document import convert_values
from retinue.tenant_file.integration_parts import WebhookPart
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import ReferenceIndex
from retinue.tenant_file.sections.base import FileSection, load_all, masked_headers
from retinue.webhooks import service
from retinue.webhooks.destinations import without_query
from retinue.webhooks.models import Webhook
from retinue.webhooks.queries import lock_webhook
from retinue.webhooks.schemas import WebhookCreate, WebhookUpdate


def _name(_names: ReferenceIndex, webhook: Webhook) -> str:
    return without_query(webhook.url)


async def _export(_ctx: Context, names: ReferenceIndex, webhook: Webhook) -> WebhookPart:
    return WebhookPart(
        url=webhook.url,
        events=webhook.events,
        description=webhook.description,
        active=webhook.is_active,
        filters=names.to_references(webhook.filters),
        headers=sorted(webhook.headers),
        own_secrets=bool(webhook.headers),
    )


def _fields(names: ReferenceIndex, part: WebhookPart) -> JsonObject:
    return {
        "url": part.url,
        "events": part.events,
        "description": part.description,
        "active": part.active,
        "filters": names.to_ids(part.filters, "filters"),
    }


async def _create(ctx: Context, names: ReferenceIndex, change: PlannedChange) -> Webhook:
    fields = {**_fields(names, change.part), "headers": masked_headers(change.part.headers, ())}
    created = await service.create(ctx, convert_values(WebhookCreate, fields))
    return await lock_webhook(ctx, created.id)


async def _update(ctx: Context, names: ReferenceIndex, change: PlannedChange, webhook: Webhook) -> None:
    fields = _fields(names, change.part)
    if sorted(change.part.headers) != sorted(webhook.headers):
        fields["headers"] = masked_headers(change.part.headers, webhook.headers)
    is_moved = origin_of(change.part.url) != origin_of(webhook.url)
    if is_moved and MASK in masked_headers(change.part.headers, webhook.headers).values():
        # ADR 34: a file does not send secrets to another server.
        raise Invalid({"url": "cannot be on another server while headers have values entered for this one"})
    if change.part.active == webhook.is_active:
        # Sending it again would clear the reason why the webhook was disabled.
        del fields["active"]
    await service.update(ctx, webhook, convert_values(WebhookUpdate, fields))


SECTION = FileSection(
    name="webhooks",
    write_key="webhooks:write",
    load=load_all(Webhook),
    natural_name=_name,
    export=_export,
    create=_create,
    update=_update,
    delete=service.delete,
    secrets_note="the values of its headers",
)
