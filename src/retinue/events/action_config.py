"""Storage of `action_config`: the values of its headers are encrypted and never returned."""

import msgspec

from retinue.events.models import Subscription
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.egress import EgressRefused, read_destination
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.text.header_masks import MASK, require_entered

_MAX_CONFIG_BYTES = 64 * 1024


def check_size(config: JsonObject) -> None:
    if len(msgspec.json.encode(config)) > _MAX_CONFIG_BYTES:
        raise Invalid({"action_config": f"is larger than {_MAX_CONFIG_BYTES // 1024} KiB"})


def check_headers_entered(config: JsonObject) -> None:
    headers = config.get("headers")
    if isinstance(headers, dict):
        require_entered(headers, "action_config.headers")


def open_config(ctx: Context, subscription: Subscription) -> JsonObject:
    """Return the config with the values of its headers."""
    if subscription.header_values is None:
        return subscription.action_config
    values = msgspec.json.decode(subscription.header_values.open(ctx.instance.ring))
    return {**subscription.action_config, "headers": values}


def restore_masked(config: JsonObject, stored: JsonObject) -> JsonObject:
    """Replace masked header values with the stored ones; refuse that if the origin changes (ADR 8)."""
    headers, before = config.get("headers"), stored.get("headers")
    if not isinstance(headers, dict) or not isinstance(before, dict):
        return config
    origin = _origin(config)
    if origin and origin != _origin(stored) and MASK in headers.values():
        raise Invalid({"action_config.headers": "must be entered again, because url has another origin"})
    kept = {name: before.get(name, value) if value == MASK else value for name, value in headers.items()}
    return {**config, "headers": kept}


def _origin(config: JsonObject) -> str:
    """Return the origin that the headers are sent to, or an empty string."""
    try:
        return read_destination(str(config.get("url") or "")).origin
    except EgressRefused:
        return ""


def stored_columns(config: JsonObject) -> JsonObject:
    """Return the columns of a subscription with this config."""
    headers = config.get("headers")
    workflow_id = config.get("workflow_id")
    fields: JsonObject = {
        "action_config": config,
        "header_values": None,
        "workflow_id": workflow_id if isinstance(workflow_id, str) and len(workflow_id) <= 64 else None,
    }
    if isinstance(headers, dict) and headers:
        fields["action_config"] = {**config, "headers": dict.fromkeys(headers, MASK)}
        fields["header_values"] = Sealed.of(msgspec.json.encode(headers))
    return fields
