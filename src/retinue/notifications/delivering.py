"""Deliveries on their way: asked for in a transaction, sent after it, tried again, and then elsewhere."""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.adapters.notifying import ProviderRefused
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import Retry, RetryLater, job
from retinue.notifications.counting import bucket_of, count_accepted, count_outcome, delivered_today
from retinue.notifications.errors import ChannelInactive, DeliveryFailed, TooManyNotifications
from retinue.notifications.events import ChannelFailed
from retinue.notifications.models import Channel, ChannelLogStatus, ChannelType, Content, Delivery
from retinue.notifications.queries import active_channels
from retinue.notifications.sending import Outcome, as_message, attempt, refused, target_of
from retinue.notifications.words import AcceptedDelivery

DELAYS = (0.0, 30.0, 300.0)
_LONGEST_WAIT_S = 600.0
_PER_LANE = 4

# What costs money or patience: so much a day for the whole tenant.
PER_DAY = {ChannelType.email: 10_000, ChannelType.sms: 1_000}
PER_HOUR = 120
"""To one recipient through one channel."""

_channels, _deliveries = Channel.__table__, Delivery.__table__
_END: Statement[Any] = Statement(
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
        error=sa.bindparam("said", type_=sa.Text()),
        completed_at=sa.bindparam("now", type_=sa.Text()),
        updated_at=sa.bindparam("now", type_=sa.Text()),
    )
)
_TRIED: Statement[Any] = Statement(
    sa.update(_deliveries)
    .where(_deliveries.c.id == sa.bindparam("delivery_id"))
    .values(
        attempts=sa.bindparam("tries"),
        error_code=sa.bindparam("code", type_=sa.Text()),
        error=sa.bindparam("said", type_=sa.Text()),
        updated_at=sa.bindparam("now", type_=sa.Text()),
    )
)
# Not `updated_at`: who changes a channel sees whether somebody else did, not whether it was used.
_USED: Statement[Any] = Statement(
    sa.update(_channels)
    .where(_channels.c.id == sa.bindparam("channel_id"))
    .values(
        last_used_at=sa.bindparam("now", type_=sa.Text()), last_error=sa.bindparam("said", type_=sa.Text())
    )
)


class DeliveryToMake(msgspec.Struct):
    delivery_id: str


async def accept(ctx: Context, channel: Channel, deliveries: Sequence[Delivery]) -> list[AcceptedDelivery]:
    """Store them for sending after the commit; they are all the channel's."""
    await ctx.db.insert_many(deliveries)
    for delivery in deliveries:
        ctx.defer(deliver_notification, DeliveryToMake(delivery.id), lane=channel.id)
    count_accepted(ctx, channel, len(deliveries))
    return [AcceptedDelivery(channel.id, delivery.id) for delivery in deliveries]


def new_delivery(
    ctx: Context, channel: Channel, *, recipient: str, type: str, subject: str, content: Content, **more: Any
) -> Delivery:
    return Delivery(
        channel_id=channel.id,
        recipient=recipient,
        type=type,
        subject=subject,
        content=content,
        bucket=bucket_of(ctx.now),
        **{"tried": [], **more},
    )


@job(queue="notifications", retry=Retry(DELAYS), transactional=False, per_lane=_PER_LANE)
async def deliver_notification(ctx: Context, payload: DeliveryToMake) -> None:
    delivery = await ctx.db.get(Delivery, payload.delivery_id)
    channel = await ctx.db.get(Channel, delivery.channel_id) if delivery else None
    if delivery is None or channel is None or delivery.status is not ChannelLogStatus.pending:
        return
    outcome = await _try(ctx, channel, delivery)
    tries = ctx.caller.attempt
    if outcome.is_delivered or outcome.is_final or tries >= len(DELAYS):
        async with ctx.unit() as unit:
            await end(unit, channel, delivery, outcome, tries)
        return
    async with ctx.unit() as unit:
        await _postpone(unit, channel, delivery, outcome, tries)
    if outcome.retry_after_s > DELAYS[tries]:
        raise RetryLater(min(outcome.retry_after_s, _LONGEST_WAIT_S), outcome.message)
    raise ProviderRefused(outcome.message)


