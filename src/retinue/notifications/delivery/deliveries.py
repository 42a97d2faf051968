"""Deliveries: stored in a transaction, sent after it, retried, then passed to the next channel."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from retinue.adapters.notifiers import ProviderRefused
from retinue.kit.context import Context
from retinue.kit.conversation_ids import conversation_ids_or_none
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import RetryLater
from retinue.notifications.delivery.attempt import (
    DeliveryOutcome,
    attempt_delivery,
    build_message,
    default_recipient,
    refused_outcome,
)
from retinue.notifications.delivery.totals import bucket_of, count_accepted, count_outcome, delivered_today
from retinue.notifications.errors import ChannelInactive, DeliveryFailed, TooManyNotifications
from retinue.notifications.events import ChannelFailed
from retinue.notifications.job_kinds import DELIVER_NOTIFICATION, NotificationToDeliver
from retinue.notifications.models import Channel, ChannelLogStatus, ChannelType, Delivery, DeliveryContent
from retinue.notifications.notification import AcceptedDelivery
from retinue.notifications.queries import active_channels

_MAX_RETRY_DELAY_SECONDS = 600.0
MAX_CONCURRENT_PER_CHANNEL = 4

# Daily limits per tenant for channels that cost money or annoy people.
MAX_PER_DAY = {ChannelType.email: 10_000, ChannelType.sms: 1_000}
MAX_PER_RECIPIENT_PER_HOUR = 120
"""Limit per recipient and channel."""

_channels, _deliveries = Channel.__table__, Delivery.__table__
_RECORD_OUTCOME = Statement(
    sa.update(_deliveries)
    .where(
        _deliveries.c.id == sa.bindparam("delivery_id"),
        _deliveries.c.status == ChannelLogStatus.pending.value,
    )
    .values(
        status=sa.bindparam("ended_as"),
        content=None,
        attempts=sa.bindparam("tries"),
        delivery_time_ms=sa.bindparam("took_ms", type_=sa.BigInteger()),
        error_code=sa.bindparam("code", type_=sa.Text()),
        error=sa.bindparam("error_text", type_=sa.Text()),
        completed_at=sa.bindparam("now", type_=sa.Text()),
        updated_at=sa.bindparam("now", type_=sa.Text()),
    )
)
_RECORD_ATTEMPT = Statement(
    sa.update(_deliveries)
    .where(_deliveries.c.id == sa.bindparam("delivery_id"))
    .values(
        attempts=sa.bindparam("tries"),
        error_code=sa.bindparam("code", type_=sa.Text()),
        error=sa.bindparam("error_text", type_=sa.Text()),
        updated_at=sa.bindparam("now", type_=sa.Text()),
    )
)
# `updated_at` stays: it detects concurrent edits, and a use is not an edit.
_RECORD_CHANNEL_USE = Statement(
    sa.update(_channels)
    .where(_channels.c.id == sa.bindparam("channel_id"))
    .values(
        last_used_at=sa.bindparam("now", type_=sa.Text()),
        last_error=sa.bindparam("error_text", type_=sa.Text()),
    )
)


async def enqueue_deliveries(
    ctx: Context, channel: Channel, deliveries: Sequence[Delivery]
) -> list[AcceptedDelivery]:
    """Store deliveries of one channel, to be sent after the commit."""
    await ctx.db.insert_many(deliveries)
    for delivery in deliveries:
        ctx.defer(DELIVER_NOTIFICATION, NotificationToDeliver(delivery.id), lane=channel.id)
    count_accepted(ctx, channel, len(deliveries))
    return [AcceptedDelivery(channel.id, delivery.id) for delivery in deliveries]


def new_delivery(
    ctx: Context,
    channel: Channel,
    *,
    recipient: str,
    type: str,
    subject: str,
    content: DeliveryContent,
    **more: Any,
) -> Delivery:
    return Delivery(
        channel_id=channel.id,
        recipient=recipient,
        type=type,
        subject=subject,
        content=content,
        bucket=bucket_of(ctx.now),
        conversation_ids=conversation_ids_or_none(ctx.caller.conversation_ids),
        **{"tried": [], **more},
    )


async def deliver_notification(ctx: Context, payload: NotificationToDeliver) -> None:
    delivery = await ctx.db.get(Delivery, payload.delivery_id)
    channel = await ctx.db.get(Channel, delivery.channel_id) if delivery else None
    if delivery is None or channel is None or delivery.status is not ChannelLogStatus.pending:
        return
    ctx.quote(*(delivery.conversation_ids or ()))
    outcome = await _attempt_delivery(ctx, channel, delivery)
    tries = ctx.caller.attempt
    if outcome.is_delivered or outcome.is_final or tries >= DELIVER_NOTIFICATION.max_attempts:
        await ctx.run_in_unit(lambda unit: record_outcome(unit, channel, delivery, outcome, tries))
        return
    await ctx.run_in_unit(lambda unit: _record_failed_attempt(unit, channel, delivery, outcome, tries))
    if outcome.retry_after_s > DELIVER_NOTIFICATION.retry.delays[tries]:
        raise RetryLater(min(outcome.retry_after_s, _MAX_RETRY_DELAY_SECONDS), outcome.message)
    raise ProviderRefused(outcome.message)


async def _attempt_delivery(ctx: Context, channel: Channel, delivery: Delivery) -> DeliveryOutcome:
    if not channel.is_active:
        return refused_outcome(ChannelInactive.code, ChannelInactive().message)
    if await _is_over_limit(ctx, channel, delivery):
        return refused_outcome(TooManyNotifications.code, (TooManyNotifications.__doc__ or "").strip())
    assert delivery.content is not None, "content is cleared when the delivery ends"
    message = build_message(delivery.recipient, delivery.subject, delivery.content, delivery.id)
    return await attempt_delivery(ctx, channel, message)


async def _is_over_limit(ctx: Context, channel: Channel, delivery: Delivery) -> bool:
    """Return whether a limit is reached. A delivery counts once, however many attempts it takes."""
    if await is_daily_limit_reached(ctx, channel.type):
        return True
    if ctx.caller.attempt > 1 or not delivery.user_id:
        return False
    key = f"notify:{ctx.tenant_id}:{channel.id}:{delivery.user_id}"
    decision = await ctx.instance.limiter.hit_window(key, MAX_PER_RECIPIENT_PER_HOUR, 3600)
    return not decision.allowed


async def is_daily_limit_reached(ctx: Context, type: ChannelType) -> bool:
    limit = MAX_PER_DAY.get(type)
    return limit is not None and await delivered_today(ctx, type) >= limit


async def _record_failed_attempt(
    ctx: Context, channel: Channel, delivery: Delivery, outcome: DeliveryOutcome, tries: int
) -> None:
    result = {"code": outcome.code, "error_text": outcome.message, "now": ctx.now}
    await ctx.db.execute(_RECORD_ATTEMPT, delivery_id=delivery.id, tries=tries, **result)
    await ctx.db.execute(
        _RECORD_CHANNEL_USE, channel_id=channel.id, error_text=_channel_error(delivery, outcome), now=ctx.now
    )


async def record_outcome(
    ctx: Context, channel: Channel, delivery: Delivery, outcome: DeliveryOutcome, tries: int
) -> None:
    """Record the outcome exactly once; a failed delivery may go to the next channel."""
    status = ChannelLogStatus.delivered if outcome.is_delivered else ChannelLogStatus.failed
    code = outcome.code
    if code == ProviderRefused.code:
        code = DeliveryFailed.code
    was_pending = await ctx.db.execute(
        _RECORD_OUTCOME,
        delivery_id=delivery.id,
        ended_as=status.value,
        tries=tries,
        took_ms=outcome.time_ms if outcome.is_delivered else None,
        code=code or None,
        error_text=outcome.message or None,
        now=ctx.now,
    )
    if not was_pending:
        return
    await ctx.db.execute(
        _RECORD_CHANNEL_USE, channel_id=channel.id, error_text=_channel_error(delivery, outcome), now=ctx.now
    )
    count_outcome(ctx, channel, delivery, outcome)
    if outcome.is_delivered:
        return
    next_channel = await _fall_back(ctx, channel, delivery, outcome)
    ctx.emit(
        ChannelFailed.about(
            channel,
            delivery_id=delivery.id,
            code=code,
            message=outcome.message,
            attempts=tries,
            fallback_channel_id=next_channel.id if next_channel else None,
        )
    )


def _channel_error(delivery: Delivery, outcome: DeliveryOutcome) -> str | None:
    """Return the error to store on the channel, without text that may quote a conversation."""
    if delivery.conversation_ids and outcome.message:
        return f"The message was not delivered ({outcome.code or ProviderRefused.code})."
    return outcome.message or None


async def _fall_back(
    ctx: Context, channel: Channel, delivery: Delivery, outcome: DeliveryOutcome
) -> Channel | None:
    """Pass the delivery to the next channel of its type, unless no channel should deliver it."""
    if not delivery.may_fall_back or outcome.code == TooManyNotifications.code or delivery.content is None:
        return None
    tried = [*delivery.tried, channel.id]
    # Only the channel's own destination is replaced by that of the next channel, never a person's address.
    is_addressed = bool(delivery.user_id) or delivery.recipient != default_recipient(channel)
    for next_channel in await active_channels(ctx, channel.type):
        if next_channel.id not in tried:
            retried = new_delivery(
                ctx,
                next_channel,
                recipient=delivery.recipient if is_addressed else default_recipient(next_channel),
                type=delivery.type,
                subject=delivery.subject,
                content=delivery.content,
                user_id=delivery.user_id,
                may_fall_back=True,
                tried=tried,
                fallback_of=delivery.id,
            )
            await enqueue_deliveries(ctx, next_channel, [retried])
            return next_channel
    return None
