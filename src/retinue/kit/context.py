"""The context: what every service function gets as its first argument.

One request or one job is one context and at most one transaction. Events and jobs are rows of that
transaction. `ctx.unit()` opens another context for work that must be committed on its own.
"""

from collections.abc import Awaitable, Callable, Hashable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import msgspec
import structlog

from retinue.kit.clock import Clock, Instant
from retinue.kit.db.session import Db, SystemDb
from retinue.kit.db.unit import Unit
from retinue.kit.events import log
from retinue.kit.events.declare import Event, EventType, custom_type
from retinue.kit.ids import new_id
from retinue.kit.instance import Instance
from retinue.kit.jobs.declare import JobKind
from retinue.kit.jobs.enqueue import enqueue, new_job
from retinue.kit.jobs.models import Job
from retinue.kit.principal import Principal
from retinue.kit.remembering import MISSING
from retinue.kit.settings import Settings

if TYPE_CHECKING:
    from retinue.kit.http.idempotency import StoredAnswer

logger = structlog.get_logger("retinue.context")

P = TypeVar("P", bound=msgspec.Struct)
A = TypeVar("A")
T = TypeVar("T")


class Caller(msgspec.Struct, frozen=True):
    """Where a call came from, and the chain of causes it belongs to.

    In a job, `actor` is whose doing the job is, and `attempt` counts from 1.
    """

    correlation_id: str
    ip_address: str = ""
    user_agent: str = ""
    hops: int = 0
    actor: dict[str, str] | None = None
    attempt: int = 0


