"""Notification channels. Their secrets stay in the vault: the file neither shows nor moves them (ADR 8)."""

import msgspec

from retinue.adapters.notifiers import find_notifier
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.text.header_masks import mask_config_headers
from retinue.notifications import channels
from retinue.notifications.configs import CREDENTIAL_KEY
from retinue.notifications.models import Channel
from retinue.notifications.schemas import ChannelCreate, ChannelUpdate
from retinue.tenant_file.document import convert_values
from retinue.tenant_file.integration_parts import ChannelPart
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import ReferenceIndex
from retinue.tenant_file.sections.base import FileSection, load_all, own_name, shown_name, wanted_name

_WRITE = "notification_channels:write"


async def _export(ctx: Context, names: ReferenceIndex, channel: Channel) -> ChannelPart:
    needs_secrets = channel.credential_id is None and bool(_secret_keys(channel.provider, is_required=True))
    return ChannelPart(
        name=shown_name(names, channel),
        type=channel.type.value,
        provider=channel.provider,
        config=names.to_references(mask_config_headers(ctx.principal, channel.config, _WRITE)),
        credential=names.to_references(channel.credential_id),
        own_secrets=bool(channel.secret_keys) or needs_secrets,
        active=channel.is_active,
        priority=channel.priority,
    )


def _secret_keys(provider: str, *, is_required: bool = False) -> set[str]:
    notifier = find_notifier(provider)
    keys = notifier.config.items() if notifier else ()
    return {name for name, key in keys if key.secret and (key.required or not is_required)}


def _config(names: ReferenceIndex, part: ChannelPart) -> JsonObject:
    secret = _secret_keys(part.provider) & part.config.keys()
    if secret or CREDENTIAL_KEY in part.config:
        name = min(secret, default=CREDENTIAL_KEY)
        raise Invalid({f"config.{name}": "cannot be set here: secrets are entered, credentials are named"})
    config: JsonObject = names.to_ids(msgspec.to_builtins(part.config), "config")
    credential_id = names.to_ids(part.credential, "credential")
    return config if credential_id is None else {**config, CREDENTIAL_KEY: credential_id}


async def _create(ctx: Context, names: ReferenceIndex, change: PlannedChange) -> Channel:
    part = change.part
    if part.credential is not None:
        ctx.principal.require("credentials:read")
    fields = {
        "name": wanted_name(change),
        "type": part.type,
        "provider": part.provider,
        "config": _config(names, part),
        "active": part.active,
        "priority": part.priority,
    }
    return await channels.create(ctx, convert_values(ChannelCreate, fields), are_secrets_pending=True)


async def _update(ctx: Context, names: ReferenceIndex, change: PlannedChange, channel: Channel) -> None:
    part = change.part
    config = {**dict.fromkeys(channel.config), **_config(names, part)}
    if channel.credential_id is not None:
        config.setdefault(CREDENTIAL_KEY, None)
    fields = {
        "name": wanted_name(change),
        "type": part.type,
        "provider": part.provider,
        "config": config,
        "active": part.active,
        "priority": part.priority,
    }
    await channels.update(ctx, channel, convert_values(ChannelUpdate, fields), are_secrets_pending=True)


SECTION = FileSection(
    name="notification_channels",
    write_key=_WRITE,
    load=load_all(Channel),
    natural_name=own_name,
    export=_export,
    create=_create,
    update=_update,
    delete=channels.delete,
    secrets_note="its secrets",
)
