"""Subscriptions and events straight into the database."""

from typing import Any

from retinue.events.models import ActionType, Subscription
from retinue.kit.events.models import EventEntry


def some_subscription(user_id: str, event_type: str = "order.placed", **more: Any) -> Subscription:
    return Subscription(
        event_type=event_type,
        action_type=ActionType.workflow,
        action_config={"workflow_id": "wf_1"},
        filters={},
        workflow_id="wf_1",
        created_by=user_id,
        **more,
    )


def some_event(text: str = "x", **more: Any) -> EventEntry:
    given: dict[str, Any] = {
        "type": "order.placed",
        "category": "system",
        "correlation_id": f"cor_{text}",
        "data": {"text": text},
        "actor": {"type": "system", "id": ""},
        "is_dispatched": True,
        **more,
    }
    return EventEntry(**given)
