"""Execution of one job: its context, its transaction, and its outcome."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

import msgspec
import structlog

from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.errors import DatabaseUnavailable, RolledBack, StorageFull
from retinue.kit.errors import InternalError, RetinueError, VaultSealed
from retinue.kit.failpoints import failpoint
from retinue.kit.jobs.declare import Attempt, GiveUp, JobHandler, JobKind, Retry, RetryLater
from retinue.kit.jobs.queue import JobOutcome, JobQueue
from retinue.kit.jobs.statements import DONE, ClaimedJob
from retinue.kit.logging import current_request, scrub_secrets
from retinue.kit.principal import Principal
from retinue.kit.tracing.origin import TraceOrigin
from retinue.kit.tracing.parts import finished_part, is_worth_storing, recording_part, store_part
from retinue.kit.tracing.recorder import current_part
from retinue.kit.transaction_retry import backoff_seconds
from retinue.kit.vault.ring import RingStale

log = structlog.get_logger("retinue.jobs")

_MAX_ERROR_LENGTH = 500
_UNKNOWN_KIND_DELAY_SECONDS = 30.0
_DATABASE_DELAY_SECONDS = 1.0
_read_actor = msgspec.json.Decoder(dict[str, str]).decode


class LeaseLost(InternalError):
    """Another worker has taken over the job."""


class _LogContext(msgspec.Struct):
    """The fields that the log adds to every entry of a job."""

    correlation_id: str
    principal: Principal
    has_effects: bool = False


class _Deadline:
    """A cheaper `asyncio.timeout`: every job sets one, and hardly any reaches it."""

    def __init__(self, seconds: float) -> None:
        self._task = asyncio.current_task()
        self._is_over = False
        self._timer = asyncio.get_running_loop().call_later(seconds, self._end)

    def _end(self) -> None:
        assert self._task is not None
        self._is_over = True
        self._task.cancel()

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._timer.cancel()
        if self._is_over and self._task is not None and self._task.uncancel() == 0:
            raise TimeoutError from error


class JobExecutor:
    def __init__(self, instance: Instance, queue: JobQueue, handlers: dict[str, JobHandler[Any]]) -> None:
        self._instance = instance
        self._queue = queue
        self._handlers = {
            name: (handler, msgspec.json.Decoder(handler.kind.payload).decode)
            for name, handler in handlers.items()
        }

    async def run(self, job: ClaimedJob) -> JobOutcome | None:
        """Run one attempt; return the outcome to record, or None if its own transaction recorded it."""
        found = self._handlers.get(job.kind)
        if found is None:
            # Another release enqueued it, and a worker of that release may run beside this one.
            log.warning("job_unknown", kind=job.kind, job_id=job.id)
            return JobOutcome(
                job, "ready", _UNKNOWN_KIND_DELAY_SECONDS, f"unknown kind {job.kind}", counts=False
            )
        handler, read_payload = found
        ctx = self._context(job, handler)
        with recording_part(ctx, f"job {job.kind}", "job", is_optional=True) as part:
            outcome = await self._run_attempt(ctx, job, handler, read_payload)
        if outcome is not None and part is not None:
            if outcome.error is not None and part.root.span.error is None:
                part.root.fail("job_failed", outcome.error)
            outcome.trace_part = finished_part(ctx, part)
        return outcome

    async def _run_attempt(
        self, ctx: Context, job: ClaimedJob, handler: JobHandler[Any], read_payload: Callable[[str], Any]
    ) -> JobOutcome | None:
        try:
            with _Deadline(handler.timeout_s):
                returned = await handler.run(ctx, read_payload(job.payload))
            if isinstance(returned, Attempt):
                return _attempted(job, handler.kind, returned)
            if not ctx.has_changes:
                return JobOutcome(job, "done")
            await self._commit_with_job(ctx, job)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  a failed job must not end the worker
            await ctx.rollback()
            return _failed(job, handler.kind, error)
        return None

    def _context(self, job: ClaimedJob, handler: JobHandler[Any]) -> Context:
        principal = Principal(kind="system", role="system", tenant_id=job.tenant_id)
        current_request.set(_LogContext(job.correlation_id, principal))
        caller = Caller(
            correlation_id=job.correlation_id,
            hops=job.hops,
            actor=_read_actor(job.actor),
            attempt=job.attempt - job.interrupted,
            lineage=job.lineage,
            trace=self._trace_origin(job),
        )
        return Context(self._instance, principal, caller, reads_outside_transaction=not handler.transactional)

    def _trace_origin(self, job: ClaimedJob) -> TraceOrigin | None:
        if not self._instance.tracing.is_on:
            return None
        return TraceOrigin.of_parent(job.trace_parent, is_interrupted=job.interrupted > 0)

    async def _commit_with_job(self, ctx: Context, job: ClaimedJob) -> None:
        """Delete the job's row in the transaction of its effects, so that both happen or neither."""
        removed = await ctx.system("a job may belong to no tenant").execute(DONE, **self._queue.fence(job))
        if not removed:
            raise LeaseLost
        if (part := current_part()) is not None and not part.is_stored and is_worth_storing(ctx, part):
            await store_part(ctx)
        failpoint("before_job_commit")
        await ctx.commit()
        failpoint("after_job_commit")


