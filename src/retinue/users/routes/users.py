from typing import Annotated

from retinue.kit.context import Context
from retinue.kit.http.routing import Loaded, Routes
from retinue.users.errors import UserNotFound
from retinue.users.models import User
from retinue.users.queries import find_administered, page_of_users
from retinue.users.schemas import UserList, UserOut, UserPage

routes = Routes("/users", tag="users")

UserById = Annotated[User, Loaded("user_id", find_administered, UserNotFound)]


@routes.get("", requires="admin:users")
async def list_users(ctx: Context, query: UserList) -> UserPage:
    return UserPage.shown(await page_of_users(ctx, query))


@routes.get("/{user_id}", requires="admin:users")
async def get_user(ctx: Context, user: UserById) -> UserOut:  # noqa: ARG001  every handler takes it
    return UserOut.of(user)
