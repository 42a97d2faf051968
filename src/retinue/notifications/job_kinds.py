"""The jobs that notifications enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.events.declare import EventOccurred
from retinue.kit.jobs.declare import JobKind, Retry


class NotificationToDeliver(msgspec.Struct):
    delivery_id: str


NOTIFY_OF_EVENT = JobKind("notifications.notify_of_event", EventOccurred)
DELIVER_NOTIFICATION = JobKind(
    "notifications.deliver",
    NotificationToDeliver,
    queue="notifications",
    retry=Retry((0.0, 30.0, 300.0)),
)