async def _try(ctx: Context, channel: Channel, delivery: Delivery) -> Outcome:
    if not channel.is_active:
        return refused(ChannelInactive.code, ChannelInactive().message)
    if await _is_too_much(ctx, channel, delivery):
        return refused(TooManyNotifications.code, (TooManyNotifications.__doc__ or "").strip())
    assert delivery.content is not None, "only what has ended has no content"
    message = as_message(delivery.recipient, delivery.subject, delivery.content, delivery.id)
    return await attempt(ctx, channel, message)


async def _is_too_much(ctx: Context, channel: Channel, delivery: Delivery) -> bool:
    """Counted once for each delivery, whatever number of attempts it takes."""
    if await is_days_limit_reached(ctx, channel.type):
        return True
    if ctx.caller.attempt > 1 or not delivery.user_id:
        return False
    key = f"notify:{ctx.tenant_id}:{channel.id}:{delivery.user_id}"
    decision = await ctx.instance.limiter.hit_window(key, PER_HOUR, 3600)
    return not decision.allowed


async def is_days_limit_reached(ctx: Context, type: ChannelType) -> bool:
    most = PER_DAY.get(type)
    return most is not None and await delivered_today(ctx, type) >= most


async def _postpone(ctx: Context, channel: Channel, delivery: Delivery, outcome: Outcome, tries: int) -> None:
    said = {"code": outcome.code, "said": outcome.message, "now": ctx.now}
    await ctx.db.execute(_TRIED, delivery_id=delivery.id, tries=tries, **said)
    await ctx.db.execute(_USED, channel_id=channel.id, said=outcome.message, now=ctx.now)


async def end(ctx: Context, channel: Channel, delivery: Delivery, outcome: Outcome, tries: int) -> None:
    """Write down how it ended, exactly once; what its channel could not deliver may go to the next one."""
    status = ChannelLogStatus.delivered if outcome.is_delivered else ChannelLogStatus.failed
    code = outcome.code
    if code == ProviderRefused.code:
        code = DeliveryFailed.code
    was_pending = await ctx.db.execute(
        _END,
        delivery_id=delivery.id,
        ended_as=status.value,
        tries=tries,
        took_ms=outcome.time_ms if outcome.is_delivered else None,
        code=code or None,
        said=outcome.message or None,
        now=ctx.now,
    )
    if not was_pending:
        return
    await ctx.db.execute(_USED, channel_id=channel.id, said=outcome.message or None, now=ctx.now)
    count_outcome(ctx, channel, delivery, outcome)
    if outcome.is_delivered:
        return
    following = await _fall_back(ctx, channel, delivery, outcome)
    ctx.emit(
        ChannelFailed.about(
            channel,
            delivery_id=delivery.id,
            code=code,
            message=outcome.message,
            attempts=tries,
            fallback_channel_id=following.id if following else None,
        )
    )


async def _fall_back(ctx: Context, channel: Channel, delivery: Delivery, outcome: Outcome) -> Channel | None:
    """Hand it to the next channel of the type, except what no channel should deliver."""
    if not delivery.may_fall_back or outcome.code == TooManyNotifications.code or delivery.content is None:
        return None
    tried = [*delivery.tried, channel.id]
    for following in await active_channels(ctx, channel.type):
        if following.id not in tried:
            again = new_delivery(
                ctx,
                following,
                recipient=delivery.recipient if delivery.user_id else target_of(following),
                type=delivery.type,
                subject=delivery.subject,
                content=delivery.content,
                user_id=delivery.user_id,
                may_fall_back=True,
                tried=tried,
                fallback_of=delivery.id,
            )
            await accept(ctx, following, [again])
            return following
    return None
