"""The context: the first argument of every service function.

One request or job has one context and at most one transaction; its events and jobs are rows of that
transaction. `ctx.unit()` opens another context for work that must be committed separately.
"""

from collections.abc import Awaitable, Callable, Hashable, Sequence
from types import TracebackType
from typing import Self, TypeVar

import msgspec
import structlog

from retinue.kit.clock import Clock, Instant
from retinue.kit.config_cache import MISSING
from retinue.kit.context.instance import Instance
from retinue.kit.conversation_ids import merge_conversation_ids
from retinue.kit.db.session import Db, SystemDb
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.events import log
from retinue.kit.events.declare import Event, EventType, custom_type
from retinue.kit.fair_queue import CallerClass, QueuedCaller
from retinue.kit.ids import new_id
from retinue.kit.ignored_fields import IgnoredFields
from retinue.kit.jobs.declare import JobKind
from retinue.kit.jobs.enqueue import enqueue, new_job
from retinue.kit.jobs.models import Job
from retinue.kit.json_types import JsonObject
from retinue.kit.principal import Principal
from retinue.kit.settings import Settings
from retinue.kit.tracing.origin import TraceOrigin
from retinue.kit.tracing.recorder import current_trace_parent
from retinue.kit.transaction_retry import mark_side_effect, retry_on_rollback

logger = structlog.get_logger("retinue.context")

P = TypeVar("P", bound=msgspec.Struct)
A = TypeVar("A")
T = TypeVar("T")

_CALLER_CLASSES: dict[str, CallerClass] = {
    "user": "member",
    "service_account": "service_account",
    "embed_key": "visitor",
    "anonymous": "visitor",
    "system": "job",
}


class Caller(msgspec.Struct, frozen=True):
    """The origin of a call and the chain of causes it belongs to.

    In a job, `actor` is the actor that caused it, and `attempt` counts from 1. `conversation_ids` are the
    conversations whose content the call works with; see `kit.context.conversation_access`. `lineage` and
    `awaited_by` are opaque here and set by a domain whose work starts further work: `lineage` is the origin
    of all of it, which events and jobs carry on, and `awaited_by` is what waits for this call. `trace` is
    None if nothing is traced. `ignored` collects names without effect in a request that may change something.
    """

    correlation_id: str
    ip_address: str = ""
    user_agent: str = ""
    hops: int = 0
    actor: dict[str, str] | None = None
    attempt: int = 0
    conversation_ids: tuple[str, ...] = ()
    lineage: str = ""
    trace: TraceOrigin | None = None
    awaited_by: str = ""
    ignored: IgnoredFields | None = None


class IdempotencyClaim(msgspec.Struct, frozen=True):
    """The claimed `Idempotency-Key` of a request."""

    id: str
    tenant_id: str
    request_hash: str
    expires_at: Instant


