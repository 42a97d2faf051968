from retinue.kit.context import Context
from retinue.kit.http.routing import MEMBER, Routes
from retinue.search import service
from retinue.search.schemas import SearchMatches, SearchQuery

routes = Routes("/api/v1/search", tag="search")


@routes.get("", requires=MEMBER, or_service_account=True)
async def search_objects(ctx: Context, query: SearchQuery) -> SearchMatches:
    """Find objects of the tenant by name, id or description, best matches first.

    Only types that the caller may read are searched; of conversations the newest 5,000, or any by its id.
    """
    return SearchMatches(data=await service.search(ctx, query))
