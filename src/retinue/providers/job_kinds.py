"""The jobs that providers enqueues: their names, payloads and retries. `jobs.py` implements them."""

from retinue.kit.events.declare import EventOccurred
from retinue.kit.jobs.declare import JobKind

FOLLOW_CREDENTIAL = JobKind("providers.follow_credential", EventOccurred)
