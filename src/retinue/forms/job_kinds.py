"""The jobs that forms enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.events.declare import EventOccurred
from retinue.kit.jobs.declare import JobKind, Retry


class FormToErase(msgspec.Struct):
    form_id: str


ERASE_FORM = JobKind("forms.erase", FormToErase, retry=Retry((0, 30, 300, 3600)))
NOTIFY_SUBMISSION = JobKind("forms.notify_submission", EventOccurred)
FINISH_PROCESSING = JobKind("forms.finish_processing", EventOccurred)
