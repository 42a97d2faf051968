"""Events that somebody should hear of without asking: who is told, and in which words."""

from collections.abc import Callable
from typing import Any

import msgspec

from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.events.declare import EventOccurred
from retinue.kit.events.models import EventEntry
from retinue.kit.jobs.declare import job
from retinue.notifications.models import Priority
from retinue.notifications.recipients import ADMINISTRATORS
from retinue.notifications.service import notify
from retinue.notifications.words import Notification, Recipients

Json = dict[str, Any]


class _Telling(msgspec.Struct, frozen=True):
    """`describe` makes title and message of an event's data."""

    type: str
    describe: Callable[[Json], tuple[str, str]]
    priority: Priority = Priority.normal


def _training_failed(data: Json) -> tuple[str, str]:
    error = data.get("error") or {}
    said = error.get("message", "") if isinstance(error, dict) else ""
    return (
        "Training failed",
        f"None of the {data.get('documents_total', '')} documents of the agent "
        f"{data.get('agent_id', '')} could be indexed. {said}".strip(),
    )


def _webhook_disabled(data: Json) -> tuple[str, str]:
    where = data.get("url") or data.get("webhook_id", "")
    reason = data.get("reason") or data.get("disabled_reason") or "Its deliveries kept failing."
    return "Webhook disabled", f"The webhook {where} was disabled: {reason}"


def _credential_expiring(data: Json) -> tuple[str, str]:
    name, at = data.get("credential_name", ""), str(data.get("expires_at", ""))[:16].replace("T", " ")
    return f"Credential {name} expires soon", f"The credential {name} expires on {at} UTC."


def _credential_expired(data: Json) -> tuple[str, str]:
    name = data.get("credential_name", "")
    return f"Credential {name} has expired", f"The credential {name} has expired and is no longer used."


def _token_reused(data: Json) -> tuple[str, str]:
    message = (
        f"A spent refresh token of the user {data.get('user_id', '')} was used again, which happens when it "
        "was stolen. The session has been ended. If this was not you, change your password."
    )
    return "Security alert: a session was ended", message


def _budget_threshold(data: Json) -> tuple[str, str]:
    scope = data.get("scope") or {}
    whose = str(scope.get("type", "tenant")).replace("_", " ")
    named = f"{whose} {scope['id']}" if scope.get("id") else whose
    if data.get("budget_usd") is not None:
        spent = f"{data.get('spent_usd'):.2f} of {data['budget_usd']:.2f} US dollars"
    else:
        spent = f"{data.get('spent_tokens')} of {data.get('budget_tokens')} tokens"
    share = data.get("threshold_percent", "")
    return f"{share} % of a budget is spent", f"The budget of the {named}: {spent} are spent."


TOLD: dict[str, _Telling] = {
    "system.training.failed": _Telling("agent_training_failed", _training_failed),
    "system.webhook.disabled": _Telling("webhook_disabled", _webhook_disabled, Priority.high),
    "system.credential.expiring": _Telling("credential_expiring", _credential_expiring),
    "system.credential.expired": _Telling("credential_expiring", _credential_expired, Priority.high),
    "system.budget.threshold": _Telling("budget_threshold", _budget_threshold, Priority.high),
    "system.auth.token_reuse": _Telling("security_alert", _token_reused, Priority.high),
}


@job()
async def notify_of_event(ctx: Context, payload: EventOccurred) -> None:
    """Tell the administrators of the tenant, and whoever it concerns."""
    event = await ctx.db.get(EventEntry, payload.event_id)
    telling = TOLD.get(payload.type)
    if event is None or event.is_test or telling is None:
        return
    title, message = telling.describe(event.data)
    notification = Notification(
        type=telling.type,
        title=title,
        message=message,
        data={**event.data, "event_id": event.id, "event_type": event.type},
        priority=telling.priority,
        dedupe_key=event.id,
    )
    concerned = await _concerned(ctx, event)
    await notify(ctx, notification, Recipients(user_ids=concerned, roles=ADMINISTRATORS))


async def _concerned(ctx: Context, event: EventEntry) -> tuple[str, ...]:
    """Whose thing it happened to: who made it, else who set off what failed."""
    named = [event.data.get("user_id"), event.data.get("created_by")]
    if event.type.startswith("system.credential."):
        credential = await ctx.db.get(Credential, event.subject_id)
        named.append(credential.created_by if credential else None)
    elif event.actor.get("type") == "user":
        named.append(event.actor.get("id"))
    return tuple(id for id in named if isinstance(id, str) and id)
