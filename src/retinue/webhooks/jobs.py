"""Maintenance for all tenants: purge old deliveries and fail lost ones."""

from collections import Counter
from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import implement, periodic
from retinue.webhooks.deliveries import replay_deliveries
from retinue.webhooks.delivery.attempt import TIMEOUT_SECONDS
from retinue.webhooks.delivery.auto_disable import disable_failing_webhook
from retinue.webhooks.delivery.results import DeliveryAborted, DeliveryResult, record_results
from retinue.webhooks.delivery.schedule import (
    MAX_CONCURRENT_DELIVERIES,
    MAX_CONCURRENT_PER_WEBHOOK,
    deliver_webhook,
    record_attempts,
)
from retinue.webhooks.job_kinds import DELIVER_WEBHOOK, DISABLE_FAILING_WEBHOOK, REPLAY_DELIVERIES
from retinue.webhooks.models import (
    DeliveryStatus,
    Webhook,
    WebhookAttempt,
    WebhookDelivery,
    WebhookHour,
    WebhookMessage,
)

_DAY_SECONDS = 24 * 3600
_RETENTION_SECONDS = 30 * _DAY_SECONDS
# A delivery that is retried on its last day needs its body for the whole retry schedule.
_BODY_RETENTION_SECONDS = _RETENTION_SECONDS + 7 * _DAY_SECONDS
_STATS_RETENTION_SECONDS = 91 * _DAY_SECONDS
# Longer than any delay between two attempts.
_LOST_AFTER_SECONDS = 4 * _DAY_SECONDS
_BATCH_SIZE = 500

_webhooks, _deliveries, _attempts = Webhook.__table__, WebhookDelivery.__table__, WebhookAttempt.__table__
_messages, _hours = WebhookMessage.__table__, WebhookHour.__table__
_pending = sa.literal(DeliveryStatus.pending.value)

_OLD_DELIVERIES = Statement(
    sa.select(_deliveries.c.id, _deliveries.c.webhook_id)
    .where(
        _deliveries.c.created_at < sa.bindparam("before", type_=_deliveries.c.created_at.type),
        _deliveries.c.status != _pending,
    )
    .order_by(_deliveries.c.created_at)
    .limit(_BATCH_SIZE)
)
_LOCK_WEBHOOKS = Statement(
    sa.select(_webhooks.c.id).where(in_list(_webhooks.c.id, "ids")).order_by(_webhooks.c.id).with_for_update()
)
_DELETE_ATTEMPTS = Statement(sa.delete(_attempts).where(in_list(_attempts.c.delivery_id, "ids")))
_DELETE_DELIVERIES = Statement(
    sa.delete(_deliveries)
    .where(in_list(_deliveries.c.id, "ids"), _deliveries.c.status != _pending)
    .returning(_deliveries.c.webhook_id, _deliveries.c.status)
)
_SUBTRACT_COUNTS = Statement(
    sa.update(_webhooks)
    .where(_webhooks.c.id == sa.bindparam("of_id", type_=_webhooks.c.id.type))
    .values(
        delivered_count=_webhooks.c.delivered_count - sa.bindparam("delivered", type_=sa.BigInteger()),
        failed_count=_webhooks.c.failed_count - sa.bindparam("failed", type_=sa.BigInteger()),
    )
)
_LOST_DELIVERIES = Statement(
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
    .limit(_BATCH_SIZE)
)


def _delete_older(table: sa.Table) -> Statement[Any]:
    old = (
        sa.select(table.c.id)
        .where(table.c.created_at < sa.bindparam("before", type_=table.c.created_at.type))
        .limit(_BATCH_SIZE)
    )
    return Statement(sa.delete(table).where(table.c.id.in_(old)))


_DELETE_MESSAGES, _DELETE_HOURS = _delete_older(_messages), _delete_older(_hours)


async def purge_deliveries(ctx: Context) -> None:
    """Delete deliveries and their attempts after 30 days, one batch per transaction."""
    while await _delete_batch(ctx):
        pass
    for statement, retention_seconds in (
        (_DELETE_MESSAGES, _BODY_RETENTION_SECONDS),
        (_DELETE_HOURS, _STATS_RETENTION_SECONDS),
    ):
        while True:
            async with ctx.unit() as unit:
                system = unit.system("deliveries of every tenant grow old")
                deleted = await system.execute(statement, before=unit.clock.ahead(-retention_seconds))
            if deleted < _BATCH_SIZE:
                break


async def _delete_batch(ctx: Context) -> bool:
    async with ctx.unit() as unit:
        system = unit.system("deliveries of every tenant grow old")
        old = await system.rows(_OLD_DELIVERIES, before=unit.clock.ahead(-_RETENTION_SECONDS))
        await system.rows(_LOCK_WEBHOOKS, ids=list_parameter({webhook_id for _, webhook_id in old}))
        ids = list_parameter(id for id, _ in old)
        await system.execute(_DELETE_ATTEMPTS, ids=ids)
        deleted = Counter(
            (webhook_id, status) for webhook_id, status in await system.execute(_DELETE_DELIVERIES, ids=ids)
        )
        await _subtract_counts(system, deleted)
    return len(old) == _BATCH_SIZE


async def _subtract_counts(system: SystemDb, deleted: Counter[tuple[str, str]]) -> None:
    await system.execute_many(
        _SUBTRACT_COUNTS,
        [
            {
                "of_id": webhook_id,
                "delivered": deleted[webhook_id, DeliveryStatus.delivered.value],
                "failed": deleted[webhook_id, DeliveryStatus.failed.value],
            }
            for webhook_id in sorted({webhook_id for webhook_id, _ in deleted})
        ],
    )


async def fail_lost_deliveries(ctx: Context) -> None:
    """Fail deliveries that stay pending because their job was interrupted too often."""
    while True:
        async with ctx.unit() as unit:
            system = unit.system("deliveries are lost in any tenant")
            lost = await system.rows(_LOST_DELIVERIES, before=unit.clock.ahead(-_LOST_AFTER_SECONDS))
            message = "The delivery was given up, because its attempts were interrupted."
            endings = [
                DeliveryResult(DeliveryAborted(id, webhook_id, "interrupted", message))
                for id, webhook_id in lost
            ]
            await record_results(system, endings, unit.now)
        if len(lost) < _BATCH_SIZE:
            return


JOBS = (
    periodic(
        "webhooks.purge_deliveries",
        purge_deliveries,
        every_s=3600,
        timeout_s=3000,
        transactional=False,
    ),
    periodic(
        "webhooks.fail_lost_deliveries",
        fail_lost_deliveries,
        every_s=_DAY_SECONDS,
        transactional=False,
    ),
    implement(REPLAY_DELIVERIES, replay_deliveries, timeout_s=600, transactional=False),
    implement(
        DELIVER_WEBHOOK,
        deliver_webhook,
        timeout_s=TIMEOUT_SECONDS + 15,
        transactional=False,
        at_once=MAX_CONCURRENT_DELIVERIES,
        per_lane=MAX_CONCURRENT_PER_WEBHOOK,
        conclude=record_attempts,
    ),
    implement(DISABLE_FAILING_WEBHOOK, disable_failing_webhook),
)
