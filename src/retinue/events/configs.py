"""What an action is told, with the values of its headers kept apart: they are shown to nobody again."""

from typing import Any

import msgspec

from retinue.events.models import Subscription
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.egress import EgressRefused, read_destination
from retinue.kit.errors import Invalid

MASK = "••••••••"
_LARGEST = 64 * 1024


def check_size(config: dict[str, Any]) -> None:
    if len(msgspec.json.encode(config)) > _LARGEST:
        raise Invalid({"action_config": f"is larger than {_LARGEST // 1024} KiB"})


def whole(ctx: Context, subscription: Subscription) -> dict[str, Any]:
    """The config as it was given."""
    if subscription.header_values is None:
        return subscription.action_config
    values = msgspec.json.decode(subscription.header_values.open(ctx.instance.ring))
    return {**subscription.action_config, "headers": values}


def unmasked(config: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """A masked value of a header means the one that is known, and goes nowhere but where it went before."""
    headers, before = config.get("headers"), known.get("headers")
    if not isinstance(headers, dict) or not isinstance(before, dict):
        return config
    wanted = _origin(config)
    if wanted and wanted != _origin(known) and MASK in headers.values():
        raise Invalid({"action_config.headers": "must be entered again for another address"})
    kept = {name: before.get(name, value) if value == MASK else value for name, value in headers.items()}
    return {**config, "headers": kept}


def _origin(config: dict[str, Any]) -> str:
    """Where the headers are sent to; nothing where they are not."""
    try:
        return read_destination(str(config.get("url") or "")).origin
    except EgressRefused:
        return ""


def stored(config: dict[str, Any]) -> dict[str, Any]:
    """The fields of a subscription that hold this config."""
    headers = config.get("headers")
    workflow_id = config.get("workflow_id")
    fields: dict[str, Any] = {
        "action_config": config,
        "header_values": None,
        "workflow_id": workflow_id if isinstance(workflow_id, str) and len(workflow_id) <= 64 else None,
    }
    if isinstance(headers, dict) and headers:
        fields["action_config"] = {**config, "headers": dict.fromkeys(headers, MASK)}
        fields["header_values"] = Sealed.of(msgspec.json.encode(headers))
    return fields
