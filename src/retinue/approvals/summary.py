"""The summary of a request for its approver: requester, source, values and deadline."""

import msgspec

from retinue.approvals.models import Approval
from retinue.kit.context import Context
from retinue.kit.context.display_names import find_display_name
from retinue.kit.json_types import JsonObject
from retinue.users.models import User

# Payload fields of a tool call that are shown elsewhere or mean nothing to people.
_CALL_FIELDS = ("tool", "function", "input", "message")


async def describe_requester(ctx: Context, approval: Approval, *, with_address: bool = False) -> str:
    """Return who asks, as the subject of a sentence."""
    by = approval.requested_by
    if by.type == "embed_key":
        return "A visitor of your website"
    if by.type == "service_account":
        return f"The service account {await find_display_name(ctx, by.id) or 'that was deleted'}"
    user = None
    if by.type == "user":
        user = await ctx.system("a super administrator may ask in every tenant").get(User, by.id)
    if user is None:
        return "Somebody"
    name = user.display_name
    return f"{name} ({user.email})" if with_address and name != user.email else name


def format_deadline(approval: Approval) -> str:
    return f"{approval.expires_at[:16].replace('T', ' ')} UTC"


async def source_facts(ctx: Context, approval: Approval) -> list[tuple[str, str]]:
    """Return the agent, tool and workflow a request comes from, and the message that led to it."""
    source, payload = approval.source, approval.payload
    tool, message = payload.get("tool"), payload.get("message")
    named = {
        "Agent": await find_display_name(ctx, source.agent_id),
        "Tool": tool if isinstance(tool, str) else await find_display_name(ctx, source.tool_id),
        "Workflow": await find_display_name(ctx, source.workflow_id),
        "In reply to": message if isinstance(message, str) else None,
    }
    return [(label, name) for label, name in named.items() if name]


def requested_values(approval: Approval) -> JsonObject:
    """Return the requested input by field, or the rest of the payload if there is no input."""
    call_input = approval.payload.get("input")
    if isinstance(call_input, dict):
        return call_input
    return {name: value for name, value in approval.payload.items() if name not in _CALL_FIELDS}


def effective_values(approval: Approval) -> JsonObject:
    """Return the requested values with the approvers' edits applied."""
    return {**requested_values(approval), **(approval.edited_input or {})}


def format_value(value: object) -> str:
    """Return a value for people: texts as they are, null as a dash, anything else as JSON."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
