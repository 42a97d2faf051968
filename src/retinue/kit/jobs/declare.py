"""Jobs are functions with a typed payload, a queue and a retry schedule written as data."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, Literal, TypeVar

import msgspec

from retinue.kit.errors import RetinueError

P = TypeVar("P", bound=msgspec.Struct)


class RetryLater(RetinueError):
    """The job asked to be run again later."""

    code = "retry_later"

    def __init__(self, delay_s: float, message: str | None = None) -> None:
        """It counts as an attempt, but is never the last one."""
        super().__init__(message)
        self.delay_s = delay_s


class GiveUp(RetinueError):
    """The job cannot be done, now or later."""

    code = "given_up"


class Retry(msgspec.Struct, frozen=True):
    """Seconds to wait before each attempt; when they are used up the job is dead."""

    delays: tuple[float, ...] = (0, 5, 30, 300)
    jitter: float = 0.1


class Attempt(msgspec.Struct):
    """What a job with `conclude` returns; one that is not done runs again, after `at_least_s` or later."""

    result: Any
    is_done: bool
    error: str | None = None
    at_least_s: float = 0
    retry: Retry | None = None
    """Another schedule than the one its kind declares."""


class Concluded(msgspec.Struct, kw_only=True):
    """An attempt that ended, and what becomes of its job; `result` is None if it raised something."""

    job_id: str
    tenant_id: str
    correlation_id: str
    hops: int
    actor: dict[str, str]
    payload: Any
    result: Any
    error: str | None
    state: Literal["done", "ready", "dead"]
    next_at: float | None
    """When it runs again, by the instance's clock."""


Conclude = Callable[[Any, Sequence[Concluded]], Awaitable[None]]


class JobKind(msgspec.Struct, Generic[P], frozen=True):
    """A declared job: what `ctx.defer` takes and the worker runs."""

    name: str
    queue: str
    payload: type[P]
    run: Callable[[Any, P], Awaitable[Any]]
    retry: Retry
    timeout_s: float
    every_s: float | None
    transactional: bool
    at_once: int | None = None
    per_lane: int | None = None
    conclude: Conclude | None = None


JOBS: dict[str, JobKind[Any]] = {}


def job(
    *,
    queue: str = "default",
    retry: Retry = Retry(),  # noqa: B008  frozen
    timeout_s: float = 60,
    every_s: float | None = None,
    transactional: bool = True,
    at_once: int | None = None,
    per_lane: int | None = None,
    conclude: Conclude | None = None,
) -> Callable[[Callable[[Any, P], Awaitable[Any]]], JobKind[P]]:
    """Declare a job; its name is the function's.

    A transactional job gets one context whose commit also removes the job, so its effects in the database
    happen exactly once. Any other job opens units of its own and must bear being run again.
    `every_s` makes it periodic: exactly one process of many enqueues each run. `at_once` is how many jobs of
    its queue one process runs at the same time, where not 20; `per_lane`, how many of those with one lane.

    A job with `conclude` returns an `Attempt`, and `conclude(routing, concluded)` writes down what came of
    many of them, in the transaction that removes or postpones their jobs: exactly once for each attempt.
    """

    def declare(run: Callable[[Any, P], Awaitable[Any]]) -> JobKind[P]:
        name = run.__name__
        hints = list(run.__annotations__.values())
        if not retry.delays:
            raise TypeError(f"job {name} would never be tried")
        if name in JOBS:
            raise TypeError(f"job {name} is declared twice")
        kind = JobKind(
            name=name,
            queue=queue,
            payload=hints[1],
            run=run,
            retry=retry,
            timeout_s=timeout_s,
            every_s=every_s,
            transactional=transactional,
            at_once=at_once,
            per_lane=per_lane,
            conclude=conclude,
        )
        JOBS[name] = kind
        return kind

    return declare


class NoPayload(msgspec.Struct):
    """For periodic jobs, which are told nothing."""
