from retinue.kit.context import Context
from retinue.kit.lists import Listing, Slice
from retinue.providers.models import ProviderKey
from retinue.providers.schemas import ApiKeyList

_KEYS = Listing(
    ProviderKey,
    searches=("name",),
    sorts=(
        "created_at",
        "updated_at",
        "name",
        "provider",
        "priority",
        "is_active",
        "last_tested_at",
        "last_used_at",
    ),
    filters=("provider", "is_active"),
)


async def page_of_keys(ctx: Context, query: ApiKeyList) -> Slice[ProviderKey]:
    return await _KEYS.page(ctx.db, query)
