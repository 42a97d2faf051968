"""Notification channels: made, changed, revealed and deleted."""

from typing import Any

import structlog

from retinue.adapters.notifying import provider_named
from retinue.credentials.errors import AuditUnavailable
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.schemas import given
from retinue.notifications import configs
from retinue.notifications.errors import ChannelNotFound, TooManyChannels
from retinue.notifications.events import ChannelCreated, ChannelDeleted, ChannelRevealed, ChannelUpdated
from retinue.notifications.models import Channel, ChannelType
from retinue.notifications.queries import count_channels
from retinue.notifications.schemas import ChannelCreate, ChannelOut, ChannelSummary, ChannelUpdate
from retinue.notifications.schemas import ChannelRevealed as Revealed

log = structlog.get_logger("retinue.notifications")

MOST_CHANNELS = 200
_REVEALS_PER_MINUTE = 120


def shown(channel: Channel) -> ChannelOut:
    return ChannelOut.of(channel, active=channel.is_active, config=configs.shown(channel))


def summary(channel: Channel) -> ChannelSummary:
    return ChannelSummary.of(channel, active=channel.is_active)


async def create(ctx: Context, body: ChannelCreate) -> Channel:
    if body.provider is None and body.type is not ChannelType.in_app:
        raise Invalid({"provider": "is required"})
    provider = configs.choose_provider(body.type, body.provider)
    if body.config is None and body.type is not ChannelType.in_app:
        raise Invalid({"config": "is required"})
    total, _ = await count_channels(ctx)
    if total >= MOST_CHANNELS:
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
    for name, value in (await configs.entered(ctx, channel, provider, body.config or {})).items():
        setattr(channel, name, value)
    await ctx.db.insert(channel)
    ctx.emit(ChannelCreated.about(channel))
    return channel


async def update(ctx: Context, channel: Channel, body: ChannelUpdate) -> Channel:
    held = await ctx.db.lock(Channel, channel.id)
    if held is None:
        raise ChannelNotFound
    wanted = given(body)
    if wanted.pop("type", held.type) != held.type:
        raise Invalid({"type": "cannot be changed; add another channel"})
    named = provider_named(wanted.pop("provider", held.provider))
    if named is None or named.id != held.provider:
        raise Invalid({"provider": "cannot be changed; add another channel"})
    if "active" in wanted:
        wanted["is_active"] = wanted.pop("active")
    config = wanted.pop("config", None)
    if config is not None:
        wanted |= await configs.entered(ctx, held, named, config)
    changes = {name: value for name, value in wanted.items() if getattr(held, name) != value}
    if changes:
        await ctx.db.update(held, **changes)
        _tell_update(ctx, held, changes)
    return held


async def delete(ctx: Context, channel: Channel) -> None:
    await ctx.db.delete(channel)
    ctx.emit(ChannelDeleted.about(channel))


async def reveal(ctx: Context, channel: Channel) -> Revealed:
    """The whole configuration; the audit row is committed before it is returned."""
    decision = await ctx.instance.limiter.hit_window(f"reveal:{ctx.principal.id}", _REVEALS_PER_MINUTE, 60)
    if not decision.allowed:
        raise decision.refusal()
    config = configs.whole(ctx, channel)
    try:
        async with ctx.unit() as unit:
            unit.emit(ChannelRevealed.about(channel, keys=sorted(channel.secret_keys)))
    except Exception as error:
        log.exception("the audit trail cannot be written")
        raise AuditUnavailable from error
    return Revealed(id=channel.id, config=config)


async def detach_credential(ctx: Context, credential_id: str) -> None:
    """Let go of a credential that is about to be deleted; the channels stay, without a secret."""
    for channel in await ctx.db.all(Channel, credential_id=credential_id):
        changes: dict[str, Any] = {"credential_id": None, "destination": ""}
        await ctx.db.update(channel, **changes)
        _tell_update(ctx, channel, changes)


def _tell_update(ctx: Context, channel: Channel, changes: dict[str, Any]) -> None:
    names = {"is_active": "active", "secrets": "config", "secret_keys": "config"}
    names |= {"credential_id": "config", "destination": "config"}
    changed = sorted({names.get(name, name) for name in changes})
    ctx.emit(ChannelUpdated.about(channel, changed=changed, destination=channel.destination))