class Context:
    def __init__(
        self,
        instance: Instance,
        principal: Principal,
        caller: Caller,
        *,
        reads_outside_transaction: bool = False,
    ) -> None:
        self.instance = instance
        self.clock: Clock = instance.clock
        self.principal = principal
        self.caller = caller
        self.unit_of_work = UnitOfWork(instance.database, reads_outside_transaction=reads_outside_transaction)
        self._tenant_id = principal.tenant_id
        self._db: Db | None = None
        self._emitted: list[log.PendingEvent] = []
        self._jobs: list[Job] = []
        self._after_commit: list[Callable[[], Awaitable[None]]] = []
        self._has_new_work = False
        self._is_effect = False
        self.claim: IdempotencyClaim | None = None
        """Set for a request with an `Idempotency-Key`: its steps are stored under it."""

    @property
    def settings(self) -> Settings:
        return self.instance.settings

    @property
    def tenant_id(self) -> str:
        return self._tenant_id

    @property
    def ignored_field_warnings(self) -> tuple[str, ...]:
        """Warnings about names in the request that had no effect."""
        ignored = self.caller.ignored
        return ignored.warnings() if ignored is not None and ignored.has_paths else ()

    @property
    def now(self) -> Instant:
        return self.clock.now()

    @property
    def db(self) -> Db:
        """The data of the context's tenant."""
        if self._db is None:
            if not self._tenant_id:
                raise RuntimeError("this context has no tenant; bind one with bind_tenant()")
            self._db = Db(self.unit_of_work, self.clock, self.instance.ring, self._tenant_id)
        return self._db

    async def cached_config(self, cache_key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        """Return part of the tenant's configuration: from `read`, or cached by an earlier request (ADR 20).

        The value is shared: copy it before changing it. A transaction always reads for itself.
        """
        version, now = self.principal.config_version, self.clock.monotonic()
        if version is None or now >= version.until or self._tenant_id != self.principal.tenant_id:
            return await read()
        if not self.unit_of_work.reads_outside_transaction:
            return await read()
        config_cache, key = self.instance.config_cache, (self._tenant_id, cache_key)
        value: T = config_cache.get_cached(key, version, now)
        if value is MISSING:
            value = await read()
            if value is not None:
                config_cache.store_cached(key, version, now, value)
        return value

    def system(self, reason: str) -> SystemDb:
        """Return the data of the whole instance, in the same transaction; `reason` documents the use."""
        assert reason
        return SystemDb(self.unit_of_work, self.clock, self.instance.ring)

    def bind_tenant(self, tenant_id: str) -> None:
        """Bind this context to a tenant: at sign-in, or when a super administrator acts in another one."""
        if self._emitted or self._jobs:
            raise RuntimeError("events were already emitted for another tenant")
        self._tenant_id = tenant_id
        self._db = None

    def adapter(self, kind: type[A]) -> A:
        """Return the adapter for a protocol, such as mail, blobs or models."""
        found: A = self.instance.adapters[kind]
        return found

    def state(self, kind: type[A]) -> A:
        """Return the state that a domain keeps in this process."""
        found: A = self.instance.states[kind]
        return found

    def emit(
        self,
        event: Event,
        *,
        test: bool = False,
        success: bool = True,
        reason: str | None = None,
        conversation_ids: Sequence[str] | None = None,
    ) -> str:
        """Record an event and return its id.

        `conversation_ids` are the conversations it quotes; the default is those of this call.
        """
        id = new_id("evt")
        caller = self.caller
        quoted = caller.conversation_ids if conversation_ids is None else tuple(conversation_ids)
        self._emitted.append(
            log.PendingEvent(event.__event__, event, id, test, success, reason, quoted, caller.lineage)
        )
        return id

    def emit_custom(self, name: str, data: JsonObject, *, test: bool = False) -> str:
        """Record an event with a name that the tenant chose, and return its id."""
        id = new_id("evt")
        caller = self.caller
        self._emitted.append(
            log.PendingEvent(
                custom_type(name),
                data,
                id,
                test,
                conversation_ids=caller.conversation_ids,
                lineage=caller.lineage,
            )
        )
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
        """Enqueue a job to run after this transaction, and return its id.

        While a job with the same `dedupe_key` waits or runs in this tenant, nothing is added. If there are
        too few slots, the tenant's jobs with a lower `priority` run first. Jobs with the same `lane` hold at
        most the slots that their kind allows per lane.
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
            lineage=self.caller.lineage,
            trace_parent=self.trace_parent,
        )
        self._jobs.append(job)
        return job.id

    def quote(self, *conversation_ids: str) -> None:
        """Declare that this context works with content of these conversations from here on."""
        quoted = merge_conversation_ids(self.caller.conversation_ids, conversation_ids)
        self.caller = msgspec.structs.replace(self.caller, conversation_ids=quoted)

    def after_commit(self, action: Callable[[], Awaitable[None]]) -> None:
        """Run the action after the commit; not for anything that must not be lost."""
        self._after_commit.append(action)

    @property
    def actor(self) -> dict[str, str]:
        return self.caller.actor or {"type": self.principal.kind, "id": self.principal.id}

    @property
    def requester(self) -> QueuedCaller:
        """Who takes turns with whom where many wait for few places; visitors differ by their address."""
        principal = self.principal
        kind = _CALLER_CLASSES[principal.kind]
        return QueuedCaller(
            self._tenant_id, kind, self.caller.ip_address if kind == "visitor" else principal.id
        )

    @property
    def trace_parent(self) -> str:
        """Return the parent span that events and jobs carry on, so that their work joins the trace."""
        if self.caller.trace is None:
            return ""
        return current_trace_parent() or self.caller.trace.parent

    def unit(self, *, is_side_effect: bool = True) -> "Context":
        """Return a separate context that commits at the end of its block, independently of this one.

        Its commit keeps the request from being retried as a whole (ADR 22). Pass `is_side_effect=False` if a
        retry would find what was committed and continue from there.
        """
        if self.unit_of_work.is_open:
            raise RuntimeError("a unit inside an open transaction would wait for its locks")
        unit = Context(self.instance, self.principal, self.caller)
        unit._tenant_id = self._tenant_id
        unit._is_effect = is_side_effect
        return unit

    async def run_in_unit(
        self, work: Callable[["Context"], Awaitable[T]], *, is_side_effect: bool = True
    ) -> T:
        """Run the work in a unit and return its result; if it is rolled back, it runs again from its start.

        For storing the result of a call outside, which must not be made again because of a rollback.
        """

        async def attempt() -> T:
            async with self.unit(is_side_effect=is_side_effect) as unit:
                return await work(unit)

        return await retry_on_rollback(attempt)

    def detached(self) -> "Context":
        """Return a context that outlives this one: it reads outside transactions and writes in units."""
        other = Context(self.instance, self.principal, self.caller, reads_outside_transaction=True)
        other._tenant_id = self._tenant_id
        return other

    def reader(self) -> "Context":
        """Return a context that reads the latest committed data, or in the transaction that is open.

        A transaction that waits for a second connection can starve the pool: every connection may be held
        by one that waits likewise.
        """
        return self if self.unit_of_work.is_open else self.detached()

    def acting_as(self, principal: Principal) -> "Context":
        """Return a context of another principal that reads in this transaction; only this context writes."""
        other = Context(self.instance, principal, self.caller)
        other._tenant_id = self._tenant_id
        other.unit_of_work = self.unit_of_work
        return other

    async def flush(self) -> None:
        """Write the emitted events and deferred jobs into the open transaction."""
        if self._jobs:
            self._has_new_work = True
            jobs, self._jobs = self._jobs, []
            # Always in the order of their keys, so that two transactions cannot deadlock.
            await enqueue(self.unit_of_work, self.clock, sorted(jobs, key=lambda job: job.dedupe_key or ""))
        if self._emitted:
            emitted, self._emitted = self._emitted, []
            origin = log.EventOrigin(
                actor=self.actor,
                correlation_id=self.caller.correlation_id,
                hops=self.caller.hops,
                ip_address=self.caller.ip_address,
                user_agent=self.caller.user_agent,
                trace_parent=self.trace_parent,
            )
            listened_types = {event.kind.name for event in emitted if self._has_listeners(event.kind)}
            self._has_new_work = self._has_new_work or bool(listened_types)
            now = self.now
            audited = await log.store_events(self.db, origin, emitted, now, listened_types)
            if audited:
                await log.append_audit_rows(self.db, self.system("audit chain"), origin, audited, now)

    def _has_listeners(self, kind: EventType) -> bool:
        """Return whether a worker must dispatch events of this type."""
        if not kind.is_listed:
            return False
        # `no_listeners_until` says nothing about other tenants, in which the principal may act as well.
        is_own_tenant = self._tenant_id == self.principal.tenant_id
        has_no_tenant_listeners = is_own_tenant and self.clock.monotonic() < self.principal.no_listeners_until
        return self.instance.has_listeners(kind.name, has_tenant_listeners=not has_no_tenant_listeners)

    @property
    def has_changes(self) -> bool:
        """Whether a commit would have anything to do."""
        return self.unit_of_work.has_changes or bool(self._emitted or self._jobs or self._after_commit)

    async def commit(self) -> None:
        await self.flush()
        if await self.unit_of_work.commit() and self._is_effect:
            mark_side_effect()
        if self._has_new_work:
            self.instance.work_arrived()
        for action in self._after_commit:
            try:
                await action()
            except Exception:
                # The transaction is committed, so the caller must not get an error.
                logger.exception("after_commit_failed")

    async def rehearse(self) -> None:
        """Do what a commit would do, and roll it back: it fails if and only if the commit would."""
        await self.flush()
        await self.unit_of_work.rehearse_commit()
        await self.rollback()

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
