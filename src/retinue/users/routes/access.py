from retinue.kit.context import Context
from retinue.kit.errors import RateLimited
from retinue.kit.http.routing import MEMBER, SIGNED_IN, Routes
from retinue.users import access_requests, names
from retinue.users.errors import AccessAlreadyRequested, PermissionAlreadyHeld
from retinue.users.schemas import AccessRequestCreate, AccessRequestOut, AdministratorOut, NameOut, NameQuery

routes = Routes(tag="users")


@routes.get("/users/administrators", requires=MEMBER, wrap=True)
async def list_administrators(ctx: Context) -> list[AdministratorOut]:
    """List the names of up to 20 users of the tenant who can change roles."""
    return [AdministratorOut.from_record(user) for user in await access_requests.find_administrators(ctx)]


@routes.get("/users/names", requires=MEMBER, wrap=True)
async def list_names(ctx: Context, query: NameQuery) -> list[NameOut]:
    """Return the names that belong to the ids of users, service accounts and embed keys.

    In the order of `ids`, at most 100. Ids of deleted and unknown ones are left out. With `search` in place
    of `ids`: up to 20 active users of the tenant whose name contains it, by name.
    """
    return await names.find_names(ctx, query)


@routes.post(
    "/api/v1/access-requests",
    requires=SIGNED_IN,
    status=201,
    errors=(PermissionAlreadyHeld, AccessAlreadyRequested, RateLimited),
)
async def request_access(ctx: Context, body: AccessRequestCreate) -> AccessRequestOut:
    """Ask the administrators of the tenant for a permission; they are notified.

    The same permission can be asked for once in seven days, and ten permissions an hour.
    """
    return AccessRequestOut.of(await access_requests.request_access(ctx, body))
