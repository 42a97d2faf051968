"""The metrics of an attempt at a job."""

from retinue.kit.jobs.queue import JobOutcome
from retinue.kit.jobs.statements import ClaimedJob
from retinue.kit.metrics import declarations as metrics

_STATES = {"done": "done", "ready": "retried", "dead": "dead"}


def count_attempt(job: ClaimedJob, outcome: JobOutcome | None, seconds: float) -> None:
    """Count an attempt; without an outcome its own transaction has recorded it as done."""
    if not metrics.JOBS.is_on:
        return
    metrics.JOBS.count(job.kind, _ended(outcome))
    metrics.JOB_DURATION.observe(seconds, job.queue)


def _ended(outcome: JobOutcome | None) -> str:
    if outcome is None:
        return "done"
    return _STATES[outcome.state] if outcome.counts else "interrupted"
