"""The jobs that webhooks enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.clock import Instant
from retinue.kit.jobs.declare import JobKind, Retry
from retinue.kit.webhook_signing import ATTEMPT_DELAYS_SECONDS


class DeliveriesToReplay(msgspec.Struct):
    webhook_id: str
    since: Instant
    until: Instant
    event_types: list[str]
    most: int


class WebhookDeliveryTask(msgspec.Struct):
    """`is_manual` means one attempt on request, besides the delivery's schedule."""

    delivery_id: str
    webhook_id: str
    is_manual: bool = False


class FailingWebhook(msgspec.Struct):
    webhook_id: str


REPLAY_DELIVERIES = JobKind("webhooks.replay", DeliveriesToReplay)
DELIVER_WEBHOOK = JobKind(
    "webhooks.deliver",
    WebhookDeliveryTask,
    queue="webhooks",
    retry=Retry(ATTEMPT_DELAYS_SECONDS),
)
DISABLE_FAILING_WEBHOOK = JobKind("webhooks.disable_failing", FailingWebhook)
