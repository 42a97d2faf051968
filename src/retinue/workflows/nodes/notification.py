"""The node that notifies people: users of the tenant, and people outside where the tenant allows it."""

from collections.abc import Iterable

import msgspec

from retinue.access.models import Role
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.kit.text.templates import as_text, is_template
from retinue.notifications.errors import RecipientNotAllowed
from retinue.notifications.models import Channel, ChannelType, Priority
from retinue.notifications.notification import Notification, NotificationRoute, Recipients
from retinue.notifications.outsiders import find_outsiders, require_allowed
from retinue.notifications.queries import fetch_channel
from retinue.notifications.schemas import MAX_RECIPIENTS
from retinue.notifications.service import notify
from retinue.workflows.engine.node_type import (
    NodeCheck,
    NodeCompleted,
    NodeFailed,
    NodeStep,
    NodeType,
    Problems,
)
from retinue.workflows.nodes.checks import problems_of_reference

_MAX_TYPE_LENGTH = 64
_MAX_EMAILS = 100
_NOT_A_MAIL_CHANNEL = "must be a channel of type email, because recipients.emails has addresses"
_ID = {"type": "string", "minLength": 1, "maxLength": 64}
_TEXT = {"type": "string", "maxLength": 10_000}


async def _run_notification(ctx: Context, step: NodeStep) -> NodeCompleted:
    config = step.config
    try:
        recipients = _recipients(step)
        priority = Priority(config.get("priority") or "normal")
        route = await _route(ctx, config)
    except ValueError:
        raise NodeFailed(
            "invalid_config", "A role, the priority or the channel type is unknown.", is_final=True
        ) from None
    if recipients.emails and not _can_mail(route):
        raise NodeFailed("invalid_config", f"The channel {_NOT_A_MAIL_CHANNEL}.", is_final=True)
    title, message = as_text(config.get("title")), as_text(config.get("message"))
    if not (title.strip() or message.strip()):
        raise NodeFailed("invalid_config", "Title and message are empty.", is_final=True)
    notification = Notification(
        type=(as_text(config.get("type")) or "workflow_notification")[:_MAX_TYPE_LENGTH],
        title=title,
        message=message,
        data={
            **(config.get("data") or {}),
            "workflow_id": step.execution.workflow_id,
            "execution_id": step.execution.id,
            "node_id": step.node.id,
        },
        priority=priority,
        action_url=config.get("action_url"),
        dedupe_key=step.key,
    )
    result = await notify(ctx, notification, recipients, route)
    return NodeCompleted(msgspec.to_builtins(result))


def _recipients(step: NodeStep) -> Recipients:
    """Return the named recipients. Only a node that names nobody notifies the user it runs as."""
    written, audience = step.node.config.get("recipients"), step.config.get("recipients")
    if audience and not isinstance(audience, dict):
        raise NodeFailed("invalid_config", "recipients is not an object.", is_final=True)
    user_ids, roles, emails = (_named((audience or {}).get(name)) for name in ("user_ids", "roles", "emails"))
    if len(emails) > _MAX_EMAILS:
        message = f"recipients.emails has {len(emails)} addresses, more than {_MAX_EMAILS}."
        raise NodeFailed("invalid_config", message, is_final=True)
    if not (user_ids or roles or emails):
        # What was meant for somebody must not reach another person because a template yielded nothing.
        if isinstance(written, str) or any((written or {}).values()):
            raise NodeFailed(
                RecipientNotAllowed.code, "The templates of recipients yield nobody.", is_final=True
            )
        user_ids = (step.execution.run_as,)
    return Recipients(user_ids=user_ids, roles=tuple(Role(role) for role in roles), emails=emails)


def _named(rendered: object) -> tuple[str, ...]:
    """Return a rendered list as texts. A template may have rendered to one value instead of a list."""
    values: Iterable[object] = rendered if isinstance(rendered, list) else [rendered]
    return tuple(text for text in map(as_text, values) if text)


async def _route(ctx: Context, config: JsonObject) -> NotificationRoute | None:
    if config.get("channel_id"):
        return NotificationRoute(channels=(await fetch_channel(ctx, str(config["channel_id"])),))
    if config.get("channel_type"):
        return NotificationRoute(types=(ChannelType(config["channel_type"]),))
    return None


def _can_mail(route: NotificationRoute | None) -> bool:
    if route is None:
        return True
    return ChannelType.email in {*route.types, *(channel.type for channel in route.channels)}


async def _check_notification(node_check: NodeCheck) -> Problems:
    problems = await problems_of_reference(node_check, "channel_id", Channel, "There is no such channel.")
    return problems | await _check_outsiders(node_check)


async def _check_outsiders(node_check: NodeCheck) -> Problems:
    """Refuse addresses that a run would refuse; what a template yields is only known there."""
    config = node_check.node.config
    audience = config.get("recipients") or {}
    # A template for the whole audience may yield addresses too.
    emails = audience.get("emails") or [] if isinstance(audience, dict) else [audience]
    if not emails:
        return {}
    path = f"{node_check.path}.recipients.emails"
    known = [email for email in emails if not is_template(email)] if isinstance(emails, list) else []
    try:
        _, outsiders = await find_outsiders(node_check.ctx, known)
        # A template may always yield an outsider, so mail to outsiders has to be allowed.
        if outsiders or len(known) < len(emails):
            await require_allowed(node_check.ctx, outsiders)
    except RecipientNotAllowed as error:
        return {path: error.message}
    return await _check_mail_channel(node_check, config)


async def _check_mail_channel(node_check: NodeCheck, config: JsonObject) -> Problems:
    channel_id, channel_type = config.get("channel_id"), config.get("channel_type", ChannelType.email)
    if isinstance(channel_id, str) and not is_template(channel_id):
        channel = await node_check.ctx.db.get(Channel, channel_id)
        if channel is not None and channel.type is not ChannelType.email:
            return {f"{node_check.path}.channel_id": _NOT_A_MAIL_CHANNEL}
    elif channel_type != ChannelType.email and not is_template(channel_type):
        return {f"{node_check.path}.channel_type": _NOT_A_MAIL_CHANNEL}
    return {}


NOTIFICATION_NODE = NodeType(
    type="notification",
    name="Notification",
    description="Notifies people, as they prefer it or through a given channel.",
    config_schema={
        "type": "object",
        "properties": {
            "title": _TEXT,
            "message": _TEXT,
            "type": {"type": "string", "maxLength": _MAX_TYPE_LENGTH},
            "recipients": {
                "type": "object",
                "properties": {
                    "user_ids": {"type": "array", "items": {"type": "string"}, "maxItems": MAX_RECIPIENTS},
                    "roles": {"type": "array", "items": {"enum": [role.value for role in Role]}},
                    "emails": {"type": "array", "items": {"type": "string"}, "maxItems": _MAX_EMAILS},
                },
            },
            "channel_id": _ID,
            "channel_type": {"enum": [type.value for type in ChannelType]},
            "priority": {"enum": [priority.value for priority in Priority]},
            "action_url": _TEXT,
            "data": {"type": "object"},
        },
        "required": ["title"],
    },
    check=_check_notification,
    check_on_write=_check_outsiders,
    run=_run_notification,
)
