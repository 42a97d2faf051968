"""Batched loading of deliveries: concurrent callers share one statement."""

import asyncio
from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.context.instance import Instance
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.webhooks.models import Webhook, WebhookDelivery, WebhookMessage

_webhooks, _deliveries = Webhook.__table__, WebhookDelivery.__table__
_messages = WebhookMessage.__table__


class LoadedDelivery(msgspec.Struct):
    """Everything an attempt needs; the fields match the selected columns in order."""

    tenant_id: str
    delivery_id: str
    webhook_id: str
    event_id: str
    event_type: str
    status: str
    is_scheduled: bool
    attempt: int
    url: str
    is_active: bool
    headers: str
    header_values: bytes | None
    secrets: bytes
    previous_secret_until: Instant | None
    body: str
    created_at: Instant


# Rows are joined and looked up by tenant, so that no tenant sees another's (ADR 4).
_LOAD_DELIVERIES: Statement[LoadedDelivery] = Statement(
    sa.select(
        _deliveries.c.tenant_id,
        _deliveries.c.id,
        _deliveries.c.webhook_id,
        _deliveries.c.event_id,
        _deliveries.c.event_type,
        _deliveries.c.status,
        _deliveries.c.is_scheduled,
        _deliveries.c.attempt,
        _webhooks.c.url,
        _webhooks.c.is_active,
        _webhooks.c.headers,
        _webhooks.c.header_values,
        _webhooks.c.secrets,
        _webhooks.c.previous_secret_until,
        _messages.c.body,
        _deliveries.c.created_at,
    )
    .select_from(
        _deliveries.join(
            _webhooks,
            sa.and_(
                _webhooks.c.id == _deliveries.c.webhook_id,
                _webhooks.c.tenant_id == _deliveries.c.tenant_id,
            ),
        ).join(
            _messages,
            sa.and_(
                _messages.c.id == _deliveries.c.event_id, _messages.c.tenant_id == _deliveries.c.tenant_id
            ),
        )
    )
    .where(in_list(_deliveries.c.id, "ids")),
    lambda row: LoadedDelivery(*row),
)

DeliveryKey = tuple[str, str]
PendingLoad = tuple[DeliveryKey, "asyncio.Future[LoadedDelivery | None]"]


class DeliveryLoader:
    """Runs one query at a time; calls made meanwhile join the next one, so no result predates its call."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._pending: list[PendingLoad] = []
        self._task: asyncio.Task[None] | None = None

    async def find(self, tenant_id: str, delivery_id: str) -> LoadedDelivery | None:
        """Return the delivery, or None if it or its webhook was deleted."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[LoadedDelivery | None] = loop.create_future()
        self._pending.append(((tenant_id, delivery_id), future))
        if self._task is None:
            self._task = loop.create_task(self._load_batches())
        return await future

    async def _load_batches(self) -> None:
        try:
            while self._pending:
                batch, self._pending = self._pending, []
                try:
                    rows = await self._load_rows([id for (_, id), _ in batch])
                except Exception as error:  # noqa: BLE001  raised in the callers
                    _reject(batch, error)
                else:
                    _resolve(batch, rows)
        finally:
            self._task = None

    async def _load_rows(self, ids: Sequence[str]) -> list[LoadedDelivery]:
        unit = UnitOfWork(self._instance.database, reads_outside_transaction=True)
        system = SystemDb(unit, self._instance.clock, self._instance.ring)
        return await system.rows(_LOAD_DELIVERIES, ids=list_parameter(ids))


def _resolve(batch: list[PendingLoad], rows: list[LoadedDelivery]) -> None:
    by_key = {(row.tenant_id, row.delivery_id): row for row in rows}
    for key, future in batch:
        if not future.done():
            future.set_result(by_key.get(key))


def _reject(batch: list[PendingLoad], error: Exception) -> None:
    for _, future in batch:
        if not future.done():
            future.set_exception(error)
