"""Running one job: its context, its transaction, and what becomes of it when it fails."""

import asyncio
import random
from typing import Any

import msgspec
import structlog

from retinue.kit.context import Caller, Context
from retinue.kit.db.errors import DatabaseUnavailable, StorageFull
from retinue.kit.errors import RetinueError, VaultSealed
from retinue.kit.failpoints import failpoint
from retinue.kit.instance import Instance
from retinue.kit.jobs.declare import Attempt, GiveUp, JobKind, Retry, RetryLater
from retinue.kit.jobs.queue import JobQueue, Outcome
from retinue.kit.jobs.statements import DONE, Claimed
from retinue.kit.logging import current_request, scrub
from retinue.kit.principal import Principal
from retinue.kit.vault.ring import RingStale

log = structlog.get_logger("retinue.jobs")

_LONGEST_ERROR = 500
_UNKNOWN_KIND_PAUSE_S = 30.0
_DATABASE_PAUSE_S = 1.0
_read_actor = msgspec.json.Decoder(dict[str, str]).decode


class LeaseLost(RetinueError):
    """The job was given to another worker meanwhile."""

    code = "lease_lost"


class _Logged(msgspec.Struct):
    """What the log says about everything a job logs."""

    correlation_id: str
    principal: Principal


class _Deadline:
    """`asyncio.timeout` with less ceremony: it is passed for every job, and hardly ever missed."""

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


class Executor:
    def __init__(self, instance: Instance, queue: JobQueue, kinds: dict[str, JobKind[Any]]) -> None:
        self._instance = instance
        self._queue = queue
        self._kinds = {
            name: (kind, msgspec.json.Decoder(kind.payload).decode) for name, kind in kinds.items()
        }

    async def run(self, job: Claimed) -> Outcome | None:
        """One attempt; what is still to be recorded of it, or nothing if it ended in its own transaction."""
        known = self._kinds.get(job.kind)
        if known is None:
            # Another version of the program asked for it, and one that knows it may run beside this one.
            log.warning("job_unknown", kind=job.kind, job_id=job.id)
            return Outcome(job, "ready", _UNKNOWN_KIND_PAUSE_S, f"unknown kind {job.kind}", counts=False)
        kind, read_payload = known
        ctx = self._context(job, kind)
        try:
            with _Deadline(kind.timeout_s):
                returned = await kind.run(ctx, read_payload(job.payload))
            if isinstance(returned, Attempt):
                return _attempted(job, kind, returned)
            if not ctx.has_changes:
                return Outcome(job, "done")
            await self._finish_within(ctx, job)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  a job's failure is not the worker's
            await ctx.rollback()
            return _failed(job, kind, error)
        return None

    def _context(self, job: Claimed, kind: JobKind[Any]) -> Context:
        principal = Principal(kind="system", role="system", tenant_id=job.tenant_id)
        current_request.set(_Logged(job.correlation_id, principal))
        caller = Caller(
            correlation_id=job.correlation_id,
            hops=job.hops,
            actor=_read_actor(job.actor),
            attempt=job.attempt - job.interrupted,
        )
        return Context(self._instance, principal, caller, reads_freely=not kind.transactional)

    async def _finish_within(self, ctx: Context, job: Claimed) -> None:
        """The job's row goes in the transaction of its effects: both happen, or neither does."""
        removed = await ctx.system("a job may belong to no tenant").execute(DONE, **self._queue.fence(job))
        if not removed:
            raise LeaseLost
        failpoint("before_job_commit")
        await ctx.commit()
        failpoint("after_job_commit")


def _attempted(job: Claimed, kind: JobKind[Any], attempt: Attempt) -> Outcome:
    if attempt.is_done:
        return Outcome(job, "done", result=attempt.result)
    number, retry = job.attempt - job.interrupted, attempt.retry or kind.retry
    if number >= len(retry.delays):
        return Outcome(job, "dead", error=attempt.error, result=attempt.result)
    delay_s = max(_delay(retry, number), attempt.at_least_s)
    return Outcome(job, "ready", delay_s, attempt.error, result=attempt.result)


def _delay(retry: Retry, attempt: int) -> float:
    """The delays of a schedule are minimums, so chance only adds."""
    return retry.delays[attempt] * (1 + random.random() * retry.jitter)  # noqa: S311  not a secret


def _failed(job: Claimed, kind: JobKind[Any], error: BaseException) -> Outcome | None:
    attempt = job.attempt - job.interrupted
    text = _described(error)
    about: dict[str, Any] = {"kind": job.kind, "job_id": job.id, "attempt": attempt, "error": text}
    if isinstance(error, LeaseLost):
        log.warning("job_lease_lost", **about)
        return None
    if _is_cancelled():
        return Outcome(job, "ready", error="its worker was stopped", counts=False)
    if isinstance(error, DatabaseUnavailable | StorageFull | VaultSealed | RingStale):
        log.warning("job_interrupted", **about)
        return Outcome(job, "ready", _DATABASE_PAUSE_S, text, counts=False)
    if isinstance(error, RetryLater):
        log.info("job_postponed", delay_s=error.delay_s, **about)
        return Outcome(job, "ready", error.delay_s, text)
    # Expected refusals explain themselves; anything else needs its trace.
    unforeseen = None if isinstance(error, RetinueError) else error
    if isinstance(error, GiveUp) or attempt >= len(kind.retry.delays):
        log.warning("job_dead", exc_info=unforeseen, **about)
        return Outcome(job, "dead", error=text)
    delay_s = _delay(kind.retry, attempt)
    log.warning("job_failed", delay_s=delay_s, exc_info=unforeseen, **about)
    return Outcome(job, "ready", delay_s, text)


def _is_cancelled() -> bool:
    """Whether the worker stops this task, as opposed to a job that cancelled something of its own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _described(error: BaseException) -> str:
    """Other errors may quote what they choked on, so only their class is kept."""
    name = type(error).__name__
    text = f"{name}: {error.message}" if isinstance(error, RetinueError) else name
    return scrub(text)[:_LONGEST_ERROR]
