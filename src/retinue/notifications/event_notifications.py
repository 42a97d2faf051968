"""Built-in notifications about events: their recipients and texts."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.context.display_names import find_display_name
from retinue.kit.events.declare import EventOccurred
from retinue.kit.events.models import EventEntry
from retinue.kit.json_types import JsonObject
from retinue.notifications.models import Priority
from retinue.notifications.notification import Notification, Recipients
from retinue.notifications.recipients import ADMINISTRATORS
from retinue.notifications.service import notify

PENDING_TYPE = "account_pending"
MAX_PENDING_NOTICES_PER_HOUR = 20


class _EventNotification(msgspec.Struct, frozen=True):
    """`describe` returns title and message for an event's data; `names` in it maps ids to display names.

    `screen` returns the page of the console on which the recipient can act, below `/console`.
    Without `concerns_user`, the user whom the event is about is not notified as well.
    """

    type: str
    describe: Callable[[JsonObject], tuple[str, str]]
    priority: Priority = Priority.normal
    concerns_user: bool = True
    screen: Callable[[JsonObject], str] | None = None


def _training_failed(data: JsonObject) -> tuple[str, str]:
    error = data.get("error") or {}
    reason = error.get("message", "") if isinstance(error, dict) else ""
    return (
        "Training failed",
        f"None of the {data.get('documents_total', '')} documents of the agent "
        f"{_display_name(data, data.get('agent_id'))} could be indexed. {reason}".strip(),
    )


def _webhook_disabled(data: JsonObject) -> tuple[str, str]:
    target = data.get("url") or data.get("webhook_id", "")
    reason = data.get("reason") or data.get("disabled_reason") or "Its deliveries kept failing."
    return "Webhook disabled", (
        f"The webhook {target} was disabled: {reason} Fix the receiver, then activate the webhook again."
    )


def _credential_expiring(data: JsonObject) -> tuple[str, str]:
    name, at = data.get("credential_name", ""), str(data.get("expires_at", ""))[:16].replace("T", " ")
    return f"Credential {name} expires soon", (
        f"The credential {name} expires on {at} UTC. Enter a new one before then, or calls with it will fail."
    )


def _credential_expired(data: JsonObject) -> tuple[str, str]:
    name = data.get("credential_name", "")
    return f"Credential {name} has expired", (
        f"The credential {name} has expired and is no longer used. Enter a new one."
    )


def _token_reused(data: JsonObject) -> tuple[str, str]:
    message = (
        f"A spent refresh token of the user {_display_name(data, data.get('user_id'))} was used again, which "
        "happens when it was stolen. The session has been ended. If this was not you, change your password."
    )
    return "Security alert: a session was ended", message


def _budget_threshold(data: JsonObject) -> tuple[str, str]:
    scope = data.get("scope") or {}
    kind = str(scope.get("type", "tenant")).replace("_", " ")
    named = f"{kind} {_display_name(data, scope['id'])}" if scope.get("id") else kind
    if data.get("budget_usd") is not None:
        spent = f"{data.get('spent_usd'):.2f} of {data['budget_usd']:.2f} US dollars"
    else:
        spent = f"{data.get('spent_tokens')} of {data.get('budget_tokens')} tokens"
    share = data.get("threshold_percent", "")
    return f"{share} % of a budget is spent", f"The budget of the {named}: {spent} are spent."


def _unpriced_model(data: JsonObject) -> tuple[str, str]:
    model = data.get("model", "")
    outcome = "was refused" if data.get("action") == "refuse" else "was used without being counted"
    message = (
        f"The model {model} {outcome}: its price is unknown, so a budget in US dollars cannot count it. "
        "Set its price."
    )
    return "A model under a budget has no price", message


def _display_name(data: JsonObject, id: object) -> str:
    """Return the name of the object with this id, or the id if it has no name."""
    return str(data["names"].get(id) or id or "")


def _approval_requested(data: JsonObject) -> tuple[str, str]:
    message = (
        f"{data.get('email', '')} registered and awaits approval. Until somebody approves the account, it "
        "can do nothing."
    )
    return "An account waits for approval", message


def _access_requested(data: JsonObject) -> tuple[str, str]:
    name, permission = _display_name(data, data.get("user_id")), data.get("permission", "")
    note = f" “{data['note']}”" if data.get("note") else ""
    message = f"{name} asks for the permission {permission}.{note} Give them a role that holds it."
    return f"{name} asks for {permission}", message


def _person_screen(data: JsonObject) -> str:
    """Return the page on which an administrator gives this person another role."""
    return f"/settings/people?{urlencode({'person': data.get('user_id', '')})}"


def _tool_screen(data: JsonObject) -> str:
    return f"/tools/{data.get('tool_id', '')}"


def _knowledge_screen(data: JsonObject) -> str:
    """Return the page that shows which documents of the agent were not indexed, and why."""
    return f"/agents/{quote(str(data.get('agent_id', '')), safe='')}/knowledge"


def _price_screen(data: JsonObject) -> str:
    return f"/usage/prices?{urlencode({'search': data.get('model', '')})}"


def _tool_drifted(data: JsonObject) -> tuple[str, str]:
    name = data.get("name", "")
    changes = (f"{len(data[kind])} {kind}" for kind in ("added", "removed", "changed") if data.get(kind))
    message = (
        f"The MCP server of the tool {name} offers other functions than those that were agreed to: "
        f"{', '.join(changes)}. Agents keep the agreed ones until somebody accepts the difference, "
        "which the page of the tool shows."
    )
    return f"The server of the tool {name} has changed", message


EVENT_NOTIFICATIONS: dict[str, _EventNotification] = {
    "system.training.failed": _EventNotification(
        "agent_training_failed", _training_failed, screen=_knowledge_screen
    ),
    "system.webhook.disabled": _EventNotification("webhook_disabled", _webhook_disabled, Priority.high),
    "system.credential.expiring": _EventNotification("credential_expiring", _credential_expiring),
    "system.credential.expired": _EventNotification(
        "credential_expiring", _credential_expired, Priority.high
    ),
    "system.budget.threshold": _EventNotification(
        "budget_threshold", _budget_threshold, Priority.high, screen=lambda _: "/usage/budgets"
    ),
    "system.budget.unpriced": _EventNotification(
        "budget_threshold", _unpriced_model, Priority.high, screen=_price_screen
    ),
    "system.user.approval_requested": _EventNotification(
        PENDING_TYPE, _approval_requested, screen=lambda _: "/settings/people"
    ),
    "system.user.access_requested": _EventNotification(
        "access_requested", _access_requested, concerns_user=False, screen=_person_screen
    ),
    "system.tool.drifted": _EventNotification("tool_drifted", _tool_drifted, screen=_tool_screen),
    "system.auth.token_reuse": _EventNotification("security_alert", _token_reused, Priority.high),
}


async def notify_of_event(ctx: Context, payload: EventOccurred) -> None:
    """Notify the tenant's administrators and the users the event concerns."""
    event = await ctx.db.get(EventEntry, payload.event_id)
    template = EVENT_NOTIFICATIONS.get(payload.type)
    if event is None or event.is_test or template is None:
        return
    if template.type == PENDING_TYPE and not await _may_notify_of_account(ctx):
        return
    title, message = template.describe({**event.data, "names": await _names(ctx, event.data)})
    notification = Notification(
        type=template.type,
        title=title,
        message=message,
        action_url=f"/console{template.screen(event.data)}" if template.screen else None,
        data={**event.data, "event_id": event.id, "event_type": event.type},
        priority=template.priority,
        dedupe_key=event.id,
    )
    concerned = await _concerned_users(ctx, event) if template.concerns_user else ()
    await notify(ctx, notification, Recipients(user_ids=concerned, roles=ADMINISTRATORS))


async def _names(ctx: Context, data: JsonObject) -> dict[Any, str | None]:
    scope = data.get("scope")
    ids = (data.get("agent_id"), data.get("user_id"), scope.get("id") if isinstance(scope, dict) else None)
    return {id: await find_display_name(ctx, id) for id in ids if isinstance(id, str)}


async def _may_notify_of_account(ctx: Context) -> bool:
    """Limit these notifications: anyone can register accounts, but must not cause unlimited mail."""
    key = f"account-pending:{ctx.tenant_id}"
    return (await ctx.instance.limiter.hit_window(key, MAX_PENDING_NOTICES_PER_HOUR, 3600)).allowed


async def _concerned_users(ctx: Context, event: EventEntry) -> tuple[str, ...]:
    """Return the creator of the affected object and the user who caused the event, where known."""
    named = [event.data.get("user_id"), event.data.get("created_by")]
    if event.type.startswith("system.credential."):
        credential = await ctx.db.get(Credential, event.subject_id)
        named.append(credential.created_by if credential else None)
    elif event.actor.get("type") == "user":
        named.append(event.actor.get("id"))
    return tuple(id for id in named if isinstance(id, str) and id)
