"""The jobs that incoming enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.jobs.declare import JobKind, Retry


class PayloadToTrigger(msgspec.Struct):
    received_id: str


class WebhookToErase(msgspec.Struct):
    incoming_webhook_id: str


TRIGGER_WORKFLOW = JobKind(
    "incoming.trigger_workflow",
    PayloadToTrigger,
    # The last attempt starts nothing: it records that the others failed.
    retry=Retry((0, 5, 30, 300, 300)),
)
ERASE_PAYLOADS = JobKind("incoming.erase_payloads", WebhookToErase)
