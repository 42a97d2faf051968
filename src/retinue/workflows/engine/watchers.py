"""Executions that are watched in this process; polling finds the changes made by other processes."""

import asyncio
from collections import defaultdict

import sqlalchemy as sa
import structlog

from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.principal import SYSTEM
from retinue.workflows.models import ENDED_STATUSES, WorkflowExecution

log = structlog.get_logger("retinue.workflows")

POLL_INTERVAL_SECONDS = 0.25

_executions = WorkflowExecution.__table__
_UPDATED_AT = Statement(
    sa.select(_executions.c.id, _executions.c.updated_at).where(
        in_list(_executions.c.tenant_id, "tenant_ids"), in_list(_executions.c.id, "ids")
    )
)


class ExecutionWatchers:
    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._events_by_execution: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._tenant_by_execution: dict[str, str] = {}
        self._last_updated: dict[str, str] = {}
        self._poller: asyncio.Task[None] | None = None

    def subscribe(self, tenant_id: str, execution_id: str) -> asyncio.Event:
        wakeup = asyncio.Event()
        self._events_by_execution[execution_id].add(wakeup)
        self._tenant_by_execution[execution_id] = tenant_id
        if self._poller is None:
            self._poller = asyncio.create_task(self._poll_until_unwatched())
        return wakeup

    def unsubscribe(self, execution_id: str, wakeup: asyncio.Event) -> None:
        self._events_by_execution[execution_id].discard(wakeup)
        if not self._events_by_execution[execution_id]:
            del self._events_by_execution[execution_id]
            self._tenant_by_execution.pop(execution_id, None)
            self._last_updated.pop(execution_id, None)

    def wake(self, execution_id: str) -> None:
        for wakeup in self._events_by_execution.get(execution_id, ()):
            wakeup.set()

    async def _poll_until_unwatched(self) -> None:
        try:
            while self._events_by_execution:
                await asyncio.sleep(POLL_INTERVAL_SECONDS)
                try:
                    await self._poll()
                except RetinueError as error:
                    log.warning("executions_unknown", error=error.message)
        finally:
            self._poller = None

    async def _poll(self) -> None:
        if not self._events_by_execution:
            return
        reader = Context(self._instance, SYSTEM, Caller(correlation_id=""), reads_outside_transaction=True)
        system = reader.system("watchers of every tenant")
        tenants, ids = sorted(set(self._tenant_by_execution.values())), sorted(self._events_by_execution)
        rows = await system.rows(_UPDATED_AT, tenant_ids=list_parameter(tenants), ids=list_parameter(ids))
        updated_at_by_id: dict[str, str] = {row[0]: row[1] for row in rows}
        for id in ids:
            updated_at = updated_at_by_id.get(id, "")
            if id in self._events_by_execution and self._last_updated.get(id) != updated_at:
                self._last_updated[id] = updated_at
                self.wake(id)

    async def close(self) -> None:
        if self._poller is not None:
            self._poller.cancel()
            await asyncio.wait([self._poller])


async def wait_until_ended(ctx: Context, execution_id: str, seconds: float) -> WorkflowExecution | None:
    """Return the execution once it has ended or the time is up; `ctx` must be detached."""
    live = ctx.state(ExecutionWatchers)
    wakeup = live.subscribe(ctx.tenant_id, execution_id)
    deadline = asyncio.get_running_loop().time() + seconds
    try:
        while True:
            wakeup.clear()
            execution = await ctx.db.get(WorkflowExecution, execution_id)
            remaining = deadline - asyncio.get_running_loop().time()
            if execution is None or execution.status in ENDED_STATUSES or remaining <= 0:
                return execution
            try:
                async with asyncio.timeout(remaining):
                    await wakeup.wait()
            except TimeoutError:
                continue
    finally:
        live.unsubscribe(execution_id, wakeup)
