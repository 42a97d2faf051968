"""Custom headers of webhooks: encrypted at rest, shown to callers who may change them."""

from collections.abc import Mapping

import msgspec

from retinue.kit.context import Context
from retinue.kit.crypto import KeyRing, Sealed
from retinue.kit.errors import VaultSealed
from retinue.kit.json_types import JsonObject
from retinue.kit.text.header_masks import mask_headers
from retinue.webhooks.models import Webhook

decode_headers = msgspec.json.Decoder(dict[str, str]).decode


def sealed_headers(headers: Mapping[str, str]) -> JsonObject:
    """Return the fields of a webhook that hold these headers."""
    if not headers:
        return {"headers": {}, "header_values": None}
    return {"headers": mask_headers(headers), "header_values": Sealed.of(msgspec.json.encode(headers))}


def open_headers(ring: KeyRing, webhook: Webhook) -> dict[str, str]:
    """Return the headers as they are sent."""
    if webhook.header_values is None:
        return {}
    return decode_headers(webhook.header_values.open(ring))


def shown_headers(ctx: Context, webhook: Webhook) -> dict[str, str]:
    """Return the headers as the caller may read them; while the vault is sealed, they are masked for all."""
    if not ctx.principal.may("webhooks:write"):
        return mask_headers(webhook.headers)
    try:
        return open_headers(ctx.instance.ring, webhook)
    except VaultSealed:
        return mask_headers(webhook.headers)
