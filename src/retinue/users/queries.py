from retinue.kit.context import Context
from retinue.kit.errors import Unauthorized
from retinue.kit.lists import Listing, Slice
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
    filters=("role", "status", "tenant_id"),
)
INVITATIONS = Listing(Invitation, searches=("email",), sorts=("created_at", "email", "expires_at"))


async def find_by_email(ctx: Context, email: str) -> User | None:
    """The account of an address, in whichever tenant it is."""
    return await ctx.system("an address is unique on the whole instance").find(User, email=email)


async def find_administered(ctx: Context, user_id: str) -> User | None:
    """A user the caller may see: of the own tenant, or for a super administrator of any.

    The context then acts in the user's tenant, so what is done to the user is told and audited there.
    """
    if not ctx.principal.is_super_admin:
        return await ctx.db.get(User, user_id)
    user = await ctx.system("a super administrator reaches every tenant").get(User, user_id)
    if user is not None:
        ctx.act_in(user.tenant_id)
    return user


async def page_of_users(ctx: Context, query: UserList) -> Slice[User]:
    """The users of the tenant, or for a super administrator who is at home those of every tenant."""
    is_everywhere = ctx.principal.is_super_admin and not ctx.principal.home_tenant_id
    db = ctx.system("a super administrator's list spans all tenants") if is_everywhere else ctx.db
    return await USERS.page(db, query)


async def fetch_self(ctx: Context) -> User:
    """The signed-in user's own record."""
    return _still_there(await ctx.db.get(User, ctx.principal.id))


async def hold_self(ctx: Context) -> User:
    """The signed-in user's own record, held against other writers until the commit."""
    return _still_there(await ctx.db.lock(User, ctx.principal.id))


def _still_there(user: User | None) -> User:
    """Whoever is deleted while a request of theirs runs is signed out like at any request after it."""
    if user is None:
        raise Unauthorized("session_ended", "The session has ended; sign in again.")
    return user
