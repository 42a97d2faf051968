from retinue.kit.context import Context
from retinue.kit.errors import RateLimited
from retinue.kit.http.routing import MEMBER, SIGNED_IN, Routes
from retinue.users import access_requests
from retinue.users.errors import AccessAlreadyRequested, PermissionAlreadyHeld
from retinue.users.schemas import AccessRequestCreate, AccessRequestOut, AdministratorOut

routes = Routes(tag="users")


@routes.get("/users/administrators", requires=MEMBER, wrap=True)
async def list_administrators(ctx: Context) -> list[AdministratorOut]:
    """List the names of up to 20 users of the tenant who can change roles."""
    return [AdministratorOut.from_record(user) for user in await access_requests.find_administrators(ctx)]


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
