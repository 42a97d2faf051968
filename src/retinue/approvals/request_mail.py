"""The mail to an approver: requester, values, deadline and decision link."""

from retinue.adapters.mail.mail_body import FactTable, MailLink, Paragraph
from retinue.approvals.models import Approval
from retinue.approvals.summary import (
    describe_requester,
    effective_values,
    format_deadline,
    format_value,
    source_facts,
)
from retinue.approvals.types import OnTimeout
from retinue.kit.context import Context

_MAX_VALUES = 30
_MAX_VALUE_LENGTH = 500
_MAX_DESCRIPTION_LENGTH = 4_000
_TIMEOUT_NOTES = {
    OnTimeout.reject: "If nobody decides it by then, it counts as rejected.",
    OnTimeout.approve: "If nobody decides it by then, it counts as approved.",
    OnTimeout.fail: "If nobody decides it by then, the waiting tool call or workflow fails.",
}


async def describe_request(ctx: Context, approval: Approval) -> tuple[Paragraph, ...]:
    """Return the request, the same for every approver; secrets were masked before it was stored."""
    who = await describe_requester(ctx, approval, with_address=True)
    paragraphs: list[Paragraph] = [f"{who} asks for your approval of: {approval.title}"]
    if approval.description:
        paragraphs.append(approval.description[:_MAX_DESCRIPTION_LENGTH])
    about = [(label, _truncate(text)) for label, text in await source_facts(ctx, approval)]
    if about:
        paragraphs.append(FactTable(tuple(about)))
    rows = _values(approval)
    if rows:
        paragraphs += ["With these values:", FactTable(tuple(rows))]
    if approval.required_approvals > 1:
        paragraphs.append(f"It needs {approval.required_approvals} approvals; one rejection ends it.")
    return tuple(paragraphs)


def describe_decision(approval: Approval, link: str) -> tuple[Paragraph, ...]:
    """Return the paragraphs on how to decide."""
    return (
        f"Open this link before {format_deadline(approval)} to approve or reject it:",
        MailLink(link),
        f"The link is yours alone: please do not forward this mail. {_TIMEOUT_NOTES[approval.on_timeout]}",
    )


def _values(approval: Approval) -> list[tuple[str, str]]:
    rows = [(name, _truncate(format_value(value))) for name, value in effective_values(approval).items()]
    if len(rows) > _MAX_VALUES:
        rest = len(rows) - _MAX_VALUES
        rows = [*rows[:_MAX_VALUES], ("…", f"and {rest} more on the linked page")]
    return rows


def _truncate(text: str) -> str:
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[:_MAX_VALUE_LENGTH]}…"
