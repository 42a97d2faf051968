"""Jobs: a declaration with a stable name, which callers enqueue, and the function that implements it.

DELIVER = JobKind("webhooks.deliver", DeliveryTask, queue="webhooks")  # job_kinds.py, low in its domain
JOBS = (implement(DELIVER, deliver, timeout_s=30),)                    # jobs.py, high in it
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Generic, Literal, TypeVar

import msgspec

from retinue.kit.errors import InternalError

P = TypeVar("P", bound=msgspec.Struct)


class RetryLater(InternalError):
    """The job asked to be run again later."""

    def __init__(self, delay_s: float, message: str | None = None) -> None:
        """It counts as an attempt, but never as the last one."""
        super().__init__(message)
        self.delay_s = delay_s


class GiveUp(InternalError):
    """The job cannot succeed and is not retried."""


class Retry(msgspec.Struct, frozen=True):
    """Seconds to wait before each attempt; after the last one the job is dead."""

    delays: tuple[float, ...] = (0, 5, 30, 300)
    jitter: float = 0.1


class NoPayload(msgspec.Struct):
    """The payload of periodic jobs."""


class JobKind(msgspec.Struct, Generic[P], frozen=True):
    """A job that callers enqueue. The name is stored with each job, so it never changes."""

    name: str
    payload: type[P]
    queue: str = "default"
    retry: Retry = Retry()

    @property
    def max_attempts(self) -> int:
        return len(self.retry.delays)

    def __post_init__(self) -> None:
        if not self.retry.delays:
            raise TypeError(f"job {self.name} has no attempts")


class Attempt(msgspec.Struct):
    """The result of a job with a `conclude` hook; unless `is_done` the job runs again."""

    result: Any
    is_done: bool
    error: str | None = None
    min_delay_s: float = 0
    """The next attempt comes no earlier than this."""
    retry: Retry | None = None
    """Replaces the retry schedule of the job's kind."""


class AttemptResult(msgspec.Struct, kw_only=True):
    """A finished attempt and the next state of its job; `result` is None if the attempt raised an error."""

    job_id: str
    tenant_id: str
    correlation_id: str
    hops: int
    lineage: str
    trace_parent: str
    actor: dict[str, str]
    payload: Any
    result: Any
    error: str | None
    state: Literal["done", "ready", "dead"]
    next_at: float | None
    """When it runs again, by the instance's clock."""


Run = Callable[[Any, P], Awaitable[Any]]
"""Takes the context and the payload."""
PeriodicRun = Callable[[Any], Awaitable[Any]]
ConcludeHook = Callable[[Any, Sequence[AttemptResult]], Awaitable[None]]


class JobHandler(msgspec.Struct, Generic[P], frozen=True):
    """A job kind and the function that the worker runs for it; a manifest lists these."""

    kind: JobKind[P]
    run: Run[P]
    timeout_s: float
    transactional: bool
    every_s: float | None = None
    at_once: int | None = None
    per_lane: int | None = None
    conclude: ConcludeHook | None = None


def implement(
    kind: JobKind[P],
    run: Run[P],
    *,
    timeout_s: float = 60,
    transactional: bool = True,
    at_once: int | None = None,
    per_lane: int | None = None,
    conclude: ConcludeHook | None = None,
) -> JobHandler[P]:
    """Bind a function to a job kind.

    A transactional job gets one context whose commit also removes the job, so its effects in the database
    happen exactly once. Any other job opens its own units of work and must be safe to run again.
    `at_once` limits how many jobs of its queue one process runs concurrently (default 20), `per_lane` how
    many of one lane.

    A job with `conclude` returns an `Attempt`; `conclude(routing, results)` records many of them in the
    transaction that removes or postpones their jobs: exactly once for each attempt.
    """
    return JobHandler(kind, run, timeout_s, transactional, None, at_once, per_lane, conclude)


def periodic(
    name: str,
    run: PeriodicRun,
    *,
    every_s: float,
    timeout_s: float = 60,
    transactional: bool = True,
) -> JobHandler[NoPayload]:
    """Run a function at an interval; one process of many enqueues each run."""

    async def run_without_payload(ctx: object, _payload: NoPayload) -> Any:
        return await run(ctx)

    kind = JobKind(name, NoPayload)
    return JobHandler(kind, run_without_payload, timeout_s, transactional, every_s)


def handlers_by_name(handlers: Iterable[JobHandler[Any]]) -> dict[str, JobHandler[Any]]:
    """Return the handlers by the names of their jobs."""
    by_name: dict[str, JobHandler[Any]] = {}
    for handler in handlers:
        if handler.kind.name in by_name:
            raise TypeError(f"two jobs are called {handler.kind.name}")
        by_name[handler.kind.name] = handler
    return by_name
