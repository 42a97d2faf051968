"""What is looked after in every tenant: old deliveries go, and what was lost on the way is given up."""

from collections import Counter
from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import NoPayload, job
from retinue.webhooks.models import (
    DeliveryStatus,
    Webhook,
    WebhookAttempt,
    WebhookDelivery,
    WebhookHour,
    WebhookMessage,
)
from retinue.webhooks.recording import Ended, Ending, record

_DAY_S = 24 * 3600
_KEPT_S = 30 * _DAY_S
# A delivery that is tried again on its last day still needs its body for the whole schedule.
_BODIES_KEPT_S = _KEPT_S + 7 * _DAY_S
_HOURS_KEPT_S = 91 * _DAY_S
# Longer than any pause between two attempts.
_LOST_AFTER_S = 4 * _DAY_S
_BATCH = 500

_webhooks, _deliveries, _attempts = Webhook.__table__, WebhookDelivery.__table__, WebhookAttempt.__table__
_messages, _hours = WebhookMessage.__table__, WebhookHour.__table__
_pending = sa.literal(DeliveryStatus.pending.value)

_OLD: Statement[Any] = Statement(
    sa.select(_deliveries.c.id, _deliveries.c.webhook_id)
    .where(
        _deliveries.c.created_at < sa.bindparam("before", type_=_deliveries.c.created_at.type),
        _deliveries.c.status != _pending,
    )
    .order_by(_deliveries.c.created_at)
    .limit(_BATCH)
)
_HOLD: Statement[Any] = Statement(
    sa.select(_webhooks.c.id).where(one_of(_webhooks.c.id, "ids")).order_by(_webhooks.c.id).with_for_update()
)
_FORGET_ATTEMPTS: Statement[Any] = Statement(
    sa.delete(_attempts).where(one_of(_attempts.c.delivery_id, "ids"))
)
_FORGET: Statement[Any] = Statement(
    sa.delete(_deliveries)
    .where(one_of(_deliveries.c.id, "ids"), _deliveries.c.status != _pending)
    .returning(_deliveries.c.webhook_id, _deliveries.c.status)
)
_DISCOUNT: Statement[Any] = Statement(
    sa.update(_webhooks)
    .where(_webhooks.c.id == sa.bindparam("of_id", type_=_webhooks.c.id.type))
    .values(
        delivered_count=_webhooks.c.delivered_count - sa.bindparam("delivered", type_=sa.BigInteger()),
        failed_count=_webhooks.c.failed_count - sa.bindparam("failed", type_=sa.BigInteger()),
    )
)
_LOST: Statement[Any] = Statement(
    sa.select(_deliveries.c.id, _deliveries.c.webhook_id)
    .select_from(
        _webhooks.join(
            _deliveries,
            sa.and_(
                _deliveries.c.tenant_id == _webhooks.c.tenant_id,
                _deliveries.c.webhook_id == _webhooks.c.id,
                _deliveries.c.status == _pending,
            ),
        )
    )
    .where(
        _deliveries.c.created_at < sa.bindparam("before", type_=_deliveries.c.created_at.type),
        _deliveries.c.updated_at < sa.bindparam("before", type_=_deliveries.c.updated_at.type),
    )
    .limit(_BATCH)
)


def _forget_older(table: sa.Table) -> Statement[Any]:
    old = (
        sa.select(table.c.id)
        .where(table.c.created_at < sa.bindparam("before", type_=table.c.created_at.type))
        .limit(_BATCH)
    )
    return Statement(sa.delete(table).where(table.c.id.in_(old)))


_FORGET_MESSAGES, _FORGET_HOURS = _forget_older(_messages), _forget_older(_hours)


@job(every_s=3600, timeout_s=3000, transactional=False)
async def forget_old_deliveries(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001  a periodic job
    """Deliveries go after 30 days with their attempts, a batch in each transaction."""
    while await _forget_some(ctx):
        pass
    for statement, kept_s in ((_FORGET_MESSAGES, _BODIES_KEPT_S), (_FORGET_HOURS, _HOURS_KEPT_S)):
        while True:
            async with ctx.unit() as unit:
                system = unit.system("deliveries of every tenant grow old")
                gone = await system.execute(statement, before=unit.clock.ahead(-kept_s))
            if gone < _BATCH:
                break


async def _forget_some(ctx: Context) -> bool:
    async with ctx.unit() as unit:
        system = unit.system("deliveries of every tenant grow old")
        old = await system.rows(_OLD, before=unit.clock.ahead(-_KEPT_S))
        await system.rows(_HOLD, ids=listed({webhook_id for _, webhook_id in old}))
        ids = listed(id for id, _ in old)
        await system.execute(_FORGET_ATTEMPTS, ids=ids)
        gone = Counter((webhook_id, status) for webhook_id, status in await system.execute(_FORGET, ids=ids))
        await _discount(system, gone)
    return len(old) == _BATCH


async def _discount(system: SystemDb, gone: Counter[tuple[str, str]]) -> None:
    await system.execute_many(
        _DISCOUNT,
        [
            {
                "of_id": webhook_id,
                "delivered": gone[webhook_id, DeliveryStatus.delivered.value],
                "failed": gone[webhook_id, DeliveryStatus.failed.value],
            }
            for webhook_id in sorted({webhook_id for webhook_id, _ in gone})
        ],
    )


@job(every_s=_DAY_S, transactional=False)
async def give_up_lost_deliveries(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001  a periodic job
    """A delivery whose job went down with its worker too often does not wait for ever."""
    while True:
        async with ctx.unit() as unit:
            system = unit.system("deliveries are lost in any tenant")
            lost = await system.rows(_LOST, before=unit.clock.ahead(-_LOST_AFTER_S))
            message = "The delivery was given up, because its attempts were interrupted."
            endings = [Ending(Ended(id, webhook_id, "interrupted", message)) for id, webhook_id in lost]
            await record(system, endings, unit.now)
        if len(lost) < _BATCH:
            return
