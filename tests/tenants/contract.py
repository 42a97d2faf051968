"""Objects and calls of tenants for the contract tests."""

from retinue.tenants.models import Tenant
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.people import PASSWORD


async def _make(world: World) -> dict[str, str]:
    return {"tenant_id": world.member.tenant_id}


CONTRACT = DomainContract(records=(Tenant,), make=_make, shared={"tenant_id"})


@CONTRACT.writes(tenants=1, users=1)
async def create_tenant(scene: Scene) -> Call:
    person = {"email": "first@example.com", "password": PASSWORD, "first_name": "F", "last_name": "A"}
    return Call(scene.admin, {"name": "New", "admin": person})


@CONTRACT.writes("tenants.name tenants.updated_at")
async def update_tenant(scene: Scene) -> Call:
    return Call(scene.admin, {"name": "Renamed"}, {"tenant_id": scene.user.tenant_id})


@CONTRACT.writes("tenants.mail_to_outsiders tenants.updated_at")
async def update_own_tenant(scene: Scene) -> Call:
    return Call(scene.admin, {"mail_to_outsiders": {"domains": ["example.com"], "per_day": 10}})
