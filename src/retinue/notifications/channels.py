"""Notification channels: create, update, reveal, delete."""

from collections.abc import Sequence

from retinue.adapters.notifiers import find_notifier
from retinue.credentials.reveal_guard import record_reveal, require_reveals_left
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields
from retinue.notifications import configs
from retinue.notifications.delivery.attempt import default_recipient
from retinue.notifications.errors import ChannelNotFound, TooManyChannels
from retinue.notifications.events import ChannelCreated, ChannelDeleted, ChannelRevealed, ChannelUpdated
from retinue.notifications.models import Channel, ChannelType
from retinue.notifications.queries import count_channels
from retinue.notifications.schemas import ChannelCreate, ChannelOut, ChannelSummary, ChannelUpdate
from retinue.notifications.schemas import ChannelRevealedOut as Revealed

MAX_CHANNELS = 200
REFERENCE = "notification_channel"


def render_channel(ctx: Context, channel: Channel) -> ChannelOut:
    return ChannelOut.of(channel, active=channel.is_active, config=configs.masked_config(ctx, channel))


def summary(channel: Channel) -> ChannelSummary:
    return ChannelSummary.of(channel, active=channel.is_active)


async def create(ctx: Context, body: ChannelCreate, *, are_secrets_pending: bool = False) -> Channel:
    """Create a channel; with `are_secrets_pending`, its secrets may be entered later."""
    if body.provider is None and body.type is not ChannelType.in_app:
        raise Invalid({"provider": "is required"})
    provider = configs.choose_provider(body.type, body.provider)
    if body.config is None and body.type is not ChannelType.in_app:
        raise Invalid({"config": "is required"})
    total, _ = await count_channels(ctx)
    if total >= MAX_CHANNELS:
        raise TooManyChannels
    channel = Channel(
        name=body.name,
        type=body.type,
        provider=provider.id,
        config={},
        secret_keys=[],
        is_active=body.active,
        priority=body.priority,
        created_by=ctx.principal.id,
    )
    fields = await configs.build_config_fields(
        ctx, channel, provider, body.config or {}, are_secrets_pending=are_secrets_pending
    )
    for name, value in fields.items():
        setattr(channel, name, value)
    await ctx.db.insert(channel)
    ctx.emit(ChannelCreated.about(channel))
    return channel


async def update(
    ctx: Context, channel: Channel, body: ChannelUpdate, *, are_secrets_pending: bool = False
) -> Channel:
    locked = await ctx.db.lock(Channel, channel.id)
    if locked is None:
        raise ChannelNotFound
    sent = sent_fields(body)
    if sent.pop("type", locked.type) != locked.type:
        raise Invalid({"type": "cannot be changed; create another channel"})
    named = find_notifier(sent.pop("provider", locked.provider))
    if named is None or named.id != locked.provider:
        raise Invalid({"provider": "cannot be changed; create another channel"})
    if "active" in sent:
        sent["is_active"] = sent.pop("active")
    config = sent.pop("config", None)
    if config is not None:
        sent |= await configs.build_config_fields(
            ctx, locked, named, config, are_secrets_pending=are_secrets_pending
        )
    changes = {name: value for name, value in sent.items() if getattr(locked, name) != value}
    if changes:
        await ctx.db.update(locked, **changes)
        _emit_updated(ctx, locked, changes)
    return locked


async def delete(ctx: Context, channel: Channel) -> None:
    await ctx.db.delete(channel)
    ctx.emit(ChannelDeleted.about(channel))


async def reveal(ctx: Context, channel: Channel) -> Revealed:
    """Return the full configuration. The audit entry is committed first."""
    await require_reveals_left(ctx)
    try:
        config = configs.full_config(ctx, channel)
    except RetinueError as error:
        await record_reveal(ctx, ChannelRevealed.about(channel, keys=[]), reason=error.code)
        raise
    await record_reveal(ctx, ChannelRevealed.about(channel, keys=sorted(channel.secret_keys)))
    return Revealed(id=channel.id, config=config)


async def detach_credential(ctx: Context, credential_id: str) -> None:
    """Remove a credential that is being deleted from its channels; they stay, without a secret."""
    for channel in await ctx.db.all(Channel, credential_id=credential_id):
        changes: JsonObject = {"credential_id": None, "destination": ""}
        await ctx.db.update(channel, **changes)
        _emit_updated(ctx, channel, changes)


async def find_reachable(ctx: Context, ids: Sequence[str]) -> tuple[list[Channel], list[str]]:
    """Return the channels that work without naming a user, and a message for each other one."""
    reachable, problems = [], []
    for id in dict.fromkeys(ids):
        channel = await ctx.db.get(Channel, id)
        if channel is None:
            problems.append(f"Nothing was sent to the channel {id}: there is no such channel.")
        elif not channel.is_active:
            problems.append(f"Nothing was sent to the channel {channel.name}: it is disabled.")
        elif channel.type in {ChannelType.email, ChannelType.sms} and not default_recipient(channel):
            problems.append(f"Nothing was sent to the channel {channel.name}: it has no default recipient.")
        elif channel.type is not ChannelType.in_app:
            reachable.append(channel)
    return reachable, problems


def _emit_updated(ctx: Context, channel: Channel, changes: JsonObject) -> None:
    names = {"is_active": "active", "secrets": "config", "secret_keys": "config"}
    names |= {"credential_id": "config", "destination": "config"}
    changed = sorted({names.get(name, name) for name in changes})
    ctx.emit(ChannelUpdated.about(channel, changed=changed, destination=channel.destination))
