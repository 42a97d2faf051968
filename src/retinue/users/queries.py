from collections.abc import Iterable

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import record_statement
from retinue.kit.errors import Unauthorized
from retinue.kit.lists import Listing, Slice
from retinue.users.admission import is_admitted
from retinue.users.models import Invitation, User
from retinue.users.schemas import UserList

USERS = Listing(
    User,
    searches=("email", "first_name", "last_name"),
    sorts=(
        "created_at",
        "updated_at",
        "email",
        "first_name",
        "last_name",
        "role",
        "status",
        "last_login_at",
    ),
    filters=("role", "status", "is_pending", "tenant_id"),
)
INVITATIONS = Listing(Invitation, searches=("email",), sorts=("created_at", "email", "expires_at"))

_users = User.__table__
_VERIFIED = record_statement(
    User,
    sa.select(_users).where(in_list(_users.c.email, "emails"), _users.c.email_verified == sa.true()),
)
_BY_IDS = record_statement(User, sa.select(_users).where(in_list(_users.c.id, "ids")))


async def find_names(ctx: Context, ids: Iterable[str]) -> dict[str, str]:
    """Return the names of the users with these ids; super administrators act in every tenant."""
    wanted = list_parameter(dict.fromkeys(ids))
    users = await ctx.system("super administrators act in every tenant").rows(_BY_IDS, ids=wanted)
    return {user.id: user.display_name for user in users}


async def find_by_email(ctx: Context, email: str) -> User | None:
    """Return the account with this address, in any tenant."""
    return await ctx.system("an address is unique on the whole instance").find(User, email=email)


async def find_verified_users(ctx: Context, emails: Iterable[str]) -> dict[str, str]:
    """Return the ids of the tenant's admitted users with these verified addresses, by address."""
    users = await ctx.db.rows(_VERIFIED, emails=list_parameter(dict.fromkeys(emails)))
    return {user.email: user.id for user in users if is_admitted(ctx.settings, user)}


async def find_administered(ctx: Context, user_id: str) -> User | None:
    """Return a user of the caller's tenant, or for a super administrator of any tenant.

    The context is then bound to the user's tenant, so that changes are logged and audited there.
    """
    if not ctx.principal.is_super_admin:
        return await ctx.db.get(User, user_id)
    user = await ctx.system("a super administrator reaches every tenant").get(User, user_id)
    if user is not None:
        ctx.bind_tenant(user.tenant_id)
    return user


async def page_of_users(ctx: Context, query: UserList) -> Slice[User]:
    """Return the tenant's users; for a super administrator in the home tenant, those of all tenants."""
    is_everywhere = ctx.principal.is_super_admin and not ctx.principal.home_tenant_id
    db = ctx.system("a super administrator's list spans all tenants") if is_everywhere else ctx.db
    return await USERS.page(db, query)


async def fetch_self(ctx: Context) -> User:
    """Return the signed-in user's own record; raise `PersonRequired` for a service account."""
    ctx.principal.require_person()
    return require_existing(await ctx.db.get(User, ctx.principal.id))


async def lock_self(ctx: Context) -> User:
    """Return the signed-in user's own record, locked until the commit."""
    ctx.principal.require_person()
    return require_existing(await ctx.db.lock(User, ctx.principal.id))


def require_existing(user: User | None) -> User:
    """Raise `session_ended` for a user who was deleted while the request runs."""
    if user is None:
        raise Unauthorized("session_ended", "The session has ended. Sign in again.")
    return user