class Context:
    def __init__(
        self, instance: Instance, principal: Principal, caller: Caller, *, reads_freely: bool = False
    ) -> None:
        self.instance = instance
        self.clock: Clock = instance.clock
        self.principal = principal
        self.caller = caller
        self.unit_of_work = Unit(instance.database, reads_freely=reads_freely)
        self._tenant_id = principal.tenant_id
        self._db: Db | None = None
        self._emitted: list[log.Emitted] = []
        self._jobs: list[Job] = []
        self._after_commit: list[Callable[[], Awaitable[None]]] = []
        self._has_news = False
        self.claim: StoredAnswer | None = None
        """Of a request with an `Idempotency-Key`: what its steps are kept under."""

    @property
    def settings(self) -> Settings:
        return self.instance.settings

    @property
    def tenant_id(self) -> str:
        return self._tenant_id

    @property
    def now(self) -> Instant:
        return self.clock.now()

    @property
    def db(self) -> Db:
        """The data of the context's tenant."""
        if self._db is None:
            if not self._tenant_id:
                raise RuntimeError("this context has no tenant; bind one with act_in()")
            self._db = Db(self.unit_of_work, self.clock, self.instance.ring, self._tenant_id)
        return self._db

    async def remembered(self, what: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        """What `read` finds of the tenant's configuration, or found for an earlier request.

        It is shared: whoever wants to change it makes a copy. A transaction always reads for itself.
        """
        heard, now = self.principal.configuration, self.clock.monotonic()
        if heard is None or now >= heard.until or self._tenant_id != self.principal.tenant_id:
            return await read()
        if not self.unit_of_work.reads_freely:
            return await read()
        memory, key = self.instance.memory, (self._tenant_id, what)
        found: T = memory.recall(key, heard, now)
        if found is MISSING:
            found = await read()
            if found is not None:
                memory.remember(key, heard, now, found)
        return found

    def system(self, reason: str) -> SystemDb:
        """The data of the whole instance, in the same transaction; `reason` is for the reader."""
        assert reason
        return SystemDb(self.unit_of_work, self.clock, self.instance.ring)

    def act_in(self, tenant_id: str) -> None:
        """Bind this context to a tenant: at sign-in, or when the super administrator reaches over."""
        if self._emitted or self._jobs:
            raise RuntimeError("events were already emitted for another tenant")
        self._tenant_id = tenant_id
        self._db = None

    def adapter(self, kind: type[A]) -> A:
        """The outside world behind a protocol: mail, blobs, models."""
        found: A = self.instance.adapters[kind]
        return found

    def emit(
        self, event: Event, *, test: bool = False, success: bool = True, reason: str | None = None
    ) -> str:
        """Record that something happened; returns the event's id."""
        id = new_id("evt")
        self._emitted.append(log.Emitted(event.__event__, event, id, test, success, reason))
        return id

    def emit_custom(self, name: str, data: dict[str, Any], *, test: bool = False) -> str:
        """Record something that a tenant has a name of its own for; returns the event's id."""
        id = new_id("evt")
        self._emitted.append(log.Emitted(custom_type(name), data, id, test))
        return id

    def defer(
        self,
        kind: JobKind[P],
        payload: P,
        *,
        delay_s: float | None = None,
        dedupe_key: str | None = None,
        priority: int = 0,
        lane: str = "",
    ) -> str:
        """Ask for work after this transaction; the id of the job.

        While a job with the same `dedupe_key` waits or runs in this tenant, nothing is added. A lower
        `priority` comes first among the tenant's jobs when there is more to do than places to do it, and jobs
        with the same `lane` keep no more places than their kind allows a lane.
        """
        job = new_job(
            kind,
            payload,
            now=self.clock.time(),
            delay_s=delay_s,
            tenant_id=self._tenant_id,
            dedupe_key=dedupe_key,
            priority=priority,
            lane=lane,
            correlation_id=self.caller.correlation_id,
            hops=self.caller.hops,
            actor=self.actor,
        )
        self._jobs.append(job)
        return job.id

    def after_commit(self, action: Callable[[], Awaitable[None]]) -> None:
        """Do this once the transaction is durable; never for anything that must not be lost."""
        self._after_commit.append(action)

    @property
    def actor(self) -> dict[str, str]:
        return self.caller.actor or {"type": self.principal.kind, "id": self.principal.id}

    def unit(self) -> "Context":
        """A context of its own that commits at the end of its block, whatever becomes of this one."""
        if self.unit_of_work.is_open:
            raise RuntimeError("a unit inside an open transaction would wait for what that holds")
        inner = Context(self.instance, self.principal, self.caller)
        inner._tenant_id = self._tenant_id
        return inner

    def apart(self) -> "Context":
        """A context for work that goes on after this one has ended: it reads freely and writes in units."""
        other = Context(self.instance, self.principal, self.caller, reads_freely=True)
        other._tenant_id = self._tenant_id
        return other

    async def flush(self) -> None:
        """Write what was emitted and deferred into the open transaction."""
        if self._jobs:
            self._has_news = True
            jobs, self._jobs = self._jobs, []
            # Keyed ones in one order everywhere, so that two transactions never wait for each other's keys.
            await enqueue(self.unit_of_work, self.clock, sorted(jobs, key=lambda job: job.dedupe_key or ""))
        if self._emitted:
            emitted, self._emitted = self._emitted, []
            origin = log.Origin(
                actor=self.actor,
                correlation_id=self.caller.correlation_id,
                hops=self.caller.hops,
                ip_address=self.caller.ip_address,
                user_agent=self.caller.user_agent,
            )
            heard = {one.kind.name for one in emitted if self._is_heard(one.kind)}
            self._has_news = self._has_news or bool(heard)
            now = self.now
            audited = await log.write(self.db, origin, emitted, now, heard)
            if audited:
                await log.extend_chain(self.db, self.system("audit chain"), origin, audited, now)

    def _is_heard(self, kind: EventType) -> bool:
        """Whether a worker has anything to do about it."""
        if not kind.is_listed:
            return False
        # What was found out about a principal says nothing of another tenant, where it may act as well.
        is_known = self._tenant_id == self.principal.tenant_id
        is_unheard = is_known and self.clock.monotonic() < self.principal.unheard_until
        return self.instance.is_heard(kind.name, is_listened_to=not is_unheard)

    @property
    def has_changes(self) -> bool:
        """Whether a commit would have anything to do."""
        return self.unit_of_work.has_changes or bool(self._emitted or self._jobs or self._after_commit)

    async def commit(self) -> None:
        await self.flush()
        await self.unit_of_work.commit()
        if self._has_news:
            self.instance.work_arrived()
        for action in self._after_commit:
            try:
                await action()
            except Exception:
                # What was committed is done, and the caller must hear that it is.
                logger.exception("what was to follow a commit failed")

    async def rollback(self) -> None:
        self._emitted.clear()
        self._jobs.clear()
        self._after_commit.clear()
        await self.unit_of_work.rollback()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if kind is None:
            try:
                await self.commit()
            except BaseException:
                await self.rollback()
                raise
        else:
            await self.rollback()
