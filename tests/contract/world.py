"""Some of everything that a path can name, so that routes are called with ids that are really there."""

from collections.abc import Collection

from retinue.access.models import Role
from retinue.kit.http.routing import Route
from tests.client import Api
from tests.contract.domains import CONTRACTS, UPLOADS, VALUES
from tests.contract.knowledge import World
from tests.factories.people import People
from tests.factories.uploads import picture

SEVERAL = 4


def an_upload(route: Route) -> dict[str, tuple[str, bytes, str]]:
    """Return a file of the right kind for each field of an upload."""
    file = UPLOADS.get(route.name, ("a.png", picture(), "image/png"))
    return dict.fromkeys(route.upload.fields if route.upload else (), file)


async def fill_world(world: World) -> dict[str, str]:
    """Let every domain make what its paths name; return ids by path parameter."""
    for contract in CONTRACTS:
        world.ids |= await contract.make(world)
    return world.ids


async def known_ids(people: People, admin: Api, wanted: Collection[str]) -> dict[str, list[str]]:
    """Return ids by path parameter: what the administrator owns, and people of another tenant."""
    uploaded: dict[str, list[str]] = {}
    for contract in CONTRACTS:
        uploaded |= {name: [id] for name, id in (await contract.upload(admin, wanted)).items()}
    tenant = await people.tenant("Other")
    members = [await people.user(Role.viewer, tenant) for _ in range(SEVERAL)]
    async with people.context(admin.user.tenant_id) as ctx:
        made = [
            await fill_world(World(ctx, admin.user, member, f"{member.id}-{number}", wanted))
            for number, member in enumerate(members)
        ]
    return {**{name: [ids[name] for ids in made] for name in made[0]}, **uploaded, **VALUES}