def _attempted(job: ClaimedJob, kind: JobKind[Any], attempt: Attempt) -> JobOutcome:
    if attempt.is_done:
        return JobOutcome(job, "done", result=attempt.result)
    number, retry = job.attempt - job.interrupted, attempt.retry or kind.retry
    if number >= len(retry.delays):
        return JobOutcome(job, "dead", error=attempt.error, result=attempt.result)
    delay_s = max(_delay(retry, number), attempt.min_delay_s)
    return JobOutcome(job, "ready", delay_s, attempt.error, result=attempt.result)


def _delay(retry: Retry, attempt: int) -> float:
    """Return the delay with jitter; the delays of a schedule are minimums, so jitter only adds."""
    return retry.delays[attempt] * (1 + random.random() * retry.jitter)  # noqa: S311  not a secret


def _failed(job: ClaimedJob, kind: JobKind[Any], error: BaseException) -> JobOutcome | None:
    attempt = job.attempt - job.interrupted
    text = _described(error)
    fields: dict[str, Any] = {"kind": job.kind, "job_id": job.id, "attempt": attempt, "error": text}
    if isinstance(error, LeaseLost):
        log.warning("job_lease_lost", **fields)
        return None
    if _is_cancelled():
        return JobOutcome(job, "ready", error="its worker was stopped", counts=False)
    if isinstance(error, DatabaseUnavailable | StorageFull | VaultSealed | RingStale):
        log.warning("job_interrupted", **fields)
        delay_s = backoff_seconds(1) if isinstance(error, RolledBack) else _DATABASE_DELAY_SECONDS
        return JobOutcome(job, "ready", delay_s, text, counts=False, is_fault=True)
    if isinstance(error, RetryLater):
        log.info("job_postponed", delay_s=error.delay_s, **fields)
        return JobOutcome(job, "ready", error.delay_s, text)
    # Expected errors explain themselves; any other needs its traceback.
    unexpected = None if isinstance(error, RetinueError) else error
    if isinstance(error, GiveUp) or attempt >= kind.max_attempts:
        log.warning("job_dead", exc_info=unexpected, **fields)
        return JobOutcome(job, "dead", error=text, is_fault=unexpected is not None)
    delay_s = _delay(kind.retry, attempt)
    log.warning("job_failed", delay_s=delay_s, exc_info=unexpected, **fields)
    return JobOutcome(job, "ready", delay_s, text, is_fault=unexpected is not None)


def _is_cancelled() -> bool:
    """Return whether the worker cancels this task, as opposed to a job that cancelled its own work."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _described(error: BaseException) -> str:
    """Return the text to store; unexpected errors may quote values, so only their class is kept."""
    name = type(error).__name__
    text = f"{name}: {error.message}" if isinstance(error, RetinueError) else name
    return scrub_secrets(text)[:_MAX_ERROR_LENGTH]
