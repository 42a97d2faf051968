from retinue.kit.context import Context
from retinue.kit.lists import Listing, Slice
from retinue.service_accounts.models import ServiceAccount, ServiceAccountSecret
from retinue.service_accounts.schemas import ServiceAccountList

ID_PREFIX = f"{ServiceAccount.__prefix__}_"

_ACCOUNTS = Listing(
    ServiceAccount,
    searches=("name", "description"),
    sorts=("created_at", "name", "last_used_at", "expires_at"),
)


async def page_of_accounts(ctx: Context, query: ServiceAccountList) -> Slice[ServiceAccount]:
    return await _ACCOUNTS.page(ctx.db, query)


async def load_secrets(ctx: Context, account_id: str) -> list[ServiceAccountSecret]:
    """Return the secrets of the account, oldest first; expired ones until another one is created."""
    return await ctx.db.all(ServiceAccountSecret, account_id=account_id, order_by=("created_at", "id"))


async def find_account_name(ctx: Context, account_id: str) -> str | None:
    """Return the name of an account on one line; None if it was deleted."""
    account = await ctx.db.get(ServiceAccount, account_id)
    return " ".join(account.name.split()) if account is not None else None
