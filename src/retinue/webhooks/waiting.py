"""What is to be sent, read for many deliveries at once: those who ask together share one statement."""

import asyncio
from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit import Unit
from retinue.kit.instance import Instance
from retinue.webhooks.models import Webhook, WebhookDelivery, WebhookMessage

_webhooks, _deliveries = Webhook.__table__, WebhookDelivery.__table__
_messages = WebhookMessage.__table__


class Waiting(msgspec.Struct):
    """Everything an attempt needs; the fields are the columns that are read, in this order."""

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
    secrets: bytes
    previous_secret_until: Instant | None
    body: str


# Two tenants never share a row: everything is joined by its tenant, and found again by it.
_WAITING: Statement[Waiting] = Statement(
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
        _webhooks.c.secrets,
        _webhooks.c.previous_secret_until,
        _messages.c.body,
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
    .where(one_of(_deliveries.c.id, "ids")),
    lambda row: Waiting(*row),
)

Key = tuple[str, str]
Asking = tuple[Key, "asyncio.Future[Waiting | None]"]


class WaitingDeliveries:
    """One read at a time. Who asks meanwhile is part of the next one: nothing is older than the asking."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._asking: list[Asking] = []
        self._task: asyncio.Task[None] | None = None

    async def find(self, tenant_id: str, delivery_id: str) -> Waiting | None:
        """What is to be sent; nothing if the delivery, or its webhook, is gone."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Waiting | None] = loop.create_future()
        self._asking.append(((tenant_id, delivery_id), found))
        if self._task is None:
            self._task = loop.create_task(self._read())
        return await found

    async def _read(self) -> None:
        try:
            while self._asking:
                asking, self._asking = self._asking, []
                try:
                    rows = await self._rows([id for (_, id), _ in asking])
                except Exception as error:  # noqa: BLE001  it is theirs who asked
                    _fail(asking, error)
                else:
                    _answer(asking, rows)
        finally:
            self._task = None

    async def _rows(self, ids: Sequence[str]) -> list[Waiting]:
        unit = Unit(self._instance.database, reads_freely=True)
        system = SystemDb(unit, self._instance.clock, self._instance.ring)
        return await system.rows(_WAITING, ids=listed(ids))


def _answer(asking: list[Asking], rows: list[Waiting]) -> None:
    found = {(row.tenant_id, row.delivery_id): row for row in rows}
    for key, future in asking:
        if not future.done():
            future.set_result(found.get(key))


def _fail(asking: list[Asking], error: Exception) -> None:
    for _, future in asking:
        if not future.done():
            future.set_exception(error)
