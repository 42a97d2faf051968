"""Jobs are functions with a typed payload, a queue and a retry schedule written as data."""

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

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


class JobKind(msgspec.Struct, Generic[P], frozen=True):
    """A declared job: what `ctx.defer` takes and the worker runs."""

    name: str
    queue: str
    payload: type[P]
    run: Callable[[Any, P], Awaitable[None]]
    retry: Retry
    timeout_s: float
    every_s: float | None
    transactional: bool


JOBS: dict[str, JobKind[Any]] = {}


def job(
    *,
    queue: str = "default",
    retry: Retry = Retry(),  # noqa: B008  frozen
    timeout_s: float = 60,
    every_s: float | None = None,
    transactional: bool = True,
) -> Callable[[Callable[[Any, P], Awaitable[None]]], JobKind[P]]:
    """Declare a job; its name is the function's.

    A transactional job gets one context whose commit also removes the job, so its effects in the database
    happen exactly once. Any other job opens units of its own and must bear being run again.
    `every_s` makes it periodic: exactly one process of many enqueues each run.
    """

    def declare(run: Callable[[Any, P], Awaitable[None]]) -> JobKind[P]:
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
        )
        JOBS[name] = kind
        return kind

    return declare


class NoPayload(msgspec.Struct):
    """For periodic jobs, which are told nothing."""
