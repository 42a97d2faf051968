"""The monthly token budget of a service account, spent by the turns that it asks for."""

from retinue.kit.context import Context
from retinue.service_accounts.errors import AccountTokensSpent
from retinue.service_accounts.models import ServiceAccount
from retinue.usage.monthly_tokens import counting_statement, month_of, tokens_spent_error

_COUNT = counting_statement(ServiceAccount)


async def require_tokens(ctx: Context) -> None:
    """Raise `AccountTokensSpent` if the caller is a service account without tokens for this month."""
    left = ctx.principal.tokens_left
    if ctx.principal.kind == "service_account" and left is not None and left <= 0:
        account = await load_spender(ctx.reader())
        raise tokens_spent_error(AccountTokensSpent, ctx, account.monthly_token_budget if account else 0)


async def load_spender(ctx: Context) -> ServiceAccount | None:
    """Return the calling account as it is now: the request may be older than other turns of it."""
    return await ctx.db.get(ServiceAccount, ctx.principal.id)


def count_tokens(unit: Context, tokens: int) -> None:
    """Count a turn of a service account at the commit, to lock the row only briefly."""
    if unit.principal.kind == "service_account" and tokens:
        unit.db.execute_at_commit(
            _COUNT, spender_id=unit.principal.id, month=month_of(unit.now), tokens=tokens
        )
