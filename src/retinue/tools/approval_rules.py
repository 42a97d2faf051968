"""Who may approve a model's calls of a tool: people whom the tenant has."""

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.tools.models import ApprovalRule
from retinue.users.models import User


async def check(ctx: Context, rule: ApprovalRule | None) -> None:
    """Refuse a rule that nobody could ever satisfy."""
    if rule is None:
        return
    named = sorted(set(rule.approvers.user_ids))
    unknown = [id for id in named if await ctx.db.get(User, id) is None]
    if unknown:
        raise Invalid({"approval.approvers.user_ids": f"there is no such user: {', '.join(unknown[:5])}"})
    if named and not rule.approvers.roles and rule.required_approvals > len(named):
        raise Invalid({"approval.required_approvals": "is more than there are approvers"})
