from retinue.credentials.errors import CredentialNotFound
from retinue.credentials.models import Credential
from retinue.credentials.schemas import CredentialList
from retinue.kit.context import Context
from retinue.kit.lists import Listing, Slice

_CREDENTIALS = Listing(
    Credential,
    searches=("name",),
    sorts=("created_at", "updated_at", "name", "type", "last_tested_at", "last_used_at", "expires_at"),
    filters=("type",),
)


async def page_of_credentials(ctx: Context, query: CredentialList) -> Slice[Credential]:
    return await _CREDENTIALS.page(ctx.db, query)


async def lock_credential(ctx: Context, credential_id: str) -> Credential:
    """Return the current credential, locked until the commit."""
    locked = await ctx.db.lock(Credential, credential_id)
    if locked is None:
        raise CredentialNotFound
    return locked
