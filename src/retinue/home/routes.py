from retinue.home import service
from retinue.home.schemas import Home
from retinue.kit.context import Context
from retinue.kit.http.routing import MEMBER, Routes

routes = Routes("/api/v1/home", tag="home")


@routes.get("", requires=MEMBER)
async def get_home(ctx: Context) -> Home:
    """Return what needs the caller, worst first, the figures of today, and what is still to set up.

    Each part is there only if the caller may see it: needs by the permissions to read
    their object and to act on it, `today` with `usage:read`. What does not depend on the caller alone may be
    ten seconds old.
    """
    return await service.load_home(ctx)
