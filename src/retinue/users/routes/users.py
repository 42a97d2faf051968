from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.users.loaders import UserById
from retinue.users.queries import page_of_users
from retinue.users.schemas import UserList, UserOut, UserPage

routes = Routes("/users", tag="users")


@routes.get("", requires="admin:users")
async def list_users(ctx: Context, query: UserList) -> UserPage:
    """List the users of the tenant, newest first by default.

    A super administrator who does not act in another tenant sees the users of all tenants.
    """
    return UserPage.from_record(await page_of_users(ctx, query))


@routes.get("/{user_id}", requires="admin:users")
async def get_user(ctx: Context, user: UserById) -> UserOut:  # noqa: ARG001  every handler takes it
    """Return one user. Super administrators reach the users of every tenant."""
    return UserOut.of(user)
