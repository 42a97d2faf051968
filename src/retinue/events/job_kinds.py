"""The jobs that events enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.jobs.declare import JobKind, Retry
from retinue.kit.webhook_signing import ATTEMPT_DELAYS_SECONDS


class MessageToPost(msgspec.Struct):
    message_id: str
    subscription_id: str | None = None
    """The subscription that sends it, whose outcome it is."""


class ActionTask(msgspec.Struct):
    subscription_id: str
    event_id: str


POST_MESSAGE = JobKind(
    "events.post_message",
    MessageToPost,
    queue="messages",
    retry=Retry(ATTEMPT_DELAYS_SECONDS),
)
RUN_ACTION = JobKind(
    "events.run_action",
    ActionTask,
    queue="subscriptions",
    retry=Retry((0, 5, 30, 300)),
)
