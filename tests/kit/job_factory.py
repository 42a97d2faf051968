"""Jobs for tests: one decorator declares and implements."""

from collections.abc import Callable
from typing import Any

from retinue.kit.jobs.declare import JobHandler, JobKind, Retry, implement, periodic

_HANDLERS: dict[str, JobHandler[Any]] = {}


def job(
    *,
    queue: str = "default",
    retry: Retry | None = None,
    every_s: float | None = None,
    **options: Any,
) -> Callable[[Any], JobKind[Any]]:
    """Declare a job under the function's name; `handlers` gives what a manifest lists."""

    def declare(run: Any) -> JobKind[Any]:
        if every_s is not None:
            handler: JobHandler[Any] = periodic(run.__name__, run, every_s=every_s, **options)
        else:
            payload = list(run.__annotations__.values())[1]
            kind = JobKind(run.__name__, payload, queue=queue, retry=retry or Retry())
            handler = implement(kind, run, **options)
        _HANDLERS[handler.kind.name] = handler
        return handler.kind

    return declare


def handlers(*kinds: JobKind[Any]) -> tuple[JobHandler[Any], ...]:
    return tuple(_HANDLERS[kind.name] for kind in kinds)
