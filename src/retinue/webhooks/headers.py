"""Custom headers of webhooks: encrypted at rest, shown to callers who may change them."""

from collections.abc import Mapping

import msgspec
import sqlalchemy as sa
import structlog

from retinue.kit.context import Context
from retinue.kit.crypto import KeyRing, Sealed
from retinue.kit.db.statements import Statement
from retinue.kit.errors import VaultSealed
from retinue.kit.json_types import JsonObject
from retinue.kit.text.header_masks import mask_headers
from retinue.webhooks.models import Webhook

log = structlog.get_logger("retinue.webhooks")

_webhooks = Webhook.__table__
_UNSEALED = Statement(
    sa.select(_webhooks.c.tenant_id, _webhooks.c.id).where(
        _webhooks.c.header_values.is_(None), sa.cast(_webhooks.c.headers, sa.Text()) != sa.literal("{}")
    )
)

decode_headers = msgspec.json.Decoder(dict[str, str]).decode


def sealed_headers(headers: Mapping[str, str]) -> JsonObject:
    """Return the fields of a webhook that hold these headers."""
    if not headers:
        return {"headers": {}, "header_values": None}
    return {"headers": mask_headers(headers), "header_values": Sealed.of(msgspec.json.encode(headers))}


def open_headers(ring: KeyRing, webhook: Webhook) -> dict[str, str]:
    """Return the headers as they are sent."""
    if webhook.header_values is None:
        return webhook.headers
    return decode_headers(webhook.header_values.open(ring))


def shown_headers(ctx: Context, webhook: Webhook) -> dict[str, str]:
    """Return the headers as the caller may read them; while the vault is sealed, they are masked for all."""
    if not ctx.principal.may("webhooks:write"):
        return mask_headers(webhook.headers)
    try:
        return open_headers(ctx.instance.ring, webhook)
    except VaultSealed:
        return mask_headers(webhook.headers)


async def seal_unsealed_headers(ctx: Context) -> int:
    """Encrypt headers that an earlier version stored in clear; return the number of webhooks."""
    found = await ctx.system("webhooks of every tenant").rows(_UNSEALED)
    for tenant_id, webhook_id in found:
        tenant_ctx = ctx.detached()
        tenant_ctx.bind_tenant(tenant_id)
        async with tenant_ctx.unit() as unit:
            locked = await unit.db.lock(Webhook, webhook_id)
            if locked is not None and locked.header_values is None:
                await unit.db.update(locked, **sealed_headers(locked.headers))
    if found:
        log.info("webhook_headers_sealed", webhooks=len(found))
    return len(found)


async def seal_webhook_headers(ctx: Context) -> None:
    """Encrypt headers that processes of the previous version still store during an upgrade."""
    await seal_unsealed_headers(ctx)
