from retinue.kit.events.declare import Event, event


@event("operate.job_retried", subject="", audited=True, listed=False)
class JobRetried(Event, kw_only=True):
    """A super administrator had a failed job run again."""

    job_id: str
    kind: str
