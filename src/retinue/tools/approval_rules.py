"""Validation of approval rules."""

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.tools.models import ApprovalRule
from retinue.users.models import User


async def validate_rule(ctx: Context, rule: ApprovalRule | None) -> None:
    """Raise `Invalid` for a rule that can never be satisfied."""
    if rule is None:
        return
    named = sorted(set(rule.approvers.user_ids))
    unknown = [id for id in named if await ctx.db.get(User, id) is None]
    if unknown:
        raise Invalid({"approval.approvers.user_ids": f"there is no such user: {', '.join(unknown[:5])}"})
    if named and not rule.approvers.roles and rule.required_approvals > len(named):
        raise Invalid({"approval.required_approvals": "must not exceed the number of approvers"})
