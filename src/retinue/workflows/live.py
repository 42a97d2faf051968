"""Runs that somebody watches in this process, and how they hear of what other processes did."""

import asyncio
from collections import defaultdict
from typing import Any

import sqlalchemy as sa
import structlog

from retinue.kit.context import Caller, Context
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.instance import Instance
from retinue.kit.principal import SYSTEM
from retinue.workflows.models import ENDED, WorkflowExecution

log = structlog.get_logger("retinue.workflows")

LOOK_EVERY_S = 0.25

_executions = WorkflowExecution.__table__
_CHANGED: Statement[Any] = Statement(
    sa.select(_executions.c.id, _executions.c.updated_at).where(
        one_of(_executions.c.tenant_id, "tenant_ids"), one_of(_executions.c.id, "ids")
    )
)


class LiveExecutions:
    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._watched: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._tenants: dict[str, str] = {}
        self._seen: dict[str, str] = {}
        self._watching: asyncio.Task[None] | None = None

    def listen(self, tenant_id: str, execution_id: str) -> asyncio.Event:
        news = asyncio.Event()
        self._watched[execution_id].add(news)
        self._tenants[execution_id] = tenant_id
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())
        return news

    def leave(self, execution_id: str, news: asyncio.Event) -> None:
        self._watched[execution_id].discard(news)
        if not self._watched[execution_id]:
            del self._watched[execution_id]
            self._tenants.pop(execution_id, None)
            self._seen.pop(execution_id, None)

    def wake(self, execution_id: str) -> None:
        for news in self._watched.get(execution_id, ()):
            news.set()

    async def _watch(self) -> None:
        try:
            while self._watched:
                await asyncio.sleep(LOOK_EVERY_S)
                try:
                    await self._look()
                except RetinueError as error:
                    log.warning("executions could not be looked up", error=error.message)
        finally:
            self._watching = None

    async def _look(self) -> None:
        if not self._watched:
            return
        reader = Context(self._instance, SYSTEM, Caller(correlation_id=""), reads_freely=True)
        system = reader.system("watchers of every tenant")
        tenants, ids = sorted(set(self._tenants.values())), sorted(self._watched)
        found = await system.rows(_CHANGED, tenant_ids=listed(tenants), ids=listed(ids))
        changed = dict(found)
        for id in ids:
            at = changed.get(id, "")
            if id in self._watched and self._seen.get(id) != at:
                self._seen[id] = at
                self.wake(id)

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])


async def until_ended(ctx: Context, execution_id: str, seconds: float) -> WorkflowExecution | None:
    """The run when it has ended, or as it is after so many seconds; `ctx` is one that reads freely."""
    live = ctx.adapter(LiveExecutions)
    news = live.listen(ctx.tenant_id, execution_id)
    deadline = asyncio.get_running_loop().time() + seconds
    try:
        while True:
            news.clear()
            execution = await ctx.db.get(WorkflowExecution, execution_id)
            left = deadline - asyncio.get_running_loop().time()
            if execution is None or execution.status in ENDED or left <= 0:
                return execution
            try:
                async with asyncio.timeout(left):
                    await news.wait()
            except TimeoutError:
                continue
    finally:
        live.leave(execution_id, news)
